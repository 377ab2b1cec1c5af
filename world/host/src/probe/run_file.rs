//! A file that a line would run, or that says what it runs: small, regular, and not many of them for one event.

use super::git_index::{self, Indexes};
use super::tools;
use model::Ms;
use model::fact::{FileContent, FileFact, Probe};
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules, Unread};

/// A larger file is not read: it is no script that a person wrote.
const LARGEST: u64 = 64 * 1024;

/// Of all files of one event.
const MOST_BYTES: u64 = 256 * 1024;

/// So many files of one event are looked at.
const MOST_FILES: usize = 8;

/// Why a small file was not read.
const TOO_MANY: &str = "the call runs more than 8 files, and no more are read";
const TOO_MUCH: &str = "the call runs more text from files than is read for one call";

/// So many folders are climbed for the nearest file of a name.
const MOST_FOLDERS: usize = 32;

/// How much tells a program from text.
const FIRST: u64 = 512;

/// Where the file of a question stands by now.
pub fn place(probe: &Probe) -> PathBuf {
    match probe {
        Probe::RunFile { path } => PathBuf::from(path),
        Probe::NearestFile { folder, names } => nearest(Path::new(folder), names),
        _ => PathBuf::new(),
    }
}

/// When the file of an answer was last changed, as it is by now.
pub fn changed_at(fact: &FileFact) -> Ms {
    std::fs::metadata(&fact.path).map_or(Ms(0), |found| changed(&found))
}

/// The files that an answer depends on: the file, and the index that says whether it is committed.
pub fn sources(fact: &FileFact) -> impl Iterator<Item = PathBuf> {
    let index = git_index::index_of(Path::new(&fact.real)).map(|(_, index)| index);
    [PathBuf::from(&fact.path)].into_iter().chain(index)
}

/// The answer to one question about a file, within what earlier answers have left over.
pub fn fact(probe: &Probe, known: &[(Probe, FileFact)], indexes: &mut Indexes) -> FileFact {
    let path = place(probe);
    let spent: u64 = known.iter().map(|(_, fact)| size(&fact.content)).sum();
    let read = known.iter().filter(|(_, fact)| matches!(fact.content, FileContent::Text(_))).count();
    let left = if read >= MOST_FILES { 0 } else { MOST_BYTES.saturating_sub(spent) };
    let content = content(&path, LARGEST.min(left));
    let why = |unread: &Unread| match unread {
        Unread::TooLarge { bytes } if *bytes <= LARGEST && read >= MOST_FILES => TOO_MANY.to_string(),
        Unread::TooLarge { bytes } if *bytes <= LARGEST => TOO_MUCH.to_string(),
        other => other.to_string(),
    };
    answer(path, content.map_err(|unread| (why(&unread), matches!(unread, Unread::Missing))), indexes)
}

/// The answer for a file that is not read any more: the call has had its share.
pub fn left_out(probe: &Probe) -> FileFact {
    let path = place(probe);
    let missing = std::fs::metadata(&path).is_err();
    answer(path, Err((TOO_MUCH.to_string(), missing)), &mut Indexes::default())
}

/// What a file is, or why it was not read and whether it is missing.
fn answer(path: PathBuf, content: Result<(FileContent, Metadata), (String, bool)>, indexes: &mut Indexes) -> FileFact {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    let (content, found) = match content {
        Ok((content, found)) => (content, Some(found)),
        Err((_, true)) => (FileContent::Missing, None),
        Err((why, false)) => (FileContent::Unread(why), std::fs::metadata(&path).ok()),
    };
    FileFact {
        path: shown(&path),
        as_committed: found.as_ref().is_some_and(|found| git_index::as_committed(&real, found, indexes) == Some(true)),
        changed: found.as_ref().map_or(Ms(0), changed),
        real: shown(&real),
        content,
    }
}

fn size(content: &FileContent) -> u64 {
    match content {
        FileContent::Text(text) => text.len() as u64,
        _ => 0,
    }
}

/// The nearest file with one of these names; the first of them in the folder itself where there is none.
fn nearest(folder: &Path, names: &[String]) -> PathBuf {
    let candidates = |folder: &Path| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
    let above = folder.ancestors().take(MOST_FOLDERS).flat_map(candidates);
    let found = above.into_iter().find(|path| std::fs::metadata(path).is_ok_and(|found| found.is_file()));
    found.or_else(|| candidates(folder).into_iter().next()).unwrap_or_default()
}

fn content(path: &Path, most: u64) -> Result<(FileContent, Metadata), Unread> {
    let (mut file, found) = outside::open(path, &Rules::up_to(most))?;
    let mut bytes = Vec::new();
    // The first of a program are enough: it may be large.
    file.by_ref().take(FIRST).read_to_end(&mut bytes).map_err(Unread::Failed)?;
    if is_program(&bytes) {
        return Ok((FileContent::Program(tools::copied(path, &found)), found));
    }
    if found.len() > most {
        return Err(Unread::TooLarge { bytes: found.len() });
    }
    file.take(most.saturating_sub(FIRST)).read_to_end(&mut bytes).map_err(Unread::Failed)?;
    // Shells and interpreters read past them.
    bytes.retain(|byte| *byte != 0);
    let text = String::from_utf8_lossy(&bytes);
    Ok((FileContent::Text(text.into()), found))
}

