//! What rules ask of the whole line, worked out once for it: who reads what comes from whom, what the line makes,
//! moves and downloads. A rule that went through the line for each of its commands would cost the square of its length.

use crate::guarded_keys;
use crate::line_context::LineContext;
use crate::made;
use crate::parsed_call::ParsedCall;
use crate::path_actions::{PathAction, PathVerb};
use crate::place::PlaceKind;
use crate::rule::NEAR;
use crate::running;
use crate::secret_stores;
use bash::{Command, StdinSource};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Worked out as it is asked for; one for each judging of a call.
#[derive(Debug, Default)]
pub struct Index {
    fetched: OnceCell<Vec<bool>>,
    decoded: OnceCell<Vec<bool>>,
    generated: OnceCell<Vec<bool>>,
    searched: OnceCell<Vec<bool>>,
    secret: OnceCell<Vec<bool>>,
    secret_upstream: OnceCell<Vec<bool>>,
    environment: OnceCell<Vec<bool>>,
    piped: OnceCell<HashSet<usize>>,
    taken: OnceCell<HashSet<usize>>,
    answered: OnceCell<HashSet<usize>>,
    made: OnceCell<Vec<Entry>>,
    moved: OnceCell<Vec<Entry>>,
    downloads: OnceCell<HashMap<String, usize>>,
    sets: OnceCell<Option<(usize, String)>>,
}

/// A path that a command of the line makes, or moves something to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    path: String,
    at: usize,
    /// Whether it was not there before, as far as the command says.
    fresh: bool,
}

impl Index {
    /// Whether text from another machine reaches a command on its input.
    pub(crate) fn fetched(&self, parsed_call: &ParsedCall, at: usize) -> bool {
        is(
            self.fetched.get_or_init(|| {
                upstream(parsed_call, Reach::Any, |_, command| gives(parsed_call, command, running::fetches))
            }),
            at,
        )
    }

    /// Whether decoded text does.
    pub(crate) fn decoded(&self, parsed_call: &ParsedCall, at: usize) -> bool {
        is(
            self.decoded.get_or_init(|| {
                upstream(parsed_call, Reach::Any, |_, command| gives(parsed_call, command, running::decodes))
            }),
            at,
        )
    }

    /// Whether text that inline code prints does.
    pub(crate) fn generated(&self, parsed_call: &ParsedCall, at: usize) -> bool {
        is(
            self.generated.get_or_init(|| upstream(parsed_call, Reach::Any, |_, command| running::generates(command))),
            at,
        )
    }

    /// Whether what one of these programs finds does. Always asked with the same programs.
    pub(crate) fn searched(&self, parsed_call: &ParsedCall, at: usize, finders: &[&str]) -> bool {
        let finds = |at: usize, _: &Command| program(parsed_call, at).is_some_and(|name| finders.contains(&name));
        is(self.searched.get_or_init(|| upstream(parsed_call, Reach::Any, finds)), at)
    }

    /// Whether the command right before in the pipe prints the whole environment.
    pub(crate) fn environment(&self, parsed_call: &ParsedCall, at: usize) -> bool {
        let bare = |at: usize, command: &Command| {
            command.args().is_empty() && matches!(program(parsed_call, at), Some("env" | "printenv" | "set" | "export"))
        };
        is(self.environment.get_or_init(|| upstream(parsed_call, Reach::Next, bare)), at)
    }

    /// Whether a command prints secrets.
    pub(crate) fn gives_secrets(&self, parsed_call: &ParsedCall, ground: &LineContext<'_>, at: usize) -> bool {
        is(self.secrets(parsed_call, ground), at)
    }

    /// Whether secrets reach a command on its input.
    pub(crate) fn gets_secrets(&self, parsed_call: &ParsedCall, ground: &LineContext<'_>, at: usize) -> bool {
        let given = |at: usize, _: &Command| is(self.secrets(parsed_call, ground), at);
        is(self.secret_upstream.get_or_init(|| upstream(parsed_call, Reach::Any, given)), at)
    }

    fn secrets(&self, parsed_call: &ParsedCall, ground: &LineContext<'_>) -> &[bool] {
        self.secret.get_or_init(|| {
            let commands = parsed_call.reading.commands.iter().zip(&parsed_call.seen);
            commands.map(|(command, seen)| prints_secrets(command, &seen.acts, ground)).collect()
        })
    }

    /// Whether what a command prints goes to another.
    pub(crate) fn piped(&self, parsed_call: &ParsedCall, at: usize) -> bool {
        self.piped.get_or_init(|| read_by(parsed_call, |_| true)).contains(&at)
    }

    /// Whether what a command prints goes to a program that keeps or uses a secret and prints nothing of it.
    pub(crate) fn taken(&self, parsed_call: &ParsedCall, at: usize) -> bool {
        const TAKERS: &[&str] = &[
            "docker", "podman", "nerdctl", "buildah", "helm", "gh", "glab", "kubectl", "oc", "kubeseal", "skopeo",
            "crane", "oras", "ssh-add", "gpg", "pbcopy", "xclip", "wl-copy", "npm", "vercel", "wrangler", "fly",
            "flyctl", "vault", "git",
        ];
        let takes = |at: usize| program(parsed_call, at).is_some_and(|name| TAKERS.contains(&name));
        self.taken.get_or_init(|| read_by(parsed_call, takes)).contains(&at)
    }

