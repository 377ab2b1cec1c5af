//! Logs of a run: one file per iteration, one for the run. The folder ignores
//! itself, its files are the user's alone, and no secret is written to them.

use crate::RunnerError;
use engine::redact::Passage;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub(crate) struct Log {
    folder: PathBuf,
    path: PathBuf,
    out: CleanFile,
}

impl Log {
    /// `folder` is the run's own, below the folder of all logs.
    pub(crate) fn open(all: &Path, run: &str) -> Result<Self, RunnerError> {
        let folder = all.join(run);
        let failed = |source| RunnerError::Write { path: folder.clone(), source };
        prepare(all, &folder).map_err(failed)?;
        let path = folder.join("loop.log");
        let out = CleanFile::append(&path)?;
        Ok(Self { folder, path, out })
    }

    /// From now on into the file of this iteration.
    pub(crate) fn turn_to(&mut self, iteration: u64) -> Result<(), RunnerError> {
        self.flush();
        self.path = self.folder.join(format!("iteration-{iteration:04}.log"));
        self.out = CleanFile::append(&self.path)?;
        Ok(())
    }

    pub(crate) fn turn_back(&mut self) {
        self.flush();
        let path = self.folder.join("loop.log");
        if let Ok(out) = CleanFile::append(&path) {
            (self.path, self.out) = (path, out);
        }
    }

    /// A full disk costs the log and not the run.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.out.take(bytes);
    }

    pub(crate) fn line(&mut self, mark: &str, text: &str) {
        self.out.take(format!("[{mark}] {text}\n").as_bytes());
    }

    pub(crate) fn flush(&mut self) {
        self.out.flush();
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The folders are made for the user alone; one that was there belongs to
/// whoever made it, and only the run's own is closed.
fn prepare(all: &Path, run: &Path) -> io::Result<()> {
    if let Some(above) = all.parent() {
        std::fs::create_dir_all(above)?;
    }
    let private = |folder: &Path| DirBuilder::new().recursive(true).mode(0o700).create(folder);
    private(all)?;
    private(run)?;
    std::fs::set_permissions(run, Permissions::from_mode(0o700))?;
    let ignore = all.join(".gitignore");
    if !ignore.exists() {
        open(&ignore)?.write_all(b"*\n")?;
    }
    Ok(())
}

/// For adding to, and for nobody else to read: also where it was there before.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// A file that is given no secret. What comes in is held back until there is
/// enough of it to see what belongs together.
pub(crate) struct CleanFile {
    file: File,
    passage: Passage,
}

impl CleanFile {
    pub(crate) fn append(path: &Path) -> Result<Self, RunnerError> {
        let file = open(path).map_err(|source| RunnerError::Write { path: path.to_path_buf(), source })?;
        Ok(Self { file, passage: Passage::default() })
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        if let Some(clean) = self.passage.take(&String::from_utf8_lossy(bytes)) {
            let _ = self.file.write_all(clean.as_bytes());
        }
    }

    /// Half a line waits for the other half: a secret may be cut through.
    pub(crate) fn take_lines(&mut self, bytes: &[u8]) {
        self.take(bytes);
        if bytes.ends_with(b"\n") {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let _ = self.file.write_all(self.passage.rest().as_bytes());
    }
}

impl Drop for CleanFile {
    fn drop(&mut self) {
        self.flush();
    }
}
