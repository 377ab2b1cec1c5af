//! `helm-uninstall`: uninstalling releases.

use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::tools::{self, ToolTable, tool};
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
        "helm --kube-context prod uninstall api", "argocd cluster rm prod", "helmfile -e prod delete",
    ],
    passes: &[
        "helm list", "helm template .", "helm uninstall web --dry-run", "helm upgrade web .", "helm status web",
        "helm lint", "argocd app list", "argocd app sync api", "flux get all", "flux reconcile source git x",
        "helm plugin uninstall diff", "helm repo remove x", "helmfile diff",
    ],
    watch: RuleTrigger::Tools(&TOOLS),
    judge,
};

const TOOLS: ToolTable = ToolTable {
    name: "helm-uninstall",
    tools: &[
        tool(&["helm", "helm3"], &["uninstall|delete|del|un|rollback"]),
        tool(&["helmfile"], &["destroy|delete"]),
        tool(
            &["argocd"],
            &["app|appset|proj|account delete|rm", "cluster|repo|repocreds|cert rm", "app delete-resource|rollback"],
        ),
        tool(&["flux"], &["uninstall|delete"]),
    ],
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    if tools::calls(sight, &TOOLS) {
        report(sight, "This takes a running release away.", hits);
    }
}
