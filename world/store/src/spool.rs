//! The spool: events that the database could not take, one JSON line each,
//! until somebody can. Where it cannot grow, the reserve takes them.

use crate::spool_line::{self, Weight};
use crate::unstored::SpoolFailure;
use crate::{Error, lock, reserve};
use model::row::Event;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// The spool's file name in the folder of the database.
pub const SPOOL: &str = "spool.jsonl";

/// What ordinary events may fill.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// What those that must not be dropped may fill besides.
const MOST_VITAL_BYTES: u64 = 4 * MOST_BYTES;

/// Others hold the spool's lock for one write or one rename.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// Keeps an event that the database cannot take now. An error says that it is
/// lost, and how many are by now: [`Error::Unstored`].
pub fn spool(folder: &Path, event: &Event) -> Result<(), Error> {
    // A newline first, so that a line cut short by a crash does not swallow this one.
    let line = format!("\n{}\n", spool_line::write(event));
    let most = match Weight::of(event) {
        Weight::Ordinary => MOST_BYTES,
        Weight::Vital => MOST_VITAL_BYTES,
    };
    match append(folder, line.as_bytes(), most) {
        Ok(()) => Ok(()),
        Err(cause) => reserve::keep(folder, event, SpoolFailure::of(&cause)),
    }
}

/// Keeps an event that was written with [`crate::spool_line`].
pub fn spool_text(folder: &Path, event: &str) -> Result<(), Error> {
    match spool_line::read(event.as_bytes()) {
        Some(line) => spool(folder, &line.into_spooled()),
        None => Err(Error::file("keep what is no event in", &folder.join(SPOOL), ErrorKind::InvalidData.into())),
    }
}

fn append(folder: &Path, line: &[u8], most: u64) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = current(&folder.join(SPOOL))?;
    let before = file.metadata()?.len();
    if before.saturating_add(line.len() as u64) > most {
        return Err(ErrorKind::QuotaExceeded.into());
    }
    file.write_all(line).inspect_err(|_| {
        // Half a line would be counted as a second event that was lost. Where
        // even this fails, it is: better one too many than one too few.
        let _ = file.set_len(before);
    })
}

/// The spool, locked, and the one at the path still: a reader may have renamed
/// it between its opening and the lock, and what is written after that is gone.
fn current(path: &Path) -> std::io::Result<File> {
    for _ in 0..10 {
        let mut how = OpenOptions::new();
        let file = how.append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(path)?;
        if !lock::wait_for(&file, PATIENCE)? {
            break;
        }
        if std::fs::metadata(path).is_ok_and(|at_path| {
            file.metadata().is_ok_and(|ours| (ours.dev(), ours.ino()) == (at_path.dev(), at_path.ino()))
        }) {
            return Ok(file);
        }
    }
    Err(ErrorKind::ResourceBusy.into())
}
