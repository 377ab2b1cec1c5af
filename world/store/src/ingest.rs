//! Taking in what spool and reserve hold, once the database takes it again.

use crate::folder::{StoreFolder, private_file};
use crate::reserve::{self, Reserve};
use crate::spool::{PATIENCE, SPOOL};
use crate::spool_line::{self, SpoolLine, Weight};
use crate::{Durability, Error, Store, Tx, events, lock, pending};
use model::Level;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What is being read; one that is there at the start is from a reader that died.
const TAKEN: &str = "spool.taken.jsonl";

/// What could not be read, byte for byte.
pub const UNREADABLE: &str = "spool.unreadable";

const BATCH: usize = 500;

/// How often a reserve that changes is read.
const MOST_ROUNDS: usize = 5;

/// Those that were stored last; the same call is told twice within seconds.
const STORED_SINCE: &str =
    "SELECT key, verdict FROM (SELECT key, verdict, at FROM events ORDER BY seq DESC LIMIT 50000) WHERE at >= ?1";

/// What came of taking the spool in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ingested {
    /// Lines that are in the database now, or were before.
    pub events: usize,
    /// Lines cut short by a crash; their bytes are in [`UNREADABLE`].
    pub unreadable: usize,
}

/// Lines on their way into the database.
#[derive(Default)]
struct Batch {
    lines: Vec<(Vec<u8>, SpoolLine)>,
    /// Those that are no events, or that the database refuses for what they are.
    refused: Vec<Vec<u8>>,
}

impl Store {
    /// Takes in what spool and reserve hold. For the daemon and commands; what
    /// cannot be taken now stays where it is, and what is there already counts
    /// once. Effects that were not carried out are left to [`Store::pending`].
    pub fn ingest_spool(&mut self) -> Result<Ingested, Error> {
        let mut all = Ingested::default();
        let is_there = |name: &str| self.place.folder.join(name).exists();
        let (spooled, reserved) = (is_there(SPOOL) || is_there(TAKEN), reserve::holds_any(&self.place));
        if !spooled && !reserved {
            return self.compare_lost().map(|()| all);
        }
        // Two readers would delete what the other has not read.
        let _held = lock::hold(&self.place, self.patience)?;
        for _ in 0..2 {
            if let Some(taken) = take(&self.place)? {
                let one = self.ingest(&taken)?;
                std::fs::remove_file(&taken).map_err(|cause| Error::file("remove", &taken, cause))?;
                all.events += one.events;
                all.unreadable += one.unreadable;
            }
        }
        if reserved {
            let one = self.ingest_reserve()?;
            all.events += one.events;
            all.unreadable += one.unreadable;
        }
        reserve::count_unreadable(&self.place.folder, all.unreadable);
        self.compare_lost()?;
        Ok(all)
    }

