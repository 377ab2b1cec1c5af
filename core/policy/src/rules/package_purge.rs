//! `package-purge`: removing packages and toolchains wholesale.

use crate::args::text;
use crate::calls::report;
use crate::place::Machine;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::tools::{self, ToolTable, tool};
use bash::{Command, StdinSource};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "package-purge",
    pack: Pack::Privileges,
    kind: RuleKind::Ask,
    title: "Removing packages and toolchains wholesale",
    doc: "Asks before packages are removed that a system cannot do without (kernels, the C library, systemd, the \
          system's Python), before dependencies are overruled, and before everything a package manager has installed, \
          a whole toolchain or a whole environment is removed. Removing one ordinary package passes.",
    instead: "See what would go: `apt-get remove --simulate python3`.",
    denies: &[
        "apt-get purge -y 'linux-image-*'", "apt remove python3", "dpkg --purge --force-all libc6",
        "rpm -e --nodeps glibc", "dnf remove -y kernel-core", "yum erase systemd", "pacman -Rdd glibc", "apk del musl",
        "brew uninstall --force $(brew list)", "brew list | xargs brew uninstall",
        "pip freeze | xargs pip uninstall -y", "pip uninstall -y -r <(pip freeze)", "rustup self uninstall -y",
        "conda env remove -n prod", "conda remove --all -n x", "gem uninstall -aIx", "nix-collect-garbage -d",
        "flatpak uninstall --all", "npm ls -g | xargs npm rm -g", "opam switch remove 5.1.0", "zypper rm glibc",
        "rpm -qa | xargs rpm -e",
    ],
    passes: &[
        "apt-get remove --simulate python3", "pip uninstall -y requests", "npm uninstall lodash",
        "brew uninstall wget", "cargo uninstall ripgrep", "conda list",
        "rustup toolchain uninstall nightly-2023-01-01", "pyenv uninstall 3.8.1", "apt list --installed",
        "apt-get install linux-image-generic", "gem uninstall rake -v 12.0", "nvm uninstall 16",
        "pip freeze | xargs pip install -U", "apk del curl", "dnf remove htop", "pip list | grep requests",
        "pacman -Rns htop", "brew list", "nix-collect-garbage", "apk del .build-deps",
    ],
    watch: RuleTrigger::Tools(&TOOLS),
    judge,
};

/// Removals of what is named.
const TOOLS: ToolTable = ToolTable {
    name: "package-purge",
    tools: &[
        tool(
            &["apt", "apt-get", "aptitude", "nala"],
            &["remove|purge|autoremove|autopurge|full-remove !-s|--simulate|--dry-run|--just-print|--no-act"],
        ),
        tool(&["dpkg"], &["--purge|-P|--remove|-r !--no-act|--dry-run|--simulate"]),
        tool(&["rpm"], &["-e|--erase !--test"]),
        tool(&["dnf", "dnf5", "yum", "microdnf", "tdnf"], &["remove|erase|autoremove|rm !--assumeno"]),
        tool(&["pacman", "yay", "paru"], &["-R|--remove !-p|--print"]),
        tool(&["apk"], &["del|remove !-s|--simulate"]),
        tool(&["zypper"], &["rm|remove|se-remove !-D|--dry-run"]),
        tool(&["emerge"], &["-C|--unmerge|--depclean !-p|--pretend"]),
        tool(&["xbps-remove", "opkg-remove"], &["*"]),
        tool(&["pkg", "opkg", "swupd", "tlmgr"], &["delete|remove !-n|--dry-run"]),
        tool(&["brew"], &["uninstall|remove|rm"]),
        tool(&["pip", "pip3", "pipx", "uv"], &["uninstall", "pip uninstall", "uninstall-all", "tool uninstall"]),
        tool(&["python", "python3"], &["pip uninstall"]),
        tool(&["npm", "pnpm", "yarn", "bun"], &["uninstall|remove|rm|un|r", "global remove"]),
        tool(&["gem", "cargo", "choco", "scoop", "winget", "port", "snap", "flatpak", "go"], &["uninstall|remove"]),
        tool(&["volta", "asdf", "mise", "sdk", "nvm", "pyenv", "rbenv", "ghcup"], &["uninstall|rm|nuke"]),
        tool(&["rustup"], &["toolchain uninstall|remove"]),
        tool(&["conda", "mamba", "micromamba", "nix-collect-garbage", "nix", "nix-env", "guix", "opam"], &[]),
    ],
};

