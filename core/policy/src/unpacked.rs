//! Archives that a line downloads and unpacks: what it runs from there nobody has read.

use crate::args::text;
use crate::rule::RuleInput;
use crate::target::{absolute, within};
use bash::{Command, StdinSource};

/// Programs that unpack archives.
const UNPACKERS: &[&str] = &["tar", "bsdtar", "gtar", "unzip", "7z", "7za", "unar"];

/// Whether `path` is a script that comes out of an archive the line downloads before.
pub(crate) fn holds_script(sight: &RuleInput<'_>, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    // Building from source is everyday.
    let builds = ["configure", "autogen.sh", "bootstrap.sh", "buildconf"].contains(&name);
    let script = [".sh", ".bash", ".py", ".pl", ".rb", ".js", ".run"].iter().any(|ending| name.ends_with(ending))
        || ["install", "setup", "installer"].contains(&name);
    script
        && !builds
        && sight.earlier().any(|(at, seen)| {
            let command = sight.parsed_call.reading.commands.get(at);
            let unpacks = seen.program.as_deref().is_some_and(|program| UNPACKERS.contains(&program));
            unpacks && command.is_some_and(|command| comes_from(sight, command, at, path))
        })
}

fn comes_from(sight: &RuleInput<'_>, unpacker: &Command, at: usize, path: &str) -> bool {
    let cwd = unpacker.cwd.as_deref();
    let words: Vec<_> = unpacker.args().iter().map(text).collect();
    let downloaded = |word: &str| {
        let path = absolute(word, cwd)?;
        sight.index.downloads(sight.parsed_call, &path, at).then(|| word.to_string())
    };
    let archive = match &unpacker.feed {
        StdinSource::Pipe(from) if sight.index.fetched(sight.parsed_call, at) => {
            let commands = from.iter().filter_map(|at| sight.parsed_call.reading.commands.get(*at));
            let address =
                commands.flat_map(Command::args).map(|word| text(word).into_owned()).find(|word| word.contains("://"));
            Some(address.unwrap_or_default())
        }
        _ => words.iter().find_map(|word| downloaded(word)),
    };
    let Some(archive) = archive else { return false };
    let apart = words
        .iter()
        .zip(words.iter().skip(1))
        .find(|(option, _)| matches!(option.as_ref(), "-C" | "-d" | "--directory"));
    let glued = words
        .iter()
        .find_map(|word| word.strip_prefix("--directory=").or(word.strip_prefix("-C")).filter(|rest| !rest.is_empty()));
    let folder = apart.map(|(_, folder)| folder.as_ref()).or(glued);
    let Some(folder) = folder.and_then(|folder| absolute(folder, cwd)).filter(|folder| Some(folder.as_str()) != cwd)
    else {
        // Where the line stands other files are as well: the folder has to be called as the archive is.
        let below = cwd.and_then(|cwd| path.strip_prefix(cwd)?.strip_prefix('/')).unwrap_or_default();
        let top = below.split_once('/').map(|(top, _)| top);
        return top
            .is_some_and(|top| first_letters(top) == first_letters(archive.rsplit('/').next().unwrap_or_default()));
    };
    within(path, &folder)
}

fn first_letters(name: &str) -> &str {
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    name.get(..end).unwrap_or(name)
}