    /// An event that one process could not keep may have been kept by another.
    fn compare_lost(&self) -> Result<(), Error> {
        let Some(first) = reserve::to_compare(&self.place) else { return Ok(()) };
        let stored: Vec<(String, String)> = self.read(|conn| {
            conn.prepare(STORED_SINCE)?.query_map([first.0], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        let weighed = stored.iter().map(|(key, verdict)| {
            let vital = Level::parse(verdict).is_some_and(|level| level >= Level::Ask);
            (key.as_str(), if vital { Weight::Vital } else { Weight::Ordinary })
        });
        let compared = Reserve::open(&self.place.folder).and_then(|mut reserve| reserve.found_stored(weighed));
        compared.map_err(|cause| Error::file("compare", &reserve::path(&self.place.folder), cause))
    }

    fn ingest(&mut self, path: &Path) -> Result<Ingested, Error> {
        let file = File::open(path).map_err(|cause| Error::file("read", path, cause))?;
        let (mut done, mut batch) = (Ingested::default(), Batch::default());
        for line in BufReader::new(file).split(b'\n') {
            batch.add(line.map_err(|cause| Error::file("read", path, cause))?);
            if batch.lines.len() == BATCH {
                done.events += self.transact(Durability::Full, |tx| batch.record(tx))?;
            }
        }
        done.events += self.transact(Durability::Full, |tx| batch.record(tx))?;
        done.unreadable = batch.refused.len();
        set_aside(&self.place, &batch.refused)?;
        Ok(done)
    }

    /// The reserve is locked for as long as it is read, and again for the
    /// commit, so that hooks which need it meanwhile hardly wait. What changed in
    /// between is read again: what is recorded twice counts once.
    fn ingest_reserve(&mut self) -> Result<Ingested, Error> {
        let path = reserve::path(&self.place.folder);
        let folder = self.place.folder.clone();
        let file = |cause| Error::file("take in", &path, cause);
        let (mut held, mut batch, mut read) = (None, Batch::default(), None);
        let events = self.transact(Durability::Full, |tx| {
            let mut events = 0;
            for left in (0..MOST_ROUNDS).rev() {
                let reserve = Reserve::open(&folder).map_err(file)?;
                if read == Some(reserve.extent()) {
                    held = Some(reserve);
                    break;
                }
                batch.refused.clear();
                reserve.lines().map_err(file)?.into_iter().for_each(|line| batch.add(line));
                read = Some(reserve.extent());
                // Where it never stands still, it is held the last time.
                held = (left == 0).then_some(reserve);
                batch.lines.sort_by_key(|(_, line)| line.event.at);
                events = batch.record(tx)?;
            }
            Ok(events)
        })?;
        set_aside(&self.place, &batch.refused)?;
        if let Some(mut reserve) = held {
            reserve.clear().map_err(file)?;
        }
        Ok(Ingested { events, unreadable: batch.refused.len() })
    }
}

impl Batch {
    fn add(&mut self, line: Vec<u8>) {
        match spool_line::read(&line) {
            Some(read) => self.lines.push((line, read)),
            None if line.is_empty() => {}
            None => self.refused.push(line),
        }
    }

    /// Each on its own: one that the database never takes must not keep out the others.
    fn record(&mut self, tx: &Tx<'_>) -> Result<usize, Error> {
        let mut taken = 0;
        for (bytes, line) in self.lines.drain(..) {
            match tx.savepoint(|tx| tx.verb(|conn| record(conn, &line))) {
                Ok(()) => taken += 1,
                Err(Error::Sql { .. }) => self.refused.push(bytes),
                Err(cause) => return Err(cause),
            }
        }
        Ok(taken)
    }
}

/// An event that is stored already had its effects then. What is here was answered to the agent, and counts.
fn record(conn: &rusqlite::Connection, line: &SpoolLine) -> rusqlite::Result<()> {
    let new = events::record(conn, &line.event)?;
    if !new {
        events::answered_instead(conn, &line.event)?;
    }
    match &line.pending {
        Some(told) if new => pending::put(conn, &line.event, told),
        _ => Ok(()),
    }
}

/// The file to read: one that a reader left, else the spool, renamed so that
/// writers begin a new one.
fn take(place: &StoreFolder) -> Result<Option<PathBuf>, Error> {
    let (spool, taken) = (place.folder.join(SPOOL), place.folder.join(TAKEN));
    if taken.exists() {
        return Ok(Some(taken));
    }
    let rename = || {
        let file = File::open(&spool)?;
        // A writer that has the lock is about to write into what we rename: it is waited for, or left for later.
        if !lock::wait_for(&file, PATIENCE)? {
            return Err(ErrorKind::ResourceBusy.into());
        }
        std::fs::rename(&spool, &taken)
    };
    match rename() {
        Ok(()) => Ok(Some(taken)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::file("take in", &spool, cause)),
    }
}

/// Kept before the file they came from is removed.
fn set_aside(place: &StoreFolder, lines: &[Vec<u8>]) -> Result<(), Error> {
    if lines.is_empty() {
        return Ok(());
    }
    let path = place.folder.join(UNREADABLE);
    let append = || {
        if !path.exists() {
            private_file(&path)?;
        }
        let mut file = OpenOptions::new().append(true).custom_flags(libc::O_NOFOLLOW).open(&path)?;
        file.write_all(&[lines.join(&b'\n'), b"\n".to_vec()].concat())
    };
    append().map_err(|cause| Error::file("keep what cannot be read in", &path, cause))
}
