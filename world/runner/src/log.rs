//! Logs of a run: one file per iteration, one for the run. The folder ignores itself.

use crate::RunnerError;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

pub(crate) struct Log {
    folder: PathBuf,
    path: PathBuf,
    out: BufWriter<File>,
}

impl Log {
    /// `folder` is the run's own, below the folder of all logs.
    pub(crate) fn open(all: &Path, run: &str) -> Result<Self, RunnerError> {
        let folder = all.join(run);
        let failed = |source| RunnerError::Write { path: folder.clone(), source };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let ignore = all.join(".gitignore");
        if !ignore.exists() {
            std::fs::write(&ignore, "*\n").map_err(failed)?;
        }
        let path = folder.join("loop.log");
        let out = append(&path)?;
        Ok(Self { folder, path, out })
    }

    /// From now on into the file of this iteration.
    pub(crate) fn turn_to(&mut self, iteration: u64) -> Result<(), RunnerError> {
        self.flush();
        self.path = self.folder.join(format!("iteration-{iteration:04}.log"));
        self.out = append(&self.path)?;
        Ok(())
    }

    pub(crate) fn turn_back(&mut self) {
        self.flush();
        let path = self.folder.join("loop.log");
        if let Ok(out) = append(&path) {
            (self.path, self.out) = (path, out);
        }
    }

    /// A full disk costs the log and not the run.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let _ = self.out.write_all(bytes);
    }

    pub(crate) fn line(&mut self, mark: &str, text: &str) {
        let _ = writeln!(self.out, "[{mark}] {text}");
    }

    pub(crate) fn flush(&mut self) {
        let _ = self.out.flush();
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

fn append(path: &Path) -> Result<BufWriter<File>, RunnerError> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.map(BufWriter::new).map_err(|source| RunnerError::Write { path: path.to_path_buf(), source })
}
