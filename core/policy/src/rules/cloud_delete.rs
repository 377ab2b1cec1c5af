//! `cloud-delete`: deleting in clouds, object stores and hosted databases.

use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::tools::{self, ToolTable, tool};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "cloud-delete",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Deleting in clouds, object stores and hosted databases",
    doc: "Asks before something is deleted in Google Cloud, Azure, DigitalOcean and other clouds, in a hosted database \
          (Neon, PlanetScale, Turso, Atlas and their kin) or another hosted service, before a bucket is emptied or made \
          like a folder that lacks its files, and before backups are dropped.",
    instead: "Look at it first: `gcloud compute instances list`.",
    denies: &[
        "gcloud compute instances delete vm-1",
        "gcloud projects delete p",
        "az group delete --name rg",
        "az vm delete -n x",
        "gsutil rm -r gs://bucket",
        "gsutil -m rm -r gs://b/**",
        "doctl compute droplet delete 1",
        "linode-cli linodes delete 1",
        "rclone purge remote:x",
        "rclone sync ./empty remote:x",
        "restic forget --keep-last 1 --prune",
        "borg delete repo::old",
        "mc rm --recursive --force s3/b",
        "bq rm -r -f dataset",
        "gcloud storage rm -r gs://b",
        "hcloud server delete x",
        "ibmcloud is instance-delete x",
        "neonctl projects delete p-1",
        "pscale branch delete shop main --force",
        "turso db destroy shop --yes",
        "atlas clusters delete c0 --force",
        "az rest --method delete --url https://x/y",
        "azcopy remove 'https://a.blob.core.windows.net/c' --recursive",
        "confluent kafka topic delete orders",
        "temporal operator namespace delete prod",
        "vultr-cli instance delete x",
        "b2 bucket delete data",
        "s5cmd rm 's3://b/*'",
        "databricks fs rm -r dbfs:/data",
        "doppler projects delete shop -y",
        "doctl compute d d 123",
        "tmutil deletelocalsnapshots /",
        "snapper -c root delete 5",
        "ceph osd pool delete data data --yes-i-really-really-mean-it",
        "rados purge data --yes-i-really-really-mean-it",
    ],
    passes: &[
        "gcloud compute instances list", "az vm list", "gsutil ls", "gcloud auth list", "az account show",
        "gsutil cp a gs://b/", "rclone copy a remote:x", "rclone sync a remote:x --dry-run", "restic snapshots",
        "restic backup src", "borg list repo", "doctl compute droplet list", "gcloud run deploy web",
        "gcloud logging read delete", "az group list purge", "neonctl branches list", "pscale branch create shop dev",
        "turso db shell shop 'SELECT 1'", "atlas clusters describe c0", "stripe listen", "temporal workflow list",
        "s5cmd ls s3://b", "az rest --method get --url https://x/y", "restic forget --dry-run --keep-last 1",
        "gcloud storage rm gs://b/one.txt", "neonctl projects delete p-1 --help", "snapper list", "ceph osd pool ls",
        "tmutil listlocalsnapshots /", "doctl compute d list", "rbd ls",
    ],
    watch: RuleTrigger::Tools(&TOOLS),
    judge,
};

