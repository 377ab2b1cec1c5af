//! `git-force-push`: force push.

use crate::args::text;
use crate::git::GitCall;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "git-force-push",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Force push",
    doc: "Stops, once, a push that replaces commits on the remote: `--force`, `-f`, a `+refspec`, \
          `--mirror`, in every spelling. `--force-with-lease` to one's own branch passes, since it refuses \
          to overwrite what others pushed; to `main` or `master` it does not.",
    instead: "Push with a lease to your own branch: `git push --force-with-lease origin my-branch`.",
    denies: &[
        "git push --force", "git push -f origin main", "git push origin +main", "git push -fu origin x",
        "git push --forc", "git -C sub push --force", "git push --mirror backup",
        "git -c push.default=current push -f", "git push --force-with-lease origin main",
        "git push origin +HEAD:refs/heads/main",
    ],
    passes: &[
        "git push", "git push origin my-feature", "git push -u origin fix",
        "git push --force-with-lease origin my-branch", "git push --follow-tags", "git push --force --dry-run",
        "git commit -m 'git push --force'", "git push --force-with-lease",
    ],
    watch: RuleTrigger::Programs(&["git"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let Some(call) = sight.seen.git.as_ref().filter(|call| call.sub == "push") else { return };
    let args = call.args();
    if args.short('n') || args.abbreviated("dry-run", 2) || args.long_flag("help") {
        return;
    }
    let refs: Vec<String> = args.operands.iter().skip(1).map(|word| text(word).into_owned()).collect();
    let plus = refs.iter().any(|spec| spec.starts_with('+'));
    let mirror = args.abbreviated("mirror", 1);
    let force = args.short('f') || forced(&args);
    let lease = args.flags.iter().any(|flag| flag.long && flag.name.starts_with("force-w"));
    let shared = lease && refs.iter().any(|spec| is_shared(spec));
    let why = match () {
        () if mirror => "`--mirror` makes the remote a copy of this repository and removes what is only there.",
        () if plus => "A refspec with `+` overwrites the remote branch.",
        () if force => "A force push overwrites commits on the remote that others may have.",
        () if shared => "This rewrites a branch that others build on.",
        () => return,
    };
    hits.push(Hit::new(call.shown(), why).meaning("rewrite-remote", target(call)));
}

/// `--force` in full or abbreviated; `--force-with-lease` is another option.
fn forced(args: &crate::args::Args<'_>) -> bool {
    args.flags.iter().any(|flag| flag.long && flag.name.len() >= 3 && "force".starts_with(flag.name.as_ref()))
}

pub(super) fn is_shared(spec: &str) -> bool {
    let branch = spec.rsplit(':').next().unwrap_or(spec);
    let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    matches!(branch, "main" | "master" | "trunk" | "develop" | "production" | "release")
}

fn target(call: &GitCall) -> String {
    let args = call.args();
    let remote = args.operand(0).unwrap_or_default();
    let branch = args.operand(1).unwrap_or_default();
    let branch = branch.trim_start_matches('+').rsplit(':').next().unwrap_or_default();
    format!("{}:{remote}/{branch}", call.place())
}
