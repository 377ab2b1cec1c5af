//! `taut-files`: taut’s own files.

use crate::args::text;
use crate::guarded_keys;
use crate::links;
use crate::path_actions::{PathAction, PathVerb, Reach};
use crate::rule::{Hit, NEAR, Pack, Rule, RuleInput, RuleTrigger};
use crate::running::EXECUTORS;
use crate::target::Target;
use bash::{Command, StdinSource, Via, Word};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "taut-files",
    pack: Pack::SelfProtection,
    kind: RuleKind::Deny,
    title: "Taut’s own files",
    doc: "Stops writing, moving, mounting over or removing Taut's configuration, database, state folder or binary, by \
          the shell or by the agent's edit tools, also through a link; opening its database; speaking to its sockets by \
          hand; and ending its daemon by a number that was looked up.",
    instead: "Ask the user to change it; `taut policy show rm-root` shows what holds.",
    denies: &[
        "rm -rf ~/.local/state/taut",
        "echo x > .taut/config.toml",
        "Edit: ~/.config/taut/config.toml",
        "sed -i s/enforce/observe/ .taut/config.local.toml",
        "sqlite3 ~/.local/state/taut/taut.db \"delete from strikes\"",
        "Write: .taut/config.toml",
        "mv ~/.cargo/bin/taut /tmp/",
        "rm $(which taut)",
        "kill $(cat ~/.local/state/taut/daemon.pid)",
        "chmod -x ~/.cargo/bin/taut",
        "mount -t tmpfs none ~/.config/taut",
        "mount --bind /tmp/x ~/.local/state",
        "umount ~/.local/state/taut",
        "mv ~/.config ~/.config.old",
        "nc -U ~/.local/state/taut/taut.sock",
        "echo '{}' | socat - UNIX-CONNECT:/home/dev/.local/state/taut/taut.sock",
        "curl --unix-socket ~/.local/state/taut/taut.sock http://x/",
        "python3 -c \"import socket; s=socket.socket(socket.AF_UNIX); s.connect('/run/taut.sock')\"",
        "nc -U ~/.local/state/taut/supervised/4242.sock",
        "cd ~/.local/state/taut/supervised && echo '{\"do\":\"enter\"}' | socat - UNIX-CONNECT:4242.sock",
        "python3 -c \"import socket; s=socket.socket(socket.AF_UNIX); s.connect('/home/dev/x/supervised/57.sock')\"",
        "cd ~/.local/state/taut/supervised && python3 /tmp/t.py 57.sock",
        "P=~/.local/state/taut/supervised/57.sock node -e 'require(\"net\").connect(process.env.P)'",
        "./press-enter ~/.local/state/taut/supervised/57.sock",
        "cat ~/.local/state/taut/daemon.pid | xargs kill",
        "pgrep -f 'taut daemon' | xargs kill",
        "ln -s ~/.config c && echo x > c/taut/config.toml",
        "cd ~/.local/state && ln -s taut t && rm t/taut.db",
    ],
    passes: &[
        "cat .taut/config.toml", "ls ~/.local/state/taut", "Write: .taut/hooks/started", "echo taut",
        "rm -rf .taut/logs", "Write: docs/taut.md", "chmod +x $(git ls-files taut)", "mount", "umount /mnt/usb",
        "nc -U /tmp/app.sock", "curl --unix-socket /var/run/docker.sock http://x/info", "grep -rn taut.sock docs",
        "ls ~/.local/state/taut/supervised", "python3 train.py --supervised",
        "python3 -m pytest tests/supervised/test_x.py", "git commit -m 'the socket lies in supervised/57.sock'",
        "grep -rn supervised/57.sock docs", "ps aux | grep taut", "cat server.pid | xargs kill", "which taut",
    ],
    watch: RuleTrigger::Line,
    judge,
};

/// The daemon's, or one on which `taut run` takes what is typed to an agent.
fn names_a_socket(line: &str) -> bool {
    line.contains("taut.sock") || names_a_supervised(line)
}

