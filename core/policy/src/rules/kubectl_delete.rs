//! `kubectl-delete`: deleting from a cluster.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "kubectl-delete",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Deleting from a cluster",
    doc: "Asks before resources are deleted from a Kubernetes cluster, nodes are drained, or resources are \
          replaced by force. A dry run passes.",
    instead: "See what it would do: `kubectl delete pod web-1 --dry-run=client`.",
    denies: &[
        "kubectl delete pod web-1", "kubectl -n prod delete deployment api", "kubectl delete -f k8s/",
        "kubectl drain node-1", "kubectl replace --force -f x.yaml", "oc delete project x",
        "kubectl --context=prod delete ns shop", "k delete pod x",
    ],
    passes: &[
        "kubectl get pods", "kubectl apply -f x.yaml", "kubectl delete pod x --dry-run=client", "kubectl logs web-1",
        "kubectl describe pod x", "kubectl exec web -- ls", "kubectl create ns delete-me",
        "kubectl config current-context",
    ],
    watch: RuleTrigger::Programs(&["kubectl", "k", "oc", "kubectx", "kubecolor", "microk8s.kubectl", "k3s"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    let at = usize::from(sight.program() == "k3s");
    let verb = call.word(at);
    let stopped = matches!(verb, "delete" | "drain")
        || (verb == "replace" && call.flag("force"))
        || (verb == "scale" && call.args.value("replicas") == Some("0"));
    if stopped && !call.only_looks() {
        report(sight, "This takes something out of a running cluster.", hits);
    }
}
