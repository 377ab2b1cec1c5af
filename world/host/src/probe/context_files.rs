//! Text files for a session's context, and files that a pattern names. A file
//! is read only where it really lies inside one of the folders it may lie in.

use model::fact::TextFact;
use model::memory_file;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use sys::outside::{self, Links, Rules, Unread};

/// In bytes: no file that is told to a model, or noted in, is ever longer.
const LONGEST: u64 = memory_file::LARGEST_FILE as u64;

/// What is read of the end of a longer one.
const END: u64 = 8_000;

/// So many files of one pattern are loaded.
const MOST_MATCHES: usize = 3;

/// So many entries of folders are looked at for one pattern.
const MOST_ENTRIES: usize = 4_000;

const DEEPEST: usize = 12;

/// A pattern with more `**` than this is not one a person wrote.
const MOST_JUMPS: usize = 4;

/// Folders that hold other people's files, and many of them.
const SKIPPED: &[&str] = &[".git", "node_modules", "target", "__pycache__", ".venv"];

pub fn text(path: &Path, within: &[String]) -> TextFact {
    let real = match std::fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) => return missing(&error),
    };
    if !within.iter().any(|folder| std::fs::canonicalize(folder).is_ok_and(|folder| real.starts_with(folder))) {
        return TextFact::Outside;
    }
    // The real path is opened, and not followed again: a link put there meanwhile leads nowhere.
    let rules = Rules { links: Links::Refused, ..Rules::up_to(LONGEST) };
    match outside::read_text(&real, &rules) {
        Ok(text) => TextFact::Text(text),
        Err(Unread::TooLarge { .. }) => end(&real),
        Err(Unread::Missing | Unread::Link) => TextFact::Missing,
        Err(Unread::NotAFile) => TextFact::NotAFile,
        Err(Unread::NotOurs { .. } | Unread::Failed(_)) => TextFact::Failed,
    }
}

/// The last lines of a file that is too long to be shown whole.
fn end(real: &Path) -> TextFact {
    match outside::read_end(real, END) {
        Ok((_, bytes)) => {
            let text = String::from_utf8_lossy(&bytes);
            // The first of them is not whole.
            TextFact::Long(text.split_once('\n').map_or(String::new(), |(_, whole)| whole.to_string()))
        }
        Err(_) => TextFact::Failed,
    }
}

fn missing(error: &std::io::Error) -> TextFact {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => TextFact::Missing,
        _ => TextFact::Failed,
    }
}

/// The first files below `folder` whose path fits the pattern, the nearest
/// first, then by name. Links to folders are not followed.
pub fn matches(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    parts.dedup_by(|a, b| a == b && *a == "**");
    if parts.iter().filter(|part| **part == "**").count() > MOST_JUMPS {
        return Vec::new();
    }
    let recursive = parts.contains(&"**");
    let deepest = if recursive { DEEPEST } else { parts.len() };
    let mut found = Vec::new();
    let mut seen = 0;
    let mut folders: VecDeque<(PathBuf, Vec<String>)> = VecDeque::from([(folder.to_path_buf(), Vec::new())]);
    while let Some((folder, above)) = folders.pop_front() {
        for (name, is_dir) in entries(&folder, MOST_ENTRIES.saturating_sub(seen)) {
            seen += 1;
            let mut path = above.clone();
            path.push(name.clone());
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            if !is_dir && fits(&parts, &names) {
                found.push(folder.join(&name));
                if found.len() == MOST_MATCHES {
                    return found;
                }
            }
            if is_dir && path.len() < deepest && !SKIPPED.contains(&name.as_str()) {
                folders.push_back((folder.join(&name), path));
            }
        }
    }
    found
}

/// Names and whether each is a folder, in the order of their names.
fn entries(folder: &Path, most: usize) -> Vec<(String, bool)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<(String, bool)> = entries
        .take(most)
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?.is_dir())))
        .collect();
    found.sort();
    found
}

/// `**` stands for any number of folders, hidden ones excepted.
fn fits(parts: &[&str], names: &[&str]) -> bool {
    match (parts, names) {
        ([], []) => true,
        (["**", rest @ ..], _) if fits(rest, names) => true,
        (["**", ..], [name, below @ ..]) => !below.is_empty() && !name.starts_with('.') && fits(parts, below),
        ([part, rest @ ..], [name, below @ ..]) => {
            let hidden = name.starts_with('.') && !part.starts_with('.');
            !hidden && wild(part.as_bytes(), name.as_bytes()) && fits(rest, below)
        }
        _ => false,
    }
}

/// `*`, `?` and `[…]` within one name. Goes back to the last `*` only, so that
/// no pattern takes long.
pub(super) fn wild(pattern: &[u8], name: &[u8]) -> bool {
    let (mut rest, mut below) = (pattern, name);
    let mut last_star: Option<(&[u8], &[u8])> = None;
    loop {
        if let [b'*', after @ ..] = rest {
            last_star = Some((after, below));
            rest = after;
        } else if let Some((after, under)) = step(rest, below) {
            (rest, below) = (after, under);
        } else if rest.is_empty() && below.is_empty() {
            return true;
        } else if let Some((after, [_, under @ ..])) = last_star {
            last_star = Some((after, under));
            (rest, below) = (after, under);
        } else {
            return false;
        }
    }
}

