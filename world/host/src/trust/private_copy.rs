//! A copy of a loop's hooks in our own folder, from which they are run: the file in the project can be another one by
//! the time it is started.

use super::{LoopFile, mark};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A copy of another content may still be in use for as long as a loop may last.
const KEPT: Duration = Duration::from_secs(25 * 60 * 60);

/// The folder with exactly these files, which is made unless it is there.
pub fn make(copies: &Path, content: &[u8], files: &[LoopFile]) -> io::Result<PathBuf> {
    let folder = copies.join(format!("{:016x}-{:x}", mark(content), content.len()));
    if is_whole(&folder, files) {
        return Ok(folder);
    }
    DirBuilder::new().recursive(true).mode(0o700).create(copies)?;
    forget_old(copies);
    let random: String = crate::clock::random().iter().map(|byte| format!("{byte:02x}")).collect();
    let fresh = copies.join(format!("new-{random}"));
    if let Err(error) = write_all(&fresh, files) {
        let _ = fs::remove_dir_all(&fresh);
        return Err(error);
    }
    if fs::rename(&fresh, &folder).is_ok() {
        return Ok(folder);
    }
    // What lies there came first: it is the same, or it is not whole and stays unused.
    if is_whole(&folder, files) {
        let _ = fs::remove_dir_all(&fresh);
        return Ok(folder);
    }
    Ok(fresh)
}

fn is_whole(folder: &Path, files: &[LoopFile]) -> bool {
    let same = |file: &LoopFile| {
        let kept = super::read::regular(&folder.join(&file.below));
        kept.is_some_and(|kept| kept.bytes == file.bytes && kept.executable == file.executable)
    };
    !files.is_empty() && files.iter().all(same)
}

fn write_all(folder: &Path, files: &[LoopFile]) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)?;
    for file in files {
        let path = folder.join(&file.below);
        if let Some(parent) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        let mode = if file.executable { 0o500 } else { 0o400 };
        let mut out = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
        out.write_all(&file.bytes)?;
    }
    Ok(())
}

fn forget_old(copies: &Path) {
    for entry in fs::read_dir(copies).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
