//! Facts: what the core may ask of the world before it decides, and the answers.

use crate::call::ClientProcess;
use crate::time::Ms;
use std::sync::Arc;

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
    /// The last bytes of a transcript.
    Transcript { path: String, last: u64 },
    /// A short text file that really lies in one of these folders.
    Text { path: String, within: Vec<String> },
    /// The first few files below a folder that a pattern names.
    Matches { folder: String, pattern: String },
    /// A file that a line would run, or that says what it runs.
    RunFile { path: String },
    /// The nearest file with one of these names, in the folder or above it.
    NearestFile { folder: String, names: Vec<String> },
    /// Whose the processes are that a name picks.
    Picked(ProcessPick),
    /// The directive files from a folder up to the root, `.directives/NAME.md` before `NAME.md`.
    Directives { folder: String, root: String, names: Vec<String> },
    /// Where the work tree around a folder stands.
    Head { folder: String },
    /// How many files git tracks in a work tree.
    IndexEntries { tree: String },
}

/// The answers. A probe that could not be answered is absent: unknown, not "no".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub projects: Vec<(String, Project)>,
    pub processes: Vec<(u32, Life)>,
    /// Which process stands behind the one that was asked about.
    pub callers: Vec<(u32, ClientProcess)>,
    pub paths: Vec<(String, PathFact)>,
    pub picked: Vec<(ProcessPick, Picked)>,
    /// The settings file a ConfigChange is about.
    pub settings: Option<SettingsFact>,
    pub transcripts: Vec<(String, TranscriptTail)>,
    pub texts: Vec<(String, TextFact)>,
    /// By folder and pattern.
    pub matches: Vec<((String, String), Vec<String>)>,
    /// Files that the line would run, by the question. Each that was asked has an answer.
    pub files: Vec<(Probe, FileFact)>,
    /// Full paths, by the folder that was asked about; the nearest first.
    pub directives: Vec<(String, Vec<String>)>,
    /// By the folder that was asked about; absent outside a repository.
    pub heads: Vec<(String, TreeHead)>,
    /// By the work tree; more than can be where it cannot be told.
    pub index_entries: Vec<(String, u64)>,
    /// Asked only where the user's terminal may be rung; absent for a client without one.
    pub screen: Option<TerminalFact>,
}

/// The terminal of an interactive client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TerminalFact {
    /// How far the clock on the user's wall is ahead of UTC.
    pub utc_offset_s: i32,
}

/// The end of a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptTail {
    /// Of the whole file.
    pub size: u64,
    /// The last of it; all of it when it is no larger.
    pub bytes: Vec<u8>,
}

/// What was found of a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextFact {
    Text(String),
    /// Longer than anything that is ever told; this is its end.
    Long(String),
    Missing,
    /// It lies outside the folders it may lie in.
    Outside,
    /// Something else stands there: a folder, a pipe.
    NotAFile,
    /// It is there and cannot be read.
    Failed,
}

/// A file that a line would run, or that says what it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFact {
    /// Where it stands: as it was asked for, or where it was found.
    pub path: String,
    /// The same with links resolved.
    pub real: String,
    pub content: FileContent,
    /// When what is in it, or its entry, was last changed.
    pub changed: Ms,
    /// Git tracks it, and it is as git has it.
    pub as_committed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    Text(Arc<str>),
    /// Not text: a program, and the known tool that it is a copy of.
    Program(Option<String>),
    Missing,
    /// It is there and was not read, and why.
    Unread(String),
}

/// What stands in an agent's settings file, and what should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsFact {
    /// We put hooks into this file and have not taken them out.
    pub installed: bool,
    /// Every event we put there still calls us, nothing waits for answers that did not, and hooks are not switched off.
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

/// Where a work tree of git's stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeHead {
    /// The top of the work tree.
    pub tree: String,
    /// `None` where it is on none.
    pub branch: Option<String>,
    /// [`UNBORN`] before the first one; `None` where it cannot be told.
    pub commit: Option<String>,
}

/// In place of a commit: the branch has none yet.
pub const UNBORN: &str = "unborn";

impl TreeHead {
    /// The branch, else the beginning of the commit.
    pub fn name(&self) -> Option<String> {
        const SHORT: usize = 9;
        let short = || self.commit.as_deref().filter(|commit| *commit != UNBORN)?.get(..SHORT).map(str::to_string);
        self.branch.clone().or_else(short)
    }
}

/// Processes picked by a name, as `pkill` does, on behalf of a client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProcessPick {
    pub pattern: String,
    pub by: PickedBy,
    /// The client's process, or a shell right below it.
    pub client: u32,
    /// `NAME=value` that only what this client started has in its environment.
    pub marks: Vec<String>,
}

/// What the pattern is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PickedBy {
    Name,
    /// The whole command line.
    Line,
}

/// Whose the picked processes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picked {
    /// There are none.
    Nobody,
    /// All were started below the client.
    Own,
    Others,
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
    /// Git does not track it and is told to leave it alone.
    pub ignored: bool,
    /// Of a plain file, in bytes.
    pub size: Option<u64>,
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

    pub fn picked(&self, pick: &ProcessPick) -> Option<Picked> {
        self.picked.iter().find(|(asked, _)| asked == pick).map(|(_, picked)| *picked)
    }

    pub fn transcript(&self, path: &str) -> Option<&TranscriptTail> {
        self.transcripts.iter().find(|(asked, _)| asked == path).map(|(_, tail)| tail)
    }

    pub fn text(&self, path: &str) -> Option<&TextFact> {
        self.texts.iter().find(|(asked, _)| asked == path).map(|(_, text)| text)
    }

    pub fn matches(&self, folder: &str, pattern: &str) -> Option<&[String]> {
        let found = self.matches.iter().find(|((asked, of), _)| asked == folder && of == pattern);
        found.map(|(_, paths)| paths.as_slice())
    }

    pub fn file(&self, asked: &Probe) -> Option<&FileFact> {
        self.files.iter().find(|(known, _)| known == asked).map(|(_, file)| file)
    }

    pub fn directives(&self, folder: &str) -> Option<&[String]> {
        self.directives.iter().find(|(asked, _)| asked == folder).map(|(_, found)| found.as_slice())
    }

    pub fn head(&self, folder: &str) -> Option<&TreeHead> {
        self.heads.iter().find(|(asked, _)| asked == folder).map(|(_, head)| head)
    }

    pub fn index_entries(&self, tree: &str) -> Option<u64> {
        self.index_entries.iter().find(|(asked, _)| asked == tree).map(|(_, entries)| *entries)
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
