//! What could not be stored: how many events, since when and why. It is said
//! wherever a person looks until a person has seen it.

use crate::{Error, reserve};
use model::{Ms, WallClock};
use std::fmt;
use std::io;
use std::path::Path;

/// The sentence is read by people, who have a clock on the wall.
const HERE: WallClock = WallClock(|at| sys::clock::utc_offset_s(at.0.div_euclid(1000)));

/// Events that were answered and are not stored, and that no person was told of yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unstored {
    /// Dropped, because neither database nor spool nor reserve could take them.
    pub events: u64,
    /// How many of them were stopped or asked about.
    pub denials: u64,
    pub first: Ms,
    pub last: Ms,
    pub why: SpoolFailure,
    /// Lines of the spool that could not be read; their bytes are kept.
    pub unreadable: u64,
}

/// Why the spool could not take an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SpoolFailure {
    #[default]
    DiskFull,
    SpoolFull,
    NotWritable,
    /// Another process held the spool for too long.
    Held,
}

impl SpoolFailure {
    const ALL: [Self; 4] = [Self::DiskFull, Self::SpoolFull, Self::NotWritable, Self::Held];

    pub(crate) fn of(cause: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        match cause.kind() {
            Kind::StorageFull | Kind::FileTooLarge => Self::DiskFull,
            Kind::QuotaExceeded if cause.raw_os_error().is_some() => Self::DiskFull,
            Kind::QuotaExceeded => Self::SpoolFull,
            Kind::ResourceBusy => Self::Held,
            _ => Self::NotWritable,
        }
    }

    pub(crate) fn number(self) -> u64 {
        Self::ALL.iter().position(|one| *one == self).unwrap_or_default() as u64
    }

    pub(crate) fn numbered(number: u64) -> Self {
        usize::try_from(number).ok().and_then(|at| Self::ALL.get(at)).copied().unwrap_or_default()
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::DiskFull => "the disk is full",
            Self::SpoolFull => "the spool is full",
            Self::NotWritable => "its folder cannot be written",
            Self::Held => "another process holds the spool",
        }
    }
}

impl Unstored {
    /// There is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.events == 0 && self.unreadable == 0
    }
}

/// One sentence without an end, so that a caller adds the command that helps.
impl fmt::Display for Unstored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = |count: u64| if count == 1 { "1 event".to_owned() } else { format!("{count} events") };
        if self.events > 0 {
            let since = HERE.shown(self.first, Ms(sys::clock::wall_ms()));
            write!(f, "{} could not be stored since {since} ({})", events(self.events), self.why.name())?;
        }
        if self.denials > 0 {
            write!(f, ", {} of them denied or asked about", self.denials)?;
        }
        if self.unreadable > 0 {
            let and = if self.events > 0 { ", and " } else { "" };
            write!(f, "{and}{} of the spool could not be read", events(self.unreadable))?;
        }
        Ok(())
    }
}

/// What no person was told of yet. Cheap: one small read, no lock.
pub fn unstored(folder: &Path) -> Unstored {
    reserve::counted(folder)
}

/// The standing warning, where there is something to say.
pub fn warning(folder: &Path) -> Option<String> {
    let unstored = unstored(folder);
    (!unstored.is_empty()).then(|| format!("{unstored}: see `taut db check`"))
}

/// A person has been told of `seen`; what came after it still stands.
pub fn note_unstored(folder: &Path, seen: &Unstored) -> Result<(), Error> {
    reserve::note(folder, seen)
}
