//! `taut-command`: taut’s commands for people.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "taut-command",
    pack: Pack::SelfProtection,
    kind: RuleKind::Deny,
    title: "Taut’s commands for people",
    doc: "Stops an agent from running the commands that turn Taut off or speak past it: `taut uninstall`, \
          `init`, `trust`, `pause`, `policy allow`, `config edit`, `hook`, `rpc`, `daemon`, `db`, `statusline`, `notify on|off|test`. They need a person at a \
          real terminal.",
    instead: "Ask the user to run it; `taut explain 'git push'` says what a command would get.",
    denies: &[
        "taut uninstall", "taut pause 1h", "taut policy allow git-force-push", "taut trust", "taut init --project",
        "taut daemon stop", "taut rpc hooks.preToolUse", "taut hook --agent claude-code", "/usr/bin/taut db dump",
        "env taut uninstall --yes", "engine pause 5m", "echo '{}' | taut statusline",
        "taut notify on --command /tmp/x --yes", "XDG_CONFIG_HOME=/tmp/x taut notify test",
        "EDITOR='cp /tmp/x' taut config edit --yes",
    ],
    passes: &[
        "taut explain 'rm -rf /'", "taut task list", "taut status \"working\"", "taut policy list",
        "taut policy show rm-root", "taut log note", "taut events --json", "echo taut uninstall", "taut --help",
        "taut session dehydrate", "taut notify status", "taut config show --origin",
    ],
    watch: RuleTrigger::Programs(&["taut", "engine"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    if call.flag("help") || call.flag("version") {
        return;
    }
    let denied = match call.word(0) {
        "uninstall" | "init" | "trust" | "pause" | "resume" | "hook" | "rpc" | "daemon" | "db" | "statusline"
        | "undo" => true,
        "notify" => matches!(call.word(1), "on" | "off" | "test" | "deliver"),
        "config" => call.word(1) == "edit",
        "policy" => matches!(call.word(1), "allow" | "pack" | "off" | "set" | "disallow"),
        _ => false,
    };
    if denied {
        report(sight, "This is for a person at a terminal, not for an agent.", hits);
    }
}
