//! `git-branch-delete`: removal of unmerged branches.

use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "git-branch-delete",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Removal of unmerged branches",
    doc: "Stops, once, `git branch -D` and its spellings, which remove a branch whether or not its commits \
          are merged, and `git branch -f`, which moves one off its commits. `git branch -d` refuses \
          unmerged branches by itself and passes.",
    instead: "Let git check that it is merged: `git branch -d my-branch`.",
    denies: &[
        "git branch -D feature", "git branch -d --force feature", "git branch --delete -f old", "git branch -df old",
        "git branch -f main HEAD~3",
    ],
    passes: &[
        "git branch -d merged", "git branch --list", "git branch -M main", "git branch new-branch", "git branch -a",
        "git branch --show-current",
    ],
    watch: RuleTrigger::Programs(&["git"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let Some(call) = sight.seen.git.as_ref().filter(|call| call.sub == "branch") else { return };
    let args = call.args();
    let force = args.short('f') || args.abbreviated("force", 3);
    let deletes = args.short('d') || args.abbreviated("delete", 1);
    let moves = force && !deletes && !args.any_short("mMcC") && !args.operands.is_empty();
    if args.short('D') || (deletes && force) {
        let why = "The branch goes whether or not its commits are merged anywhere.";
        let target = format!("{}:{}", call.place(), args.operand(0).unwrap_or_default());
        hits.push(Hit::new(call.shown(), why).meaning("remove-branch", target));
    } else if moves {
        let why = "The branch is moved off the commits it holds.";
        let target = format!("{}:{}", call.place(), args.operand(0).unwrap_or_default());
        hits.push(Hit::new(call.shown(), why).meaning("move-branch", target));
    }
}
