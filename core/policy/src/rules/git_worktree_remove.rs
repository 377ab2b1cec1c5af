//! `git-worktree-remove`: forced removal of a linked worktree.

use crate::place::PlaceKind;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::target::Target;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "git-worktree-remove",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Forced removal of a linked worktree",
    doc: "Stops, once, `git worktree remove --force`: it removes a worktree with the changes in it. \
          Worktrees that an agent or `taut loop` made, and those in temporary folders, are theirs to throw \
          away.",
    instead: "Without force git refuses when there are changes: `git worktree remove ../feature`.",
    denies: &[
        "git worktree remove --force ../feature", "git worktree remove -f ../feature",
        "git worktree remove ../feature -ff",
    ],
    passes: &[
        "git worktree remove ../feature", "git worktree list", "git worktree add ../x",
        "git worktree remove --force /tmp/wt-1", "git worktree remove --force .claude/worktrees/a",
        "git worktree prune",
    ],
    watch: RuleTrigger::Programs(&["git"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let Some(call) = sight.seen.git.as_ref().filter(|call| call.sub == "worktree") else { return };
    let args = call.args();
    let force = args.short('f') || args.abbreviated("force", 1);
    if !force || args.operand(0).is_none_or(|verb| verb != "remove") {
        return;
    }
    let Some(word) = args.operands.get(1) else { return };
    let target = Target::of(word, call.dir.as_deref());
    if matches!(sight.ground.place(&target, sight.seen.machine), PlaceKind::Temp | PlaceKind::Rebuildable) {
        return;
    }
    let why = format!("`{}` goes with the changes in it.", target.shown);
    let path = target.path.clone().unwrap_or_else(|| target.shown.clone());
    hits.push(Hit::new(call.shown(), why).about(Some(&path)).meaning("remove", path.as_str()));
}
