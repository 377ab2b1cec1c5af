//! `taut-command`: taut’s commands for people.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::taut_commands::{CommandAudience, audience};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "taut-command",
    pack: Pack::SelfProtection,
    kind: RuleKind::Deny,
    title: "Taut’s commands for people",
    doc: "Stops an agent from running the commands that change what the guard does, speak past it, start agents or act \
          for the user: `taut uninstall`, `init`, `trust`, `pause`, `allow`, `answer`, `policy allow`, `config edit`, `loop`, \
          `run`, `hook`, `rpc`, `daemon`, `db`, `ui`, `statusline`, `notify on|off|test`, `shared connect|disconnect|import|key|migrate|trust`, \
          and any command of Taut's \
          that is not declared to be for agents. They need a person at a real terminal: another terminal, a \
          multiplexer, a schedule or a script around them is opened and changes nothing.",
    instead: "Ask the user to run it in their own terminal; `taut --help` says what else there is.",
    denies: &[
        "taut uninstall",
        "taut pause 1h",
        "taut policy allow git-force-push",
        "taut trust",
        "taut init --project",
        "taut daemon stop",
        "taut rpc hooks.preToolUse",
        "taut hook --agent claude-code",
        "/usr/bin/taut db backup x",
        "env taut uninstall --yes",
        "engine pause 5m",
        "echo '{}' | taut statusline",
        "taut notify on --command /tmp/x --yes",
        "taut memory on --yes",
        "taut shared connect postgresql://elsewhere/db --yes",
        "taut shared disconnect --all --yes",
        "taut shared deliver --config /tmp/x",
        "taut shared migrate",
        "taut shared trust laptop",
        "TAUT_DATABASE_URL=postgresql://elsewhere/db taut shared import --yes",
        "taut memory off --project --yes",
        "XDG_CONFIG_HOME=/tmp/x taut notify test",
        "EDITOR='cp /tmp/x' taut config edit --yes",
        "unset CLAUDECODE; taut loop build --yes",
        "taut allow k7",
        "taut answer",
        "taut answer api --allow",
        "taut answer --card 9f3c21ab --deny no",
        "env -i HOME=/home/dev /usr/local/bin/taut answer api --choose SQLite",
        "sh -c 'unset TAUT_AGENT_ID CLAUDECODE; taut answer api --allow'",
        "tmux send-keys -t main:1 'taut answer api --allow' Enter",
        "tmux new-window 'taut answer api'",
        "taut answer --words status bob --choose Yes",
        "taut answer --deny status bob",
        "taut answer --card status --allow",
        "taut answer --json status bob --allow",
        "taut --json answer --choose status bob",
        "taut answer --words=x status bob",
        "taut answer status bob",
        "taut answer bob --words --help",
        "taut answer -- status bob",
        "tmux send-keys 'taut answer --words status bob --choose Yes' Enter",
        "tmux send-keys -t %1 -l taut",
        "tmux send-keys -t %1 'taut top' Enter",
        "tmux send-keys -t 1 'ta' \\; send-keys -t 1 'ut answer bob --allow' Enter",
        "tmux send-keys -t 1 ta\\; send-keys -t 1 'ut answer bob --allow' Enter",
        "tmux send-keys -l ta; tmux send-keys -l \"ut\"; sleep 1; tmux send-keys ' answer bob --allow' Enter",
        "tmux send-keys t a u t Space p a u s e",
        "tmux send-keys taux BSpace t",
        "tmux send-keys -H 74 61 75 74",
        "xdotool type taut",
        "alias t=taut; t answer api --allow",
        "taut answer on --yes",
        "taut answer wait --agent claude-code < /tmp/payload",
        "taut answer wait --agent claude-code --help",
        "taut policy forget 1",
        "taut run",
        "taut --json loop plan",
        "taut ui",
        "taut \"$verb\"",
        "env -u CLAUDECODE script -qc 'taut loop build --yes -n 1' /dev/null",
        "script -q /dev/null taut trust --yes",
        "tmux if-shell true 'run-shell \"taut pause 1h\"'",
        "expect -c 'spawn -noecho taut pause 1h; interact'",
        "gnome-terminal -- taut pause 1h",
        "zellij run -- taut pause 1h",
    ],
    passes: &[
        "taut explain 'rm -rf /'", "taut task list", "taut status \"working\"", "taut policy list",
        "taut policy show rm-root", "taut log note", "taut events --json", "echo taut uninstall", "taut --help",
        "taut session dehydrate", "taut notify status", "taut memory on --dry-run", "taut remember 'use make'",
        "taut shared status --check", "taut shared sync --once", "taut shared refused", "taut shared export",
        "taut shared connect --help", "taut answer status", "taut --json answer status --help", "taut answer --help",
        "taut answer on --help", "tmux send-keys -l ls; tmux send-keys ' -l' Enter",
        "tmux send-keys 'echo taut' Enter", "taut help answer", "taut config show --origin", "taut trust --show",
        "taut init --dry-run", "taut daemon status", "taut loop --help", "taut help pause", "taut log 'taut pause 1h'",
        "tmux new-window 'taut top'", "engine start", "git commit -m 'taut pause'",
    ],
    watch: RuleTrigger::Programs(&["taut", "engine"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    let words: Vec<&str> = call.words.iter().map(AsRef::as_ref).collect();
    // More may be typed behind it, by another line and by other means.
    if sight.command.typed && sight.program() == "taut" {
        report(sight, "What is typed into another terminal counts as the user's own doing.", hits);
        return;
    }
    let only_looks = match words.as_slice() {
        // The words of a supervised agent are its own.
        ["run", ..] => false,
        // Any word there may be an agent's name, or what an option says.
        ["answer", ..] if !is_about_answers(sight) => {
            return report(sight, "This is for a person at a terminal, not for an agent.", hits);
        }
        ["answer", ..] => true,
        ["trust"] if call.flag("show") => true,
        ["init" | "uninstall"] | ["memory", "on" | "off"] if call.flag("dry-run") => true,
        _ => call.flag("help") || call.flag("version") || call.args.short('h'),
    };
    if only_looks {
        return;
    }
    match audience(&words) {
        Some(CommandAudience::Agents) => {}
        Some(CommandAudience::People) => report(sight, "This is for a person at a terminal, not for an agent.", hits),
        // Another program may be called by the old name.
        None if sight.program() == "engine" => {}
        None => report(sight, "This is none of Taut's commands for agents.", hits),
    }
}

/// `taut answer status` and the help of commands, and not a word more.
fn is_about_answers(sight: &RuleInput<'_>) -> bool {
    let words: Vec<_> = sight.command.args().iter().map(crate::args::text).collect();
    let is_help = |word: &str| matches!(word, "--help" | "-h");
    let plain: Vec<&str> = words.iter().map(AsRef::as_ref).filter(|word| *word != "--json" && !is_help(word)).collect();
    match plain.as_slice() {
        ["answer", "status"] => true,
        // The holder's line is read before any option is: with `--help` it does what it does.
        ["answer"] | ["answer", "on" | "off" | "help"] => words.iter().any(|word| is_help(word)),
        ["answer", "help", _] => true,
        _ => false,
    }
}
