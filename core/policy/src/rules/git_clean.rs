//! `git-clean`: removal of untracked files by git clean.

use crate::git;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "git-clean",
    pack: Pack::Git,
    kind: RuleKind::Strike,
    title: "Removal of untracked files by git clean",
    doc: "Stops, once, `git clean -f` in every spelling: it removes files git has never seen, so git \
          cannot bring them back. A dry run (`-n`) and the interactive form pass.",
    instead: "See what would go: `git clean -nd`.",
    denies: &[
        "git clean -fd", "git clean -xdf", "git clean --force -d", "git clean -fdX",
        "git -c clean.requireForce=false clean -d",
    ],
    passes: &["git clean -n", "git clean -fdn", "git clean --dry-run -fd", "git clean -i", "make clean"],
    watch: RuleTrigger::Programs(&["git"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let Some(call) = sight.seen.git.as_ref().filter(|call| call.sub == "clean") else { return };
    let args = call.args();
    if args.short('n') || args.abbreviated("dry-run", 1) || args.short('i') || args.abbreviated("interactive", 1) {
        return;
    }
    let unguarded = call
        .config
        .iter()
        .any(|(key, value)| key == "clean.requireforce" && matches!(value.as_str(), "false" | "no" | "0"));
    let removes = args.short('f') || args.abbreviated("force", 1) || unguarded;
    if removes && !git::is_disposable(sight, call) {
        let why = "Files git has never seen are removed; git cannot bring them back.";
        hits.push(Hit::new(call.shown(), why).meaning("remove", call.place()));
    }
}
