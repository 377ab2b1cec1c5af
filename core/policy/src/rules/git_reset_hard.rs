//! `git-reset-hard`: reset that throws uncommitted work away.

use crate::git;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "git-reset-hard",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Reset that throws uncommitted work away",
    doc: "Stops, once, `git reset --hard` and `--merge`: changes that were never committed are \
          gone for good. Soft and mixed resets keep the files, `--keep` refuses where work would be lost; they pass.",
    instead: "Keep the changes: `git stash push -m before-reset`.",
    denies: &[
        "git reset --hard", "git reset --hard HEAD~3", "git reset --har origin/main", "git -C ../x reset --hard",
        "git reset --merge", "git --git-dir=.git reset --hard", "git reset --h",
    ],
    passes: &[
        "git reset", "git reset --keep HEAD~1", "git reset --soft HEAD~1", "git reset HEAD~1", "git reset --mixed",
        "git log --grep=\"reset --hard\"", "git reset src/main.rs", "git -C /tmp/x reset --hard",
    ],
    watch: RuleTrigger::Programs(&["git"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let Some(call) = sight.seen.git.as_ref().filter(|call| call.sub == "reset") else { return };
    let args = call.args();
    let throws_away = args.abbreviated("hard", 1) || args.abbreviated("merge", 2);
    if throws_away && !git::is_disposable(sight, call) {
        let why = "Changes that were never committed are thrown away.";
        hits.push(Hit::new(call.shown(), why).meaning("discard-changes", call.place()));
    }
}
