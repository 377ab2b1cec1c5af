//! `helm-uninstall`: uninstalling releases.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, Sight, Watch};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "helm-uninstall",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Uninstalling releases",
    doc: "Asks before a Helm release is uninstalled or rolled back.",
    instead: "See what it would do: `helm uninstall web --dry-run`.",
    denies: &["helm uninstall web", "helm delete web", "helm -n prod uninstall api", "helm rollback web 1", "helmfile destroy"],
    passes: &["helm list", "helm template .", "helm uninstall web --dry-run", "helm upgrade web .", "helm status web", "helm lint"],
    watch: Watch::Programs(&["helm", "helmfile"]),
    judge,
};

fn judge(sight: &Sight<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    if matches!(call.word(0), "uninstall" | "delete" | "del" | "un" | "rollback" | "destroy") && !call.only_looks() {
        report(sight, "This takes a running release away.", hits);
    }
}
