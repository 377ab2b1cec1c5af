//! `platform-destroy`: destroying apps and virtual machines.

use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::tools::{self, ToolTable, tool};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "platform-destroy",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Destroying apps and virtual machines",
    doc: "Asks before an app on a hosting platform, what belongs to it (volumes, stores, domains, variables) or a \
          virtual machine is destroyed: Heroku, Fly, Vercel, Netlify, Cloudflare, Firebase, Railway, Vagrant, libvirt, \
          LXD and their kin. What runs in a local emulator passes.",
    instead: "Look at it first: `heroku apps:info --app web`.",
    denies: &[
        "heroku apps:destroy web --confirm web", "fly apps destroy web", "flyctl destroy web", "vercel rm web --yes",
        "netlify sites:delete x", "vagrant destroy -f", "virsh undefine vm", "lxc delete c1 --force",
        "serverless remove", "firebase projects:delete x", "heroku pg:reset DATABASE", "nomad job stop -purge x",
        "railway down", "wrangler delete", "fly volumes destroy vol_1 -y", "vercel env rm KEY production -y",
        "npx wrangler d1 delete shop", "wrangler r2 bucket delete data",
        "wrangler kv namespace delete --namespace-id 1", "firebase firestore:delete --all-collections",
        "firebase database:remove /", "npx sst remove --stage prod", "amplify delete --force", "kamal remove -y",
        "dokku apps:destroy web", "wsl --unregister Ubuntu", "terminus site:delete shop",
        "VBoxManage unregistervm web --delete", "qm destroy 100",
    ],
    passes: &[
        "heroku logs", "fly status", "vercel ls", "vagrant up", "virsh list", "lxc list", "fly deploy", "heroku apps",
        "netlify status", "wrangler dev", "vercel env ls", "wrangler kv key delete x --local", "fly volumes list",
        "railway up", "firebase deploy", "npx sst dev", "firebase emulators:start", "wsl --list", "heroku config",
        "vercel deploy --prod", "wrangler d1 list", "nomad job status", "docker compose down", "serverless deploy",
        "fly apps list", "amplify status",
    ],
    watch: RuleTrigger::Tools(&TOOLS),
    judge,
};

const TOOLS: ToolTable = ToolTable {
    name: "platform-destroy",
    tools: &[
        tool(
            &["heroku"],
            &["*:destroy|*:reset|*:delete|*:remove|*:unset", "ps:scale *=0", "destroy|apps:delete", "pg:copy|pg:push"],
        ),
        tool(&["fly", "flyctl"], &[".. ~remove", "secrets unset", "ips release", "scale count 0", "* unset"]),
        tool(&["vercel", "now", "vc"], &["rm|remove", "* rm|remove|delete|del", "* * rm|remove|delete|del"]),
        tool(&["netlify", "ntl", "netlify-cli"], &["*:delete|*:disable|*:unset|*:remove"]),
        tool(
            &["firebase", "firebase-tools"],
            &["*:delete|*:disable|*:remove|*:destroy|*:unset|*:prune", "ext:uninstall"],
        ),
        tool(&["wrangler"], &["delete !--local|--dry-run", ".. ~remove !--local", ".. purge !--local"]),
        tool(&["railway", "@railway/cli"], &["down|delete|remove|unlink-all", ".. ~remove"]),
        tool(&["surge"], &["teardown"]),
        tool(
            &["serverless", "sls", "osls", "sst", "ampx", "@aws-amplify/backend-cli", "arc", "up", "nitric", "begin"],
            &["remove|destroy|down", "sandbox delete", "stack delete", "secret remove"],
        ),
        tool(&["amplify", "@aws-amplify/cli"], &["delete", "remove *", "env remove"]),
        tool(&["cf"], &["delete|delete-*|purge-*"]),
        tool(
            &["dokku", "gigalixir", "aptible", "terminus", "platform", "upsun", "eas", "eas-cli", "piku"],
            &["*:destroy|*:delete|*:deprovision|*:wipe|*:remove", "destroy"],
        ),
        tool(&["kamal", "mrsk"], &["remove", "app|accessory|proxy|registry remove"]),
        tool(
            &["clever", "scalingo", "convox", "porter", "deployctl", "cloudcone", "nixpacks", "appcenter", "code-push"],
            &["delete|destroy|uninstall", "* delete|remove|rm|uninstall", "addons-remove"],
        ),
        tool(&["appwrite"], &[".. delete*"]),
        // Clusters of jobs
        tool(
            &["nomad"],
            &[
                "job stop", "stop", "system gc", "namespace delete", "volume delete|deregister", "var purge",
                "job deregister", "alloc stop", "node drain -enable",
            ],
        ),
        tool(&["juju"], &["destroy-*|remove-*|kill-*"]),
        tool(&["bosh"], &[".. delete-*|delete-deployment"]),
        tool(&["maas"], &["* machine delete|release"]),
        // Virtual machines
        tool(&["vagrant"], &["destroy", "snapshot delete"]),
        tool(
            &["virsh"],
            &[
                "undefine|destroy|vol-delete|vol-wipe|pool-delete|pool-destroy|pool-undefine|snapshot-delete|net-destroy|net-undefine",
            ],
        ),
        tool(
            &["lxc", "incus", "lxd"],
            &["delete|rm", "image|project|profile|network|snapshot delete", "storage delete", "storage volume delete"],
        ),
        tool(&["multipass"], &["delete|purge"]),
        tool(
            &["VBoxManage", "vboxmanage"],
            &["unregistervm --delete|--delete-all", "closemedium --delete", "snapshot * delete"],
        ),
        tool(&["prlctl", "utmctl", "limactl", "colima", "tart", "orb", "orbctl"], &["delete|remove", "reset"]),
        tool(&["qm", "pct"], &["destroy", "delsnapshot"]),
        tool(&["pvesm"], &["free|remove"]),
        tool(&["pveum"], &["user delete"]),
        tool(&["govc"], &["vm.destroy|datastore.rm|object.destroy|snapshot.remove|pool.destroy"]),
        tool(&["wsl"], &["--unregister"]),
    ],
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    if tools::calls(sight, &TOOLS) {
        report(sight, "This destroys something that runs, or is kept, for others.", hits);
    }
}