/// Removals that are wholesale by themselves.
pub(super) const WHOLESALE: ToolTable = ToolTable {
    name: "wholesale-removal",
    tools: &[
        tool(&["rustup"], &["self uninstall"]),
        tool(&["conda", "mamba", "micromamba"], &["env remove", "remove --all", "uninstall --all"]),
        tool(&["gem"], &["uninstall -a -x $$", "uninstall --all --executables $$"]),
        tool(&["nix-collect-garbage"], &["-d|--delete-old|--delete-older-than=0d"]),
        tool(&["nix"], &["profile wipe-history|remove --all", "store delete", "profile remove .*"]),
        tool(&["nix-env"], &["--delete-generations|--uninstall=.*", "-e=.*"]),
        tool(&["guix"], &["package -d|--delete-generations", "gc -d"]),
        tool(&["flatpak"], &["uninstall|remove --all|--delete-data"]),
        tool(&["snap"], &["remove --purge"]),
        tool(&["opam"], &["switch remove", "remove --all"]),
        tool(&["ghcup"], &["nuke"]),
        tool(&["pipx"], &["uninstall-all"]),
        tool(&["brew"], &["uninstall|remove|rm --ignore-dependencies --force"]),
        tool(&["asdf"], &["plugin remove"]),
        tool(&["tlmgr"], &["remove --all"]),
        tool(&["apt", "apt-get"], &["remove|purge --allow-remove-essential|--force-yes"]),
        tool(
            &["dpkg"],
            &["--force-all|--force-depends|--force-remove-essential|--force-remove-reinstreq --purge|-P|--remove|-r"],
        ),
        tool(&["rpm"], &["-e|--erase --nodeps|--allmatches"]),
        tool(&["pacman", "yay", "paru"], &["-R -d"]),
    ],
};

/// What a system, or the programs on it, cannot do without.
const VITAL: &[&str] = &[
    "linux-image", "linux-headers-", "linux-generic", "linux-modules", "kernel", "linux", "linux-lts",
    "linux-firmware", "libc6", "libc-bin", "glibc", "musl", "libstdc++6", "systemd", "init", "coreutils", "bash",
    "dpkg", "apt", "rpm", "dnf", "yum", "pacman", "apk-tools", "busybox", "alpine-baselayout", "python3", "python",
    "python3-minimal", "openssh-server", "openssh", "sudo", "network-manager", "NetworkManager", "grub", "grub2",
    "grub-pc", "util-linux", "filesystem", "base", "base-files", "libssl3", "openssl-libs", "libgcc-s1", "libgcc",
    "perl-base", "shim-signed", "zlib", "initramfs-tools", "dracut", "udev", "dbus", "libsystemd0", "ubuntu-desktop",
    "gnome-shell", "xorg",
];

/// Programs that print what is installed.
const LISTERS: &[&str] = &[
    "pip", "pip3", "npm", "brew", "gem", "apt", "dpkg", "dpkg-query", "rpm", "pacman", "cargo", "flatpak", "snap",
    "conda", "apk", "uv", "choco", "rustup", "yarn", "pnpm",
];

/// What makes them print it.
const LISTS: &[&str] = &[
    "list", "freeze", "ls", "-qa", "-l", "-Q", "-Qq", "-Qqe", "-Qe", "--get-selections", "leaves", "info", "-W", "ll",
    "la",
];

