//! Where a work tree stands: its branch and commit, read from git's small files. Starting git for it would cost more
//! than everything else a hook does.

use super::project::{project, small_file};
use model::fact::{TreeHead, UNBORN};
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules, Unread};

/// Refs that git has packed, one a line. Of a larger file nothing is known.
const LARGEST_PACK: u64 = 4 << 20;

/// The folders in which git keeps what belongs to a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFolders {
    /// With `HEAD` and the index.
    pub own: PathBuf,
    /// With objects and refs: the same but for linked work trees.
    pub common: PathBuf,
}

impl GitFolders {
    /// Of the work tree whose top this is.
    pub fn of(tree: &Path) -> Option<Self> {
        let git = tree.join(".git");
        let own = if std::fs::metadata(&git).ok()?.is_dir() {
            git
        } else {
            tree.join(small_file(&git)?.strip_prefix("gitdir:")?.trim())
        };
        let common = small_file(&own.join("commondir")).map(|text| own.join(text.trim()));
        Some(Self { common: common.unwrap_or_else(|| own.clone()), own })
    }
}

/// `None` outside a repository.
pub fn head(folder: &Path, home: &Path) -> Option<TreeHead> {
    let found = project(folder, home);
    found.git.then(|| head_of(Path::new(&found.work_tree))).flatten()
}

/// Of the work tree whose top this is.
pub fn head_of(tree: &Path) -> Option<TreeHead> {
    let folders = GitFolders::of(tree)?;
    let text = small_file(&folders.own.join("HEAD"))?;
    let shown = tree.to_string_lossy().into_owned();
    let Some(name) = text.trim().strip_prefix("ref:").map(str::trim) else {
        return Some(TreeHead { tree: shown, branch: None, commit: id(&text) });
    };
    let is_plain = name.starts_with("refs/") && !name.split('/').any(|part| part == "..");
    // What stands there where refs are kept in tables: nothing can be told from files.
    if !is_plain || name == "refs/heads/.invalid" {
        return Some(TreeHead { tree: shown, branch: None, commit: None });
    }
    let loose = [&folders.own, &folders.common].iter().find_map(|folder| id(&small_file(&folder.join(name))?));
    let commit = loose.or_else(|| packed(&folders.common, name));
    Some(TreeHead { tree: shown, branch: Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_string()), commit })
}

fn packed(common: &Path, name: &str) -> Option<String> {
    let text = match outside::read_text(&common.join("packed-refs"), &Rules::up_to(LARGEST_PACK)) {
        Ok(text) => text,
        Err(Unread::Missing) => String::new(),
        Err(_) => return None,
    };
    let commit = |line: &str| line.split_once(' ').filter(|(_, of)| *of == name).and_then(|(commit, _)| id(commit));
    text.lines().find_map(commit).or_else(|| Some(UNBORN.to_string()))
}

/// The id of an object, of either length that git knows.
fn id(text: &str) -> Option<String> {
    let text = text.trim();
    let is_id = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn repository(head: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git/refs/heads")).unwrap();
        fs::write(folder.path().join(".git/HEAD"), head).unwrap();
        folder
    }

    fn told(tree: &Path) -> (Option<String>, Option<String>) {
        let found = head_of(tree).unwrap();
        (found.branch.clone(), found.commit)
    }

    #[test]
    fn f4_a_branch_is_read_from_its_file_and_where_it_is_packed_from_there() {
        let folder = repository("ref: refs/heads/side/way\n");
        assert_eq!(told(folder.path()), (Some("side/way".into()), Some(UNBORN.into())), "before its first commit");
        let packed = format!("# pack-refs with: peeled\n{TWO} refs/heads/side\n{ONE} refs/heads/side/way\n^{TWO}\n");
        fs::write(folder.path().join(".git/packed-refs"), packed).unwrap();
        assert_eq!(told(folder.path()), (Some("side/way".into()), Some(ONE.into())));
        fs::create_dir_all(folder.path().join(".git/refs/heads/side")).unwrap();
        fs::write(folder.path().join(".git/refs/heads/side/way"), format!("{TWO}\n")).unwrap();
        assert_eq!(told(folder.path()), (Some("side/way".into()), Some(TWO.into())), "what is loose is newer");
    }

    #[test]
    fn f4_a_detached_head_is_called_by_the_beginning_of_its_commit() {
        let folder = repository(&format!("{ONE}\n"));
        assert_eq!(told(folder.path()), (None, Some(ONE.into())));
        assert_eq!(head_of(folder.path()).unwrap().name().as_deref(), Some("111111111"));
    }

    #[test]
    fn f4_a_linked_work_tree_has_a_head_of_its_own() {
        let main = repository("ref: refs/heads/main\n");
        let own = main.path().join(".git/worktrees/side");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(own.join("HEAD"), "ref: refs/heads/side\n").unwrap();
        fs::write(main.path().join(".git/refs/heads/side"), ONE).unwrap();
        let side = tempfile::tempdir().unwrap();
        fs::write(side.path().join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        assert_eq!(told(side.path()), (Some("side".into()), Some(ONE.into())));
        assert_eq!(head(side.path(), Path::new("/nowhere")).unwrap().branch.as_deref(), Some("side"));
    }

    #[test]
    fn f4_a_head_that_leads_elsewhere_or_says_nothing_is_not_followed() {
        let folder = repository("ref: refs/heads/../../secret\n");
        fs::write(folder.path().join(".git/secret"), ONE).unwrap();
        assert_eq!(told(folder.path()), (None, None));
        fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/.invalid\n").unwrap();
        assert_eq!(told(folder.path()), (None, None), "a repository that keeps its refs in tables");
        fs::write(folder.path().join(".git/HEAD"), "\u{0}\u{1}").unwrap();
        assert_eq!(told(folder.path()), (None, None));
        assert_eq!(head(Path::new("/"), Path::new("/nowhere")), None);
    }
}
