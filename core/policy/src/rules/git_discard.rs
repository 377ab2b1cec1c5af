//! `git-discard`: checkout, restore or switch that discards changes.

use crate::args::Args;
use crate::git::{GitCall, is_disposable, looks_like_file};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "git-discard",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Checkout, restore or switch that discards changes",
    doc: "Stops, once, the git commands that overwrite files of the working tree: `git checkout .`, `git \
          checkout -- file`, `git checkout <commit> <file>`, `git restore file`, `git switch --discard- \
          changes`, `git checkout -f`, `git read-tree --reset -u`, `git checkout-index -f`, `git rm -rf`. \
          Switching branches, creating them and unstaging pass.",
    instead: "Keep the changes: `git stash push -m before-restore`, or see them with `git diff`.",
    denies: &[
        "git checkout .", "git checkout -- src/main.rs", "git checkout HEAD src/a.rs", "git checkout -f main",
        "git restore .", "git restore --source=HEAD~2 src/a.rs", "git restore --staged --worktree a.rs",
        "git switch -f main", "git switch --discard-changes main", "git checkout HEAD -- .",
        "git checkout main -- src/lib.rs", "git rm -rf .",
    ],
    passes: &[
        "git checkout main", "git checkout -b feature/x", "git restore --staged src/a.rs", "git switch main",
        "git checkout feature/login", "git checkout v1.2.3", "git checkout -p", "git rm --cached -r .",
        "git rm old.rs", "git switch -c new", "git checkout -",
    ],
    watch: RuleTrigger::Programs(&["git"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let Some(call) = sight.seen.git.as_ref() else { return };
    let args = call.args();
    let discards = match call.sub.as_str() {
        "checkout" => checkout(sight, call, &args),
        "restore" => restore(&args),
        "switch" => args.short('f') || args.abbreviated("force", 2) || args.abbreviated("discard-changes", 2),
        "checkout-index" => args.short('f') || args.abbreviated("force", 1),
        "read-tree" => args.long_flag("reset") && args.short('u'),
        "rm" => {
            args.short('r')
                && (args.short('f') || args.abbreviated("force", 1))
                && !args.long_flag("cached")
                && !args.short('n')
        }
        "submodule" => {
            args.operand(0).is_some_and(|word| word == "deinit") && (args.short('f') || args.abbreviated("force", 1))
        }
        _ => false,
    };
    if discards && !is_disposable(sight, call) {
        let why = "Changes in the working tree that were never committed are overwritten.";
        hits.push(Hit::new(call.shown(), why).meaning("discard-changes", call.place()));
    }
}

fn restore(args: &Args<'_>) -> bool {
    let staged = args.short('S') || args.abbreviated("staged", 2);
    let worktree = args.short('W') || args.abbreviated("worktree", 1);
    let asks = args.short('p') || args.abbreviated("patch", 1);
    let resolves =
        args.long_flag("ours") || args.long_flag("theirs") || args.short('m') || args.abbreviated("merge", 1);
    let named = !args.operands.is_empty() || args.long_flag("pathspec-from-file");
    named && !asks && !resolves && (!staged || worktree)
}

fn checkout(sight: &RuleInput<'_>, call: &GitCall, args: &Args<'_>) -> bool {
    let asks = args.short('p') || args.abbreviated("patch", 2);
    let resolves =
        args.long_flag("ours") || args.long_flag("theirs") || args.short('m') || args.abbreviated("merge", 1);
    if asks || resolves {
        return false;
    }
    if args.short('f') || args.abbreviated("force", 1) || args.long_flag("pathspec-from-file") {
        return true;
    }
    let creates = args.any_short("bBt") || args.abbreviated("orphan", 2) || args.abbreviated("track", 1);
    if creates || args.long_flag("detach") || args.short('d') {
        return false;
    }
    if !args.behind_dashes().is_empty() {
        return true;
    }
    let names: Vec<_> = args.operands.iter().map(|word| crate::args::text(word)).collect();
    match names.as_slice() {
        [] => false,
        [only] => looks_like_file(only, call, sight.ground),
        // A commit and then files, or several files.
        [..] => true,
    }
}
