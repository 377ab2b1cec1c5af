//! `helm-uninstall`: uninstalling releases.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "helm-uninstall",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Uninstalling releases",
    doc: "Asks before a Helm release is uninstalled or rolled back, or what Argo CD and Flux keep running is deleted.",
    instead: "See what it would do: `helm uninstall web --dry-run`.",
    denies: &[
        "helm uninstall web", "helm delete web", "helm -n prod uninstall api", "helm rollback web 1",
        "helmfile destroy", "argocd app delete api --yes", "flux uninstall --silent", "flux delete kustomization apps",
    ],
    passes: &[
        "helm list", "helm template .", "helm uninstall web --dry-run", "helm upgrade web .", "helm status web",
        "helm lint", "argocd app list", "argocd app sync api", "flux get all", "flux reconcile source git x",
    ],
    watch: RuleTrigger::Programs(&["helm", "helmfile", "argocd", "flux"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    let verb = if sight.program() == "argocd" { call.word(1) } else { call.word(0) };
    if matches!(verb, "uninstall" | "delete" | "del" | "un" | "rollback" | "destroy") && !call.only_looks() {
        report(sight, "This takes a running release away.", hits);
    }
}
