//! The lock that those who change the file as a whole hold: creation,
//! migration, repair. Hooks that find a current file never touch it.

use crate::Error;
use crate::folder::StoreFolder;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Held until dropped; the kernel lets go of it however its holder dies.
#[derive(Debug)]
pub(crate) struct Held(#[expect(dead_code, reason = "the open file is the lock")] File);

pub(crate) fn hold(place: &StoreFolder, patience: Duration) -> Result<Held, Error> {
    let path = place.beside(".lock");
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(|cause| Error::file("open the lock", &path, cause))?;
    if wait_for(&file, patience).map_err(|cause| Error::file("take the lock", &path, cause))? {
        return Ok(Held(file));
    }
    Err(Error::InHand { path })
}

/// Whether the lock on `file` was had within `patience`.
pub(crate) fn wait_for(file: &File, patience: Duration) -> std::io::Result<bool> {
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if began.elapsed() < patience => sleep(Duration::from_millis(1)),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(cause)) => return Err(cause),
        }
    }
}