/// One byte of the name taken by one part of the pattern.
fn step<'a>(pattern: &'a [u8], name: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (byte, below) = name.split_first()?;
    let (one, rest) = pattern.split_first()?;
    let class = (*one == b'[').then(|| rest.iter().skip(1).position(|end| *end == b']')).flatten();
    match (one, class) {
        (b'[', Some(end)) => in_class(&rest[..=end], *byte).then_some((&rest[end + 2..], below)),
        (b'?', _) => Some((rest, below)),
        _ => (one == byte).then_some((rest, below)),
    }
}

fn in_class(class: &[u8], byte: u8) -> bool {
    let (negated, mut class) = match class {
        [b'!' | b'^', rest @ ..] if !rest.is_empty() => (true, rest),
        _ => (false, class),
    };
    let mut inside = false;
    while let [first, rest @ ..] = class {
        class = rest;
        if let [b'-', last, after @ ..] = class {
            inside |= (*first..=*last).contains(&byte);
            class = after;
        } else {
            inside |= *first == byte;
        }
    }
    inside != negated
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn place(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for file in files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), *file).unwrap();
        }
        (folder, root)
    }

    fn found(root: &Path, pattern: &str) -> Vec<String> {
        let below = |path: PathBuf| path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        matches(root, pattern).into_iter().map(below).collect()
    }

    #[test]
    fn s2_a_pattern_finds_the_nearest_three_and_no_hidden_or_foreign_ones() {
        let files = ["a/b/S.md", "z/S.md", "S.md", "q/r/s/S.md", ".hidden/S.md", "node_modules/x/S.md", "a/b/T.txt"];
        let (_folder, root) = place(&files);
        assert_eq!(found(&root, "**/S.md"), ["S.md", "z/S.md", "a/b/S.md"]);
        assert_eq!(found(&root, "a/**/*.txt"), ["a/b/T.txt"]);
        assert_eq!(found(&root, "*/S.md"), ["z/S.md"]);
        assert_eq!(found(&root, "[a-c]/b/?.md"), ["a/b/S.md"]);
        assert_eq!(found(&root, "a/b/[!S].*"), ["a/b/T.txt"]);
        assert_eq!(found(&root, ".hidden/*.md"), [".hidden/S.md"]);
        assert!(found(&root, "nothing/**").is_empty() && found(&root, "").is_empty());
    }

    #[test]
    fn s2_a_pattern_over_a_huge_tree_gives_up_in_bounded_time() {
        let (_folder, root) = place(&[]);
        for folder in 0..50 {
            fs::create_dir_all(root.join(format!("{folder:02}"))).unwrap();
            for file in 0..100 {
                fs::write(root.join(format!("{folder:02}/{file}.txt")), "").unwrap();
            }
        }
        assert!(found(&root, "**/never.md").is_empty());
        assert!(!wild(&b"*a".repeat(60), &[b'b'; 250]));
        assert!(wild(&b"*a".repeat(60), &[b'a'; 250]));
        assert!(found(&root, &"**/a/".repeat(20)).is_empty());
    }

    #[test]
    fn s2_a_link_that_leads_out_is_not_read_and_one_that_stays_is() {
        let (_folder, root) = place(&["project/in.md", "outside/secret.md"]);
        let link = |from: &str, to: &str| std::os::unix::fs::symlink(root.join(to), root.join(from)).unwrap();
        link("project/out.md", "outside/secret.md");
        link("project/stay.md", "project/in.md");
        link("project/folder", "outside");
        let within = [root.join("project").to_string_lossy().into_owned()];
        let text = |name: &str| text(&root.join(name), &within);
        assert_eq!(text("project/in.md"), TextFact::Text("project/in.md".into()));
        assert_eq!(text("project/stay.md"), TextFact::Text("project/in.md".into()));
        for outside in
            ["project/out.md", "project/folder/secret.md", "project/../outside/secret.md", "outside/secret.md"]
        {
            assert_eq!(text(outside), TextFact::Outside, "{outside}");
        }
        assert_eq!(text("project/gone.md"), TextFact::Missing);
        assert_eq!(text("project"), TextFact::NotAFile);
        let long = format!("{}\nthe last line\n", "x".repeat(70_000));
        fs::write(root.join("project/long.md"), &long).unwrap();
        assert_eq!(text("project/long.md"), TextFact::Long("the last line\n".into()));
        fs::write(root.join("project/long.md"), vec![b'x'; 70_000]).unwrap();
        assert_eq!(text("project/long.md"), TextFact::Long(String::new()), "no line of it is whole");
    }
}
