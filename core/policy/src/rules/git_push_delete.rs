//! `git-push-delete`: removal of branches and tags on the remote.

use crate::args::text;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "git-push-delete",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Removal of branches and tags on the remote",
    doc: "Stops, once, a push that removes branches or tags on the remote: `--delete`, `-d`, an empty \
          source (`:branch`), `--prune`.",
    instead: "Look at what the branch holds first: `git log origin/old-branch`.",
    denies: &[
        "git push origin --delete old-branch", "git push origin :old-branch", "git push -d origin v1.0",
        "git push --prune origin", "git push origin :refs/tags/v1",
    ],
    passes: &[
        "git push origin HEAD:my-branch", "git fetch --prune", "git branch -d merged", "git push origin main:main",
        "git push --dry-run --delete origin x",
    ],
    watch: RuleTrigger::Programs(&["git"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let Some(call) = sight.seen.git.as_ref().filter(|call| call.sub == "push") else { return };
    let args = call.args();
    if args.short('n') || args.abbreviated("dry-run", 2) {
        return;
    }
    let deletes = args.short('d') || args.abbreviated("delete", 2);
    let empty = args.operands.iter().skip(1).any(|word| {
        let spec = text(word);
        spec.len() > 1 && spec.trim_start_matches('+').starts_with(':')
    });
    if deletes || empty || args.abbreviated("prune", 3) {
        let target = format!("{}:{}", call.place(), args.operand(0).unwrap_or_default());
        let why = "This removes branches or tags on the remote, for everyone.";
        hits.push(Hit::new(call.shown(), why).meaning("remove-remote-ref", target));
    }
}