    /// Whether what a command prints goes to another machine, which answers.
    pub(crate) fn answered(&self, parsed_call: &ParsedCall, at: usize) -> bool {
        let answers =
            |at: usize| matches!(program(parsed_call, at), Some("nc" | "ncat" | "netcat" | "socat" | "telnet"));
        self.answered.get_or_init(|| read_by(parsed_call, answers)).contains(&at)
    }

    /// Whether a command not far before makes `path`. `absent` when the world said that it is not there.
    pub(crate) fn makes(&self, parsed_call: &ParsedCall, path: &str, at: usize, absent: bool) -> bool {
        let near = near(at);
        let mut below = below(self.made.get_or_init(|| made_paths(parsed_call)), path).take(NEAR);
        // `mkdir -p a/b` makes `a` as well, where it was not there.
        below.any(|entry| near.contains(&entry.at) && (absent || (entry.fresh && entry.path == path)))
    }

    /// Whether a command not far before moves something that somebody kept to `path`.
    pub(crate) fn moves_to(&self, parsed_call: &ParsedCall, ground: &LineContext<'_>, path: &str, at: usize) -> bool {
        let near = near(at);
        let moved = self.moved.get_or_init(|| moved_paths(parsed_call, ground));
        let mut looked = 0;
        below(moved, path).take(NEAR + 1).any(|entry| {
            looked += 1;
            near.contains(&entry.at) || looked > NEAR
        })
    }

    /// Whether the line downloads the file at `path` before.
    pub(crate) fn downloads(&self, parsed_call: &ParsedCall, path: &str, at: usize) -> bool {
        self.downloads.get_or_init(|| downloaded_paths(parsed_call)).get(path).is_some_and(|first| *first < at)
    }
}

impl Index {
    /// The variable of those `names` that a command before sets for the rest of the line. Always asked with the same.
    pub(crate) fn sets(&self, parsed_call: &ParsedCall, at: usize, names: &[&str]) -> Option<&str> {
        let (first, name) = self.sets.get_or_init(|| first_set(parsed_call, names)).as_ref()?;
        (*first < at).then_some(name)
    }
}

/// Whether a command is of that kind, or prints what one is: `cat <(curl …)`.
fn gives(parsed_call: &ParsedCall, command: &Command, is: fn(&Command) -> bool) -> bool {
    let substituted = |word: &bash::Word| {
        let process = matches!(word.pieces.first(), Some(bash::WordPiece::Unknown(source)) if source.starts_with("<("));
        process && parsed_call.substitutions.of(word).iter().any(|reading| reading.commands.iter().any(is))
    };
    is(command) || command.args().iter().any(substituted)
}

/// The first command that sets one of the variables, and which.
fn first_set(parsed_call: &ParsedCall, names: &[&str]) -> Option<(usize, String)> {
    for (at, command) in parsed_call.reading.commands.iter().enumerate() {
        let bare = command.assignments.iter().map(|(name, _)| name.as_str()).filter(|_| command.words.is_empty());
        if let Some(name) = bare.into_iter().find(|name| names.contains(name)) {
            return Some((at, name.to_string()));
        }
        if matches!(program(parsed_call, at), Some("export" | "declare" | "typeset" | "env")) {
            let texts = command.args().iter().map(crate::args::text);
            let mut set = texts.filter_map(|word| word.split_once('=').map(|(name, _)| name.to_string()));
            if let Some(name) = set.find(|name| names.contains(&name.as_str())) {
                return Some((at, name));
            }
        }
    }
    None
}

/// How far up the pipe is looked.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    Next,
    Any,
}

fn is(table: &[bool], at: usize) -> bool {
    table.get(at).copied().unwrap_or_default()
}

fn program(parsed_call: &ParsedCall, at: usize) -> Option<&str> {
    parsed_call.seen.get(at)?.program.as_deref()
}

/// For each command, whether one that `wanted` holds for writes what it reads. Commands read from earlier ones only,
/// and those that read the same are asked for once.
fn upstream(parsed_call: &ParsedCall, reach: Reach, wanted: impl Fn(usize, &Command) -> bool) -> Vec<bool> {
    let commands = &parsed_call.reading.commands;
    let mut holds: Vec<bool> = Vec::with_capacity(commands.len());
    let mut reached: Vec<bool> = Vec::with_capacity(commands.len());
    let mut known: HashMap<*const usize, bool> = HashMap::new();
    for (at, command) in commands.iter().enumerate() {
        let from = match &command.feed {
            StdinSource::Pipe(from) => *known
                .entry(Arc::as_ptr(from).cast())
                .or_insert_with(|| from.iter().any(|&at| is(&holds, at) || (reach == Reach::Any && is(&reached, at)))),
            _ => false,
        };
        reached.push(from);
        holds.push(wanted(at, command));
    }
    reached
}

