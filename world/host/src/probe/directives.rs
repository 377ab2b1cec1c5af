//! Directive files on the way from a folder up to the project's root: a bounded
//! number of looks, remembered as long as the folder stands as it did.

use super::git_ignored::ignored;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// A tree deeper than this is not climbed further.
const MOST_LEVELS: usize = 24;
const MOST_NAMES: usize = 24;

/// More folders than this are not remembered.
const MOST_REMEMBERED: usize = 512;

/// What lies in one folder, by the folder's age and the names asked for.
static REMEMBERED: Mutex<Option<HashMap<PathBuf, Seen>>> = Mutex::new(None);

#[derive(Clone, PartialEq, Eq)]
struct Seen {
    changed: [Option<SystemTime>; 2],
    names: Vec<String>,
    found: Vec<String>,
}

/// The nearest first. In each folder a name counts once: `.directives/NAME.md`
/// before `NAME.md`. Two folders' files of one name are two directives.
pub fn directives(folder: &Path, root: &Path, names: &[String]) -> Vec<String> {
    if !folder.starts_with(root) {
        return Vec::new();
    }
    let names = names.get(..names.len().min(MOST_NAMES)).unwrap_or_default();
    let levels = folder.ancestors().take(MOST_LEVELS).take_while(|level| level.starts_with(root));
    let found = levels.map(|level| (level, of_folder(level, names)));
    // What git is told to leave alone was made by some tool. Asked only where there is something.
    let own = found.filter(|(level, found)| !found.is_empty() && (*level == root || !ignored(level)));
    own.flat_map(|(_, found)| found).collect()
}

fn of_folder(folder: &Path, names: &[String]) -> Vec<String> {
    let changed = [changed(folder), changed(&folder.join(".directives"))];
    let mut remembered = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
    let remembered = remembered.get_or_insert_with(HashMap::new);
    if let Some(seen) = remembered.get(folder).filter(|seen| seen.changed == changed && seen.names == names) {
        return seen.found.clone();
    }
    let found: Vec<String> = names.iter().filter_map(|name| find(folder, name)).collect();
    if remembered.len() >= MOST_REMEMBERED {
        remembered.clear();
    }
    remembered.insert(folder.to_path_buf(), Seen { changed, names: names.to_vec(), found: found.clone() });
    found
}

fn changed(folder: &Path) -> Option<SystemTime> {
    std::fs::metadata(folder).ok()?.modified().ok()
}

fn find(folder: &Path, name: &str) -> Option<String> {
    if name.contains('/') || name.starts_with('.') {
        return None;
    }
    let file = format!("{name}.md");
    let places = [folder.join(".directives").join(&file), folder.join(&file)];
    places.into_iter().find(|path| path.is_file()).map(|path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(root: &Path, file: &str) {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }

    /// G6: from the touched folder to the root, by full path, a folder's own directives first.
    #[test]
    fn g6_each_level_gives_its_own_and_a_child_hides_no_parent() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("p");
        for file in [
            "AGENTS.md", "src/AGENTS.md", "src/.directives/AGENTS.md", "src/deep/TESTING.md", "../AGENTS.md",
            "src/other.md",
        ] {
            touch(&root, file);
        }
        std::fs::create_dir_all(root.join("src/deep/down")).unwrap();
        let names = ["AGENTS".to_string(), "TESTING".to_string(), "../x".to_string()];
        let found = directives(&root.join("src/deep/down"), &root, &names);
        let expected = ["src/deep/TESTING.md", "src/.directives/AGENTS.md", "AGENTS.md"];
        assert_eq!(found, expected.map(|file| root.join(file).to_string_lossy().into_owned()));
        assert!(directives(folder.path(), &root, &names).is_empty(), "outside the project nothing is looked for");
    }

    #[test]
    fn a_file_that_came_since_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["PITFALLS".to_string()];
        assert!(directives(folder.path(), folder.path(), &names).is_empty());
        touch(folder.path(), ".directives/PITFALLS.md");
        assert_eq!(directives(folder.path(), folder.path(), &names).len(), 1);
    }
}
