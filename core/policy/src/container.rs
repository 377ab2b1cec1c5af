//! Containers: what the `docker run` around a command binds into it, and what is gone with it.

use crate::args::text;
use crate::path_actions::PathAction;
use crate::target::{absolute, within};
use bash::Command;
use std::sync::Arc;

/// How many volumes of one container are told apart. With more, every path in it is taken for this machine's.
const MOST_VOLUMES: usize = 64;

/// The command that starts a container, as far as it says what becomes of the paths inside.
#[derive(Debug, Clone, Default)]
pub(crate) struct Container {
    /// A container of its own, not one that runs already.
    fresh: bool,
    /// Folders it binds: here, and what they are called inside.
    volumes: Vec<(String, String)>,
    /// Paths inside that outlive it, by whatever name.
    kept: Vec<String>,
    cwd: Option<Arc<str>>,
}

impl Container {
    /// The container that `command` starts; `None` when it starts none.
    pub(crate) fn of(command: &Command, program: &str) -> Option<Self> {
        if !matches!(program, "docker" | "podman" | "nerdctl") {
            return None;
        }
        let words = || command.args().iter().map(text);
        let fresh = words().find(|word| !word.starts_with('-')).is_some_and(|word| word == "run");
        let mut kept = Vec::new();
        for word in words().filter(|word| word.contains([':', ','])) {
            let parts = word.split([':', ',']).filter(|part| part.contains('/'));
            let paths = parts.map(|part| part.trim_start_matches("target=").trim_start_matches("dst="));
            kept.extend(paths.map(str::to_string).take(MOST_VOLUMES + 1));
        }
        Some(Self { fresh, volumes: bound_folders(command), kept, cwd: command.cwd.clone() })
    }

    /// What is bound into the container is this machine's: `docker run -v /src:/app … rm -rf /app`.
    pub(crate) fn bind(&self, acts: &mut [PathAction]) {
        for act in acts {
            let Some(path) = act.target.path.as_deref() else { continue };
            if self.volumes.len() > MOST_VOLUMES {
                act.target.bound = true;
                continue;
            }
            let Some((here, inside)) = self.volumes.iter().find(|(_, inside)| within(path, inside)) else { continue };
            let rest = path.strip_prefix(inside.trim_end_matches('/')).unwrap_or_default();
            act.target.path = absolute(&format!("{here}{rest}"), self.cwd.as_deref());
            act.target.bound = true;
        }
    }

    /// Whether a path is a fresh container's own: gone with it, whatever is done to it.
    pub(crate) fn throws_away(&self, act: &PathAction) -> bool {
        let Some(path) = act.target.path.as_deref() else { return false };
        let few = self.kept.len() <= MOST_VOLUMES;
        self.fresh && !act.target.bound && few && !self.kept.iter().any(|kept| within(path, kept))
    }
}

/// The folders a `docker run` binds: here, and what they are called inside.
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
