//! What is left of a folder when the power goes: what was flushed, and of the rest any part.

use super::{Dice, Op};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// A disk writes its sectors whole, and nothing larger.
const SECTOR: u64 = 512;

/// What ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The process died: the system still writes all it was given.
    Process,
    /// The power went: of what was not flushed, each sector is there or not, as chance has it.
    Power { seed: u64 },
}

/// A file as it is on the disk for certain, and what may or may not have got there since.
#[derive(Debug, Default)]
struct OnDisk<'o> {
    flushed: Option<Vec<u8>>,
    pending: Vec<&'o Op>,
}

/// Writes the files into `folder` as the cut after `ops` left them.
///
/// Sectors of what was not flushed are chosen one by one, which is also what writes in another order come to. Two
/// writes to one place keep their order: the system holds one copy of it.
///
/// # Errors
/// When a file cannot be written.
pub fn lay_out(ops: &[Op], cut: Cut, folder: &Path) -> io::Result<()> {
    let mut files: BTreeMap<&str, OnDisk<'_>> = BTreeMap::new();
    for op in ops {
        let file = files.entry(op.file()).or_default();
        match op {
            Op::Sync { .. } => file.flush(),
            _ => file.pending.push(op),
        }
        if let Op::Sync { folder: true, .. } | Op::Delete { folder: true, .. } = op {
            files.values_mut().for_each(OnDisk::flush_name);
        }
    }
    let mut dice = Dice::new(match cut {
        Cut::Power { seed } => seed,
        Cut::Process => 0,
    });
    // How much of it gets there differs from cut to cut: nothing, a little, about half, nearly all, all.
    let chance = match cut {
        Cut::Process => 100,
        Cut::Power { .. } => [0, 10, 50, 90, 100][dice.below(5)],
    };
    for (name, file) in files {
        if let Some(bytes) = file.after_cut(chance, &mut dice) {
            std::fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}

impl Op {
    #[must_use]
    pub fn file(&self) -> &str {
        match self {
            Self::Create { file }
            | Self::Write { file, .. }
            | Self::Truncate { file, .. }
            | Self::Sync { file, .. }
            | Self::Delete { file, .. } => file,
        }
    }
}

impl OnDisk<'_> {
    fn flush(&mut self) {
        let mut all = self.flushed.take();
        for op in self.pending.drain(..) {
            apply(&mut all, op, &mut |_| true);
        }
        self.flushed = all;
    }

    /// That it was deleted or made is certain now; what is in it is not.
    fn flush_name(&mut self) {
        if let Some(deleted) = self.pending.iter().rposition(|op| matches!(op, Op::Delete { .. })) {
            self.pending.drain(..=deleted);
            self.flushed = None;
        }
        if self.pending.iter().any(|op| matches!(op, Op::Create { .. })) {
            self.flushed.get_or_insert_default();
        }
    }

    fn after_cut(mut self, chance: usize, dice: &mut Dice) -> Option<Vec<u8>> {
        let mut left = self.flushed.take();
        for op in self.pending {
            apply(&mut left, op, &mut |_| chance == 100 || dice.percent(chance));
        }
        left
    }
}

/// `arrives` is asked for each part of the operation.
fn apply(file: &mut Option<Vec<u8>>, op: &Op, arrives: &mut dyn FnMut(u64) -> bool) {
    match op {
        Op::Create { .. } if arrives(0) => drop(file.get_or_insert_default()),
        Op::Delete { .. } if arrives(0) => *file = None,
        Op::Truncate { size, .. } if arrives(0) => {
            if let Some(bytes) = file {
                bytes.resize(usize::try_from(*size).unwrap_or_default(), 0);
            }
        }
        Op::Write { offset, bytes, .. } => {
            let mut at = 0;
            while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
                let place = offset + at as u64;
                let sector = usize::try_from(SECTOR - place % SECTOR).unwrap_or_default().min(rest.len());
                if arrives(place) {
                    put(file.get_or_insert_default(), place, &rest[..sector]);
                }
                at += sector;
            }
        }
        _ => {}
    }
}

fn put(file: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let start = usize::try_from(offset).unwrap_or_default();
    let end = start + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[start..end].copy_from_slice(bytes);
}
