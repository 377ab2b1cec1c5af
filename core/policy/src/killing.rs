//! Which processes a command would end by something other than their number.

use crate::args::{Args, Grammar, text};
use crate::parsed_call::Around;
use crate::rule::RuleInput;
use crate::source::Substitutions;
use bash::{Command, StdinSource, Via, Word};
use model::fact::{Picked, PickedBy, ProcessPick};
use std::borrow::Cow;

/// A name that picks processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamePick {
    pub pattern: String,
    pub by: PickedBy,
}

impl NamePick {
    /// The question to the world; `None` where no client is known.
    pub(crate) fn from(self, around: &Around) -> Option<ProcessPick> {
        let client = around.client?;
        Some(ProcessPick { pattern: self.pattern, by: self.by, client, marks: around.marks.clone() })
    }
}

const PKILL: Grammar = Grammar {
    short: "uUGgtPsFrd",
    long: &["signal", "euid", "uid", "group", "pgroup", "parent", "session", "terminal", "pidfile", "ns", "nslist"],
    single_dash_long: false,
};
const KILLALL: Grammar = Grammar {
    short: "suynoZ",
    long: &["signal", "user", "younger-than", "older-than", "ns", "context"],
    single_dash_long: false,
};

/// The names by which a command picks what it ends; `None` when it picks otherwise, or only the run would tell.
pub(crate) fn picks(command: &Command, program: &str, substitutions: &Substitutions) -> Option<Vec<NamePick>> {
    match program {
        "pkill" | "killall" | "pgrep" | "pidof" => names(program, command.args()),
        "kill" => {
            let sources: Vec<_> = command.args().iter().flat_map(|word| substitutions.of(word)).collect();
            let [reading] = sources.as_slice() else { return None };
            match reading.commands.as_slice() {
                [only] => names(only.program().as_deref()?, only.args()),
                _ => None,
            }
        }
        _ => None,
    }
}

fn names(program: &str, words: &[Word]) -> Option<Vec<NamePick>> {
    let words: Vec<Word> = words.iter().filter(|word| !is_signal(&text(word))).cloned().collect();
    let args = Args::parse(&words, if program == "killall" { KILLALL } else { PKILL });
    let by = if args.short('f') || args.long_flag("full") { PickedBy::Line } else { PickedBy::Name };
    let inverse = args.short('v') || args.long_flag("inverse");
    let known: Option<Vec<String>> = args.operands.iter().map(|word| word.known()).collect();
    let known = known.filter(|names| !names.is_empty() && !inverse)?;
    let pick = |pattern: String| match program {
        // Without its option `killall` takes whole names only.
        "killall" | "pidof" => NamePick { pattern: format!("^{pattern}$"), by: PickedBy::Name },
        _ => NamePick { pattern, by },
    };
    matches!(program, "pkill" | "pgrep" | "killall" | "pidof").then(|| known.into_iter().map(pick).collect())
}

/// `-9`, `-KILL`, `-SIGTERM`.
fn is_signal(word: &str) -> bool {
    let Some(name) = word.strip_prefix('-') else { return false };
    let number = name.chars().all(|c| c.is_ascii_digit()) && !name.is_empty();
    number || (name.len() > 2 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()))
}

/// Programs that so many people and agents run that a name alone picks nobody's in particular.
const SHARED: &[&str] = &[
    "node", "python", "python3", "java", "ruby", "php", "deno", "bun", "go", "cargo", "chrome", "chromium", "firefox",
    "code", "cursor", "docker", "dockerd", "containerd", "postgres", "mysqld", "redis-server", "nginx", "apache2",
    "httpd", "ssh", "sshd", "bash", "zsh", "sh", "fish", "tmux", "screen", "npm", "electron",
];

/// Whether all that would be ended was started by this agent, or by this line, or is not there.
pub(crate) fn only_own(sight: &RuleInput<'_>) -> bool {
    let piped = || upstream(sight).find_map(|source| names(source.program().as_deref()?, source.args()));
    let picks = picks(sight.command, sight.program(), &sight.parsed_call.substitutions).or_else(piped);
    let Some(picks) = picks else { return false };
    picks.into_iter().all(|pick| {
        let asked = pick.clone().from(&sight.parsed_call.around);
        match asked.and_then(|asked| sight.ground.facts.picked(&asked)) {
            Some(Picked::Own) => true,
            Some(Picked::Others) => false,
            // A name that picks nobody now may pick somebody by the time the call runs.
            Some(Picked::Nobody) | None => started_here(sight, &pick),
        }
    })
}

/// How far up a pipe is looked for what picks the processes.
const HIGHEST: usize = 4;

/// The commands that write what this one is fed with, nearest first.
pub(crate) fn upstream<'a>(sight: &RuleInput<'a>) -> impl Iterator<Item = &'a Command> {
    let commands = &sight.parsed_call.reading.commands;
    let writer = |command: &&'a Command| match &command.feed {
        StdinSource::Pipe(from) => from.first().and_then(|at| commands.get(*at)),
        _ => None,
    };
    std::iter::successors(Some(sight.command), writer).skip(1).take(HIGHEST)
}

fn bare(pattern: &str) -> &str {
    pattern.trim_start_matches('^').trim_end_matches('$')
}

/// Whether a command before in the line runs in the background under that name.
fn started_here(sight: &RuleInput<'_>, pick: &NamePick) -> bool {
    let wanted = bare(&pick.pattern);
    let named = |name: &str| name == wanted || (name.starts_with(wanted) && !SHARED.contains(&wanted));
    sight.earlier().any(|(at, seen)| {
        let Some(command) = sight.parsed_call.reading.commands.get(at) else { return false };
        let shown = || crate::rule::shown(command);
        command.via.contains(&Via::Background)
            && match pick.by {
                PickedBy::Line => wanted.len() > 3 && shown().contains(wanted),
                PickedBy::Name => seen.program.as_deref().is_some_and(named),
            }
    })
}

/// The port by which a command or what it is fed with picks a process: `lsof -ti:3000`, `fuser -k 3000/tcp`.
pub(crate) fn port(command: &Command, program: &str) -> Option<String> {
    let words: Vec<Cow<'_, str>> = command.args().iter().map(text).collect();
    let number = |text: &str| (!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())).then(|| text.to_string());
    match program {
        "lsof" => words.iter().find_map(|word| {
            let (before, after) = word.rsplit_once(':')?;
            (before.is_empty() || before.starts_with('-') || before.contains("tcp")).then(|| number(after))?
        }),
        "fuser" => words.iter().find_map(|word| number(word.strip_suffix("/tcp").or(word.strip_suffix("/udp"))?)),
        "kill-port" | "fkill" => words
            .iter()
            .find_map(|word| number(word.trim_start_matches(':')).or_else(|| number(word.strip_prefix("--port=")?))),
        _ => None,
    }
}
