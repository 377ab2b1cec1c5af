//! Which project a folder belongs to, read from `.git` files alone: starting
//! git for it would cost more than everything else a hook does.

use model::fact::Project;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules};

/// A larger file is none of git's small ones.
const SMALL: u64 = 4096;

/// All worktrees of one repository are one project. A top level that is `/` or
/// the home folder is not a project: the folder itself is, then.
pub fn project(folder: &Path, home: &Path) -> Project {
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let found = folder.ancestors().find_map(|dir| repository(dir).map(|root| (root, dir.to_path_buf())));
    match found {
        Some((root, work_tree)) if root != Path::new("/") && root != home && work_tree != home => {
            Project { root: shown(&root), work_tree: shown(&work_tree), git: true }
        }
        _ => Project { root: shown(&folder), work_tree: shown(&folder), git: false },
    }
}

/// The repository's main folder, when this folder is the top of a work tree.
fn repository(dir: &Path) -> Option<PathBuf> {
    let git = dir.join(".git");
    let meta = std::fs::symlink_metadata(&git).ok()?;
    if is_planted(&meta, dir) {
        return None;
    }
    if meta.is_dir() || meta.is_symlink() {
        // An empty folder named .git is not a repository.
        return git.join("HEAD").symlink_metadata().is_ok().then(|| dir.to_path_buf());
    }
    let text = small_file(&git)?;
    let git_dir = resolve(dir, text.strip_prefix("gitdir:")?.trim());
    // A linked worktree names the repository it shares; a submodule is one of its own.
    let Some(common) = small_file(&git_dir.join("commondir")) else { return Some(dir.to_path_buf()) };
    let common = resolve(&git_dir, common.trim());
    let common = std::fs::canonicalize(&common).unwrap_or(common);
    match common.file_name() {
        Some(name) if name == ".git" => common.parent().map(Path::to_path_buf),
        _ => Some(common),
    }
}

/// Somebody else put it into a folder that is open to all, such as `/tmp`: it says nothing about what lies below.
fn is_planted(git: &Metadata, dir: &Path) -> bool {
    !outside::ours_or_root(git) && std::fs::metadata(dir).is_ok_and(|dir| dir.uid() != git.uid())
}

fn resolve(base: &Path, path: &str) -> PathBuf {
    base.join(path)
}

pub(super) fn small_file(path: &Path) -> Option<String> {
    outside::read_text(path, &Rules::up_to(SMALL)).ok()
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Place {
        _folder: tempfile::TempDir,
        root: PathBuf,
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        Place { _folder: folder, root }
    }

    fn repository_at(root: &Path) {
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn a_sub_folder_is_the_same_project() {
        let place = place();
        let repo = place.root.join("acme");
        repository_at(&repo);
        fs::create_dir_all(repo.join("a/b")).unwrap();
        let found = project(&repo.join("a/b"), Path::new("/nowhere"));
        assert_eq!(found, Project { root: shown(&repo), work_tree: shown(&repo), git: true });
    }

    #[test]
    fn a_linked_worktree_is_the_same_project() {
        let place = place();
        let repo = place.root.join("acme");
        repository_at(&repo);
        let meta = repo.join(".git/worktrees/side");
        fs::create_dir_all(&meta).unwrap();
        fs::write(meta.join("commondir"), "../..\n").unwrap();
        let side = place.root.join("side");
        fs::create_dir_all(side.join("src")).unwrap();
        fs::write(side.join(".git"), format!("gitdir: {}\n", shown(&meta))).unwrap();
        let found = project(&side.join("src"), Path::new("/nowhere"));
        assert_eq!(found, Project { root: shown(&repo), work_tree: shown(&side), git: true });
    }

    #[test]
    fn a_submodule_is_a_project_of_its_own() {
        let place = place();
        let repo = place.root.join("acme");
        repository_at(&repo);
        fs::create_dir_all(repo.join(".git/modules/sub")).unwrap();
        let sub = repo.join("sub");
        fs::create_dir_all(&sub).unwrap();
        fs::write(sub.join(".git"), "gitdir: ../.git/modules/sub\n").unwrap();
        assert_eq!(project(&sub, Path::new("/nowhere")).root, shown(&sub));
    }

    #[test]
    fn a_home_folder_under_git_is_not_a_project() {
        let place = place();
        repository_at(&place.root);
        let folder = place.root.join("notes");
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(
            project(&folder, &place.root),
            Project { root: shown(&folder), work_tree: shown(&folder), git: false }
        );
    }

    #[test]
    fn t2_another_users_git_folder_in_an_open_parent_makes_no_project() {
        let place = place();
        let work = place.root.join("work");
        fs::create_dir_all(&work).unwrap();
        repository_at(&place.root);
        assert_eq!(project(&work, Path::new("/nowhere")).root, shown(&place.root));
        if outside::user() != 0 {
            return;
        }
        std::os::unix::fs::chown(place.root.join(".git"), Some(54_321), None).unwrap();
        assert_eq!(project(&work, Path::new("/nowhere")).root, shown(&work));
        std::os::unix::fs::chown(&place.root, Some(54_321), None).unwrap();
        assert_eq!(project(&work, Path::new("/nowhere")).root, shown(&place.root), "a repository of somebody's is one");
    }

    #[test]
    fn an_empty_git_folder_and_a_missing_folder_are_no_repository() {
        let place = place();
        fs::create_dir_all(place.root.join("x/.git")).unwrap();
        assert!(!project(&place.root.join("x"), Path::new("/nowhere")).git);
        assert_eq!(project(Path::new("/does/not/exist"), Path::new("/nowhere")).root, "/does/not/exist");
    }
}
