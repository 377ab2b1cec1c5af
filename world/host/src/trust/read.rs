//! Reading the files that trust is about: only regular files, so much and no more, and nothing that can keep us waiting.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules};

/// A file that a loop would run or read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopFile {
    /// Its path below the project.
    pub below: PathBuf,
    pub bytes: Vec<u8>,
    pub executable: bool,
}

/// A file as it was read.
pub struct Regular {
    pub bytes: Vec<u8>,
    pub executable: bool,
}

/// Trusted apart from the configuration, so that an edit of a hook stops the hooks and nothing else.
const LOOP_FILES: &[&str] = &[".taut/hooks", ".fresher/hooks", ".fresher/config.sh"];

/// A file larger than this, or more of them, or more in all, is not trusted.
const MOST_BYTES: u64 = 1024 * 1024;
const MOST_FILES: usize = 200;
const MOST_IN_ALL: usize = 16 * 1024 * 1024;

/// Folders below one another.
const DEEPEST: usize = 8;

/// All of them, sorted; `None` when they are too many or one cannot be read whole.
pub fn loop_files(root: &Path) -> Option<Vec<LoopFile>> {
    let mut paths = Vec::new();
    for name in LOOP_FILES {
        collect(&root.join(name), DEEPEST, &mut paths)?;
    }
    paths.sort();
    let mut files: Vec<LoopFile> = Vec::new();
    let mut in_all = 0;
    for path in paths {
        let Regular { bytes, executable } = regular(&path)?;
        in_all += bytes.len();
        if in_all > MOST_IN_ALL {
            return None;
        }
        files.push(LoopFile { below: path.strip_prefix(root).unwrap_or(&path).to_path_buf(), bytes, executable });
    }
    Some(files)
}

fn collect(path: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Option<()> {
    if !path.is_dir() {
        found.extend(path.is_file().then(|| path.to_path_buf()));
        return (found.len() <= MOST_FILES).then_some(());
    }
    if depth == 0 {
        return None;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        // A link could lead round in a circle, or out: its target is not read as a folder.
        let linked = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if !(linked && entry.path().is_dir()) {
            collect(&entry.path(), depth - 1, found)?;
        }
    }
    Some(())
}

/// The whole of a regular file of this user's; `None` when there is none, or it is too large.
pub fn regular(path: &Path) -> Option<Regular> {
    let (file, found) = outside::open(path, &Rules::obeyed(MOST_BYTES)).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MOST_BYTES).then(|| Regular { bytes, executable: found.mode() & 0o111 != 0 })
}
