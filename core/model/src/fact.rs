//! Facts: what the core may ask of the world before it decides, and the answers.

use crate::call::ClientProcess;

/// A question. Each is answered once per event, in bounded time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Probe {
    /// Which project a folder belongs to.
    Project { folder: String },
    /// The start time of a process, or that it is gone.
    Process { pid: u32 },
    /// The nearest process above the one that called the hook that is not a
    /// shell: a client may run its hooks through `sh -c`.
    Caller { pid: u32 },
    /// What stands at a path.
    Path { path: String },
}

/// The answers. A probe that could not be answered is absent: unknown, not "no".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub projects: Vec<(String, Project)>,
    pub processes: Vec<(u32, Life)>,
    /// Which process stands behind the one that was asked about.
    pub callers: Vec<(u32, ClientProcess)>,
    pub paths: Vec<(String, PathFact)>,
    /// The settings file a ConfigChange is about.
    pub settings: Option<SettingsFact>,
}

/// What stands in an agent's settings file, and what should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsFact {
    /// We put hooks into this file and have not taken them out.
    pub installed: bool,
    /// Every event we put there still calls us, and hooks are not switched off.
    pub intact: bool,
    /// The user has just asked for them to be removed.
    pub leaving: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Canonical path: the main work tree of the repository, else the folder itself.
    pub root: String,
    /// The work tree the folder is in; differs from `root` in a linked worktree.
    pub work_tree: String,
    /// Whether this is a git repository at all.
    pub git: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Alive { started: u64 },
    Gone,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathFact {
    /// With symlinks resolved, as far as the path exists.
    pub real: String,
    pub exists: bool,
    pub is_dir: bool,
    pub is_symlink: bool,
    /// A repository's top level stands here or a linked worktree does.
    pub repository: Option<Repository>,
    /// Whether git tracks it or something below it; `None` when that cannot be told.
    pub tracked: Option<bool>,
    pub mount_point: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repository {
    Main,
    Worktree,
}

impl Facts {
    pub fn project(&self, folder: &str) -> Option<&Project> {
        self.projects.iter().find(|(asked, _)| asked == folder).map(|(_, project)| project)
    }

    pub fn process(&self, pid: u32) -> Option<Life> {
        self.processes.iter().find(|(asked, _)| *asked == pid).map(|(_, life)| *life)
    }

    pub fn caller(&self, pid: u32) -> Option<ClientProcess> {
        self.callers.iter().find(|(asked, _)| *asked == pid).map(|(_, caller)| *caller)
    }

    pub fn path(&self, path: &str) -> Option<&PathFact> {
        self.paths.iter().find(|(asked, _)| asked == path).map(|(_, fact)| fact)
    }

    /// Whether that very process still lives; `None` when it cannot be told.
    pub fn lives(&self, process: ClientProcess) -> Option<bool> {
        match self.process(process.pid)? {
            Life::Gone => Some(false),
            Life::Alive { started } if process.started == 0 || started == 0 => None,
            Life::Alive { started } => Some(started == process.started),
        }
    }
}
