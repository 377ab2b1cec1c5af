//! Papers: artifacts that people and agents read as files. Written after the
//! commit, because a file must not hold a transaction up, and only inside the
//! project or our own folder: the hook stands outside the client's sandbox.

use crate::memory_file;
use model::effect::After;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Does what concerns files, and says what went wrong.
pub fn write(after: &[After], roots: &[String]) -> Vec<String> {
    let wrong = after.iter().filter_map(|one| {
        let (path, done) = match one {
            After::Append { path, text } => (path, append(Path::new(path), text, roots)),
            After::Replace { path, text } => (path, replace(Path::new(path), text, roots)),
            After::Fact { path, change } => (path, memory_file::change(Path::new(path), change, roots)),
            After::EnsureDaemon | After::Tell | After::Owed | After::StatusChanged { .. } | After::Sent { .. } => {
                return None;
            }
        };
        done.err().map(|error| format!("could not write {path}: {error}"))
    });
    wrong.collect()
}

fn append(path: &Path, text: &str, roots: &[String]) -> io::Result<()> {
    room(path, roots)?;
    let mut file = options().append(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("what stands there is not a file"));
    }
    file.write_all(text.as_bytes())
}

/// Whole or not at all: a reader never sees half of it.
fn replace(path: &Path, text: &str, roots: &[String]) -> io::Result<()> {
    room(path, roots)?;
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let written =
        options().write(true).truncate(true).open(&beside).and_then(|mut file| file.write_all(text.as_bytes()));
    written.and_then(|()| std::fs::rename(&beside, path)).inspect_err(|_| {
        let _ = std::fs::remove_file(&beside);
    })
}

/// A pipe in the place of a file must not hold us up.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY);
    options
}

/// Makes the folder, where it really lies inside one of the roots.
pub(crate) fn room(path: &Path, roots: &[String]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let standing = folder.ancestors().find(|above| above.exists()).ok_or(io::ErrorKind::NotFound)?;
    let real = standing.canonicalize()?;
    let inside = roots.iter().filter(|root| !root.is_empty()).any(|root| {
        let root = Path::new(root).canonicalize().unwrap_or_else(|_| PathBuf::from(root));
        real.starts_with(&root) || (root.starts_with(&real) && folder.starts_with(&root))
    });
    if !inside {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it lies outside the project and Taut's own folder",
        ));
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append_to(path: &Path, roots: &[String]) -> Vec<String> {
        write(&[After::Append { path: path.to_string_lossy().into_owned(), text: "x\n".into() }], roots)
    }

    #[test]
    fn papers_are_made_with_their_folder_and_grow() {
        let folder = tempfile::tempdir().unwrap();
        let roots = [folder.path().to_string_lossy().into_owned()];
        let path = folder.path().join("a/b/1_LOG.md");
        assert!(append_to(&path, &roots).is_empty() && append_to(&path, &roots).is_empty());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x\nx\n");
        let whole = After::Replace { path: path.to_string_lossy().into_owned(), text: "new".into() };
        assert!(write(&[whole], &roots).is_empty());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn no_paper_leaves_the_roots_by_a_link() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let roots = [folder.path().to_string_lossy().into_owned()];
        std::os::unix::fs::symlink(other.path(), folder.path().join("out")).unwrap();
        std::fs::write(other.path().join("target"), "").unwrap();
        std::os::unix::fs::symlink(other.path().join("target"), folder.path().join("link.md")).unwrap();
        for path in [folder.path().join("out/x.md"), other.path().join("x.md"), folder.path().join("link.md")] {
            assert_eq!(append_to(&path, &roots).len(), 1, "{}", path.display());
        }
        assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 1);
    }
}
