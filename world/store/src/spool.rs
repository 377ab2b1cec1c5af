//! The spool: events that the database could not take, one JSON line each,
//! until somebody can.

use crate::place::Place;
use crate::{Durability, Error, Store, events, lock};
use model::row::Event;
use model::{Answer, Level, Ms};
use serde_json::{Value, json};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The spool's file name in the folder of the database.
pub const SPOOL: &str = "spool.jsonl";

/// What is being read; one that is there at the start is from a reader that died.
const TAKEN: &str = "spool.taken.jsonl";

const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Others hold the spool's lock for one write or one rename.
const PATIENCE: Duration = Duration::from_millis(20);

const BATCH: usize = 500;

/// What came of taking the spool in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ingested {
    /// Lines that are in the database now, or were before.
    pub events: usize,
    /// Lines cut short by a full disk or a crash.
    pub unreadable: usize,
}

/// Keeps an event that the database cannot take now.
pub fn spool(folder: &Path, event: &Event) -> Result<(), Error> {
    spool_text(folder, &spool_line(event))
}

/// An event as the spool keeps it.
pub fn spool_line(event: &Event) -> String {
    line_of(event).to_string()
}

/// Keeps an event that was written with [`spool_line`].
pub fn spool_text(folder: &Path, event: &str) -> Result<(), Error> {
    let path = folder.join(SPOOL);
    // A newline first, so that a line cut short by a full disk does not swallow this one.
    let line = format!("\n{event}\n");
    append(folder, &path, line.as_bytes()).map_err(|cause| match cause.kind() {
        ErrorKind::QuotaExceeded => Error::SpoolFull { path: path.clone(), most: MOST_BYTES },
        _ => Error::file("keep an event in", &path, cause),
    })
}

impl Store {
    /// Takes in what the spool holds. For the daemon and commands; what cannot
    /// be taken now stays where it is, and what is there already counts once.
    pub fn ingest_spool(&mut self) -> Result<Ingested, Error> {
        let mut all = Ingested::default();
        if !self.place.folder.join(SPOOL).exists() && !self.place.folder.join(TAKEN).exists() {
            return Ok(all);
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
        Ok(all)
    }

    fn ingest(&mut self, path: &Path) -> Result<Ingested, Error> {
        let file = File::open(path).map_err(|cause| Error::file("read", path, cause))?;
        let mut done = Ingested::default();
        let mut batch = Vec::new();
        for line in BufReader::new(file).split(b'\n') {
            let line = line.map_err(|cause| Error::file("read", path, cause))?;
            match serde_json::from_slice(&line).ok().and_then(|value| event_of(&value)) {
                Some(event) => batch.push(event),
                None if line.is_empty() => {}
                None => done.unreadable += 1,
            }
            if batch.len() == BATCH {
                done.events += self.record_all(&mut batch)?;
            }
        }
        done.events += self.record_all(&mut batch)?;
        Ok(done)
    }

    fn record_all(&mut self, batch: &mut Vec<Event>) -> Result<usize, Error> {
        self.transact(Durability::Full, |tx| {
            tx.verb(|conn| batch.iter().try_for_each(|event| events::record(conn, event)))
        })?;
        Ok(batch.drain(..).count())
    }
}

/// The file to read: one that a reader left, else the spool, renamed so that
/// writers begin a new one.
fn take(place: &Place) -> Result<Option<PathBuf>, Error> {
    let (spool, taken) = (place.folder.join(SPOOL), place.folder.join(TAKEN));
    if taken.exists() {
        return Ok(Some(taken));
    }
    let rename = || {
        let file = File::open(&spool)?;
        // A writer that has the lock is about to write into what we rename.
        lock::wait_for(&file, PATIENCE)?;
        std::fs::rename(&spool, &taken)
    };
    match rename() {
        Ok(()) => Ok(Some(taken)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::file("take in", &spool, cause)),
    }
}

fn append(folder: &Path, path: &Path, line: &[u8]) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = current(path)?;
    if file.metadata()?.len().saturating_add(line.len() as u64) > MOST_BYTES {
        return Err(ErrorKind::QuotaExceeded.into());
    }
    file.write_all(line)
}

/// The spool, locked where the lock can be had, and the one at the path still:
/// a reader may have renamed it between its opening and the lock.
fn current(path: &Path) -> std::io::Result<File> {
    for _ in 0..10 {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        lock::wait_for(&file, PATIENCE)?;
        if std::fs::metadata(path).is_ok_and(|at_path| {
            file.metadata().is_ok_and(|ours| (ours.dev(), ours.ino()) == (at_path.dev(), at_path.ino()))
        }) {
            return Ok(file);
        }
    }
    Err(ErrorKind::ResourceBusy.into())
}

fn line_of(event: &Event) -> Value {
    json!({
        "id": event.id, "at": event.at.0, "key": event.key, "agent": event.agent, "session": event.session,
        "host_session": event.host_session, "sub_agent": event.sub_agent, "event": event.event,
        "tool": event.tool, "verdict": event.verdict.name(), "rules": event.rules, "reason": event.reason,
        "detail": event.detail, "micros": event.micros, "stdout": event.answer.stdout,
        "stderr": event.answer.stderr, "exit": event.answer.exit,
    })
}

/// `None` where the line does not say which event it is.
fn event_of(line: &Value) -> Option<Event> {
    let text = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| line.get(name).and_then(Value::as_u64).unwrap_or_default();
    let rules = line.get("rules").and_then(Value::as_array);
    Some(Event {
        id: text("id")?,
        at: Ms(line.get("at").and_then(Value::as_i64)?),
        key: text("key")?,
        agent: text("agent").unwrap_or_default(),
        session: text("session"),
        host_session: text("host_session"),
        sub_agent: text("sub_agent"),
        event: text("event").unwrap_or_default(),
        tool: text("tool"),
        verdict: text("verdict").and_then(|name| Level::parse(&name)).unwrap_or_default(),
        rules: rules.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        reason: text("reason"),
        detail: line.get("detail").cloned().unwrap_or_default(),
        micros: number("micros"),
        answer: Answer {
            stdout: text("stdout").unwrap_or_default(),
            stderr: text("stderr").unwrap_or_default(),
            exit: u8::try_from(number("exit")).unwrap_or_default(),
        },
    })
}
