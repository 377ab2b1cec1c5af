//! Taking the reserve's space on the disk, off the way of an event.

use super::head::{Head, SIZE as HEAD};
use super::{Reserve, path, start};
use crate::lock;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;
use sys::disk;

/// Enough for some five thousand denials.
const MOST: u64 = 8 * 1024 * 1024;
const LEAST: u64 = 32 * 1024;

/// Of the space that is free, an eighth is enough to ask for.
const SHARE: u64 = 8;

/// Takes the space, or more of it where there was not enough before. Where
/// another process is at it or there is no space, a later call does it.
pub(crate) fn make(folder: &Path) {
    // The reserve is for bad times; the database works without it in good ones.
    let _ = try_to_make(folder);
}

fn try_to_make(folder: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(path(folder));
    if found.as_ref().is_ok_and(|found| found.len() >= MOST) {
        return Ok(());
    }
    let wanted = wanted(folder);
    if wanted < LEAST || found.is_ok_and(|found| found.len() >= wanted) {
        return Ok(());
    }
    let mut how = OpenOptions::new();
    how.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = how.open(path(folder))?;
    if !lock::wait_for(&file, Duration::ZERO)? {
        return Ok(());
    }
    let size = file.metadata()?.len();
    let empty = Head { front: start(size), ..Head::default() };
    let known = if size < HEAD { empty } else { Reserve::of(file.try_clone()?)?.head };
    // What is kept at the back would be in the middle, and no mark would be where it is looked for.
    if size >= HEAD && (known.front != start(size) || known.back != size || known.lost != known.lost_seen) {
        return Ok(());
    }
    allocate(&file, wanted)?;
    Head { front: start(wanted), back: wanted, ..known }.write(&file)
}

/// A power of two, so that a little more free space does not make it grow every day.
fn wanted(folder: &Path) -> u64 {
    let most = (disk::free_bytes(folder) / SHARE).min(MOST).min(disk::largest_file() / 2);
    if most < LEAST { 0 } else { 1 << most.ilog2() }
}

fn allocate(file: &File, size: u64) -> io::Result<()> {
    match disk::allocate(file, size) {
        Err(cause) if cause.kind() == io::ErrorKind::Unsupported => fill(file, size),
        done => done,
    }
}

/// Where a file system takes no space beforehand, it is written.
fn fill(file: &File, size: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let block = [0_u8; 64 * 1024];
    let mut at = file.metadata()?.len();
    while at < size {
        let part = usize::try_from(size - at).unwrap_or(block.len()).min(block.len());
        file.write_all_at(block.get(..part).unwrap_or(&block), at)?;
        at += part as u64;
    }
    Ok(())
}
