//! The reserve: space taken on the disk beforehand, for the last events when
//! neither database nor spool can grow, and the count of those that found no
//! place even there. Everything in it is written in place.
//!
//! After the head and the marks of what is lost lie two stacks that grow towards each other: ordinary events
//! from the front, up to three quarters of it, and from the back what must not
//! be dropped, before which the newest ordinary ones give way.

mod head;
mod lost;
mod room;

use crate::folder::StoreFolder;
use crate::spool_line::{self, Weight};
use crate::unstored::{SpoolFailure, Unstored};
use crate::{Error, lock};
use head::{Head, SIZE as HEAD};
use model::Ms;
use model::row::Event;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use room::make;

/// The reserve's file name in the folder of the database.
pub const RESERVE: &str = "events.reserve";

/// Others hold its lock for one write, or while what it holds is taken in.
const PATIENCE: Duration = Duration::from_millis(200);

/// A longer line is kept without the event's detail.
const LONG_LINE: usize = 4096;

/// What stands around a record's bytes: their length before and after, and a
/// checksum, so that it can be read from either end.
const FRAME: u64 = 16;

/// Where an event that cannot be stored is said, at most so often for all processes together.
const SAY_EVERY_MS: i64 = 60_000;

/// The reserve, locked until it is dropped.
pub(crate) struct Reserve {
    file: File,
    head: Head,
}

/// Keeps an event that the spool could not take for this reason. An error says
/// that it is lost, and how many are by now.
pub(crate) fn keep(folder: &Path, event: &Event, why: SpoolFailure) -> Result<(), Error> {
    let one = Unstored { events: 1, first: event.at, last: event.at, why, ..Unstored::default() };
    let uncounted = |_: io::Error| Error::Unstored { unstored: one, say: true };
    let mut reserve = Reserve::open(folder).map_err(uncounted)?;
    if reserve.put(event, why).map_err(uncounted)? {
        return Ok(());
    }
    reserve.lose(event, why).map_err(uncounted)?;
    let unstored = reserve.head.unstored();
    let since = event.at.0.saturating_sub(reserve.head.said_at);
    let say = !(0..SAY_EVERY_MS).contains(&since);
    if say {
        reserve.head.said_at = event.at.0;
    }
    reserve.save().map_err(uncounted)?;
    Err(Error::Unstored { unstored, say })
}

/// Without a lock: what is being changed is read again.
pub(crate) fn counted(folder: &Path) -> Unstored {
    let Ok(file) = File::open(path(folder)) else { return Unstored::default() };
    let found = (0..10).find_map(|_| Head::read(&file).ok().flatten());
    found.map(|head| head.unstored()).unwrap_or_default()
}

pub(crate) fn note(folder: &Path, seen: &Unstored) -> Result<(), Error> {
    let noted = || {
        let mut reserve = Reserve::open(folder)?;
        reserve.head.note(seen);
        if reserve.head.lost == reserve.head.lost_seen {
            lost::forget(&reserve.file, reserve.size()?)?;
        }
        reserve.save()
    };
    noted().map_err(|cause| Error::file("note what was seen in", &path(folder), cause))
}

/// Lines that could not be read are part of what is not stored.
pub(crate) fn count_unreadable(folder: &Path, lines: usize) {
    if lines > 0
        && let Ok(mut reserve) = Reserve::open(folder)
    {
        reserve.head.unreadable += lines as u64;
        // Their bytes are kept, and the caller says their number too.
        let _ = reserve.save();
    }
}

/// Whether there is anything in it to take in.
pub(crate) fn holds_any(place: &StoreFolder) -> bool {
    let Ok(file) = File::open(path(&place.folder)) else { return false };
    let size = file.metadata().map_or(0, |found| found.len());
    match Head::read(&file) {
        Ok(Some(head)) => head.front != start(size) || head.back != size,
        // A head that cannot be read: whatever lies behind it is looked at.
        Ok(None) => size > HEAD,
        Err(_) => false,
    }
}

/// Writes over what was taken in from it: records lie where they lay until others are written there.
pub(crate) fn wipe(folder: &Path) -> Result<(), Error> {
    let wiped = || {
        let reserve = match Reserve::open(folder) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        let size = reserve.size()?;
        if reserve.head.front != start(size) || reserve.head.back != size {
            return Err(io::Error::other("it holds events that could not be taken in"));
        }
        let zeros = [0_u8; 64 * 1024];
        let mut at = start(size);
        while at < size {
            let part = usize::try_from(size - at).unwrap_or(zeros.len()).min(zeros.len());
            reserve.file.write_all_at(zeros.get(..part).unwrap_or(&zeros), at)?;
            at += part as u64;
        }
        reserve.file.sync_all()
    };
    wiped().map_err(|cause| Error::file("write over what was in", &path(folder), cause))
}

impl Reserve {
    pub fn open(folder: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(path(folder))?;
        Self::of(file)
    }

    fn of(file: File) -> io::Result<Self> {
        if !lock::wait_for(&file, PATIENCE)? {
            return Err(ErrorKind::ResourceBusy.into());
        }
        let size = file.metadata()?.len();
        if size < HEAD {
            return Err(ErrorKind::NotFound.into());
        }
        let head = match Head::read(&file)? {
            Some(head) if head.front >= start(size) && head.front <= head.back && head.back <= size => head,
            _ => recovered(&file, size)?,
        };
        Ok(Self { file, head })
    }

    /// What it holds is the same where this is.
    pub fn extent(&self) -> (u64, u64) {
        (self.head.front, self.head.back)
    }

