//! Programs that run the command given in their own words, as a table.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::options::{self, given, value};
use crate::output::Output;
use crate::reading::{Command, Via, Word};
use crate::scan;
use crate::walk::{Place, Walker};

/// How one wrapper finds the command in its words.
struct Wrapper {
    name: &'static str,
    /// Subcommand that must come first (`uv run`); empty when there is none.
    sub: &'static str,
    /// Options that take a value.
    valued: &'static [&'static str],
    /// Operands before the command.
    skip: usize,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], skip: usize) -> Wrapper {
    Wrapper { name, sub: "", valued, skip }
}

const fn runner(name: &'static str, sub: &'static str, valued: &'static [&'static str]) -> Wrapper {
    Wrapper { name, sub, valued, skip: 0 }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group", "--host",
            "--prompt", "--close-from", "--role", "--type", "--command-timeout", "--other-user", "--chdir", "--chroot",
        ],
        0,
    ),
    wrapper("doas", &["-u", "-C", "-a"], 0),
    wrapper("pkexec", &["--user"], 0),
    wrapper(
        "run0",
        &["-u", "-g", "-D", "--user", "--group", "--chdir", "--unit", "--property", "--slice", "--nice"],
        0,
    ),
    wrapper("gosu", &[], 1),
    wrapper("su-exec", &[], 1),
    wrapper("env", &["-u", "-C", "-S", "-a", "--unset", "--chdir", "--split-string", "--argv0"], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("ionice", &["-c", "-n", "-p", "-P", "-u", "--class", "--classdata", "--pid"], 0),
    wrapper("chrt", &["-T", "-P", "-D"], 1),
    wrapper("taskset", &[], 1),
    wrapper("nohup", &[], 0),
    wrapper("time", &["-f", "-o", "--format", "--output"], 0),
    wrapper("gtime", &["-f", "-o", "--format", "--output"], 0),
    wrapper("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper("gtimeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    wrapper("setsid", &[], 0),
    wrapper("setarch", &[], 1),
    wrapper("linux32", &[], 0),
    wrapper("linux64", &[], 0),
    wrapper("prlimit", &["-p", "--pid"], 0),
    wrapper("command", &[], 0),
    wrapper("builtin", &[], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("noglob", &[], 0),
    wrapper("nocorrect", &[], 0),
    wrapper("busybox", &[], 0),
    wrapper("toybox", &[], 0),
    wrapper("flock", &["-w", "-E", "--timeout", "--wait", "--conflict-exit-code"], 1),
    wrapper("chroot", &["--userspec", "--groups"], 1),
    wrapper(
        "unshare",
        &[
            "-S", "-G", "-R", "-w", "--setuid", "--setgid", "--root", "--wd", "--map-user", "--map-group",
            "--map-users", "--map-groups", "--propagation", "--setgroups",
        ],
        0,
    ),
    wrapper("nsenter", &["-t", "-S", "-G", "--target", "--setuid", "--setgid"], 0),
    wrapper("bwrap", &[], 0),
    wrapper("firejail", &[], 0),
    wrapper(
        "strace",
        &[
            "-e", "-o", "-p", "-s", "-u", "-E", "-a", "-I", "-O", "-P", "-S", "-X", "-b", "--trace", "--output",
            "--attach",
        ],
        0,
    ),
    wrapper("ltrace", &["-a", "-A", "-D", "-e", "-F", "-l", "-n", "-o", "-p", "-s", "-u", "-w", "-x", "--output"], 0),
    wrapper(
        "perf",
        &[
            "-e", "-o", "-F", "-c", "-C", "-r", "-p", "-t", "-g", "--event", "--output", "--freq", "--repeat",
            "--call-graph",
        ],
        1,
    ),
    wrapper("numactl", &["-i", "-N", "-m", "-C", "-p"], 0),
    wrapper("lldb", &["-o", "-O", "-s", "-S", "-p", "-n"], 0),
    wrapper("rr", &[], 1),
    wrapper("heaptrack", &["-o"], 0),
    wrapper(
        "chpst",
        &["-u", "-U", "-e", "-b", "-/", "-n", "-l", "-L", "-m", "-d", "-o", "-p", "-f", "-c", "-r", "-t"],
        0,
    ),
    wrapper("softlimit", &["-a", "-c", "-d", "-f", "-l", "-m", "-n", "-o", "-p", "-r", "-s", "-t"], 0),
    wrapper("setuidgid", &[], 1),
    wrapper("envuidgid", &[], 1),
    wrapper("s6-setuidgid", &[], 1),
    wrapper("envdir", &[], 1),
    wrapper("envchain", &[], 1),
    wrapper("daemonize", &["-c", "-e", "-o", "-p", "-l", "-u", "-E"], 0),
    wrapper("dtach", &["-e", "-r"], 1),
    wrapper("abduco", &["-e"], 1),
    wrapper("ld.so", &["--library-path", "--argv0", "--preload"], 0),
    wrapper("ld-linux-x86-64.so.2", &["--library-path", "--argv0", "--preload"], 0),
    wrapper("ld-linux-aarch64.so.1", &["--library-path", "--argv0", "--preload"], 0),
    wrapper("arch", &["-d", "-e"], 0),
    wrapper("xcrun", &["--sdk", "--toolchain"], 0),
    wrapper("ssh-agent", &["-a", "-E", "-P", "-t"], 0),
    wrapper("tsp", &["-L", "-D", "-N"], 0),
    wrapper("reflex", &["-r", "-R", "-g", "-G", "-d"], 0),
    wrapper("onchange", &["-e", "-d", "-o", "-f"], 0),
    wrapper("bacon", &["-j", "-p"], 0),
    wrapper("winpty", &[], 0),
    wrapper("shx", &[], 0),
    // Words of zsh and fish before a command.
    wrapper("and", &[], 0),
    wrapper("or", &[], 0),
    wrapper("not", &[], 0),
    wrapper("repeat", &[], 1),
    wrapper("start-stop-daemon", &["-p", "-u", "-g", "-c", "-n", "--pidfile", "--user", "--chuid", "--name"], 0),
    wrapper("gsudo", &["-u"], 0),
    wrapper("please", &["-u", "-t"], 0),
    wrapper("nsjail", &[], 0),
    wrapper("catatonit", &[], 0),
    wrapper("with-contenv", &[], 0),
    wrapper("nix-user-chroot", &[], 1),
    wrapper("steam-run", &[], 0),
    wrapper("primusrun", &[], 0),
    wrapper("optirun", &[], 0),
    wrapper("eatmydata", &[], 0),
    wrapper("cpulimit", &["-l", "-p", "-e", "-c"], 0),
    wrapper("schedtool", &["-n", "-a", "-p"], 0),
    wrapper("uvx", &["--from", "--with", "-p", "--python"], 0),
    wrapper("valgrind", &[], 0),
    wrapper("gdb", &["-x", "-ex", "-p", "--command"], 0),
    wrapper("entr", &[], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("chronic", &[], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("rlwrap", &["-a", "-C", "-f", "-H", "-b", "-P", "-s"], 0),
    wrapper("dbus-run-session", &["--config-file", "--dbus-daemon"], 0),
    wrapper("dbus-launch", &[], 0),
    wrapper(
        "xvfb-run",
        &["-n", "-s", "-e", "-f", "-p", "-w", "--server-num", "--server-args", "--error-file", "--auth-file"],
        0,
    ),
    wrapper(
        "systemd-run",
        &[
            "-u", "-p", "-E", "-M", "-H", "-t", "--unit", "--property", "--setenv", "--machine", "--host",
            "--description", "--slice", "--uid", "--gid", "--nice", "--working-directory", "--on-active",
            "--on-calendar",
        ],
        0,
    ),
    wrapper("systemd-inhibit", &["--what", "--who", "--why", "--mode"], 0),
    wrapper("cgexec", &["-g"], 0),
    wrapper("fakeroot", &["-l", "-s", "-i", "--lib", "--faked"], 0),
    wrapper("proot", &["-r", "-b", "-w", "-q"], 0),
    wrapper("torsocks", &[], 0),
    wrapper("proxychains", &["-f"], 0),
    wrapper("proxychains4", &["-f"], 0),
    wrapper("faketime", &[], 1),
    wrapper("tini", &["-e", "-p"], 0),
    wrapper("dumb-init", &["-r"], 0),
    wrapper("catchsegv", &[], 0),
    wrapper("sem", &["-j", "--id"], 0),
    wrapper("setpriv", &["--reuid", "--regid", "--groups", "--inh-caps", "--bounding-set"], 0),
    wrapper("capsh", &[], 0),
    wrapper("cross-env", &[], 0),
    wrapper("dotenv", &["-f", "-e", "-c"], 0),
    wrapper(
        "watchexec",
        &[
            "-w", "-e", "-f", "-i", "-d", "-s", "--watch", "--exts", "--filter", "--ignore", "--debounce", "--signal",
            "--shell",
        ],
        0,
    ),
    wrapper("retry", &["-d", "-t", "--delay", "--times"], 0),
    wrapper("ts-node-dev", &[], 0),
    runner("coverage", "run", &["--source", "--omit", "--include", "--rcfile", "--data-file"]),
    runner("uv", "run", &["--with", "--python", "-p", "--project", "--directory", "--extra", "--group", "--env-file"]),
    runner("poetry", "run", &[]),
    runner("pipenv", "run", &[]),
    runner("pdm", "run", &[]),
    runner("hatch", "run", &[]),
    runner("rye", "run", &[]),
    runner("bundle", "exec", &[]),
    runner("nix", "develop", &["-c", "--command", "-f", "--profile"]),
    runner("nix", "shell", &["-f", "--profile"]),
    runner("guix", "shell", &["-m", "-L"]),
    runner("asdf", "exec", &[]),
    runner("pixi", "run", &["-e", "--environment", "--manifest-path"]),
    runner("devbox", "run", &["-c", "-e"]),
    runner("micromamba", "run", &["-n", "-p", "--name", "--prefix", "--cwd"]),
    runner("mamba", "run", &["-n", "-p", "--name", "--prefix", "--cwd"]),
    runner("chamber", "exec", &["-r", "-b"]),
    runner("dotenvx", "run", &["-f", "-e", "--env-file", "--env"]),
    runner("infisical", "run", &["--env", "--path", "--projectId"]),
    runner("foreman", "run", &["-e", "-f"]),
    runner("heroku", "local:run", &["-e", "-p"]),
    runner("pueue", "add", &["-g", "-w", "-d", "-a", "--group", "--working-directory", "--delay", "--after"]),
    runner("lerna", "exec", &["--scope", "--ignore", "--concurrency"]),
    runner("nx", "exec", &[]),
    runner("rush", "exec", &[]),
    runner("yarn", "run", &[]),
    runner("cargo", "watch", &["-w", "-i", "-d", "-C", "--watch", "--ignore", "--delay", "--workdir"]),
    runner("teller", "run", &[]),
    runner("vault-env", "", &[]),
    runner("mise", "x", &["-c", "--cd", "-j"]),
    runner("hermit", "exec", &[]),
    runner("flox", "activate", &["-d", "-r"]),
    runner("toolbox", "run", &["-c", "--container"]),
    runner("distrobox", "enter", &["-n", "--name"]),
    runner("flatpak-spawn", "--host", &[]),
    runner("npm", "exec", &["-p", "--package", "-w", "--workspace"]),
    runner("pnpm", "exec", &["-F", "--filter"]),
    runner("pnpm", "dlx", &["--package"]),
    runner("yarn", "dlx", &["-p", "--package"]),
    runner("yarn", "exec", &[]),
    runner("bun", "x", &["-p", "--package"]),
    runner("pipx", "run", &["--spec", "--python"]),
    runner("mise", "exec", &["-c", "--cd", "-j"]),
    runner("direnv", "exec", &[]),
    runner("conda", "run", &["-n", "--name", "-p", "--prefix", "--cwd"]),
    runner("aws-vault", "exec", &["-d", "--duration"]),
    runner("op", "run", &["--env-file", "--account"]),
    runner("doppler", "run", &["-p", "-c", "--project", "--config"]),
    runner("rustup", "run", &[]),
    runner("opam", "exec", &[]),
];

/// Wrappers whose command runs in this very shell, so that `cd` in it holds afterwards.
const OWN: &[&str] = &["command", "builtin", "noglob", "nocorrect", "and", "or", "not"];

impl Walker {
    /// Opens `name` when the table has it.
    pub(crate) fn open_wrapper(&mut self, name: &str, command: &Command, place: &Place) -> Output {
        static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| WRAPPERS.iter().map(|entry| entry.name).collect());
        if !NAMES.contains(name) {
            return Output::Unknown;
        }
        let Some((wrapper, args)) = WRAPPERS.iter().find_map(|entry| entry.behind(name, command.args())) else {
            return Output::Unknown;
        };
        let (options, mut operands) = options::split(args, wrapper.valued);
        if looks_up(name, &options) {
            return Output::Unknown;
        }
        let via = Via::Wrapper(name.to_string());
        if name == "env"
            && let Some(text) = value(&options, &["-S", "--split-string"])
        {
            let text = format!("{} {}", super::shell_text(text), super::joined(operands));
            return self.inner_text(&text, via, place);
        }
        // `mise exec node@20 -- cmd`, `nix shell nixpkgs#x -c cmd`: the command stands behind a mark.
        let marked = marks(name).iter().find_map(|mark| {
            let at = args.iter().position(|word| word.known().as_deref() == Some(*mark))?;
            args.get(at + 1..)
        });
        if name == "bwrap" {
            operands = sandboxed(args);
        }
        let first = operands.first().and_then(Word::known);
        // `env -` is `env -i`; a program is told apart from its options by `--`.
        let skip = wrapper.skip + extra(name) + usize::from(name == "env" && first.as_deref() == Some("-"));
        let operands = marked.unwrap_or_else(|| operands.get(skip..).unwrap_or_default());
        let operands = if wrapper.skip > 0 { options::split(operands, wrapper.valued).1 } else { operands };
        let (assignments, operands) = leading_assignments(operands);
        let kept = self.scope.cwd.clone();
        if let Some(folder) = value(&options, &["-C", "--chdir", "-D", "--working-directory", "--wd"])
            .filter(|_| matches!(name, "env" | "sudo" | "run0" | "systemd-run" | "unshare"))
        {
            self.scope.cwd = folder.known().and_then(|folder| self.folder(&folder));
        }
        let unversioned = super::unversioned(name, operands);
        let output = self.enter(name, unversioned.as_deref().unwrap_or(operands), assignments, place);
        if !OWN.contains(&name) {
            self.scope.cwd = kept;
        }
        output
    }

    fn enter(&mut self, name: &str, operands: &[Word], assignments: Vec<(String, Word)>, place: &Place) -> Output {
        let via = Via::Wrapper(name.to_string());
        if OWN.contains(&name) {
            if operands.is_empty() {
                return Output::Unknown;
            }
            let here = place.under(via);
            let command = self.command(operands.to_vec(), &here);
            return self.run(command, &here);
        }
        // `sudo 'rm -rf x'` and its kind: one word holding a whole command line.
        if let [only] = operands
            && only.quoted
            && only.known().is_some_and(|text| text.contains(' ') && !text.starts_with('/'))
            && assignments.is_empty()
        {
            return self.inner_text(&only.shown(), via, place);
        }
        self.inner(operands, assignments, via, place)
    }
}

impl Wrapper {
    /// This wrapper and the words behind its subcommand, when it is the one that `args` call.
    fn behind<'w>(&'static self, name: &str, args: &'w [Word]) -> Option<(&'static Self, &'w [Word])> {
        if self.name != name {
            return None;
        }
        if self.sub.is_empty() {
            return Some((self, args));
        }
        // `pnpm -r exec`: options may stand before the subcommand.
        let operands = match args.first().and_then(Word::known) {
            Some(first) if first == self.sub => args,
            _ => options::split(args, self.valued).1,
        };
        let (sub, rest) = operands.split_first()?;
        (sub.known().as_deref() == Some(self.sub)).then_some((self, rest))
    }
}

/// Words behind which the command of a wrapper stands, whatever is before them.
fn marks(name: &str) -> &'static [&'static str] {
    match name {
        "nix" => &["-c", "--command", "--"],
        "guix" | "mise" | "chamber" | "devbox" | "doppler" | "infisical" | "dotenvx" | "onchange" | "reflex"
        | "pueue" | "lerna" | "cargo" | "op" | "aws-vault" | "watchexec" | "bacon" | "lldb" | "perf" | "flox"
        | "distrobox" | "nsjail" | "teller" | "nx" => &["--"],
        _ => &[],
    }
}

/// The command behind the options of `bwrap`, many of which take two values.
fn sandboxed(args: &[Word]) -> &[Word] {
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        let option = first.shown();
        let values = match option.as_str() {
            "--" => return tail,
            "--setenv" | "--symlink" | "--file" | "--chmod" => 2,
            name if name.contains("bind") => 2,
            "--proc" | "--dev" | "--tmpfs" | "--mqueue" | "--dir" | "--chdir" | "--unsetenv" | "--uid" | "--gid"
            | "--hostname" | "--perms" | "--size" | "--lock-file" | "--cap-add" | "--cap-drop" | "--seccomp"
            | "--sync-fd" | "--info-fd" | "--args" | "--argv0" => 1,
            name if name.starts_with('-') => 0,
            _ => break,
        };
        rest = tail.get(values..).unwrap_or_default();
    }
    rest
}

