//! Whether git is told to leave a path alone, read from the `.gitignore` files between the top of the work tree and the
//! path, and from `info/exclude`. What is not understood leaves nothing alone.

use super::context_files::wild;
use super::git_index::index_of;
use std::path::Path;
use sys::outside::{self, Rules, Unread};

/// Longer lists of names are not read on the way of a hook.
const LARGEST: u64 = 64 * 1024;

/// So many of them are.
const MOST_FILES: usize = 6;

const DEEPEST: usize = 12;

/// A pattern with more `**` than this is not one a person wrote.
const MOST_JUMPS: usize = 3;

/// The patterns of one folder.
struct Patterns {
    /// How many folders below the top it stands.
    depth: usize,
    text: String,
}

pub fn ignored(path: &Path) -> bool {
    let Some((top, index)) = index_of(path) else { return false };
    let Ok(inside) = path.strip_prefix(&top) else { return false };
    let names: Option<Vec<&str>> = inside.iter().map(|name| name.to_str()).collect();
    let names = names.unwrap_or_default();
    if names.is_empty() || names.len() > DEEPEST {
        return false;
    }
    let exclude = index.parent().map(|git| git.join("info/exclude"));
    let mut known: Vec<Patterns> = Vec::new();
    let read = |file: &Path, depth: usize| match outside::read_text(file, &Rules::up_to(LARGEST)) {
        Ok(text) => Some(Some(Patterns { depth, text })),
        Err(Unread::Missing | Unread::NotAFile) => Some(None),
        // What it says may put this back in.
        Err(_) => None,
    };
    let Some(excluded) = exclude.map_or(Some(None), |file| read(&file, 0)) else { return false };
    known.extend(excluded);
    let mut folder = top;
    for (depth, name) in names.iter().enumerate() {
        let Some(found) = read(&folder.join(".gitignore"), depth) else { return false };
        known.extend(found);
        if known.len() > MOST_FILES {
            return false;
        }
        folder.push(name);
        let above = names.get(..=depth).unwrap_or_default();
        let is_dir = depth + 1 < names.len() || path.is_dir();
        // What is below a folder that is left out cannot be put back in.
        if known.iter().rev().find_map(|patterns| patterns.decide(above, is_dir)).unwrap_or_default() {
            return true;
        }
    }
    false
}

impl Patterns {
    /// Whether the last pattern that fits leaves it out or puts it back in; `None` when none fits.
    fn decide(&self, names: &[&str], is_dir: bool) -> Option<bool> {
        let names = names.get(self.depth..)?;
        self.text.lines().rev().find_map(|line| fits_line(line, names, is_dir))
    }
}

fn fits_line(line: &str, names: &[&str], is_dir: bool) -> Option<bool> {
    let line = line.trim_end();
    let (leaves_out, pattern) = match line.strip_prefix('!') {
        Some(pattern) => (false, pattern),
        None => (true, line),
    };
    if pattern.is_empty() || pattern.starts_with('#') {
        return None;
    }
    let mut parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    parts.dedup_by(|a, b| a == b && *a == "**");
    let jumps = parts.iter().filter(|part| **part == "**").count();
    if pattern.contains('\\') || jumps > MOST_JUMPS {
        // What puts something back in and is not understood may mean this.
        return (!leaves_out).then_some(false);
    }
    if pattern.ends_with('/') && !is_dir {
        return None;
    }
    let anchored = pattern.trim_end_matches('/').contains('/');
    let fit = match (anchored, parts.as_slice(), names.last()) {
        (false, [only], Some(name)) => wild(only.as_bytes(), name.as_bytes()),
        _ => fits(&parts, names),
    };
    fit.then_some(leaves_out)
}

/// `**` stands for any number of folders; at the end for everything below.
fn fits(parts: &[&str], names: &[&str]) -> bool {
    match (parts, names) {
        ([], []) => true,
        (["**"], _) => !names.is_empty(),
        (["**", rest @ ..], _) if fits(rest, names) => true,
        (["**", ..], [_, below @ ..]) => fits(parts, below),
        ([part, rest @ ..], [name, below @ ..]) => wild(part.as_bytes(), name.as_bytes()) && fits(rest, below),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn repository(files: &[(&str, &str)]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join(".git/info")).unwrap();
        for (file, text) in files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        }
        (folder, root)
    }

    #[test]
    fn g1_what_git_is_told_to_leave_alone_is_told_from_what_it_is_not() {
        let top = "# made\n/generated/\n*.gen\nlogs/**\n!keep.gen\n**/cache-*\nsub/only\n\\#odd\nname\\ \n";
        let (_keep, root) = repository(&[
            (".gitignore", top),
            (".git/info/exclude", "private\n"),
            ("inner/.gitignore", "!back.gen\nlocal\n"),
            ("generated/a/b.txt", ""),
            ("inner/generated/x", ""),
        ]);
        for (path, expected) in [
            ("generated", true),
            ("generated/a/b.txt", true),
            ("inner/generated", false),
            ("a.gen", true),
            ("deep/er/a.gen", true),
            ("keep.gen", false),
            ("inner/back.gen", false),
            ("inner/other.gen", true),
            ("inner/local", true),
            ("local", false),
            ("logs/today", true),
            ("x/y/cache-1", true),
            ("sub/only", true),
            ("x/sub/only", false),
            ("private", true),
            ("src", false),
            ("src/main.rs", false),
            ("", false),
        ] {
            assert_eq!(ignored(&root.join(path)), expected, "{path}");
        }
    }

    #[test]
    fn g1_a_pattern_that_is_not_understood_leaves_nothing_alone() {
        let many = "**/a/**/b/**/c/**/d\n*.gen\n!odd\\.gen\n";
        let (_keep, root) = repository(&[(".gitignore", many)]);
        assert!(!ignored(&root.join("x.gen")), "something may put it back in");
        assert!(!ignored(&root.join("a/b/c/d")));
        let (_keep, root) = repository(&[(".gitignore", &"x\n".repeat(40_000))]);
        assert!(!ignored(&root.join("x")), "a list too long to read says nothing");
    }

    #[test]
    fn g1_outside_a_repository_nothing_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".gitignore"), "*\n").unwrap();
        assert!(!ignored(&folder.path().join("x")));
    }
}
