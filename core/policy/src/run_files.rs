//! Files that a line runs: what the reader wants to know of them, asked of the world and given back.

use crate::guarded_keys;
use crate::index::Index;
use crate::line_context::LineContext;
use crate::parsed_call::ParsedCall;
use crate::rule::{Hit, Rule, RuleInput};
use crate::target::Target;
use bash::{Command, KnownContent, KnownFile, KnownFiles, Reading, Via, WantedFile, Word};
use model::FoundInFile;
use model::fact::{Facts, FileContent, FileFact, Probe};
use std::sync::Arc;

/// What the reader wants, as a question to the world.
pub(crate) fn probe(wanted: &WantedFile) -> Probe {
    match wanted {
        WantedFile::At(path) => Probe::RunFile { path: path.clone() },
        WantedFile::Nearest { folder, names } => Probe::NearestFile { folder: folder.clone(), names: names.clone() },
    }
}

/// The answers, as the reader takes them.
pub(crate) fn known(facts: &Facts) -> KnownFiles {
    facts.files.iter().filter_map(|(asked, fact)| Some((wanted(asked)?, Arc::new(file(fact))))).collect()
}

fn wanted(asked: &Probe) -> Option<WantedFile> {
    match asked {
        Probe::RunFile { path } => Some(WantedFile::At(path.clone())),
        Probe::NearestFile { folder, names } => {
            Some(WantedFile::Nearest { folder: folder.clone(), names: names.clone() })
        }
        _ => None,
    }
}

fn file(fact: &FileFact) -> KnownFile {
    let content = match &fact.content {
        FileContent::Text(text) => KnownContent::Text(text.clone()),
        FileContent::Program(tool) => KnownContent::Program(tool.clone()),
        FileContent::Missing => KnownContent::Missing,
        FileContent::Unread(why) => KnownContent::Unread(why.clone()),
    };
    KnownFile { path: fact.path.as_str().into(), real: fact.real.as_str().into(), content }
}

/// Rules about what only the run would tell.
pub(crate) const UNKNOWN: &[&str] = &["rm-unknown", "rm-unknown-root", "unknown-program", "unreadable"];

/// Where what a rule found stands, when it stands in a file. The path is told as seen from the folder of the call.
pub(crate) fn found_in(rule: &str, command: &Command, hit: &Hit, ground: &LineContext<'_>) -> Option<FoundInFile> {
    let (path, line) = hit.file.clone().or_else(|| command.file().map(|(path, line)| (path.clone(), line)))?;
    let fact = ground.facts.files.iter().map(|(_, fact)| fact).find(|fact| fact.path == *path)?;
    let below = ground.cwd.and_then(|folder| path.strip_prefix(folder)?.strip_prefix('/'));
    let inside = command.via.iter().rev().take_while(|via| !matches!(via, Via::File(_)));
    let shell = !inside.into_iter().any(|via| matches!(via, Via::Script(_)));
    Some(FoundInFile {
        path: below.unwrap_or(&path).to_string(),
        line,
        changed: fact.changed,
        as_committed: fact.as_committed,
        unknown: UNKNOWN.contains(&rule) && shell,
        installed: INSTALLED.iter().any(|folder| path.contains(folder))
            || MANAGED.iter().any(|name| path.ends_with(name)),
        given_by_line: false,
    })
}

/// How many commands of a line are looked through for words that it may have given to a file.
const MOST_GIVING: usize = 64;

/// Whether a rule finds what it found in a file only because of words that the line gave it: `$1`, an override of
/// `make`, arguments behind a script's name, a variable. Without them it is asked again.
pub(crate) fn given_by_line(
    rule: &'static Rule,
    command: &Command,
    hit: &Hit,
    parsed_call: &ParsedCall,
    ground: &LineContext<'_>,
) -> bool {
    let Some(statement) = statement(command, ground) else { return false };
    let given = words_of_line(parsed_call);
    let is_given = |word: &Word| {
        let Some(text) = word.known().filter(|text| !text.is_empty()) else { return false };
        given.iter().any(|given| {
            let same = text == *given || text.strip_suffix(given.as_str()).is_some_and(|head| head.ends_with('/'));
            same && !statement.contains(given.as_str())
        })
    };
    let own: Vec<Word> = command.words.iter().filter(|word| !is_given(word)).cloned().collect();
    if own.len() == command.words.len() {
        return false;
    }
    if command.words.first() != own.first() {
        return true;
    }
    let reading = Reading { commands: vec![Command { words: own, ..command.clone() }], ..Reading::default() };
    let without = parsed_call.with_reading(reading);
    let (Some(command), Some(seen)) = (without.reading.commands.first(), without.seen.first()) else { return false };
    let index = Index::default();
    let sight = RuleInput { parsed_call: &without, ground, command, seen, at: 0, index: &index, places: None };
    let mut hits = Vec::new();
    (rule.judge)(&sight, &mut hits);
    !hits.iter().any(|other| hit.path.is_none() || other.path == hit.path)
}

/// The line of its file that a command stands on, with those that it goes on in.
fn statement(command: &Command, ground: &LineContext<'_>) -> Option<String> {
    let (path, line) = command.file()?;
    let fact = ground.facts.files.iter().map(|(_, fact)| fact).find(|fact| fact.path == **path)?;
    let FileContent::Text(text) = &fact.content else { return None };
    let mut out = String::new();
    for line in text.lines().skip(line.saturating_sub(1)) {
        out.push_str(line);
        out.push('\n');
        if !line.ends_with('\\') {
            break;
        }
    }
    Some(out)
}

/// The words of the line itself, and the values it sets.
fn words_of_line(parsed_call: &ParsedCall) -> Vec<String> {
    let own = parsed_call.reading.commands.iter().filter(|command| command.file().is_none()).take(MOST_GIVING);
    let mut out = Vec::new();
    for command in own.filter(|command| !matches!(command.program().as_deref(), Some("cd" | "pushd"))) {
        let values = command.assignments.iter().map(|(_, value)| value.shown());
        for word in command.args().iter().map(Word::shown).chain(values) {
            let value = word.split_once('=').map_or("", |(_, value)| value);
            out.extend(value.split_whitespace().chain(word.split_whitespace()).map(str::to_string));
        }
    }
    out
}

/// Whether a command stands in a file as git has it.
pub(crate) fn as_committed(command: &Command, ground: &LineContext<'_>) -> bool {
    let Some((path, _)) = command.file() else { return false };
    ground.facts.files.iter().any(|(_, fact)| fact.path == **path && fact.as_committed)
}

/// Lists that package managers write into: that one has changed does not say whose its scripts are.
const MANAGED: &[&str] = &["/package.json", "/composer.json", "/pyproject.toml", "/deno.json", "/deno.jsonc"];

/// Whether a file is one that is not read out, by its own name or by what it is a link to.
pub(crate) fn keeps_secrets(path: &str, ground: &LineContext<'_>) -> bool {
    let fact = ground.facts.files.iter().map(|(_, fact)| fact).find(|fact| fact.path == path);
    let names = fact.map(|fact| fact.real.as_str()).into_iter().chain([path]);
    names.into_iter().any(|name| guarded_keys::read(ground, &Target::path(name, None)).is_some())
}

/// Folders that package managers fill: nobody wrote what is in them by hand.
const INSTALLED: &[&str] =
    &["/node_modules/", "/site-packages/", "/dist-packages/", "/.venv/", "/venv/", "/.cargo/registry/"];
