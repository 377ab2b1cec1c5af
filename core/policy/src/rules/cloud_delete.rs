//! `cloud-delete`: deleting in Google Cloud, Azure and other clouds.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "cloud-delete",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Deleting in Google Cloud, Azure and other clouds",
    doc: "Asks before something is deleted in Google Cloud, Azure, DigitalOcean and other clouds, a \
          bucket is emptied or made like a folder that lacks its files, or backups are dropped.",
    instead: "Look at it first: `gcloud compute instances list`.",
    denies: &[
        "gcloud compute instances delete vm-1", "gcloud projects delete p", "az group delete --name rg",
        "az vm delete -n x", "gsutil rm -r gs://bucket", "gsutil -m rm -r gs://b/**", "doctl compute droplet delete 1",
        "linode-cli linodes delete 1", "rclone purge remote:x", "rclone sync ./empty remote:x",
        "restic forget --keep-last 1 --prune", "borg delete repo::old", "mc rm --recursive --force s3/b",
        "bq rm -r -f dataset", "gcloud storage rm -r gs://b", "hcloud server delete x",
        "ibmcloud is instance-delete x",
    ],
    passes: &[
        "gcloud compute instances list", "az vm list", "gsutil ls", "gcloud auth list", "az account show",
        "gsutil cp a gs://b/", "rclone copy a remote:x", "rclone sync a remote:x --dry-run", "restic snapshots",
        "restic backup src", "borg list repo", "doctl compute droplet list", "gcloud run deploy web",
        "gcloud logging read delete", "az group list purge",
    ],
    watch: RuleTrigger::Programs(&[
        "gcloud", "az", "gsutil", "doctl", "linode-cli", "rclone", "mc", "bq", "hcloud", "scw", "oci", "ibmcloud",
        "openstack", "vultr-cli", "civo", "exo", "restic", "borg",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    if call.only_looks() {
        return;
    }
    let tree = call.args.any_short("rR") || call.flag("recursive");
    let stopped = match sight.program() {
        "gsutil" => {
            (call.word(0) == "rm" && tree) || call.word(0) == "rb" || (call.word(0) == "rsync" && call.args.short('d'))
        }
        "gcloud" if call.word(0) == "storage" => call.word(1) == "rm" && tree || call.any(|word| word == "delete"),
        "rclone" => matches!(call.word(0), "purge" | "delete" | "deletefile" | "sync"),
        "mc" => matches!(call.word(0), "rb") || (call.word(0) == "rm" && (tree || call.flag("force"))),
        "bq" => call.word(0) == "rm",
        "restic" => matches!(call.word(0), "forget" | "prune"),
        "borg" => matches!(call.word(0), "delete" | "prune"),
        _ => call.words.iter().take(6).take_while(|word| !looks(word)).any(|word| {
            matches!(word.as_ref(), "delete" | "destroy" | "purge" | "terminate")
                || word.ends_with("-delete")
                || word.starts_with("delete-")
        }),
    };
    if stopped {
        report(sight, "This deletes something in the cloud.", hits);
    }
}

/// Verbs that only look: what stands behind them is what to look for.
fn looks(word: &str) -> bool {
    matches!(word, "list" | "describe" | "read" | "get" | "show" | "ls" | "tail" | "search")
}