    /// The lines it holds, in no particular order: who takes them in sorts them.
    pub fn lines(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut lines = Vec::new();
        let mut at = start(self.size()?);
        while at < self.head.front {
            let Some((line, next)) = record_at(&self.file, at, self.head.front)? else { break };
            lines.push(line);
            at = next;
        }
        let (mut at, end) = (self.head.back, self.size()?);
        while at < end {
            let Some((line, next)) = record_at(&self.file, at, end)? else { break };
            lines.push(line);
            at = next;
        }
        Ok(lines)
    }

    /// What it held is stored elsewhere now.
    pub fn clear(&mut self) -> io::Result<()> {
        let size = self.size()?;
        (self.head.front, self.head.back) = (start(size), size);
        self.save()
    }

    /// Takes what turned out to be stored off the count of what is lost.
    pub fn found_stored<'e>(&mut self, events: impl Iterator<Item = (&'e str, Weight)>) -> io::Result<()> {
        let mut noted = lost::noted(&self.file, self.size()?)?;
        for (key, weight) in events {
            if let Some(at) = noted.remove(&lost::mark(key)) {
                lost::free(&self.file, at)?;
                self.head.find(weight);
            }
        }
        self.head.compared = self.head.lost;
        self.save()
    }

    /// Whether there was place for it.
    fn put(&mut self, event: &Event, why: SpoolFailure) -> io::Result<bool> {
        let record = framed(spool_line::write_short(event, LONG_LINE).as_bytes());
        let length = record.len() as u64;
        let weight = Weight::of(event);
        let at = match weight {
            Weight::Ordinary => {
                let (from, size) = (start(self.size()?), self.size()?);
                let share = from + (size - from) / 4 * 3;
                let fits = self.head.front + length <= share.min(self.head.back);
                let at = self.head.front;
                if fits {
                    self.head.front += length;
                }
                fits.then_some(at)
            }
            Weight::Vital => {
                while self.head.back < self.head.front + length && self.drop_newest(why)? {}
                let at = self.head.back.checked_sub(length).filter(|at| *at >= self.head.front);
                self.head.back = at.unwrap_or(self.head.back);
                at
            }
        };
        if let Some(at) = at {
            self.file.write_all_at(&record, at)?;
        }
        // Also where it did not fit: others may have been dropped for it.
        self.save()?;
        Ok(at.is_some())
    }

    /// The newest ordinary event gives way.
    fn drop_newest(&mut self, why: SpoolFailure) -> io::Result<bool> {
        let start = start(self.size()?);
        if self.head.front <= start {
            return Ok(false);
        }
        let mut length = [0; 4];
        self.file.read_exact_at(&mut length, self.head.front - 4)?;
        let whole = u64::from(u32::from_le_bytes(length)) + FRAME;
        // A length that cannot be is damage: nothing before it can be found either.
        let end = self.head.front;
        self.head.front = end.checked_sub(whole).filter(|at| *at >= start).unwrap_or(start);
        let dropped = record_at(&self.file, self.head.front, end)?.and_then(|(line, _)| spool_line::read(&line));
        match dropped {
            Some(dropped) => self.lose(&dropped.event, why)?,
            None => self.head.lose(Ms(self.head.last), why, Weight::Ordinary),
        }
        Ok(true)
    }

    /// Counted once, however often it is lost.
    fn lose(&mut self, event: &Event, why: SpoolFailure) -> io::Result<()> {
        if lost::note(&self.file, self.size()?, &event.key)? {
            self.head.lose(event.at, why, Weight::of(event));
        }
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn save(&self) -> io::Result<()> {
        self.head.write(&self.file)
    }
}

/// Where the ordinary events begin.
fn start(size: u64) -> u64 {
    HEAD + lost::bytes(size)
}

/// The time of the first event that is counted as lost, where some may have
/// turned out to be stored since the last comparison.
pub(crate) fn to_compare(place: &StoreFolder) -> Option<Ms> {
    let head = File::open(path(&place.folder)).ok().and_then(|file| Head::read(&file).ok().flatten())?;
    (head.lost > head.lost_seen && head.lost != head.compared).then_some(Ms(head.first))
}

pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join(RESERVE)
}

/// After a power cut the head may be torn: what can be read from both ends is
/// what there is. What was taken in before counts once when it is taken in again.
fn recovered(file: &File, size: u64) -> io::Result<Head> {
    let mut front = start(size);
    while let Some((_, next)) = record_at(file, front, size)? {
        front = next;
    }
    let mut back = size;
    while let Some(at) = record_before(file, back, front)? {
        back = at;
    }
    Ok(Head { front, back, ..Head::default() })
}

fn framed(line: &[u8]) -> Vec<u8> {
    let length = u32::try_from(line.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&length, &head::checksum(line).to_le_bytes()[..], line, &length].concat()
}

/// The record that begins here, and where the next one does.
fn record_at(file: &File, at: u64, end: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
    let mut before = [0; 12];
    if at + FRAME > end || file.read_exact_at(&mut before, at).is_err() {
        return Ok(None);
    }
    let [a, b, c, d, sum @ ..] = before;
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let next = at + FRAME + length;
    if length == 0 || next > end {
        return Ok(None);
    }
    let mut line = vec![0; usize::try_from(length).unwrap_or_default()];
    file.read_exact_at(&mut line, at + 12)?;
    Ok((head::checksum(&line).to_le_bytes() == sum).then_some((line, next)))
}

/// Where the record begins that ends here.
fn record_before(file: &File, end: u64, start: u64) -> io::Result<Option<u64>> {
    if end < start + FRAME {
        return Ok(None);
    }
    let mut length = [0; 4];
    file.read_exact_at(&mut length, end - 4)?;
    let at = end.checked_sub(u64::from(u32::from_le_bytes(length)) + FRAME).filter(|at| *at >= start);
    Ok(match at {
        Some(at) if record_at(file, at, end)?.is_some_and(|(_, next)| next == end) => Some(at),
        _ => None,
    })
}
