//! Taking the reserve's space on the disk, off the way of an event.

use super::head::{Head, SIZE as HEAD};
use super::{Reserve, path, start};
use crate::lock;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

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
    let most = (free_bytes(folder) / SHARE).min(MOST).min(largest_file() / 2);
    if most < LEAST { 0 } else { 1 << most.ilog2() }
}

fn free_bytes(folder: &Path) -> u64 {
    let Ok(name) = CString::new(folder.as_os_str().as_bytes()) else { return 0 };
    // SAFETY: all zeroes is a valid `statvfs`, the name ends with a zero, and the call only writes into the structure.
    unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        if libc::statvfs(name.as_ptr(), &raw mut found) != 0 {
            return 0;
        }
        (found.f_bavail as u64).saturating_mul(found.f_frsize as u64)
    }
}

/// A process that may not write a file this large is killed for trying.
fn largest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call only writes into the structure, which outlives it.
    let told = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    if told == 0 { limit.rlim_cur } else { 0 }
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, size: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open for as long as `file` is.
    match unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, size.cast_signed()) } {
        0 => Ok(()),
        _ => match io::Error::last_os_error() {
            cause if cause.raw_os_error() == Some(libc::EOPNOTSUPP) => fill(file, size),
            cause => Err(cause),
        },
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(file: &File, size: u64) -> io::Result<()> {
    fill(file, size)
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