/// Operands more than the table says: `direnv exec DIR cmd`, `rustup run nightly cmd`, `aws-vault exec profile`.
fn extra(name: &str) -> usize {
    usize::from(matches!(name, "direnv" | "rustup" | "aws-vault"))
}

/// Options with which a wrapper runs nothing.
fn looks_up(name: &str, options: &[(String, Option<Word>)]) -> bool {
    match name {
        "command" => given(options, &["-v", "-V"]),
        // What these run is a script of the project's, or comes behind the mark alone.
        "cargo" | "onchange" | "nx" => false,
        "arch" | "ssh-agent" => given(options, &["-k", "-s", "-c", "-h"]) && name == "ssh-agent",
        "sudo" => given(options, &["-l", "--list", "-v", "--validate", "-k", "-K", "-e", "--edit", "-V"]),
        "ionice" => given(options, &["-p", "-P", "-u", "--pid"]),
        _ => false,
    }
}

/// `NAME=value` words before the command, as `env` and `sudo` take them.
pub(crate) fn leading_assignments(words: &[Word]) -> (Vec<(String, Word)>, &[Word]) {
    let mut assignments = Vec::new();
    let mut rest = words;
    while let [first, tail @ ..] = rest {
        let Some(assignment) = scan::assignment(first) else { break };
        assignments.push(assignment);
        rest = tail;
    }
    (assignments, rest)
}
