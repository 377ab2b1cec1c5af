//! `taut-files`: taut’s own files.

use crate::guarded_keys;
use crate::path_actions::PathVerb;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::target::Target;
use bash::{Command, Via};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "taut-files",
    pack: Pack::SelfProtection,
    kind: RuleKind::Deny,
    title: "Taut’s own files",
    doc: "Stops writing, moving or removing Taut's configuration, database, state folder or binary, by the \
          shell or by the agent's edit tools, and opening its database.",
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
    ],
    passes: &[
        "cat .taut/config.toml", "ls ~/.local/state/taut", "Write: .taut/hooks/started", "echo taut",
        "rm -rf .taut/logs", "Write: docs/taut.md",
    ],
    watch: RuleTrigger::Line,
    judge,
};

fn judge(line: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let parsed_call = line.parsed_call;
    for (at, (command, seen)) in parsed_call.reading.commands.iter().zip(&parsed_call.seen).enumerate() {
        let sight = RuleInput { command, seen, at, ..*line };
        let changes = seen.acts.iter().filter(|act| !matches!(act.deed, PathVerb::Read | PathVerb::Send));
        let mut touched: Vec<&Target> = changes.map(|act| &act.target).collect();
        let opened: Vec<Target> = match sight.program() {
            "sqlite3" | "sqlite" | "litecli" => {
                command.args().iter().map(|word| Target::of(word, command.cwd.as_deref())).collect()
            }
            _ => Vec::new(),
        };
        touched.extend(&opened);
        let changes = matches!(
            sight.program(),
            "kill" | "rm" | "mv" | "cp" | "ln" | "install" | "dd" | "chmod" | "unlink" | "truncate" | "tee"
        );
        let before = parsed_call.reading.commands.get(..at).unwrap_or_default();
        let inside = |other: &&Command| other.via.get(command.via.len()) == Some(&Via::Substitution);
        let named = changes && before.iter().rev().take_while(inside).any(names_taut);
        if let Some(target) =
            touched.iter().find(|target| guarded_keys::tauts(&parsed_call.around, line.ground, target))
        {
            let subject = if command.words.is_empty() { format!("> {}", target.shown) } else { sight.shown() };
            let reason = format!("`{}` is Taut's own; an agent cannot turn its guard off.", target.shown);
            hits.push(Hit::new(subject, reason).about(target.path.as_deref()).of(at));
        } else if named {
            hits.push(
                Hit::new(
                    sight.shown(),
                    "This is about Taut's own program or daemon; an agent cannot turn its guard off.",
                )
                .of(at),
            );
        }
    }
}

/// `$(which taut)`, `$(cat …/taut/daemon.pid)`.
fn names_taut(command: &Command) -> bool {
    command.args().iter().any(|word| word.shown().split('/').any(|part| part == "taut"))
}
