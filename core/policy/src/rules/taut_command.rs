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
          for the user: `taut uninstall`, `init`, `trust`, `pause`, `allow`, `policy allow`, `config edit`, `loop`, \
          `run`, `hook`, `rpc`, `daemon`, `db`, `ui`, `statusline`, `notify on|off|test`, and any command of Taut's \
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
        "taut memory off --project --yes",
        "XDG_CONFIG_HOME=/tmp/x taut notify test",
        "EDITOR='cp /tmp/x' taut config edit --yes",
        "unset CLAUDECODE; taut loop build --yes",
        "taut allow k7",
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
        "taut config show --origin", "taut trust --show", "taut init --dry-run", "taut daemon status",
        "taut loop --help", "taut help pause", "taut log 'taut pause 1h'", "tmux new-window 'taut top'",
        "engine start", "git commit -m 'taut pause'",
    ],
    watch: RuleTrigger::Programs(&["taut", "engine"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    let words: Vec<&str> = call.words.iter().map(AsRef::as_ref).collect();
    let only_looks = match words.as_slice() {
        // The words of a supervised agent are its own.
        ["run", ..] => false,
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
