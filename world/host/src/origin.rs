//! Whose word counts for where things are kept and who an agent is.
//!
//! A repository's own settings set environment variables for every hook of a client, and for everything else that the
//! client starts. They can empty a variable but not take one away, and what the client itself was started with is out
//! of their reach. So under a client, what a process says is what its client was *started* with. The client is found
//! by evidence and not by its name: it gives a mark to all that it starts, and is the first process above us without
//! it. A client inside a client has the mark too, and leads to the outer one. Without a mark it is looked for by its name,
//! all the way up. Where nobody is found there, the account's own folders count, and nothing of the environment.

pub(crate) mod clients;
pub(crate) mod tree;

use crate::paths::PathVariables;
use model::Environment;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tree::{Link, StartVariables};

/// Who called this process.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    /// A person, or a script of a person's: the process speaks for itself.
    Itself,
    /// A client, with what it was started with.
    Client(StartVariables),
    /// A client that is out of sight: the chain ends at the top of what this process is shown, as in a sandbox.
    Hidden,
    /// A client that cannot be told for certain.
    Unknown,
}

/// Programs that only pass a command on. Ours is one: a hook works in a process of its own below it.
const PASSING: &[&str] =
    &["sh", "bash", "dash", "zsh", "fish", "ash", "ksh", "busybox", "timeout", "env", "nohup", "nice", "taut"];

/// A chain of processes is followed so far.
const HIGHEST: usize = 64;

/// The places of a hook: those of the client that called it, or else the account's.
pub fn places() -> PathVariables {
    match origin() {
        Origin::Itself => {
            let project = std::env::current_dir().ok().and_then(|folder| work_tree(&folder));
            let outside = |value: &OsString| !project.as_ref().is_some_and(|project| lies_in(value, project));
            PathVariables::of_environment(|name| own(name).filter(outside))
        }
        Origin::Client(first) => PathVariables::of_start(|name| value(first, name)),
        Origin::Hidden | Origin::Unknown => PathVariables::default(),
    }
}

/// The repository that a hook is called in, unless the user's own home lies in it. Whoever calls a hook, nobody keeps what
/// Taut is told there: it would be the repository that says it.
fn work_tree(folder: &Path) -> Option<PathBuf> {
    let home = crate::paths::account_home().unwrap_or_default();
    let project = crate::probe::project(folder, &home);
    let tree = PathBuf::from(project.work_tree);
    (project.git && !home.starts_with(&tree)).then_some(tree)
}

fn lies_in(value: &OsStr, tree: &Path) -> bool {
    let path = Path::new(value);
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()).starts_with(tree)
}

/// The places of any other command. In a client's sandbox it cannot see the client, or not look into it, and what it does
/// there weighs less than a hook's word: then it speaks for itself.
pub fn places_of_command() -> PathVariables {
    match origin() {
        Origin::Itself | Origin::Hidden | Origin::Unknown => PathVariables::of_environment(own),
        Origin::Client(first) => PathVariables::of_start(|name| value(first, name)),
    }
}

/// The variables of a hook as far as they count without a look at any other process, which could take its time.
pub fn environment_unseen() -> Environment {
    let mut told = allowed(std::env::vars_os());
    if is_marked() {
        told.0.retain(|name, _| agents::is_given_by_an_agent(name));
    }
    told
}

/// The variables a hook passes on: what the client itself tells its hooks, and all else as the client was started.
pub fn environment() -> Environment {
    let all = std::env::vars_os();
    match origin() {
        Origin::Itself => allowed(all),
        Origin::Client(first) => {
            let mut told = allowed(first.iter().cloned());
            told.0.retain(|name, _| !agents::is_given_by_an_agent(name));
            told.0.extend(allowed(all).0.into_iter().filter(|(name, _)| agents::is_given_by_an_agent(name)));
            told
        }
        Origin::Hidden | Origin::Unknown => {
            let mut told = allowed(all);
            told.0.retain(|name, _| agents::is_given_by_an_agent(name));
            told
        }
    }
}

