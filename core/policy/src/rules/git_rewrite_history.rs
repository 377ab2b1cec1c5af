//! `git-rewrite-history`: rewriting history or dropping what git keeps for recovery.

use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "git-rewrite-history",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Rewriting history or dropping what git keeps for recovery",
    doc: "Stops, once, what rewrites all of history (`filter-branch`, `filter-repo`, BFG) and what removes \
          git's own safety net: `reflog expire`, `reflog delete`, `gc --prune=now`, `prune`, `update-ref \
          -d`. Rebase and amend are daily work on one's own branch, are undone through the reflog, and \
          pass.",
    instead: "Work on a copy: `git clone . /tmp/rewrite`.",
    denies: &[
        "git filter-branch --tree-filter 'rm -f x' HEAD", "git filter-repo --path x --invert-paths",
        "git reflog expire --expire=now --all", "git gc --prune=now --aggressive", "git update-ref -d refs/heads/main",
        "git prune", "git reflog delete HEAD@{1}", "bfg --delete-files x.zip", "git symbolic-ref -d HEAD",
    ],
    passes: &[
        "git rebase main", "git rebase -i HEAD~3", "git commit --amend", "git reflog", "git gc",
        "git filter-repo --analyze", "git reflog show", "git update-ref refs/heads/x HEAD", "git remote prune origin",
        "git rebase --abort", "git symbolic-ref --short HEAD",
    ],
    watch: RuleTrigger::Programs(&["git", "bfg", "git-filter-repo"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let Some(call) = sight.seen.git.as_ref() else {
        if !sight.command.args().is_empty() && sight.program() != "git" {
            let place = sight.command.cwd.as_deref().unwrap_or_default();
            hits.push(Hit::new(sight.shown(), "This rewrites all of history.").meaning("rewrite-history", place));
        }
        return;
    };
    let args = call.args();
    let verb = args.operand(0).unwrap_or_default();
    let now = |value: &str| matches!(value, "now" | "all" | "0" | "0.seconds.ago");
    let why = match call.sub.as_str() {
        "filter-repo" if args.long_flag("analyze") || args.long_flag("dry-run") => return,
        "filter-branch" | "filter-repo" => "This rewrites all of history.",
        "reflog" if matches!(verb.as_ref(), "expire" | "delete") && !args.long_flag("dry-run") && !args.short('n') => {
            "The reflog is what brings lost commits back."
        }
        "gc" if args.values("prune").any(now)
            || call.config.iter().any(|(key, value)| key == "gc.pruneexpire" && now(value)) =>
        {
            "Unreachable commits are removed at once and cannot be recovered."
        }
        "prune" if !args.short('n') && !args.long_flag("dry-run") => {
            "Unreachable commits are removed and cannot be recovered."
        }
        "update-ref" if args.short('d') || args.long_flag("stdin") => "A ref is removed without any check.",
        "symbolic-ref" if args.short('d') || args.abbreviated("delete", 3) => "A ref is removed without any check.",
        _ => return,
    };
    hits.push(Hit::new(call.shown(), why).meaning("rewrite-history", call.place()));
}
