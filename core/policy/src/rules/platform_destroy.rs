//! `platform-destroy`: destroying apps and virtual machines.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "platform-destroy",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Destroying apps and virtual machines",
    doc: "Asks before an app on a hosting platform or a virtual machine is destroyed: Heroku, Fly, Vercel, \
          Netlify, Firebase, Vagrant, libvirt, LXD and their kin.",
    instead: "Look at it first: `heroku apps:info --app web`.",
    denies: &[
        "heroku apps:destroy web --confirm web", "fly apps destroy web", "flyctl destroy web", "vercel rm web --yes",
        "netlify sites:delete x", "vagrant destroy -f", "virsh undefine vm", "lxc delete c1 --force",
        "serverless remove", "firebase projects:delete x", "heroku pg:reset DATABASE", "nomad job stop -purge x",
        "railway down", "wrangler delete",
    ],
    passes: &[
        "heroku logs", "fly status", "vercel ls", "vagrant up", "virsh list", "lxc list", "fly deploy", "heroku apps",
        "netlify status", "wrangler dev",
    ],
    watch: RuleTrigger::Programs(&[
        "heroku", "fly", "flyctl", "vercel", "netlify", "vagrant", "virsh", "lxc", "incus", "serverless", "sls",
        "firebase", "nomad", "railway", "render", "wrangler", "consul", "cf", "now", "surge", "multipass",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    if call.only_looks() {
        return;
    }
    let first = call.word(0);
    let named =
        |word: &str| matches!(word, "destroy" | "delete" | "remove" | "undefine" | "purge" | "rm" | "down" | "kill");
    let stopped = match sight.program() {
        "heroku" => {
            first.ends_with(":destroy")
                || first.ends_with(":reset")
                || first.ends_with(":delete")
                || first.ends_with(":remove")
        }
        "vercel" | "now" => {
            matches!(first, "rm" | "remove") || (matches!(call.word(1), "rm" | "remove") && first != "ls")
        }
        "netlify" | "firebase" => first.ends_with(":delete") || first.ends_with(":disable"),
        "vagrant" => first == "destroy",
        "nomad" => call.begins(&["job", "stop"]) || call.begins(&["system", "gc"]),
        "consul" => call.begins(&["kv", "delete"]),
        "lxc" | "incus" | "multipass" | "cf" => matches!(first, "delete" | "purge"),
        _ => named(first) || (named(call.word(1)) && call.word(1) != "down" && call.word(1) != "kill"),
    };
    if stopped {
        report(sight, "This destroys something that runs for others.", hits);
    }
}
