//! `git-branch-delete`: removal of unmerged branches.

use super::git_force_push::is_shared;
use crate::args::Args;
use crate::git::is_disposable;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "git-branch-delete",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Removal of unmerged branches",
    doc: "Stops, once, `git branch -D` and its spellings, which remove a branch whether or not its commits \
          are merged, and `git branch -f`, which moves one off its commits, as `git checkout -B main x` does. `git branch -d` refuses \
          unmerged branches by itself and passes.",
    instead: "Let git check that it is merged: `git branch -d my-branch`.",
    denies: &[
        "git branch -D feature", "git branch -d --force feature", "git branch --delete -f old", "git branch -df old",
        "git branch -f main HEAD~3", "git checkout -B main HEAD~3", "git switch -C main HEAD~5",
    ],
    passes: &[
        "git branch -d merged", "git branch --list", "git branch -M main", "git branch new-branch", "git branch -a",
        "git branch --show-current", "git checkout -B feature origin/main", "git switch -C feature",
        "git checkout -B main origin/main",
    ],
    watch: RuleTrigger::Programs(&["git"]),
    judge,
};

/// The main branch, where `checkout -B` or `switch -C` puts it elsewhere. One's own branch is begun anew every day.
fn recreated<'a>(sub: &str, args: &'a Args<'_>) -> Option<&'a str> {
    let name = match sub {
        "checkout" => args.value("B"),
        "switch" => args.value("C").or_else(|| args.value("force-create")),
        _ => None,
    };
    // To what the remote has is a way to begin anew; `HEAD~3` leaves commits behind.
    let from = args.operand(0).is_some_and(|start| !start.contains('/') && !start.contains("@{"));
    name.filter(|name| is_shared(name) && from)
}

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let Some(call) = sight.seen.git.as_ref() else { return };
    let args = call.args();
    if let Some(branch) = recreated(&call.sub, &args) {
        let why = "The branch is moved off the commits it holds.";
        hits.push(Hit::new(call.shown(), why).meaning("move-branch", format!("{}:{branch}", call.place())));
    }
    if call.sub != "branch" || is_disposable(sight, call) {
        return;
    }
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
