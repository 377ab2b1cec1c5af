//! What stands at a path a command names.

use super::git_ignored;
use super::git_index::{self, Indexes};
use model::fact::{PathFact, Repository};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub fn fact(path: &Path, indexes: &mut Indexes) -> PathFact {
    let link = std::fs::symlink_metadata(path).ok();
    let meta = std::fs::metadata(path).ok();
    let real = real(path);
    let is_dir = meta.as_ref().is_some_and(std::fs::Metadata::is_dir);
    let is_symlink = link.as_ref().is_some_and(|meta| meta.file_type().is_symlink());
    let tracked = if link.is_some() { git_index::tracked(&real, indexes) } else { Some(false) };
    PathFact {
        exists: link.is_some(),
        is_dir,
        is_symlink,
        repository: is_dir.then(|| repository(&real)).flatten(),
        tracked,
        ignored: tracked == Some(false) && link.is_some() && git_ignored::ignored(&real),
        size: meta.as_ref().filter(|meta| meta.is_file()).map(std::fs::Metadata::len),
        // A link to a mounted disk is a link.
        mount_point: is_dir && !is_symlink && is_mount_point(&real, meta.as_ref()),
        real: real.to_string_lossy().into_owned(),
    }
}

/// So many links that lead nowhere are followed from one to the next.
const LONGEST_CHAIN: usize = 8;

/// The path with symlinks resolved as far as it exists; the rest as written. A link to what does not exist yet is
/// followed: who writes to it makes that.
fn real(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..LONGEST_CHAIN {
        let resolved = resolved(&path);
        match std::fs::read_link(&resolved) {
            Ok(to) => path = resolved.parent().map_or_else(|| to.clone(), |folder| folder.join(&to)),
            Err(_) => return resolved,
        }
    }
    path
}

fn resolved(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(real) = std::fs::canonicalize(ancestor) {
            return match path.strip_prefix(ancestor) {
                Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
                _ => real,
            };
        }
    }
    path.to_path_buf()
}

fn repository(dir: &Path) -> Option<Repository> {
    let meta = std::fs::symlink_metadata(dir.join(".git")).ok()?;
    Some(if meta.is_dir() { Repository::Main } else { Repository::Worktree })
}

fn is_mount_point(dir: &Path, meta: Option<&std::fs::Metadata>) -> bool {
    let (Some(meta), Some(parent)) = (meta, dir.parent()) else { return dir == Path::new("/") };
    std::fs::metadata(parent).is_ok_and(|above| above.dev() != meta.dev())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(path: &Path) -> PathFact {
        super::fact(path, &mut Indexes::default())
    }

    #[test]
    fn a_missing_path_keeps_its_name_under_the_real_parent() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::os::unix::fs::symlink(&root, root.join("link")).unwrap();
        let found = fact(&root.join("link/gone/deeper"));
        assert_eq!(found.real, root.join("gone/deeper").to_string_lossy());
        assert!(!found.exists && !found.is_dir && found.tracked == Some(false));
    }

    #[test]
    fn g14_a_link_leads_where_it_points_also_when_nothing_stands_there_yet() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir(root.join("home")).unwrap();
        std::os::unix::fs::symlink("home", root.join("h")).unwrap();
        std::os::unix::fs::symlink("h/.profile", root.join("link")).unwrap();
        std::os::unix::fs::symlink("link", root.join("second")).unwrap();
        for name in ["link", "second", "h/.profile", "h/../link"] {
            let found = fact(&root.join(name));
            assert_eq!(found.real, root.join("home/.profile").to_string_lossy(), "{name}");
        }
        std::os::unix::fs::symlink("ring", root.join("ring")).unwrap();
        assert!(fact(&root.join("ring")).is_symlink, "a ring ends");
    }

    #[test]
    fn the_root_is_a_mount_point_and_a_plain_folder_is_not() {
        assert!(fact(Path::new("/")).mount_point);
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("x")).unwrap();
        assert!(!fact(&folder.path().join("x")).mount_point);
    }
}
