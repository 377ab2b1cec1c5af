//! Calls that run files, as they were read with them: a line that is said again is not read again while every file it
//! runs is the same, and stands where it stood.

use crate::stamp::Stamp;
use host::probe::run_file;
use model::fact::{Facts, FileFact, Probe};
use model::{Envelope, Ms};
use policy::{Around, ParsedCall};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// More lines than this are not remembered between events.
const MOST: usize = 64;

/// A file that was changed less than this ago is read again.
const SETTLED_MS: i64 = 2_000;

#[derive(Default)]
pub struct ReadingCache {
    known: Vec<KnownReading>,
}

struct KnownReading {
    files: Vec<(Probe, FileFact)>,
    stamps: Vec<(PathBuf, Stamp)>,
    parsed_call: Rc<ParsedCall>,
}

impl ReadingCache {
    /// The call of an event as it was read before, with what was known of its files put into the facts.
    pub fn of(&self, envelope: &Envelope, around: &Around, facts: &mut Facts) -> Option<Rc<ParsedCall>> {
        if self.known.is_empty() {
            return None;
        }
        let (line, cwd) = policy::line_of(envelope, around)?;
        let known = self.known.iter().find(|known| known.is_of(line, cwd, around))?;
        if !known.holds() {
            return None;
        }
        facts.files.clone_from(&known.files);
        Some(Rc::clone(&known.parsed_call))
    }

    /// Keeps a call that was read at that moment.
    pub fn keep(&mut self, parsed_call: &Rc<ParsedCall>, files: &[(Probe, FileFact)], now: Ms) {
        let Some(line) = parsed_call.line.as_deref() else { return };
        // A file may be changed again within the same tick of the clock that its times are taken from.
        if files.iter().any(|(_, fact)| now.since(fact.changed) < SETTLED_MS) {
            return;
        }
        self.known.retain(|known| !known.is_of(line, parsed_call.cwd.as_deref(), &parsed_call.around));
        if self.known.len() >= MOST {
            self.known.remove(0);
        }
        let stamped = |path: PathBuf| {
            let stamp = Stamp::of(&path);
            (path, stamp)
        };
        let stamps = files.iter().flat_map(|(_, fact)| run_file::sources(fact)).map(stamped).collect();
        // And it may have been changed since it was read.
        if files.iter().any(|(_, fact)| run_file::changed_at(fact) != fact.changed) {
            return;
        }
        self.known.push(KnownReading { files: files.to_vec(), stamps, parsed_call: Rc::clone(parsed_call) });
    }
}

impl KnownReading {
    fn is_of(&self, line: &str, cwd: Option<&str>, around: &Around) -> bool {
        let own = &self.parsed_call;
        own.line.as_deref() == Some(line) && own.cwd.as_deref() == cwd && own.around == *around
    }

    /// Whether every file is still the one that was read.
    fn holds(&self) -> bool {
        let there = |(probe, fact): &(Probe, FileFact)| run_file::place(probe) == Path::new(&fact.path);
        self.files.iter().all(there) && self.stamps.iter().all(|(path, stamp)| Stamp::of(path) == *stamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &Path) -> (Rc<ParsedCall>, Vec<(Probe, FileFact)>) {
        let line = format!("bash {}", file.display());
        let around = Around::default();
        let parsed_call = ParsedCall::line(&line, Some("/".into()), &around);
        let facts = host::probe::observe(&parsed_call.file_probes(), Path::new("/"));
        (Rc::new(parsed_call.with_files(&facts)), facts.files)
    }

    fn known(cache: &ReadingCache, file: &Path) -> bool {
        let line = format!("bash {}", file.display());
        cache.known.iter().any(|known| known.is_of(&line, Some("/"), &Around::default()) && known.holds())
    }

    #[test]
    fn g12_a_line_is_known_while_its_files_are_the_same_and_no_longer() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.sh");
        std::fs::write(&file, "ls a").unwrap();
        let mut cache = ReadingCache::default();
        let (parsed_call, files) = read(&file);
        let later = Ms(files[0].1.changed.0 + SETTLED_MS);
        cache.keep(&parsed_call, &files, Ms(later.0 - 1));
        assert!(!known(&cache, &file), "it may still change unseen");
        cache.keep(&parsed_call, &files, later);
        assert!(known(&cache, &file));
        std::fs::rename(&file, folder.path().join("y.sh")).unwrap();
        assert!(!known(&cache, &file), "it is gone");
        std::fs::write(&file, "ls b").unwrap();
        assert!(!known(&cache, &file), "it is another");
    }

    #[test]
    fn g12_only_so_many_lines_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = ReadingCache::default();
        for at in 0..MOST + 3 {
            let (parsed_call, files) = read(&folder.path().join(format!("{at}.sh")));
            cache.keep(&parsed_call, &files, Ms(i64::MAX));
        }
        assert_eq!(cache.known.len(), MOST);
    }
}
