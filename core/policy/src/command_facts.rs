//! Commands as the rules see them: the program, where it runs, and what it would do to files.

use crate::container::Container;
use crate::dry_run;
use crate::git::GitCall;
use crate::links::LinkedPaths;
use crate::path_actions::{self, ListedPaths, PathAction};
use crate::place::Machine;
use crate::running::EXECUTORS;
use crate::source::Substitutions;
use bash::{Command, Reading, Via};
use std::sync::Arc;

/// What was worked out once about one command of the reading.
#[derive(Debug, Clone, Default)]
pub struct CommandFacts {
    /// The program's plain name, when it is certain.
    pub program: Option<String>,
    pub machine: Machine,
    pub acts: Vec<PathAction>,
    pub git: Option<GitCall>,
    /// It is only asked for help, or to say what it would do.
    pub(crate) only_shows: bool,
    /// The container it runs in, where the line starts that.
    pub(crate) container: Option<Arc<Container>>,
}

impl CommandFacts {
    pub(crate) fn all(reading: &Reading, substitutions: &Substitutions, home: Option<&str>) -> Vec<Self> {
        let listed = ListedPaths::new(reading, substitutions).with_home(home);
        // The container that was started last: what runs in one stands behind what starts it.
        let mut container: Option<Arc<Container>> = None;
        let mut links = LinkedPaths::default();
        let mut all = Vec::with_capacity(reading.commands.len());
        for command in &reading.commands {
            let mut seen = Self::of(command, container.as_ref(), &listed);
            if let Some(program) = seen.program.as_deref().or(Some("")).filter(|_| seen.machine == Machine::This) {
                links.follow(program, command, &mut seen.acts);
                links.learn(program, command);
            }
            let started = seen.program.as_deref().and_then(|program| Container::of(command, program));
            container = started.map(Arc::new).or(container);
            all.push(seen);
        }
        all
    }

    fn of(command: &Command, container: Option<&Arc<Container>>, listed: &ListedPaths<'_>) -> Self {
        let program = command.program().map(plain);
        let git = match program.as_deref() {
            Some("git") => GitCall::parse(command),
            _ => None,
        };
        let named = program.as_deref().unwrap_or_default();
        let only_shows = !named.is_empty() && dry_run::only_shows(named, command, git.as_ref());
        let mut acts = path_actions::of(command, if only_shows { "" } else { named }, listed);
        let machine = machine(command);
        let container = container.filter(|_| machine == Machine::Container).cloned();
        if let Some(container) = &container {
            container.bind(&mut acts);
        }
        Self { machine, acts, git, only_shows, program, container }
    }
}

/// The name a program is known by: without `.exe`, without the version of a package that is run, and GNU's `g` names on
/// other systems as plain ones.
fn plain(mut name: String) -> String {
    if let Some(stem) = name.strip_suffix(".exe") {
        name.truncate(stem.len());
    }
    if let Some((package, _)) = name.split_once('@').filter(|(package, _)| !package.is_empty()) {
        name.truncate(package.len());
    }
    match name.as_str() {
        "hub" => "git".to_string(),
        "grm" | "gmv" | "gcp" | "gfind" | "gxargs" | "gsed" | "gdd" | "gtee" | "gshred" | "gtruncate" | "gchmod"
        | "gchown" => name.split_off(1),
        _ => match name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-')) {
            // `python3.12`, `perl5.36`, `node20`, `bash-5.2`
            stem if stem.len() < name.len() && !EXECUTORS.contains(&name.as_str()) => match stem {
                "pypy" | "ipython" => "python3".to_string(),
                stem if EXECUTORS.contains(&stem) => stem.to_string(),
                _ => name,
            },
            _ => name,
        },
    }
}

fn machine(command: &Command) -> Machine {
    let mut machine = Machine::This;
    for via in command.via.iter() {
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