/// Asked more than once in a process, and looked for once.
fn origin() -> &'static Origin {
    static FOUND: OnceLock<Origin> = OnceLock::new();
    FOUND.get_or_init(find)
}

fn find() -> Origin {
    let parent = std::os::unix::process::parent_id();
    let found = above(parent, is_marked());
    // Who has lost its parent meanwhile was read with somebody else's number.
    if std::os::unix::process::parent_id() == parent || found == Origin::Itself { found } else { Origin::Unknown }
}

fn is_marked() -> bool {
    std::env::vars_os().any(|(name, _)| clients::is_first_mark(&name))
}

/// Who is at or above `parent`, for a process that carries a mark or not.
fn above(parent: u32, marked: bool) -> Origin {
    let mut seen: Vec<Link> = Vec::new();
    let mut next = parent;
    let mut under_client = marked;
    while seen.len() < HIGHEST && next > 0 {
        let Some(link) = tree::link(next) else { break };
        seen.push(link);
        if !under_client {
            match kind(&tree::command_line(link.pid)) {
                Kind::Client => under_client = true,
                // A client gives its mark to all that it starts, so this one dropped it for what it started itself: tests
                // that an agent runs are not its hooks.
                Kind::Other if is_marked_process(link.pid) => return Origin::Itself,
                // A client that gives no mark may be further up, whatever stands between.
                Kind::Passing | Kind::Other => {}
            }
        }
        if under_client {
            match tree::first_environment(link.pid) {
                None if link.parent == 0 => return Origin::Hidden,
                None => return Origin::Unknown,
                Some(first) if first.iter().any(|(name, _)| clients::is_mark(name)) => {}
                // Who gives itself another name writes it over what it was started with: whoever started it counts.
                Some(first) if first.is_empty() && link.pid != 1 => {}
                // Whoever lost its parent is given to the first process, which is no client unless it is called so; in a
                // sandbox with processes of its own it is the one that made the sandbox.
                Some(_) if link.pid == 1 && kind(&tree::command_line(1)) != Kind::Client => return Origin::Hidden,
                Some(first) if tree::still_so(&seen) => return Origin::Client(first),
                Some(_) => return Origin::Unknown,
            }
        }
        next = link.parent;
    }
    match (under_client, next) {
        (false, _) => Origin::Itself,
        (true, 0) if !seen.is_empty() => Origin::Hidden,
        (true, _) => Origin::Unknown,
    }
}

fn is_marked_process(pid: u32) -> bool {
    tree::first_environment(pid).is_some_and(|first| first.iter().any(|(name, _)| clients::is_mark(name)))
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Client,
    Passing,
    Other,
}

fn kind(line: &[u8]) -> Kind {
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    let name = words.first().and_then(|word| word.rsplit(|byte| *byte == b'/').next()).unwrap_or_default();
    // So called when somebody logs in.
    let name = name.strip_prefix(b"-").unwrap_or(name);
    if clients::is_client(&words) {
        Kind::Client
    } else if PASSING.iter().any(|known| name == known.as_bytes()) {
        Kind::Passing
    } else {
        Kind::Other
    }
}

/// Whether a client started this process, whatever a repository has emptied.
pub fn is_under_client() -> bool {
    *origin() != Origin::Itself
}

/// What the user has said of a variable: in their own environment, or in the one their client was started with.
pub(crate) fn said(name: &str) -> Option<OsString> {
    match origin() {
        Origin::Itself => own(name),
        Origin::Client(first) => value(first, name),
        Origin::Hidden | Origin::Unknown => None,
    }
}

/// The same for a command that is told something by a variable, as text: never what a repository's settings say.
pub fn said_to_command(name: &str) -> Option<String> {
    said(name)?.into_string().ok().filter(|value| !value.is_empty())
}

fn own(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn value(first: &StartVariables, name: &str) -> Option<OsString> {
    first.iter().find(|(known, _)| known == OsStr::new(name)).map(|(_, value)| value.clone())
}

fn allowed(all: impl IntoIterator<Item = (OsString, OsString)>) -> Environment {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned()));
    Environment(all.into_iter().filter_map(text).filter(|(name, _)| agents::is_allowed(name)).collect())
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
