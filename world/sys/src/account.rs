//! The account of this user where no file lists it.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The home folder, as the system's directory knows it.
#[must_use]
pub fn home() -> Option<PathBuf> {
    text_of(|entry| entry.pw_dir).map(|home| PathBuf::from(OsStr::from_bytes(&home)))
}

/// What the account is called, whatever the environment says.
#[must_use]
pub fn name() -> Option<String> {
    let name = text_of(|entry| entry.pw_name).map(|name| String::from_utf8_lossy(&name).into_owned());
    name.filter(|name| !name.is_empty())
}

fn text_of(field: fn(&libc::passwd) -> *mut libc::c_char) -> Option<Vec<u8>> {
    let mut room = vec![0; 16 << 10];
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::zeroed();
    let mut found: *mut libc::passwd = std::ptr::null_mut();
    // SAFETY: the entry's texts are written into `room`, which is as long as said and lives as long as they are read.
    unsafe {
        let told = libc::getpwuid_r(libc::geteuid(), entry.as_mut_ptr(), room.as_mut_ptr(), room.len(), &raw mut found);
        if told != 0 || found.is_null() || field(&*found).is_null() {
            return None;
        }
        Some(CStr::from_ptr(field(&*found)).to_bytes().to_vec())
    }
}