const TOOLS: ToolTable = ToolTable {
    name: "cloud-delete",
    tools: &[
        tool(
            &["gcloud"],
            &[
                "storage rm -r|-R|--recursive|-a", "storage rsync --delete-unmatched-destination-objects",
                "storage buckets|managed-folders|folders delete", ".. services disable",
            ],
        ),
        tool(GENERIC_FIRST, &[".. ~delete"]),
        tool(
            &["az"],
            &[
                "rest --method=delete|--method=DELETE|-m=delete|-m=DELETE",
                "storage blob sync --delete-destination=true",
            ],
        ),
        // One letter stands for a kind or a verb.
        tool(
            &["doctl"],
            &[
                "compute|kubernetes|k8s|k|databases|db|dbs|d|registry|reg|r|vpcs|projects|apps * d|del|rm|delete",
                "databases|database|db|dbs|d|apps|app|a|registry|vpcs d|del",
            ],
        ),
        tool(&["azd"], &["down", "env delete|remove"]),
        tool(&["azcopy"], &["remove|rm --recursive|--recursive=true", "sync --delete-destination=true"]),
        tool(&["gsutil"], &["rm -r|-R|-a", "rb", "rsync -d"]),
        tool(&["bq"], &["rm"]),
        tool(&["rclone"], &["purge|delete|deletefile|sync|cleanup|bisync !-n|--dry-run|--interactive|-i"]),
        tool(&["mc", "mcli"], &["rb", "rm --recursive|-r|--force", "mirror --remove", "admin user|policy remove|rm"]),
        tool(&["s5cmd"], &[".. rm|rb", ".. sync --delete"]),
        tool(&["s4cmd"], &["del --recursive|-r"]),
        tool(
            &["b2", "backblaze-b2"],
            &[
                "bucket delete", "delete-bucket|delete-file-version", "rm --recursive|-r",
                "sync --delete|--keep-days=0", "file delete|hide --recursive",
            ],
        ),
        tool(&["aliyun", "tccli", "hcloud-cli"], &[".. Delete*|Terminate*|Release*", "oss rm -r|--recursive"]),
        tool(
            &["ossutil", "ossutil64", "coscmd", "coscli", "obsutil"],
            &["rm -r|--recursive|-rf", "delete -r", "rb|delete-bucket"],
        ),
        tool(&["swift"], &["delete"]),
        tool(&["ceph"], &["osd pool delete|rm", "fs rm", "osd purge|destroy|rm", "fs volume rm", "orch osd rm --zap"]),
        tool(&["rados"], &["purge|rmpool", ".. rm --all", ".. cleanup"]),
        tool(&["rbd"], &["rm|remove|purge", "snap purge|rm|remove", "trash purge|rm|remove"]),
        tool(&["restic"], &["forget|prune !--dry-run|-n", "rewrite --forget"]),
        tool(&["borg", "borgmatic"], &["delete|prune !--dry-run|-n", "rdelete"]),
        tool(&["duplicity"], &["remove-older-than|remove-all-but-n-full|remove-all-inc-of-but-n-full --force"]),
        tool(&["tmutil"], &["deletelocalsnapshots|thinlocalsnapshots|deleteinprogress"]),
        tool(&["snapper"], &[".. delete|remove|rm", ".. cleanup"]),
        tool(&["timeshift"], &["--delete|--delete-all"]),
        tool(&["kopia"], &["snapshot delete --delete|--all-snapshots-for-source", "repository disconnect --purge"]),
        tool(&["rustic"], &["forget|prune !-n|--dry-run"]),
        tool(&["neonctl", "neon"], &[".. ~delete", "branches|branch reset"]),
        tool(&["supabase"], &["secrets unset"]),
        tool(&["turso"], &[".. ~delete", "db tokens|groups invalidate"]),
        tool(
            &[
                "civo", "runpodctl", "vastai", "auth0", "modal", "snow", "tctl", "tsh", "algolia", "render", "koyeb",
                "rancher", "ibmcloud", "doctl", "ibmcloud", "doctl",
            ],
            &[".. ~remove"],
        ),
        tool(&["algolia"], &["indices|index clear"]),
        tool(&["databricks", "dbfs"], &["fs rm -r|--recursive", "rm -r|--recursive", ".. ~delete"]),
        tool(&["stripe"], &["delete", "* delete|cancel"]),
        tool(&["temporal"], &["workflow delete|terminate", "operator namespace delete", "schedule delete"]),
        tool(&["modal"], &["app stop"]),
        tool(&["fastly"], &["service delete", "purge --all"]),
        tool(&["op"], &["item delete", "vault delete", "document delete"]),
        tool(&["bw"], &["delete"]),
        tool(&["lpass", "gopass"], &["rm|delete"]),
        tool(&["hf", "huggingface-cli"], &["repo delete|delete-files", "repos delete", "repo-files delete"]),
    ],
};

/// Tools whose verbs stand behind the names of what they are about, and are all spelled alike.
const GENERIC_FIRST: &[&str] = &[
    "gcloud", "az", "doctl", "linode-cli", "hcloud", "scw", "oci", "ibmcloud", "openstack", "vultr-cli", "exo", "yc",
    "ionosctl", "gridscale", "ovhcloud", "metal", "nebius", "kamatera", "upctl", "pscale", "atlas", "mongocli", "xata",
    "upstash", "fauna", "ccloud", "ticloud", "astra", "avn", "nile", "ecctl", "pinecone", "confluent", "contentful",
    "sanity", "sentry-cli", "contentful-cli", "@sanity/cli", "@sentry/cli", "kaggle", "ldcli", "doppler", "infisical",
    "okta", "pc", "cloudflared", "flarectl", "ngrok", "newrelic", "shopify", "twilio", "supabase", "tailscale",
    "qovery", "zeabur", "northflank", "lagoon", "stackit", "astro", "prefect", "wandb", "clickhousectl", "cloudctl",
    "linode", "tea",
];

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    if tools::calls(sight, &TOOLS) {
        report(sight, "This deletes something in the cloud or in a hosted service.", hits);
    }
}
