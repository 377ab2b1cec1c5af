//! Space on a disk, and locks on parts of a file.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Takes a lock for writing on a part of the file, or does not: nobody is waited for.
#[must_use]
pub fn try_lock_range(file: &File, start: i64, length: i64) -> bool {
    #[cfg(target_os = "linux")]
    // Unlike the older kind, this one also sees what our own process has locked.
    const SET: libc::c_int = libc::F_OFD_SETLK;
    #[cfg(not(target_os = "linux"))]
    const SET: libc::c_int = libc::F_SETLK;
    // SAFETY: `flock` is plain data for which all zeros is a valid value; it outlives the call, and so does the file.
    unsafe {
        let mut range: libc::flock = std::mem::zeroed();
        range.l_type = libc::F_WRLCK as libc::c_short;
        range.l_whence = libc::SEEK_SET as libc::c_short;
        range.l_start = start;
        range.l_len = length;
        libc::fcntl(file.as_raw_fd(), SET, &raw const range) == 0
    }
}

/// What a file in the folder could still take; zero where nobody tells.
#[must_use]
pub fn free_bytes(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize))
}

/// A process that writes a larger file than this is killed for trying.
#[must_use]
pub fn largest_file() -> u64 {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current.unwrap_or(u64::MAX)
}

/// Takes the space of a file beforehand.
///
/// # Errors
/// `Unsupported` where the file system cannot; others as the system has them.
#[cfg(target_os = "linux")]
pub fn allocate(file: &File, size: u64) -> io::Result<()> {
    Ok(rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, size)?)
}

/// # Errors
/// Always: it is written instead.
#[cfg(not(target_os = "linux"))]
pub fn allocate(_: &File, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