fn names_a_supervised(line: &str) -> bool {
    line.contains("supervised") && line.contains(".sock")
}

/// They look at a path, or only say it.
const LOOKS: &[&str] = &[
    "[", "[[", "basename", "cat", "cd", "dirname", "du", "echo", "fd", "file", "find", "git", "grep", "head", "ls",
    "printf", "readlink", "realpath", "rg", "stat", "tail", "taut", "test", "tree", "wc",
];

fn judge(line: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let parsed_call = line.parsed_call;
    let names_socket = parsed_call.line.as_deref().is_some_and(names_a_socket);
    for (at, (command, seen)) in parsed_call.reading.commands.iter().zip(&parsed_call.seen).enumerate() {
        let sight = RuleInput { command, seen, at, ..*line };
        let own = |target: &Target| guarded_keys::tauts(&parsed_call.around, line.ground, target);
        let holds = |target: &Target| guarded_keys::holds_tauts(&parsed_call.around, line.ground, target);
        let changes = seen.acts.iter().filter(|act| !matches!(act.deed, PathVerb::Read | PathVerb::Send));
        let touches = |act: &&PathAction| {
            let taken = matches!(act.deed, PathVerb::Remove(Reach::Tree) | PathVerb::Displace);
            own(&act.target) || taken && holds(&act.target) || sight.real(act).is_some_and(|real| own(&real))
        };
        let changed: Vec<&PathAction> = changes.filter(touches).collect();
        let opened = opened(&sight).into_iter().find(|target| own(target) || mounts(&sight) && holds(target));
        // Which of them an agent may write after all is known only with what it works on.
        let written =
            opened.is_none().then(|| changed.iter().map(|act| written(&sight, act)).collect::<Option<Vec<_>>>());
        if let Some(target) = changed.first().map(|act| act.target.clone()).or(opened) {
            let subject = if command.words.is_empty() { format!("> {}", target.shown) } else { sight.shown() };
            let reason = format!("`{}` is Taut's own; an agent cannot turn its guard off.", target.shown);
            let written = written.flatten().unwrap_or_default();
            hits.push(Hit::new(subject, reason).about(target.path.as_deref()).only_writing(written).of(at));
        } else if is_found(&sight) || names_socket && speaks_to_socket(&sight) {
            let reason = "This is about Taut's own program or daemon; an agent cannot turn its guard off.";
            hits.push(Hit::new(sight.shown(), reason).of(at));
        }
    }
}

/// Where a plain write really goes; `None` for every other deed, and where that is not certain.
fn written(sight: &RuleInput<'_>, act: &PathAction) -> Option<String> {
    let asked = links::as_written(&act.target, sight.command.cwd.as_deref())?;
    let certain = act.deed == PathVerb::Write && act.target.exact().is_some() && !act.target.bound;
    let fact = sight.ground.facts.path(&asked).filter(|fact| certain && !fact.real.is_empty())?;
    Some(fact.real.clone())
}

fn mounts(sight: &RuleInput<'_>) -> bool {
    matches!(sight.program(), "mount" | "umount" | "bindfs" | "fusermount" | "fusermount3")
}

/// Files and sockets that a program opens by a word of its own, and files that get a second name.
fn opened(sight: &RuleInput<'_>) -> Vec<Target> {
    let args = sight.command.args();
    let cwd = sight.command.cwd.as_deref();
    let whole = |word: &Word| Target::of(word, cwd);
    match sight.program() {
        "sqlite3" | "sqlite" | "litecli" | "nc" | "ncat" | "netcat" | "mount" | "umount" | "bindfs" | "fusermount"
        | "fusermount3" | "fuser" => args.iter().map(whole).collect(),
        // `UNIX-CONNECT:/path,option`, `unix:/path`, `ws+unix:///path`
        "socat" | "websocat" | "websocketd" | "grpcurl" => {
            let parts = args.iter().map(text).flat_map(|word| {
                let path = word.split_once(':').map(|(_, path)| path.split(',').next().unwrap_or_default().to_string());
                path.map(|path| path.replacen("//", "", 1))
            });
            parts.map(|path| Target::path(&path, cwd)).chain(args.iter().map(whole)).collect()
        }
        "curl" | "http" | "https" | "xh" => {
            let value = |at: usize, word: &Word| match text(word).split_once('=') {
                Some(("--unix-socket" | "--abstract-unix-socket", path)) => Some(Target::path(path, cwd)),
                None if text(word) == "--unix-socket" => args.get(at + 1).map(whole),
                _ => None,
            };
            args.iter().enumerate().filter_map(|(at, word)| value(at, word)).collect()
        }
        program => links::hard_linked(program, sight.command),
    }
}

