//! `machine-stop`: stopping the machine, its services or its protections.

use crate::args::text;
use crate::calls::Call;
use crate::rule::{Hit, HitWeight, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "machine-stop",
    pack: Pack::Privileges,
    kind: RuleKind::Ask,
    title: "Stopping the machine, its services or its protections",
    doc: "Asks before the machine is shut down or rebooted, and before its services are stopped, disabled \
          or masked, its firewall emptied or its protections turned off, on this machine or on those that Ansible names.",
    instead: "See how it stands first: `systemctl status nginx`.",
    denies: &[
        "shutdown -h now", "reboot", "systemctl poweroff", "init 0", "systemctl stop nginx", "halt",
        "systemctl disable --now sshd", "service postgresql stop", "iptables -F", "ufw disable",
        "launchctl unload ~/Library/LaunchAgents/x.plist", "auditctl -e 0", "setenforce 0",
        "netsh advfirewall set allprofiles state off", "Set-ExecutionPolicy Bypass -Scope LocalMachine",
        "Set-MpPreference -DisableRealtimeMonitoring $true", "ansible all -m reboot",
    ],
    passes: &[
        "systemctl status nginx", "systemctl --user status foo", "uptime", "npm init", "git init",
        "systemctl list-units", "systemctl --user restart app", "echo reboot", "service --status-all",
        "launchctl list", "auditctl -l", "netsh advfirewall show allprofiles", "ansible all -m ping", "setenforce 1",
        "Set-ExecutionPolicy RemoteSigned -Scope CurrentUser", "Set-ExecutionPolicy Bypass -Scope Process",
    ],
    watch: RuleTrigger::Programs(&[
        "shutdown", "reboot", "halt", "poweroff", "init", "telinit", "systemctl", "service", "launchctl", "iptables",
        "ip6tables", "nft", "ufw", "setenforce", "csrutil", "spctl", "auditctl", "aa-teardown", "aa-disable",
        "aa-complain", "pfctl", "netsh", "netsh.exe", "ansible", "Set-ExecutionPolicy", "set-executionpolicy",
        "Set-MpPreference", "set-mppreference", "Set-NetFirewallProfile", "set-netfirewallprofile", "Stop-Service",
        "stop-service",
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
        "setenforce" => matches!(call.word(0), "0" | "Permissive" | "permissive"),
        "auditctl" => call.args.short('D') || (call.args.short('e') && call.word(0) == "0"),
        "pfctl" => call.args.short('d') || call.args.short('F'),
        "netsh" | "netsh.exe" => {
            call.word(0) == "advfirewall" && (call.word(1) == "reset" || call.any(|word| word == "off"))
        }
        "ansible" => stops_hosts(sight),
        name if name.contains('-') && !name.starts_with("aa-") => unprotects(sight, &name.to_ascii_lowercase()),
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

/// `ansible HOSTS -m reboot`: a module by its short or full name.
fn stops_hosts(sight: &RuleInput<'_>) -> bool {
    let words: Vec<_> = sight.command.args().iter().map(text).collect();
    let stops = |name: &str| {
        let name = name.rsplit('.').next().unwrap_or(name);
        matches!(name, "reboot" | "shutdown" | "win_reboot" | "win_shutdown")
    };
    let apart = words
        .iter()
        .zip(words.iter().skip(1))
        .any(|(option, name)| matches!(option.as_ref(), "-m" | "--module-name" | "-bm") && stops(name));
    apart || words.iter().any(|word| word.strip_prefix("--module-name=").or(word.strip_prefix("-m")).is_some_and(stops))
}

/// What Windows is protected by, told to look away: for one process or one account it is everyday.
fn unprotects(sight: &RuleInput<'_>, cmdlet: &str) -> bool {
    let words: Vec<String> = sight.command.args().iter().map(|word| text(word).to_ascii_lowercase()).collect();
    let any = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    match cmdlet {
        "set-executionpolicy" => any(&["unrestricted", "bypass"]) && !any(&["process", "currentuser"]),
        "set-mppreference" => words.iter().enumerate().any(|(at, word)| {
            let value = words.get(at + 1).map(String::as_str).unwrap_or_default();
            let (name, glued) = word.split_once(':').unwrap_or((word, value));
            name.starts_with("-disable") && matches!(glued, "$true" | "1" | "true") || name.starts_with("-exclusion")
        }),
        "set-netfirewallprofile" => any(&["false", "$false", "-enabled:false"]),
        _ => cmdlet == "stop-service",
    }
}
