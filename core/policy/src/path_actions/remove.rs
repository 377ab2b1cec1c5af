//! Removal: rm and its kin, `find -delete`, and what `xargs` hands to them.

use super::{ActedBy, PathAction, PathVerb, Reach, find};
use crate::args::{Args, Grammar, text};
use crate::names;
use crate::target::Target;
use bash::{Command, StdinSource, Via, Word, WordPiece};

const RM: Grammar = Grammar { short: "", long: &[], single_dash_long: false };
const SHRED: Grammar =
    Grammar { short: "nsN", long: &["iterations", "size", "random-source"], single_dash_long: false };

pub(super) fn acts(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let (grammar, always_tree) = match by.program {
        "rm" | "srm" | "unlink" | "rimraf" | "del-cli" | "rd" | "del" | "erase" => {
            (RM, matches!(by.program, "rimraf" | "del-cli"))
        }
        "shred" | "wipe" => (SHRED, false),
        "cmake" => return cmake(by, acts),
        "find" | "bfs" | "fd" | "fdfind" => return find::acts(by, acts),
        _ => return,
    };
    let args = Args::parse(by.command.args(), grammar);
    let tree = always_tree || args.any_short("rR") || args.abbreviated("recursive", 1);
    let reach = if tree { Reach::Tree } else { Reach::One };
    let deed = PathVerb::Remove(reach);
    match by.command.via.last() {
        Some(Via::Wrapper(name)) if name == "xargs" || name == "parallel" => fed(by, &args, deed, acts),
        // `find` itself reports what its `-exec` removes.
        Some(Via::Wrapper(name)) if matches!(name.as_str(), "find" | "fd" | "fdfind") => {}
        _ => {
            // An empty word names nothing.
            for word in args.operands.iter().filter(|word| word.known().as_deref() != Some("")) {
                let target = by.target(word);
                // `rm -rf package-lock.json` is recursive by habit only.
                let file = names::file_name(target.name()) || names::file_pattern(target.name());
                let reach = if file && !always_tree { Reach::One } else { reach };
                if !listed(by, word, deed, acts) && !read(by, word, deed, acts) {
                    acts.push(PathAction { deed: PathVerb::Remove(reach), target });
                }
            }
        }
    }
}

/// `cmake -E rm -rf x`, `cmake -E remove_directory x`: the tools that come with it.
fn cmake(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let [option, tool, rest @ ..] = by.command.args() else { return };
    if text(option) != "-E" || !matches!(text(tool).as_ref(), "rm" | "remove" | "remove_directory") {
        return;
    }
    let args = Args::parse(rest, RM);
    let tree = text(tool) == "remove_directory" || args.any_short("rR");
    let deed = PathVerb::Remove(if tree { Reach::Tree } else { Reach::One });
    acts.extend(args.operands.iter().map(|word| PathAction { deed, target: by.target(word) }));
}

/// `rm -rf $(find . -name x)`: what the substitution lists is what is removed.
fn listed(by: &ActedBy<'_>, word: &Word, deed: PathVerb, acts: &mut Vec<PathAction>) -> bool {
    if !matches!(word.pieces.as_slice(), [WordPiece::Unknown(_)]) {
        return false;
    }
    let before = acts.len();
    for reading in by.listed.substitutions.of(word) {
        let [only] = reading.commands.as_slice() else { continue };
        find::listed(&Command { cwd: by.command.cwd.clone(), ..only.clone() }, deed, by.listed, acts);
    }
    acts.len() > before
}

/// `git ls-files | while read f; do rm "$f"; done`: what is listed is what is removed.
fn read(by: &ActedBy<'_>, word: &Word, deed: PathVerb, acts: &mut Vec<PathAction>) -> bool {
    let variable = match word.pieces.as_slice() {
        [WordPiece::Unknown(source)] => !source.contains('('),
        // Below the folder the search starts from.
        [WordPiece::Text(_), WordPiece::Unknown(source)] => source == "{}",
        _ => false,
    };
    let StdinSource::Pipe(sources) = &by.command.feed else { return false };
    let before = acts.len();
    if variable {
        from_pipe(by, sources, deed, acts);
    }
    acts.len() > before
}

/// `… | xargs rm`: what comes down the pipe is what is removed.
fn fed(by: &ActedBy<'_>, args: &Args<'_>, deed: PathVerb, acts: &mut Vec<PathAction>) {
    let stands_for_input =
        |word: &Word| word.pieces.iter().any(|piece| matches!(piece, WordPiece::Unknown(source) if source == "{}"));
    let own = args.operands.iter().filter(|word| !stands_for_input(word));
    acts.extend(own.map(|word| PathAction { deed, target: by.target(word) }));
    let mut piped = Vec::new();
    match &by.command.feed {
        StdinSource::Pipe(sources) => {
            from_pipe(by, sources, deed, &mut piped);
            if piped.is_empty() {
                piped.push(PathAction { deed, target: unknown() });
            }
        }
        StdinSource::File(_) | StdinSource::Unknown => piped.push(PathAction { deed, target: unknown() }),
        // Known text has been put in the words by the reader.
        StdinSource::Text(_) | StdinSource::Inherited => {}
    }
    acts.append(&mut piped);
}

/// What the commands upstream list. Many of them are not told apart.
fn from_pipe(by: &ActedBy<'_>, sources: &[usize], deed: PathVerb, acts: &mut Vec<PathAction>) {
    if !by.listed.take(sources.len()) {
        acts.push(PathAction { deed: PathVerb::Remove(Reach::Tree), target: unknown() });
        return;
    }
    for source in sources.iter().filter_map(|at| by.listed.reading.commands.get(*at)) {
        find::listed(source, deed, by.listed, acts);
    }
}

fn unknown() -> Target {
    Target::anything("what comes down the pipe")
}
