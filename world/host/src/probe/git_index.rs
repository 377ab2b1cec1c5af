//! Whether git tracks a path, read from the index file. Versions 2 to 4 are
//! understood; anything else, or an index too large to read on the way of a
//! hook, cannot be told.

use super::project::small_file;
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use sys::outside::{self, Rules, Unread};

/// Reading more than this would be felt.
const LARGEST: u64 = 24 * 1024 * 1024;

/// The index files of one round of questions: each is read once, however many of its paths are asked about.
#[derive(Default)]
pub struct Indexes(Vec<(PathBuf, Option<Rc<Vec<u8>>>)>);

impl Indexes {
    fn read(&mut self, index: &Path) -> Option<Rc<Vec<u8>>> {
        if let Some((_, bytes)) = self.0.iter().find(|(known, _)| known == index) {
            return bytes.clone();
        }
        let bytes = read(index).map(Rc::new);
        self.0.push((index.to_path_buf(), bytes.clone()));
        bytes
    }
}

/// Whether git tracks the path or something below it; `Some(false)` outside a repository.
pub fn tracked(path: &Path, indexes: &mut Indexes) -> Option<bool> {
    let Some((top, index)) = index_of(path) else { return Some(false) };
    let inside = path.strip_prefix(&top).ok()?.as_os_str().as_bytes().to_vec();
    holds(&indexes.read(&index)?, &inside)
}

/// Whether git tracks the file and has seen it as it is now, by size and time; `None` when that cannot be told.
pub fn as_committed(path: &Path, found: &Metadata, indexes: &mut Indexes) -> Option<bool> {
    let Some((top, index)) = index_of(path) else { return Some(false) };
    let inside = path.strip_prefix(&top).ok()?.as_os_str().as_bytes().to_vec();
    let bytes = indexes.read(&index)?;
    let Some(at) = entry_of(&bytes, &inside)? else { return Some(false) };
    // Git keeps the lower 32 bits of each.
    let is = |offset: usize, value: i64| number(&bytes, at + offset) == Some(value as u32);
    Some(is(8, found.mtime()) && is(12, found.mtime_nsec()) && is(36, found.size() as i64))
}

/// How many files git tracks in a work tree, by the head of its index; more than can be where that cannot be told.
pub fn entries(tree: &Path) -> u64 {
    let Some((top, index)) = index_of(tree) else { return u64::MAX };
    let read = outside::open(&index, &Rules::up_to(u64::MAX));
    let head = match read {
        Ok((mut file, _)) => {
            let mut head = [0; 12];
            file.read_exact(&mut head).map(|()| head.to_vec()).unwrap_or_default()
        }
        Err(Unread::Missing) if top == tree => return 0,
        Err(_) => return u64::MAX,
    };
    header(&head).flatten().map_or(u64::MAX, |(_, count)| u64::from(count))
}

/// The top of the work tree around a path and its index file.
pub fn index_of(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let start = if path.is_dir() { path } else { path.parent()? };
    start.ancestors().find_map(|dir| {
        let git = dir.join(".git");
        let meta = std::fs::symlink_metadata(&git).ok()?;
        if meta.is_dir() {
            return Some((dir.to_path_buf(), git.join("index")));
        }
        let text = small_file(&git)?;
        let git_dir = dir.join(text.strip_prefix("gitdir:")?.trim());
        Some((dir.to_path_buf(), git_dir.join("index")))
    })
}

/// An absent index tracks nothing.
fn read(index: &Path) -> Option<Vec<u8>> {
    match outside::read(index, &Rules::up_to(LARGEST)) {
        Ok(bytes) => Some(bytes),
        Err(Unread::Missing) => Some(Vec::new()),
        Err(_) => None,
    }
}

pub fn holds(bytes: &[u8], wanted: &[u8]) -> Option<bool> {
    let Some((version, count)) = header(bytes)? else { return Some(false) };
    if wanted.is_empty() {
        return Some(count > 0);
    }
    let mut at = 12;
    let mut name = Vec::new();
    for _ in 0..count {
        at = entry(bytes, at, version, &mut name)?;
        let below = name.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
        if below {
            return Some(true);
        }
    }
    Some(false)
}

/// Where the entry of this very path begins, when there is one.
fn entry_of(bytes: &[u8], wanted: &[u8]) -> Option<Option<usize>> {
    let Some((version, count)) = header(bytes)? else { return Some(None) };
    let mut at = 12;
    let mut name = Vec::new();
    for _ in 0..count {
        let next = entry(bytes, at, version, &mut name)?;
        if name == wanted {
            return Some(Some(at));
        }
        at = next;
    }
    Some(None)
}

/// The version and the number of entries; nothing for an index that is not there.
fn header(bytes: &[u8]) -> Option<Option<(u32, u32)>> {
    if bytes.is_empty() {
        return Some(None);
    }
    let version = number(bytes, 4)?;
    if !bytes.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    Some(Some((version, number(bytes, 8)?)))
}

/// Reads the entry at `at` into `name` and gives where the next one begins.
fn entry(bytes: &[u8], at: usize, version: u32, name: &mut Vec<u8>) -> Option<usize> {
    const FIXED: usize = 62;
    let flags = u16::from_be_bytes(bytes.get(at + 60..at + 62)?.try_into().ok()?);
    let extended = if version >= 3 && flags & 0x4000 != 0 { 2 } else { 0 };
    let mut start = at + FIXED + extended;
    if version == 4 {
        let (strip, length) = varint(bytes.get(start..)?)?;
        name.truncate(name.len().checked_sub(strip)?);
        start += length;
    } else {
        name.clear();
    }
    let rest = bytes.get(start..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    name.extend_from_slice(rest.get(..end)?);
    if version == 4 {
        return Some(start + end + 1);
    }
    // Entries are padded with one to eight zero bytes to a multiple of eight.
    let length = start + end - at;
    Some(at + (length + 8) / 8 * 8)
}

/// Git's offset encoding: each continued byte adds one before shifting.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().enumerate().take(8) {
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by git itself, for `src/main.rs`, `src/deep/er/x.rs`, `srcfile` and `z`.
    const VERSIONS: [&[u8]; 3] = [
        include_bytes!("../../tests/index/v2"),
        include_bytes!("../../tests/index/v3"),
        include_bytes!("../../tests/index/v4"),
    ];

    fn repository(index: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        for dir in [".git", "src/deep/er", "target"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        std::fs::write(root.join(".git/index"), index).unwrap();
        (folder, root)
    }

    #[test]
    fn every_index_version_tells_tracked_from_untracked() {
        for index in VERSIONS {
            let (_keep, root) = repository(index);
            for (path, expected) in [
                ("src", true),
                ("src/deep", true),
                ("src/main.rs", true),
                ("srcfile", true),
                ("z", true),
                ("target", false),
                ("sr", false),
                ("", true),
            ] {
                assert_eq!(
                    tracked(&root.join(path), &mut Indexes::default()),
                    Some(expected),
                    "version {}, {path}",
                    index[7]
                );
            }
        }
    }

    #[test]
    fn a_repository_without_an_index_tracks_nothing() {
        let (_keep, root) = repository(b"");
        std::fs::remove_file(root.join(".git/index")).unwrap();
        assert_eq!(tracked(&root.join("src"), &mut Indexes::default()), Some(false));
    }

    #[test]
    fn a_torn_index_cannot_be_told() {
        assert_eq!(holds(b"DIRC\0\0\0\x02\0\0\0\x05short", b"src"), None);
        assert_eq!(holds(b"nonsense-nonsense", b"src"), None);
    }
}
