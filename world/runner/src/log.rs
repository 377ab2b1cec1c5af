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
    /// `loop.log`, of what is about the run.
    run: CleanFile,
    run_path: PathBuf,
    /// The file of the iteration that goes on.
    iteration: Option<(PathBuf, CleanFile)>,
}

impl Log {
    /// `folder` is the run's own, below the folder of all logs.
    pub(crate) fn open(all: &Path, run: &str) -> Result<Self, RunnerError> {
        let folder = all.join(run);
        let failed = |source| RunnerError::Write { path: folder.clone(), source };
        prepare(all, &folder).map_err(failed)?;
        let run_path = folder.join("loop.log");
        let run = CleanFile::append(&run_path)?;
        Ok(Self { folder, run, run_path, iteration: None })
    }

    /// From now on into the file of this iteration.
    pub(crate) fn turn_to(&mut self, iteration: u64) -> Result<(), RunnerError> {
        self.turn_back();
        let path = self.folder.join(format!("iteration-{iteration:04}.log"));
        let out = CleanFile::append(&path)?;
        self.iteration = Some((path, out));
        Ok(())
    }

    /// The iteration is over: what follows is the run's, or the next one's.
    pub(crate) fn turn_back(&mut self) {
        self.flush();
        self.iteration = None;
    }

    /// A full disk costs the log and not the run.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.out().take(bytes);
    }

    pub(crate) fn line(&mut self, mark: &str, text: &str) {
        self.out().take(format!("[{mark}] {text}\n").as_bytes());
    }

    /// Of the run, whatever file the log is turned to; there at once for whoever looks.
    pub(crate) fn run_line(&mut self, mark: &str, text: &str) {
        self.run.take(format!("[{mark}] {text}\n").as_bytes());
        self.run.flush();
    }

    pub(crate) fn flush(&mut self) {
        self.run.flush();
        if let Some((_, out)) = &mut self.iteration {
            out.flush();
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.iteration.as_ref().map_or(&self.run_path, |(path, _)| path)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn out(&mut self) -> &mut CleanFile {
        match &mut self.iteration {
            Some((_, out)) => out,
            None => &mut self.run,
        }
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
