//! `kubectl-delete`: deleting from a cluster.

use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::tools::{self, ToolTable, tool};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "kubectl-delete",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Deleting from a cluster",
    doc: "Asks before resources are deleted from a Kubernetes cluster, nodes are drained, resources are replaced by \
          force or pruned, and before a cluster itself is deleted or reset. A dry run passes, and so does one local \
          cluster for development (`kind`, `k3d`, `minikube`).",
    instead: "See what it would do: `kubectl delete pod web-1 --dry-run=client`.",
    denies: &[
        "kubectl delete pod web-1", "kubectl -n prod delete deployment api", "kubectl delete -f k8s/",
        "kubectl drain node-1", "kubectl replace --force -f x.yaml", "oc delete project x",
        "kubectl --context=prod delete ns shop", "k delete pod x", "kubectl delete -k overlays/prod",
        "kubectl scale deploy/web --replicas 0", "velero backup delete nightly --confirm", "kubeadm reset -f",
        "kops delete cluster --name x --yes", "minikube delete --all --purge",
        "kustomize build . | kubectl delete -f -", "kubectl apply -f k8s/ --prune -l app=web",
        "istioctl uninstall --purge -y",
    ],
    passes: &[
        "kubectl get pods", "kubectl apply -f x.yaml", "kubectl delete pod x --dry-run=client", "kubectl logs web-1",
        "kubectl describe pod x", "kubectl exec web -- ls", "kubectl create ns delete-me",
        "kubectl config current-context", "minikube delete", "kind delete cluster --name dev",
        "k3d cluster delete dev", "kubectl rollout undo deploy/web", "kubectl scale deploy/web --replicas=3",
        "velero backup get", "kubectl delete --help", "kubectl auth can-i delete pods", "kubectl explain pod",
    ],
    watch: RuleTrigger::Tools(&TOOLS),
    judge,
};

const TOOLS: ToolTable = ToolTable {
    name: "kubectl-delete",
    tools: &[
        tool(
            &["kubectl", "k", "oc", "kubecolor", "microk8s.kubectl", "minikubectl"],
            &["delete|drain", "replace --force", "scale --replicas=0", "apply --prune", "adm prune|drain", "adm drain"],
        ),
        tool(
            &["k3s", "microk8s", "k0s", "minikube", "talosctl"],
            &["kubectl delete|drain", "kubectl -- delete", "reset"],
        ),
        tool(&["k3s-uninstall.sh", "k3s-killall.sh", "k3s-agent-uninstall.sh", "rke2-uninstall.sh"], &["$"]),
        tool(&["minikube"], &["delete --all|--purge"]),
        tool(&["kind"], &["delete clusters"]),
        tool(&["k3d"], &["cluster|registry|node delete --all|-a"]),
        tool(&["kubeadm"], &["reset"]),
        tool(
            &["kops", "clusterctl", "rke", "rosa", "tkg", "tanzu", "gardenctl"],
            &["delete", "remove", "cluster delete", "* delete"],
        ),
        tool(
            &["velero", "linkerd", "istioctl", "cilium", "dapr", "kubefedctl", "tkn", "argo", "kn"],
            &["uninstall", ".. ~delete"],
        ),
        tool(
            &["skaffold", "devspace", "okteto", "werf", "garden"],
            &["delete|purge|dismiss|destroy", "namespace delete", "down -v|--volumes", "cleanup namespaces"],
        ),
        tool(&["etcdadm"], &["reset"]),
    ],
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    if tools::calls(sight, &TOOLS) {
        report(sight, "This takes something out of a running cluster.", hits);
    }
}
