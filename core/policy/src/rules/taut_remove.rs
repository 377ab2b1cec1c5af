//! `taut-remove`: removing Taut, or ending its daemon.

use super::agent_part_remove::takes_out;
use crate::args::text;
use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "taut-remove",
    pack: Pack::SelfProtection,
    kind: RuleKind::Deny,
    title: "Removing Taut, or ending its daemon",
    doc: "Stops an agent from removing Taut by a package manager or out of a coding agent (`claude plugin uninstall \
          taut`), from switching all hooks of an agent off by its command line, and from ending Taut's daemon by name or \
          as a service.",
    instead: "Ask the user to do it; `taut doctor` says what is wrong, if something is.",
    denies: &[
        "cargo uninstall taut", "brew uninstall taut", "brew rm user/tap/taut", "npm rm -g @taut/cli taut",
        "npm uninstall -g taut-cli", "pip uninstall -y taut", "python3 -m pip uninstall -y taut",
        "pipx uninstall taut", "uv tool uninstall taut", "apt-get remove --purge taut", "dpkg -r taut",
        "dnf -y remove taut", "pacman -Rns taut", "nix-env -e taut", "nix profile remove taut", "scoop uninstall taut",
        "winget uninstall --id x.taut", "mise uninstall taut@1.0", "snap remove taut", "apk del taut",
        "claude plugin disable taut", "claude plugin uninstall taut@market", "claude plugins rm taut",
        "claude plugin marketplace remove taut", "claude mcp remove taut", "claude plugin disable --all",
        "claude config set disableAllHooks true", "codex features disable hooks", "pkill -f taut", "killall taut",
        "pkill -f 'taut daemon'", "systemctl --user stop taut", "systemctl --user disable --now taut.service",
        "launchctl bootout gui/501/com.taut.daemon", "brew services stop taut",
    ],
    passes: &[
        "cargo uninstall ripgrep", "brew uninstall jq", "npm rm lodash", "pip uninstall -y tautology",
        "python3 setup.py remove taut", "apt-get install taut", "cargo install taut", "brew upgrade taut",
        "systemctl --user status taut", "claude plugin install taut@market", "claude plugin list",
        "echo cargo uninstall taut", "pgrep taut", "git rm docs/taut.md", "nix profile list",
        "grep -rn 'brew uninstall taut' README.md",
    ],
    watch: RuleTrigger::Programs(&[
        "cargo", "brew", "npm", "pnpm", "yarn", "bun", "python", "python3", "pip", "pip3", "pipx", "uv", "apt",
        "apt-get", "aptitude", "dpkg", "rpm", "dnf", "yum", "microdnf", "zypper", "pacman", "yay", "paru", "apk",
        "emerge", "xbps-remove", "pkg", "port", "nix-env", "nix", "guix", "scoop", "winget", "choco", "mise", "asdf",
        "snap", "flatpak", "conda", "mamba", "micromamba", "opkg", "volta", "proto", "pkill", "killall", "skill",
        "taskkill", "systemctl", "service", "launchctl", "rc-service", "sv", "sc", "claude", "claude-code", "codex",
        "gemini", "gemini-cli", "qwen", "qwen-code", "copilot", "cursor-agent", "opencode", "droid", "goose", "kimi",
        "grok", "auggie", "cline", "kiro-cli",
    ]),
    judge,
};

/// Words that remove a package, in whichever place a manager wants them.
const REMOVES: &[&str] =
    &["uninstall", "remove", "rm", "r", "un", "unlink", "purge", "autoremove", "erase", "del", "delete", "unuse"];

/// Options that do, by manager.
const REMOVING_OPTIONS: &[(&str, &[&str])] = &[
    ("dpkg", &["-r", "-P", "--remove", "--purge"]),
    ("rpm", &["-e", "--erase"]),
    ("pacman", &["-R", "--remove"]),
    ("yay", &["-R", "--remove"]),
    ("paru", &["-R", "--remove"]),
    ("nix-env", &["-e", "--uninstall"]),
    ("emerge", &["-C", "-c", "--unmerge", "--depclean"]),
    ("guix", &["-r", "--remove"]),
];

/// Words that end a service, or keep it from starting.
const ENDS: &[&str] =
    &["stop", "disable", "mask", "kill", "unload", "bootout", "remove", "down", "exit", "delete", "clean", "revert"];

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    if disarms(sight) {
        report(sight, "This takes Taut away, or ends it; an agent cannot turn its guard off.", hits);
    }
}

pub(super) fn disarms(sight: &RuleInput<'_>) -> bool {
    let call = Call::with(sight, "o");
    let names = || sight.command.args().iter().any(|word| names_taut(&text(word)));
    // `--user` has a value for some tools and none for these.
    let ends = || sight.command.args().iter().any(|word| ENDS.contains(&text(word).as_ref()));
    if call.flag("help") {
        return false;
    }
    match sight.program() {
        "pkill" | "killall" | "skill" | "taskkill" => names(),
        "systemctl" | "service" | "launchctl" | "rc-service" | "sv" | "sc" => names() && ends(),
        "brew" if call.word(0) == "services" => names() && ends(),
        "xbps-remove" => names(),
        "python" | "python3" if sight.command.args().first().is_none_or(|word| text(word) != "-m") => false,
        program if crate::clients::client(program).is_some() => {
            let all = call.flag("all") || call.args.short('a');
            let hooks = call.any(|word| word.contains("disableAllHooks") || matches!(word, "hooks" | "codex_hooks"));
            let changed = call.any(|word| matches!(word, "set" | "add" | "remove" | "rm" | "disable" | "unset"));
            let switch = matches!(call.word(0), "config" | "features") && hooks && changed;
            switch || takes_out(sight) && (names() || all)
        }
        program => {
            let option = |word: &str| {
                let known = REMOVING_OPTIONS.iter().find(|(manager, _)| *manager == program).map(|(_, names)| *names);
                known.is_some_and(|names| {
                    names.iter().any(|name| word == *name || name.len() == 2 && word.starts_with(name))
                })
            };
            let removes = call.words.iter().take(3).any(|word| REMOVES.contains(&word.as_ref()))
                || sight.command.args().iter().any(|word| option(&text(word)));
            removes && names()
        }
    }
}

/// `taut`, `taut@market`, `user/tap/taut`, `taut.service`, `^taut$`.
fn names_taut(word: &str) -> bool {
    let parts = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_');
    word.split(parts)
        .any(|part| matches!(part, "taut" | "taut-cli" | "taut-bin" | "taut-git" | "taut-daemon" | "tautd"))
}
