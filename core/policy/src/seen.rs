//! Commands as the rules see them: the program, where it runs, and what it would do to files.

use crate::acts::{self, Act};
use crate::git::GitCall;
use crate::place::Machine;
use bash::{Command, Reading, Via};

/// What was worked out once about one command of the reading.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The program's plain name, when it is certain.
    pub program: Option<String>,
    pub machine: Machine,
    pub acts: Vec<Act>,
    pub git: Option<GitCall>,
}

impl Seen {
    pub(crate) fn all(reading: &Reading) -> Vec<Self> {
        (0..reading.commands.len()).filter_map(|at| Self::of(reading, at)).collect()
    }

    fn of(reading: &Reading, at: usize) -> Option<Self> {
        let command = reading.commands.get(at)?;
        let program = command.program().map(plain);
        let git = match program.as_deref() {
            Some("git") => GitCall::parse(command),
            _ => None,
        };
        let acts = acts::of(reading, command, program.as_deref().unwrap_or_default());
        Some(Self { machine: machine(command), acts, git, program })
    }
}

/// The name a program is known by: without `.exe`, and GNU's `g` names on other systems as plain ones.
fn plain(mut name: String) -> String {
    if let Some(stem) = name.strip_suffix(".exe") {
        name.truncate(stem.len());
    }
    match name.as_str() {
        "grm" | "gmv" | "gcp" | "gfind" | "gxargs" | "gsed" | "gdd" | "gtee" | "gshred" | "gtruncate" | "gchmod"
        | "gchown" => name.split_off(1),
        _ => name,
    }
}

fn machine(command: &Command) -> Machine {
    let mut machine = Machine::This;
    for via in &command.via {
        let Via::Wrapper(name) = via else { continue };
        match name.split(' ').next().unwrap_or(name) {
            "ssh" | "mosh" | "sshpass" | "autossh" | "slogin" | "rsh" | "pssh" | "ansible" => machine = Machine::Other,
            "docker" | "podman" | "nerdctl" | "kubectl" | "docker-compose" | "oc" | "lxc" | "crictl" | "vagrant"
            | "multipass" => {
                machine = Machine::Container;
            }
            _ => {}
        }
    }
    machine
}
