//! `machine-stop`: stopping the machine, its services or its protections.

use crate::calls::Call;
use crate::rule::{Hit, HitWeight, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "machine-stop",
    pack: Pack::Privileges,
    kind: RuleKind::Ask,
    title: "Stopping the machine, its services or its protections",
    doc: "Asks before the machine is shut down or rebooted, and before its services are stopped, disabled \
          or masked, its firewall emptied or its protections turned off.",
    instead: "See how it stands first: `systemctl status nginx`.",
    denies: &[
        "shutdown -h now", "reboot", "systemctl poweroff", "init 0", "systemctl stop nginx", "halt",
        "systemctl disable --now sshd", "service postgresql stop", "iptables -F", "ufw disable",
        "launchctl unload ~/Library/LaunchAgents/x.plist",
    ],
    passes: &[
        "systemctl status nginx", "systemctl --user status foo", "uptime", "npm init", "git init",
        "systemctl list-units", "systemctl --user restart app", "echo reboot", "service --status-all",
        "launchctl list",
    ],
    watch: RuleTrigger::Programs(&[
        "shutdown", "reboot", "halt", "poweroff", "init", "telinit", "systemctl", "service", "launchctl", "iptables",
        "ip6tables", "nft", "ufw", "setenforce", "csrutil", "spctl",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::of(sight);
    let stopped = match sight.program() {
        "init" | "telinit" => matches!(call.word(0), "0" | "1" | "6" | "s" | "S"),
        "systemctl" => {
            let power = matches!(
                call.word(0),
                "poweroff" | "reboot" | "halt" | "kexec" | "rescue" | "emergency" | "suspend" | "hibernate"
            );
            power || (matches!(call.word(0), "stop" | "disable" | "mask" | "kill" | "isolate") && !call.flag("user"))
        }
        "launchctl" => matches!(call.word(0), "unload" | "bootout" | "remove" | "disable" | "stop" | "kill"),
        "iptables" | "ip6tables" => call.args.any_short("FX") || call.flag("flush"),
        "nft" => call.begins(&["flush"]) || call.begins(&["delete"]),
        "ufw" => call.any(|word| matches!(word, "disable" | "reset")),
        "setenforce" => matches!(call.word(0), "0" | "Permissive"),
        "csrutil" => call.word(0) == "disable",
        "spctl" => call.flag("master-disable") || call.flag("global-disable"),
        "service" => call.word(1) == "stop",
        "shutdown" => !call.args.short('c'),
        _ => true,
    };
    if stopped && !call.only_looks() {
        hits.push(
            Hit::new(sight.shown(), "This stops the machine, one of its services or what protects it.")
                .weighing(HitWeight::Machine),
        );
    }
}
