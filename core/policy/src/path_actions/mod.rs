//! Acts: what a command would do to files, whatever program does it.

mod change;
mod find;
mod folder;
mod names_only;
mod read;
mod remove;
mod send;

pub(crate) use names_only::shows_names_only;

use crate::source::Substitutions;
use crate::target::Target;
use bash::{Command, Reading, RedirectKind, StdinSource, Via, WordPiece};
use std::cell::Cell;

/// One thing a command would do to one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathAction {
    pub deed: PathVerb,
    pub target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathVerb {
    Remove(Reach),
    /// Taken from its place, or emptied of what another folder does not have.
    Displace,
    Write,
    Read,
    /// Its content leaves this machine.
    Send,
    /// Its mode or owner changes.
    Permit(Reach),
}

/// How far an act reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    One,
    /// The whole tree below.
    Tree,
}

/// The deeds a rule may watch for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathActionKind {
    Remove,
    Displace,
    Write,
    Read,
    Send,
    Permit,
}

impl PathVerb {
    pub(crate) fn kind(self) -> PathActionKind {
        match self {
            Self::Remove(_) => PathActionKind::Remove,
            Self::Displace => PathActionKind::Displace,
            Self::Write => PathActionKind::Write,
            Self::Read => PathActionKind::Read,
            Self::Send => PathActionKind::Send,
            Self::Permit(_) => PathActionKind::Permit,
        }
    }
}

/// What `command` would do to files: its redirects first, then what its program does with its operands.
pub(crate) fn of(command: &Command, program: &str, listed: &ListedPaths<'_>) -> Vec<PathAction> {
    let mut acts = Vec::new();
    let cwd = command.cwd.as_deref();
    for redirect in &command.redirects {
        let deed = match redirect.kind {
            RedirectKind::Read => PathVerb::Read,
            RedirectKind::Write | RedirectKind::Append => PathVerb::Write,
        };
        acts.push(PathAction { deed, target: Target::of(&redirect.target, cwd) });
    }
    if !program.is_empty() {
        let by = ActedBy { listed, command, program, cwd };
        remove::acts(&by, &mut acts);
        change::acts(&by, &mut acts);
        read::acts(&by, &mut acts);
        send::acts(&by, &mut acts);
        fed(&by, &mut acts);
    }
    acts
}

/// `… | xargs sed -i`, `… | while read f; do sed -i … "$f"; done`: what is listed is what is written.
fn fed(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let StdinSource::Pipe(sources) = &by.command.feed else { return };
    let handed = matches!(by.command.via.last(), Some(Via::Wrapper(name)) if name == "xargs" || name == "parallel");
    let read = || by.command.args().iter().any(|word| matches!(word.pieces.as_slice(), [WordPiece::Unknown(_)]));
    if !(handed || read()) || !find::writes_in_place(by.command.words.iter()) || !by.listed.take(sources.len()) {
        return;
    }
    for source in sources.iter().filter_map(|at| by.listed.reading.commands.get(*at)) {
        find::listed(source, PathVerb::Write, by.listed, acts);
    }
}

/// What the commands of a line list for others to act on, and how much of that is still spelled out.
#[derive(Debug)]
pub(crate) struct ListedPaths<'a> {
    pub reading: &'a Reading,
    pub substitutions: &'a Substitutions,
    pub home: Option<&'a str>,
    left: Cell<usize>,
}

impl<'a> ListedPaths<'a> {
    /// Commands that act on what others list multiply: so many acts, and one for each word of the line, are told apart.
    const MOST: usize = 1024;

    pub(crate) fn new(reading: &'a Reading, substitutions: &'a Substitutions) -> Self {
        let words: usize = reading.commands.iter().map(|command| command.words.len()).sum();
        Self { left: Cell::new(Self::MOST + words), ..Self::few(reading, substitutions) }
    }

    /// With the account's home, into which whole folders of settings may be put.
    pub(crate) fn with_home(self, home: Option<&'a str>) -> Self {
        Self { home, ..self }
    }

    /// For the acts of one command.
    pub(crate) fn few(reading: &'a Reading, substitutions: &'a Substitutions) -> Self {
        Self { reading, substitutions, home: None, left: Cell::new(Self::MOST) }
    }

    /// Takes from what may still be spelled out.
    pub(crate) fn take(&self, count: usize) -> bool {
        let rest = self.left.get().checked_sub(count);
        self.left.set(rest.unwrap_or(self.left.get()));
        rest.is_some()
    }
}

/// A command whose acts are asked for.
pub(crate) struct ActedBy<'a> {
    pub listed: &'a ListedPaths<'a>,
    pub command: &'a Command,
    pub program: &'a str,
    pub cwd: Option<&'a str>,
}

impl ActedBy<'_> {
    pub(crate) fn target(&self, word: &bash::Word) -> Target {
        Target::of(word, self.cwd)
    }

    pub(crate) fn path(&self, path: &str) -> Target {
        Target::path(path, self.cwd)
    }
}