/// `kill $(cat …/taut/daemon.pid)`, `rm $(which taut)`, `pgrep taut | xargs kill`.
fn is_found(sight: &RuleInput<'_>) -> bool {
    let changes = matches!(
        sight.program(),
        "kill"
            | "rm"
            | "mv"
            | "cp"
            | "ln"
            | "install"
            | "dd"
            | "chmod"
            | "unlink"
            | "truncate"
            | "tee"
            | "shred"
            | "chattr"
    );
    if !changes {
        return false;
    }
    let before = sight.parsed_call.reading.commands.get(..sight.at).unwrap_or_default();
    let near = before.iter().rev().take(NEAR);
    let inside = |other: &&Command| other.via.get(sight.command.via.len()) == Some(&Via::Substitution);
    let fed = matches!(sight.command.feed, StdinSource::Pipe(_))
        && matches!(sight.command.via.last(), Some(Via::Wrapper(name)) if name == "xargs" || name == "parallel");
    near.clone().take_while(inside).any(names_taut) || fed && near.take(8).any(finds_taut)
}

/// `$(which taut)`, `$(cat …/taut/daemon.pid)`. What a repository has under that name is work.
fn names_taut(command: &Command) -> bool {
    let listed =
        matches!(command.program().as_deref(), Some("git" | "ls" | "echo" | "printf" | "basename" | "dirname"));
    !listed && command.args().iter().any(|word| word.shown().split('/').any(|part| part == "taut"))
}

/// A search for Taut's processes or files.
fn finds_taut(command: &Command) -> bool {
    let searches = matches!(
        command.program().as_deref(),
        Some(
            "pgrep"
                | "pidof"
                | "which"
                | "whereis"
                | "command"
                | "type"
                | "grep"
                | "rg"
                | "awk"
                | "cat"
                | "lsof"
                | "fuser"
        )
    );
    let own = |word: &Word| {
        let shown = word.shown();
        let plain = shown.replace(['[', ']', '^', '$'], "");
        plain == "taut"
            || plain.starts_with("taut ")
            || shown.contains("/taut/daemon.")
            || shown.ends_with("/taut.sock")
    };
    searches && command.args().iter().any(own)
}

/// Code that connects to the daemon or to a supervisor, and any program that is given a supervisor's socket.
fn speaks_to_socket(sight: &RuleInput<'_>) -> bool {
    let program = sight.program();
    let is_supervised =
        |path: &str| path.contains("supervised/") && path.ends_with(".sock") && !path.contains(char::is_whitespace);
    if !EXECUTORS.contains(&program) && !program.starts_with("python") {
        return !LOOKS.contains(&program) && sight.command.args().iter().any(|word| is_supervised(&text(word)));
    }
    // Wherever it stands: code gets it by a variable, from its folder or as a word.
    if sight.parsed_call.line.as_deref().is_some_and(names_a_supervised) {
        return true;
    }
    let connects = |code: &str| {
        code.contains("taut.sock")
            && ["connect", "Connect", "UNIX", "Unix", "unix"].iter().any(|word| code.contains(word))
    };
    let fed = match &sight.command.feed {
        StdinSource::Text(code) => connects(code),
        _ => false,
    };
    fed || sight.command.args().iter().any(|word| connects(&text(word)))
}
