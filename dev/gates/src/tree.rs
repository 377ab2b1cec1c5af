//! The real tree: read once from disk, without what is built or belongs to git.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::SourceFile;

const SKIPPED: &[&str] = &[".git", "target"];

/// The root of the repository this crate stands in.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file under `root`, sorted by path.
///
/// # Errors
/// When a folder cannot be read. A file that vanishes while the tree is walked is left out.
pub fn load(root: &Path) -> io::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    walk(root, "", &mut files)?;
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<SourceFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // In a linked worktree `.git` is a file.
        if SKIPPED.contains(&name.as_str()) {
            continue;
        }
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file()
            && let Ok(bytes) = fs::read(entry.path())
        {
            files.push(SourceFile { path, text: String::from_utf8(bytes).unwrap_or_default() });
        }
    }
    Ok(())
}