/// How programs and archives that are no text begin.
const MAGIC: &[&[u8]] = &[
    b"\x7fELF", b"MZ\x90\0", b"\0asm", b"\xca\xfe\xba\xbe", b"\xfe\xed\xfa", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe",
    b"PK\x03\x04", b"\x1f\x8b", b"SQLite format 3\0",
];

/// Whether a file that begins so is a program. One byte that no text has does not make it one: a shell runs what is
/// around it.
fn is_program(first: &[u8]) -> bool {
    let compiled = first.get(2..4) == Some(b"\r\n");
    first.contains(&0) && (compiled || MAGIC.iter().any(|magic| first.starts_with(magic)))
}

/// When it was last changed; whoever writes a file cannot set that back.
fn changed(found: &Metadata) -> Ms {
    Ms(found.ctime().saturating_mul(1000).saturating_add(found.ctime_nsec() / 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(probe: &Probe, known: &[(Probe, FileFact)]) -> FileFact {
        super::fact(probe, known, &mut Indexes::default())
    }

    fn asked(path: &Path) -> FileFact {
        fact(&Probe::RunFile { path: path.to_string_lossy().into_owned() }, &[])
    }

    #[test]
    fn g12_a_small_text_is_read_and_what_is_large_missing_or_no_file_is_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::write(root.join("x.sh"), "ls\n").unwrap();
        std::fs::write(root.join("long.sh"), "#".repeat(LARGEST as usize + 1)).unwrap();
        std::fs::write(root.join("program"), [b"\x7fELF\0".as_slice(), &[1; 200_000]].concat()).unwrap();
        assert_eq!(asked(&root.join("x.sh")).content, FileContent::Text("ls\n".into()));
        assert!(matches!(asked(&root.join("long.sh")).content, FileContent::Unread(why) if why.contains("too large")));
        assert_eq!(asked(&root.join("program")).content, FileContent::Program(None));
        assert_eq!(asked(&root.join("gone")).content, FileContent::Missing);
        assert!(matches!(asked(&root).content, FileContent::Unread(why) if why.contains("not a regular file")));
    }

    #[test]
    fn g12_a_byte_that_no_text_has_hides_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::write(root.join("x.sh"), b"#!/bin/sh\necho hi # \0\nr\0m -rf ~\n").unwrap();
        std::fs::write(root.join("plain"), b"echo \0\nls\n").unwrap();
        assert_eq!(asked(&root.join("x.sh")).content, FileContent::Text("#!/bin/sh\necho hi # \nrm -rf ~\n".into()));
        assert_eq!(asked(&root.join("plain")).content, FileContent::Text("echo \nls\n".into()));
    }

    #[test]
    fn g12_the_nearest_file_of_a_name_is_found_above_and_the_first_name_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/second"), "two").unwrap();
        std::fs::write(root.join("a/first"), "one").unwrap();
        let names = vec!["first".to_string(), "second".to_string()];
        let probe = Probe::NearestFile { folder: root.join("a/b").to_string_lossy().into_owned(), names };
        let found = fact(&probe, &[]);
        assert_eq!(
            (found.path, found.content),
            (root.join("a/first").to_string_lossy().into_owned(), FileContent::Text("one".into()))
        );
    }

    #[test]
    fn g12_one_event_reads_so_many_bytes_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let mut known: Vec<(Probe, FileFact)> = Vec::new();
        for at in 0..12 {
            let path = folder.path().join(at.to_string());
            std::fs::write(&path, "#".repeat(60_000)).unwrap();
            let probe = Probe::RunFile { path: path.to_string_lossy().into_owned() };
            let found = fact(&probe, &known);
            known.push((probe, found));
        }
        let read = known.iter().filter(|(_, fact)| matches!(fact.content, FileContent::Text(_))).count();
        assert_eq!(read, 4);
        assert_eq!(known[5].1.content, FileContent::Unread(TOO_MUCH.into()));
    }

    #[test]
    fn g12_a_small_file_behind_the_most_that_are_read_is_not_called_too_large() {
        let folder = tempfile::tempdir().unwrap();
        let mut known: Vec<(Probe, FileFact)> = Vec::new();
        for at in 0..=MOST_FILES {
            let path = folder.path().join(at.to_string());
            std::fs::write(&path, "ls\n").unwrap();
            let probe = Probe::RunFile { path: path.to_string_lossy().into_owned() };
            let found = fact(&probe, &known);
            known.push((probe, found));
        }
        let gone = Probe::RunFile { path: folder.path().join("gone").to_string_lossy().into_owned() };
        assert_eq!(fact(&gone, &known).content, FileContent::Missing);
        assert_eq!(known.pop().unwrap().1.content, FileContent::Unread(TOO_MANY.into()));
        assert!(known.iter().all(|(_, fact)| matches!(fact.content, FileContent::Text(_))));
    }

    #[test]
    fn a_link_is_known_by_what_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::write(root.join("tool"), "x").unwrap();
        std::os::unix::fs::symlink(root.join("tool"), root.join("link")).unwrap();
        assert_eq!(asked(&root.join("link")).real, root.join("tool").to_string_lossy());
    }
}
