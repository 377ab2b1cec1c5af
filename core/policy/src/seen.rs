//! Commands as the rules see them: the program, where it runs, and what it would do to files.

use crate::acts::{self, Act};
use crate::args::text;
use crate::git::GitCall;
use crate::place::Machine;
use crate::target::{absolute, within};
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
        let mut acts = acts::of(reading, command, program.as_deref().unwrap_or_default());
        let machine = machine(command);
        if machine == Machine::Container {
            bind(reading, at, &mut acts);
        }
        Some(Self { machine, acts, git, program })
    }
}

/// The name a program is known by: without `.exe`, and GNU's `g` names on other systems as plain ones.
fn plain(mut name: String) -> String {
    if let Some(stem) = name.strip_suffix(".exe") {
        name.truncate(stem.len());
    }
    match name.as_str() {
        "hub" => "git".to_string(),
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

/// `docker run -v /src:/app … rm -rf /app`: what is bound into the container is this machine's.
fn bind(reading: &Reading, at: usize, acts: &mut [Act]) {
    let before = reading.commands.get(..at).unwrap_or_default();
    let runs = |command: &&Command| matches!(command.program().as_deref(), Some("docker" | "podman" | "nerdctl"));
    let Some(outer) = before.iter().rev().find(runs) else { return };
    let volumes = bound_folders(outer);
    for act in acts {
        let Some(path) = act.target.path.as_deref() else { continue };
        let found = volumes.iter().find(|(_, inside)| within(path, inside));
        let Some((here, inside)) = found else { continue };
        let rest = path.strip_prefix(inside.trim_end_matches('/')).unwrap_or_default();
        act.target.path = absolute(&format!("{here}{rest}"), outer.cwd.as_deref());
        act.target.bound = true;
    }
}

/// Whether a path is a fresh container's own: gone with it, whatever is done to it.
pub(crate) fn throwaway(reading: &Reading, at: usize, act: &Act) -> bool {
    let before = reading.commands.get(..at).unwrap_or_default();
    let runs = |command: &&Command| matches!(command.program().as_deref(), Some("docker" | "podman" | "nerdctl"));
    let Some(outer) = before.iter().rev().find(runs) else { return false };
    let Some(path) = act.target.path.as_deref() else { return false };
    let words: Vec<_> = outer.args().iter().map(text).collect();
    let fresh = words.iter().find(|word| !word.starts_with('-')).is_some_and(|word| word == "run");
    // A volume outlives the container, by whatever name.
    let kept = |word: &str| {
        word.split([':', ',']).any(|part| {
            within(path, part.trim_start_matches("target=").trim_start_matches("dst=")) && part.contains('/')
        })
    };
    fresh && !act.target.bound && !words.iter().any(|word| word.contains([':', ',']) && kept(word))
}

/// The folders an outer `docker run` binds: here, and what they are called inside.
fn bound_folders(outer: &Command) -> Vec<(String, String)> {
    let mut folders = Vec::new();
    let mut words = outer.args().iter().map(text);
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some(("--volume", value)) => Some(value.to_string()),
            _ if word == "-v" || word == "--volume" => words.next().map(|value| value.into_owned()),
            _ => word.strip_prefix("-v").filter(|rest| rest.starts_with('/')).map(str::to_string),
        };
        let pair = value.as_deref().and_then(|value| value.split_once(':'));
        if let Some((here, inside)) = pair.filter(|(here, _)| here.starts_with(['/', '.', '~'])) {
            let inside = inside.split(':').next().unwrap_or(inside);
            folders.push((here.to_string(), inside.to_string()));
        }
    }
    folders
}
