//! The head of the reserve: where its two stacks end, and what was lost.

use crate::spool_line::Weight;
use crate::unstored::{SpoolFailure, Unstored};
use model::Ms;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// One sector: it is written whole or not at all.
pub const SIZE: u64 = 512;

const MARK: u64 = u64::from_le_bytes(*b"tautres1");
const FIELDS: usize = 13;
const BYTES: usize = (FIELDS + 1) * 8;

/// What a person has seen is remembered beside the counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head {
    /// Where the ordinary events end.
    pub front: u64,
    /// Where those that must not be dropped begin.
    pub back: u64,
    pub lost: u64,
    pub lost_seen: u64,
    pub denials: u64,
    pub denials_seen: u64,
    pub first: i64,
    pub last: i64,
    pub why: u64,
    pub unreadable: u64,
    pub unreadable_seen: u64,
    /// When somebody was last told on a hook's stderr.
    pub said_at: i64,
    /// What was lost when it was last compared with what is stored.
    pub compared: u64,
}

impl Head {
    /// `None` where it is torn or was never written.
    pub fn read(file: &File) -> io::Result<Option<Self>> {
        let mut bytes = [0; BYTES];
        if file.metadata()?.len() < SIZE {
            return Ok(None);
        }
        file.read_exact_at(&mut bytes, 0)?;
        let mut words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let mut next = || words.next().unwrap_or_default();
        let head = Self {
            front: next(),
            back: next(),
            lost: next(),
            lost_seen: next(),
            denials: next(),
            denials_seen: next(),
            first: next().cast_signed(),
            last: next().cast_signed(),
            why: next(),
            unreadable: next(),
            unreadable_seen: next(),
            said_at: next().cast_signed(),
            compared: next(),
        };
        Ok((next() == head.sum()).then_some(head))
    }

    pub fn write(&self, file: &File) -> io::Result<()> {
        let mut bytes = self.bytes();
        bytes.extend(self.sum().to_le_bytes());
        file.write_all_at(&bytes, 0)
    }

    pub fn lose(&mut self, at: Ms, why: SpoolFailure, weight: Weight) {
        if self.lost == self.lost_seen {
            self.first = at.0;
        }
        self.lost += 1;
        self.denials += u64::from(weight == Weight::Vital);
        (self.last, self.why) = (at.0, why.number());
    }

    /// One that was counted as lost is stored.
    pub fn find(&mut self, weight: Weight) {
        self.lost = self.lost.saturating_sub(1).max(self.lost_seen);
        if weight == Weight::Vital {
            self.denials = self.denials.saturating_sub(1).max(self.denials_seen);
        }
    }

    pub fn note(&mut self, seen: &Unstored) {
        self.lost_seen = self.lost.min(self.lost_seen + seen.events);
        self.denials_seen = self.denials.min(self.denials_seen + seen.denials);
        self.unreadable_seen = self.unreadable.min(self.unreadable_seen + seen.unreadable);
        if self.lost > self.lost_seen {
            self.first = seen.last.0;
        }
    }

    pub fn unstored(&self) -> Unstored {
        Unstored {
            events: self.lost.saturating_sub(self.lost_seen),
            denials: self.denials.saturating_sub(self.denials_seen),
            first: Ms(self.first),
            last: Ms(self.last),
            why: SpoolFailure::numbered(self.why),
            unreadable: self.unreadable.saturating_sub(self.unreadable_seen),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let words: [u64; FIELDS] = [
            self.front,
            self.back,
            self.lost,
            self.lost_seen,
            self.denials,
            self.denials_seen,
            self.first.cast_unsigned(),
            self.last.cast_unsigned(),
            self.why,
            self.unreadable,
            self.unreadable_seen,
            self.said_at.cast_unsigned(),
            self.compared,
        ];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn sum(&self) -> u64 {
        checksum(&self.bytes()) ^ MARK
    }
}

/// FNV-1a: it tells torn from whole, and nobody's malice is at stake, since
/// whoever can write here can write the database.
pub fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
