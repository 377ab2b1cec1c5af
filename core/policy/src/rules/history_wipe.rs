//! `history-wipe`: wiping the record of what was run.

use crate::args::text;
use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "history-wipe",
    pack: Pack::ProtectedPaths,
    kind: RuleKind::Deny,
    title: "Wiping the record of what was run",
    doc: "Stops clearing the shell's history and turning its recording off: what an agent ran must stay \
          readable.",
    instead: "Leave it; read it with `history`.",
    denies: &["history -c", "history -cw", "unset HISTFILE", "set +o history", "export HISTFILE=/dev/null"],
    passes: &["history", "history 20", "git log", "echo history -c"],
    watch: RuleTrigger::Programs(&["history", "unset", "export", "declare", "typeset", "set"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let mut words = sight.command.args().iter().map(text);
    let wipes = match sight.program() {
        "history" => words.any(|word| word.starts_with('-') && word.contains('c')),
        "unset" => words.any(|word| word == "HISTFILE"),
        "set" => words.next().is_some_and(|word| word == "+o") && words.next().is_some_and(|word| word == "history"),
        _ => words
            .any(|word| matches!(word.as_ref(), "HISTFILE=/dev/null" | "HISTFILE=" | "HISTSIZE=0" | "HISTFILESIZE=0")),
    };
    if wipes {
        report(sight, "The record of what was run is wiped.", hits);
    }
}