/// The commands whose output is read by one that `reader` holds for.
fn read_by(parsed_call: &ParsedCall, reader: impl Fn(usize) -> bool) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut known: HashSet<*const usize> = HashSet::new();
    for (at, command) in parsed_call.reading.commands.iter().enumerate() {
        if let StdinSource::Pipe(from) = &command.feed
            && reader(at)
            && known.insert(Arc::as_ptr(from).cast())
        {
            found.extend(from.iter().copied());
        }
    }
    found
}

/// Whether a command prints the environment, a stored secret or a file with secrets.
pub(crate) fn prints_secrets(command: &Command, acts: &[PathAction], ground: &LineContext<'_>) -> bool {
    acts.iter().any(|act| act.deed == PathVerb::Read && guarded_keys::read(ground, &act.target).is_some())
        || secret_stores::prints(command)
}

fn near(at: usize) -> std::ops::Range<usize> {
    at.saturating_sub(NEAR)..at
}

/// The entries at `path` or below it, of those sorted by path.
fn below<'e>(entries: &'e [Entry], path: &str) -> impl Iterator<Item = &'e Entry> {
    let start = entries.partition_point(|entry| entry.path.as_str() < path);
    let from = entries.get(start..).unwrap_or_default();
    // Between a folder and what is below it, names that only begin like it may stand: `a`, `a-b`, `a/b`.
    let own = from.iter().take_while({
        let path = path.to_string();
        move |entry| entry.path == path
    });
    let folder = format!("{}/", path.trim_end_matches('/'));
    let inside = entries.partition_point(|entry| entry.path < folder);
    let inside =
        entries.get(inside..).unwrap_or_default().iter().take_while(move |entry| entry.path.starts_with(&folder));
    own.chain(inside)
}

fn made_paths(parsed_call: &ParsedCall) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (at, (command, seen)) in parsed_call.reading.commands.iter().zip(&parsed_call.seen).enumerate() {
        let program = seen.program.as_deref().unwrap_or_default();
        // `mkdir -p` says nothing about what was there before.
        let fresh =
            || program != "mkdir" || !command.args().iter().any(|word| crate::args::text(word).starts_with("-p"));
        let targets = made::targets(program, command);
        let fresh = !targets.is_empty() && fresh();
        let paths = targets.into_iter().filter_map(|target| target.exact().map(str::to_string));
        entries.extend(paths.map(|path| Entry { path, at, fresh }));
    }
    entries.sort();
    entries
}

/// Where commands write that also take something from its place which no build brings back.
fn moved_paths(parsed_call: &ParsedCall, ground: &LineContext<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (at, seen) in parsed_call.seen.iter().enumerate() {
        let kept = |act: &PathAction| {
            let place = || ground.place(&act.target, seen.machine);
            // What stands behind a link was there before.
            let linked = seen.program.as_deref() == Some("ln") && act.deed == PathVerb::Write;
            linked
                || act.deed == PathVerb::Displace
                    && !matches!(place(), PlaceKind::Rebuildable | PlaceKind::Temp | PlaceKind::Cache)
        };
        if seen.acts.iter().any(kept) {
            let written = seen.acts.iter().filter(|act| act.deed == PathVerb::Write);
            let paths = written.filter_map(|act| act.target.path.clone());
            entries.extend(paths.map(|path| Entry { path, at, fresh: false }));
        }
    }
    entries.sort();
    entries
}

fn downloaded_paths(parsed_call: &ParsedCall) -> HashMap<String, usize> {
    let mut first = HashMap::new();
    for (at, (command, seen)) in parsed_call.reading.commands.iter().zip(&parsed_call.seen).enumerate() {
        if !seen.acts.iter().any(|act| act.deed == PathVerb::Write) || !running::fetches(command) {
            continue;
        }
        let written = seen.acts.iter().filter(|act| act.deed == PathVerb::Write);
        for path in written.filter_map(|act| running::unnamed(&act.target).or_else(|| act.target.exact())) {
            first.entry(path.to_string()).or_insert(at);
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::within;

    #[test]
    fn what_is_below_a_folder_is_found_among_names_that_only_begin_like_it() {
        let mut entries: Vec<Entry> = ["/a", "/a-b", "/a/b", "/a/b/c", "/ab", "/b"]
            .iter()
            .enumerate()
            .map(|(at, path)| Entry { path: path.to_string(), at, fresh: true })
            .collect();
        entries.sort();
        let found: Vec<&str> = below(&entries, "/a").map(|entry| entry.path.as_str()).collect();
        assert_eq!(found, ["/a", "/a/b", "/a/b/c"]);
        assert!(within("/a/b", "/a") && !within("/a-b", "/a"));
        assert_eq!(below(&entries, "/").count(), entries.len());
        assert_eq!(below(&entries, "/x").count(), 0);
    }
}
