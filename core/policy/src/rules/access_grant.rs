//! `access-grant`: giving away rights in a cloud or cluster, and containers that reach the whole machine.

use crate::args::text;
use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::rules::http_delete::is_local;
use crate::tools::{self, ToolTable, tool};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "access-grant",
    pack: Pack::Privileges,
    kind: RuleKind::Ask,
    title: "Giving away rights over a cloud, a cluster or the machine",
    doc: "Asks before somebody is made an administrator of a cloud account or a cluster, before new keys to one are made, \
          before something is opened to the whole internet (other than the ports of the web), and before a container is \
          given the whole machine: `-v /:/host` to write, or `--privileged --pid=host` with `nsenter`.",
    instead: "Look at who may do what: `aws iam list-attached-user-policies --user-name bob`; give the least that is needed.",
    denies: &[
        "aws iam attach-user-policy --user-name bob --policy-arn arn:aws:iam::aws:policy/AdministratorAccess",
        "aws iam create-access-key --user-name bob",
        "aws ec2 authorize-security-group-ingress --group-id sg-1 --protocol tcp --port 22 --cidr 0.0.0.0/0",
        "gcloud projects add-iam-policy-binding p --member=allUsers --role=roles/viewer",
        "az role assignment create --assignee x --role Owner",
        "kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=bob",
        "docker run -v /:/host -it alpine chroot /host",
        "docker run --rm --privileged --pid=host alpine nsenter -t 1 -m sh",
    ],
    passes: &[
        "aws iam list-access-keys",
        "aws iam attach-role-policy --role-name r --policy-arn arn:aws:iam::aws:policy/ReadOnlyAccess",
        "aws ec2 authorize-security-group-ingress --group-id sg-1 --protocol tcp --port 22 --cidr 10.0.0.0/8",
        "aws ec2 authorize-security-group-ingress --group-id sg-1 --protocol tcp --port 443 --cidr 0.0.0.0/0",
        "gcloud projects add-iam-policy-binding p --member user:x@example.com --role roles/viewer",
        "az role assignment create --assignee x --role Reader",
        "kubectl create rolebinding x --clusterrole=view --user=bob",
        "docker run --privileged --rm tonistiigi/binfmt --install all",
        "docker run -v /:/rootfs:ro gcr.io/cadvisor/cadvisor",
        "docker run --rm -v $PWD:/work alpine ls",
    ],
    watch: RuleTrigger::Tools(&TOOLS),
    judge,
};

/// Calls that give rights, whatever else they say.
const TOOLS: ToolTable = ToolTable {
    name: "access-grant",
    tools: &[
        tool(
            &["aws"],
            &[
                "iam attach-*-policy --policy-arn=*AdministratorAccess|--policy-arn=*IAMFullAccess|--policy-arn=*PowerUserAccess",
                "iam create-access-key|create-login-profile|update-login-profile|put-user-policy|put-group-policy",
                "iam update-assume-role-policy|create-service-specific-credential",
                "s3api put-bucket-acl|put-object-acl --acl=public*",
                "lambda add-permission --principal=*\\*",
                "ec2 modify-snapshot-attribute|modify-image-attribute --group-names=all",
            ],
        ),
        tool(
            &["gcloud"],
            &[
                ".. add-iam-policy-binding --member=allUsers|--member=allAuthenticatedUsers",
                ".. add-iam-policy-binding --role=roles/owner|--role=roles/editor|--role=roles/iam.securityAdmin",
                "iam service-accounts keys create",
                "storage buckets update --predefined-acl=public*",
            ],
        ),
        tool(&["gsutil"], &["iam ch allUsers*|allAuthenticatedUsers*", "acl ch -u", "acl set public*"]),
        tool(
            &["az"],
            &[
                "role assignment create --role=Owner|--role=Contributor|--role=User*",
                "ad sp create-for-rbac --role=Owner|--role=Contributor",
            ],
        ),
        tool(
            &["kubectl", "oc", "k"],
            &[
                "create clusterrolebinding|rolebinding --clusterrole=cluster-admin",
                "adm policy add-cluster-role-to-user|add-cluster-role-to-group cluster-admin",
            ],
        ),
        tool(&["docker", "podman", "nerdctl"], &[]),
    ],
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let words: Vec<_> = sight.command.args().iter().map(text).collect();
    if matches!(sight.program(), "docker" | "podman" | "nerdctl") {
        let starts = words
            .iter()
            .find(|word| !word.starts_with('-'))
            .is_some_and(|word| matches!(word.as_ref(), "run" | "create"));
        if starts && takes_machine(&words) {
            report(sight, "The container reaches the whole machine, with all rights over it.", hits);
        }
        return;
    }
    let local = words.iter().any(|word| is_local(word));
    if !local && (tools::calls(sight, &TOOLS) || opens_to_all(sight.program(), &words)) {
        report(sight, "This gives somebody rights that can hardly be taken back in time.", hits);
    }
}

/// A rule of a firewall that lets in everybody, other than to a web server.
fn opens_to_all(program: &str, words: &[std::borrow::Cow<'_, str>]) -> bool {
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let rule = match program {
        "aws" => has("authorize-security-group-ingress"),
        "gcloud" => has("firewall-rules") && (has("create") || has("update")),
        _ => false,
    };
    let web = |word: &str| {
        let port = word.rsplit(['=', ':']).next().unwrap_or(word);
        matches!(port, "80" | "443" | "80,tcp" | "8080" | "8443")
    };
    let all = |word: &str| word.contains("0.0.0.0/0") || word.contains("::/0");
    rule && words.iter().any(|word| all(word)) && !words.iter().any(|word| web(word)) && !has("--dry-run")
}

/// `-v /:/host` to write, or the processes of the machine with all rights over them.
fn takes_machine(words: &[std::borrow::Cow<'_, str>]) -> bool {
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let enters = has("nsenter") || has("chroot");
    let processes =
        has("--pid=host") || words.windows(2).any(|pair| matches!(pair, [a, b] if a == "--pid" && b == "host"));
    let volume = |word: &str| {
        let value = word.trim_start_matches("--volume=").trim_start_matches("-v");
        let mount = |names: [&str; 2]| value.split(',').any(|part| names.contains(&part));
        let bound = value.starts_with("/:/") || mount(["source=/", "src=/"]);
        let read_only = value.split([':', ',']).any(|part| matches!(part, "ro" | "readonly" | "readonly=true"));
        bound && (!read_only || enters)
    };
    words.iter().any(|word| volume(word)) || (has("--privileged") && processes && enters)
}
