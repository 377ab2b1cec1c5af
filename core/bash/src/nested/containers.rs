//! `docker exec`, `kubectl exec` and their kin: commands inside a container.

use super::options::{self, value};
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

/// Options before the subcommand that take a value.
const GLOBAL: &[&str] = &[
    "-c", "-H", "-l", "-n", "-f", "-p", "-s", "--config", "--context", "--host", "--log-level", "--namespace",
    "--kubeconfig", "--cluster", "--user", "--file", "--project-name", "--project-directory", "--env-file",
    "--profile", "--url", "--connection",
];
/// Options of `exec` and `run` that take a value.
const RUN: &[&str] = &[
    "-a", "-c", "-e", "-h", "-l", "-m", "-n", "-p", "-u", "-v", "-w", "--add-host", "--cap-add", "--cap-drop",
    "--container", "--cpus", "--device", "--dns", "--entrypoint", "--env", "--env-file", "--expose", "--gpus",
    "--hostname", "--ip", "--ipc", "--label", "--log-driver", "--memory", "--mount", "--name", "--network", "--net",
    "--pid", "--platform", "--publish", "--pull", "--restart", "--runtime", "--security-opt", "--shm-size", "--tmpfs",
    "--ulimit", "--user", "--userns", "--volume", "--volumes-from", "--workdir", "--image", "--namespace", "--index",
    "--detach-keys", "--cwd",
];

impl Walker {
    pub(super) fn open_container(&mut self, program: &str, args: &[Word], place: &Place) {
        let (_, mut operands) = options::split(args, GLOBAL);
        if operands.first().is_some_and(|word| matches!(word.known().as_deref(), Some("compose" | "container"))) {
            operands = options::split(operands.get(1..).unwrap_or_default(), GLOBAL).1;
        }
        let Some((sub, rest)) = operands.split_first() else { return };
        let sub = sub.known().unwrap_or_default();
        if !matches!(sub.as_str(), "exec" | "run" | "debug") {
            return;
        }
        let via = Via::Wrapper(program.to_string());
        let (options, operands) = options::split(rest, RUN);
        let dashes = operands.iter().position(|word| word.known().as_deref() == Some("--"));
        let words = match dashes {
            Some(at) => operands.get(at + 1..),
            None => operands.get(1..),
        };
        let mut words = words.unwrap_or_default().to_vec();
        if let Some(entry) = value(&options, &["--entrypoint"]) {
            words.insert(0, entry.clone());
        }
        // An image that is asked for options only runs its own entry point.
        if words.first().is_some_and(|word| word.shown().starts_with('-')) {
            return;
        }
        self.elsewhere(&words, via, place);
    }
}
