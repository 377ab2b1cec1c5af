//! Which events were counted as lost, so that none counts twice: a hook that
//! gave up on a slow daemon and the daemon itself both try to keep the same one,
//! and one of them may yet succeed.

use super::head::{SIZE as HEAD, checksum};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Of the reserve, so much is for this.
const SHARE: u64 = 8;

/// So many places are looked at for one mark.
const PROBES: u64 = 32;

/// Where something stood that turned out to be stored.
const FREED: u64 = u64::MAX;

/// How many bytes it takes in a reserve of this size.
pub fn bytes(size: u64) -> u64 {
    size.saturating_sub(HEAD) / SHARE / 8 * 8
}

/// Notes that the event with this key is lost; `false` where that was noted
/// before. Where there is no place left, it counts: one too many is better.
pub fn note(file: &File, size: u64, key: &str) -> io::Result<bool> {
    let (mark, places) = (mark(key), bytes(size) / 8);
    for probe in 0..PROBES.min(places) {
        let at = HEAD + (mark.wrapping_add(probe) % places) * 8;
        let mut found = [0; 8];
        file.read_exact_at(&mut found, at)?;
        match u64::from_le_bytes(found) {
            0 => {
                file.write_all_at(&mark.to_le_bytes(), at)?;
                return Ok(true);
            }
            found if found == mark => return Ok(false),
            _ => {}
        }
    }
    Ok(true)
}

/// The marks that are noted, and where.
pub fn noted(file: &File, size: u64) -> io::Result<HashMap<u64, u64>> {
    let mut table = vec![0; usize::try_from(bytes(size)).unwrap_or_default()];
    file.read_exact_at(&mut table, HEAD)?;
    let marks = table.as_chunks::<8>().0.iter().map(|mark| u64::from_le_bytes(*mark));
    Ok(marks.zip((HEAD..).step_by(8)).filter(|(mark, _)| !matches!(*mark, 0 | FREED)).collect())
}

/// It turned out to be stored.
pub fn free(file: &File, at: u64) -> io::Result<()> {
    file.write_all_at(&FREED.to_le_bytes(), at)
}

/// A person has seen the number: nothing is to be told apart any more.
pub fn forget(file: &File, size: u64) -> io::Result<()> {
    file.write_all_at(&vec![0; usize::try_from(bytes(size)).unwrap_or_default()], HEAD)
}

/// Never one of the two values that mean something else.
pub fn mark(key: &str) -> u64 {
    checksum(key.as_bytes()).clamp(1, FREED - 1)
}