/// Managers of languages and users: a package called `python` there is one like any other.
const NOT_THE_SYSTEMS: &[&str] = &[
    "pip", "pip3", "pipx", "uv", "python", "python3", "npm", "pnpm", "yarn", "bun", "gem", "cargo", "go", "brew",
    "volta", "asdf", "mise", "sdk", "nvm", "pyenv", "rbenv", "scoop", "choco", "winget",
];

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    if sight.seen.machine == Machine::Container {
        return;
    }
    let removes = || tools::calls(sight, &TOOLS);
    let vital = || !NOT_THE_SYSTEMS.contains(&sight.program()) && vital_named(sight);
    if (tools::calls(sight, &WHOLESALE) && !throw_away(sight))
        || (removes() && (vital() || fed_by_a_list(sight) || given_a_list(sight)))
    {
        report(sight, "This removes packages that others depend on, or everything that was installed.", hits);
    }
}

/// `conda env remove -n old-test`: an environment that says by its name that it is not kept.
fn throw_away(sight: &RuleInput<'_>) -> bool {
    let named =
        |word: &str| word.split(['-', '_']).any(|part| matches!(part, "old" | "test" | "tmp" | "temp" | "demo"));
    (sight.program().ends_with("mamba") || sight.program() == "conda")
        && sight.command.args().iter().any(|word| named(&text(word)))
}

fn vital_named(sight: &RuleInput<'_>) -> bool {
    const STARTS: &[&str] = &[
        "linux-image-", "linux-modules-", "kernel-core", "kernel-default", "kernel-modules", "kernel-lt", "kernel-ml",
        "glibc-", "systemd-", "libc6-", "python3.1",
    ];
    const BESIDES: &[&str] = &["-dev", "-devel", "-doc", "-dbg"];
    sight.command.args().iter().map(text).filter(|word| !word.starts_with('-')).any(|word| {
        let name = word.split([':', '=']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        let stem = name.trim_end_matches('*').trim_end_matches('-');
        let one_of_many =
            STARTS.iter().any(|start| name.starts_with(start)) && !BESIDES.iter().any(|end| name.ends_with(end));
        name == "*" || VITAL.contains(&name) || VITAL.contains(&stem) || one_of_many
    })
}

/// `pip freeze | xargs pip uninstall -y`; a `grep` between picks some.
fn fed_by_a_list(sight: &RuleInput<'_>) -> bool {
    let commands = &sight.parsed_call.reading.commands;
    let mut at = sight.at;
    for _ in 0..HOPS {
        let Some(StdinSource::Pipe(from)) = commands.get(at).map(|command| &command.feed) else { return false };
        let mut before = from.iter().take(HOPS).filter_map(|at| commands.get(*at));
        if before.any(lists) {
            return true;
        }
        let Some(first) = from.first() else { return false };
        let picks = |command: &Command| {
            let excludes =
                command.args().iter().any(|word| text(word).starts_with("-v") || text(word).starts_with("-Ev"));
            command.program().as_deref().is_some_and(|name| name.ends_with("grep")) && !excludes
        };
        if commands.get(*first).is_some_and(picks) {
            return false;
        }
        at = *first;
    }
    false
}

/// How far up a pipe is looked.
const HOPS: usize = 6;

/// `brew uninstall $(brew list)`, `pip uninstall -r <(pip freeze)`
fn given_a_list(sight: &RuleInput<'_>) -> bool {
    let readings = sight.command.args().iter().flat_map(|word| sight.parsed_call.substitutions.of(word));
    readings.into_iter().any(|reading| {
        reading.commands.first().is_some_and(lists)
            && !reading.commands.iter().any(|command| command.program().as_deref() == Some("grep"))
    })
}

fn lists(command: &Command) -> bool {
    command.program().is_some_and(|program| LISTERS.contains(&program.as_str()))
        && command.args().iter().take(3).any(|word| LISTS.contains(&text(word).as_ref()))
}
