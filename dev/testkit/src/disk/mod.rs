//! A disk under SQLite that remembers every write and fails when it is told to.
//!
//! It stands between SQLite and the files of one folder, in this process only: everything else goes straight
//! through. What it remembers can be laid out again as a power cut would have left it, see [`Cut`].

mod cut;
mod dice;
mod vfs;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use cut::{Cut, lay_out};
pub use dice::Dice;

/// The disk under one folder, until it is dropped.
#[derive(Debug)]
pub struct Disk {
    watched: Arc<Watched>,
}

/// What happened to one file of the folder, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// It was opened and did not exist.
    Create {
        file: String,
    },
    Write {
        file: String,
        offset: u64,
        bytes: Vec<u8>,
    },
    Truncate {
        file: String,
        size: u64,
    },
    /// All before it is on the disk. With `folder`, so is which files there are.
    Sync {
        file: String,
        folder: bool,
    },
    /// With `folder`, it is gone for certain.
    Delete {
        file: String,
        folder: bool,
    },
}

/// What SQLite asks of the disk, as far as it may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiskCall {
    Open,
    Delete,
    Access,
    Read,
    Write,
    Truncate,
    Sync,
    Size,
    Lock,
    ShmMap,
    ShmLock,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskFailure {
    /// The device does not answer.
    Io,
    /// No room is left; for what is not a write, the device does not answer.
    Full,
    /// Less is there than was asked for; for what is not a read, the device does not answer.
    Short,
    /// Somebody else has the lock; for what is not a lock, the device does not answer.
    Busy,
}

impl DiskFailure {
    pub const ALL: [Self; 4] = [Self::Io, Self::Full, Self::Short, Self::Busy];
}

/// Which calls fail: the `nth` (counted from 1 over all calls), and with `lasting` every one after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskFault {
    pub nth: usize,
    pub failure: DiskFailure,
    pub lasting: bool,
}

#[derive(Debug)]
pub(crate) struct Watched {
    folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    ops: Vec<Op>,
    /// Files that were there before.
    known: BTreeSet<String>,
    calls: Vec<DiskCall>,
    fault: Option<DiskFault>,
    failed: usize,
}

impl Disk {
    /// Watches `folder`; to be called while nothing in it is open.
    #[must_use]
    pub fn under(folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let state = Mutex::new(State::found_in(&folder));
        let watched = Arc::new(Watched { folder, state });
        vfs::watch(&watched);
        Self { watched }
    }

    /// How much has happened so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.watched.state().ops.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[must_use]
    pub fn ops(&self) -> Vec<Op> {
        self.watched.state().ops.clone()
    }

    /// From now on this happens; calls are counted from here.
    pub fn fail(&self, fault: Option<DiskFault>) {
        let mut state = self.watched.state();
        state.fault = fault;
        state.failed = 0;
        state.calls.clear();
    }

    /// The calls since [`fail`](Self::fail) was called.
    #[must_use]
    pub fn calls(&self) -> Vec<DiskCall> {
        self.watched.state().calls.clone()
    }

    /// How many of them failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.watched.state().failed
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        vfs::forget(&self.watched);
    }
}

impl State {
    /// What stands there already is on the disk for certain.
    fn found_in(folder: &Path) -> Self {
        let mut state = Self::default();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let Ok(bytes) = std::fs::read(entry.path()) else { continue };
            state.known.insert(file.clone());
            state.ops.push(Op::Create { file: file.clone() });
            state.ops.push(Op::Write { file: file.clone(), offset: 0, bytes });
            state.ops.push(Op::Sync { file, folder: true });
        }
        state
    }
}

impl Watched {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file's name where it is one of this folder's.
    fn name_of(&self, path: &Path) -> Option<String> {
        path.strip_prefix(&self.folder).ok().map(|name| name.to_string_lossy().into_owned())
    }

    /// Counts a call, and says how it fails.
    fn before(&self, call: DiskCall) -> Option<DiskFailure> {
        let mut state = self.state();
        state.calls.push(call);
        let nth = state.calls.len();
        let fault = state.fault.filter(|fault| nth == fault.nth || (fault.lasting && nth > fault.nth))?;
        state.failed += 1;
        Some(fault.failure)
    }

    fn happened(&self, op: Op) {
        self.state().ops.push(op);
    }

    fn opened(&self, file: &str, existed: bool) {
        let mut state = self.state();
        if state.known.insert(file.to_owned()) && !existed {
            state.ops.push(Op::Create { file: file.to_owned() });
        }
    }

    fn deleted(&self, file: &str, folder: bool) {
        let mut state = self.state();
        if state.known.remove(file) {
            state.ops.push(Op::Delete { file: file.to_owned(), folder });
        }
    }
}
