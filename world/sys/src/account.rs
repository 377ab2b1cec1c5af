//! The account of this user where no file lists it.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The home folder, as the system's directory knows it.
#[must_use]
pub fn home() -> Option<PathBuf> {
    let mut room = vec![0; 16 << 10];
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::zeroed();
    let mut found: *mut libc::passwd = std::ptr::null_mut();
    // SAFETY: the entry's texts are written into `room`, which is as long as said and lives as long as they are read.
    let home = unsafe {
        let told = libc::getpwuid_r(libc::geteuid(), entry.as_mut_ptr(), room.as_mut_ptr(), room.len(), &raw mut found);
        if told != 0 || found.is_null() || (*found).pw_dir.is_null() {
            return None;
        }
        CStr::from_ptr((*found).pw_dir).to_bytes().to_vec()
    };
    Some(PathBuf::from(OsStr::from_bytes(&home)))
}
