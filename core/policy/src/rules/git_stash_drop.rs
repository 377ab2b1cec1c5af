//! `git-stash-drop`: removal of stashed work.

use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "git-stash-drop",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Removal of stashed work",
    doc: "Stops, once, `git stash drop` and `git stash clear`: stashed changes have no branch that holds \
          them. Pushing, listing, showing and popping pass.",
    instead: "See what it holds: `git stash show -p`.",
    denies: &["git stash drop", "git stash clear", "git stash drop stash@{2}", "git -C sub stash clear"],
    passes: &[
        "git stash", "git stash list", "git stash pop", "git stash push -m wip", "git stash show -p", "git stash apply",
    ],
    watch: RuleTrigger::Programs(&["git"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let Some(call) = sight.seen.git.as_ref().filter(|call| call.sub == "stash") else { return };
    let args = call.args();
    let verb = args.operand(0).unwrap_or_default();
    if matches!(verb.as_ref(), "drop" | "clear") {
        let why = "Stashed changes are thrown away; no branch holds them.";
        hits.push(Hit::new(call.shown(), why).meaning("discard-stash", call.place()));
    }
}
