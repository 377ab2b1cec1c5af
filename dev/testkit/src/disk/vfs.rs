//! The layer SQLite calls: each call is counted, perhaps failed, passed on to the system's own layer, and remembered.

use super::{DiskCall, DiskFailure, Op, Watched};
use rusqlite::ffi;
use std::cell::Cell;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};

static WATCHES: Mutex<Vec<Arc<Watched>>> = Mutex::new(Vec::new());
static METHODS: OnceLock<Methods> = OnceLock::new();

/// A file as SQLite sees it; the system's own file follows it in memory.
#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    /// What it belongs to, or null for a file of no watched folder.
    of: *mut Belongs,
}

struct Belongs {
    watched: Arc<Watched>,
    name: String,
    /// A journal or log made by this opening: SQLite flushes its folder with its first flush.
    flushes_folder: Cell<bool>,
}

struct Methods(ffi::sqlite3_io_methods);
// SAFETY: the table holds plain function pointers and is never changed.
unsafe impl Send for Methods {}
// SAFETY: as above.
unsafe impl Sync for Methods {}

pub fn watch(watched: &Arc<Watched>) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(register);
    WATCHES.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(watched));
}

pub fn forget(watched: &Arc<Watched>) {
    WATCHES.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| !Arc::ptr_eq(known, watched));
}

/// Puts this layer before the system's own, for every connection opened from now on.
fn register() {
    // SAFETY: the system's own layer lives as long as the process; the copy with our functions is leaked and so does
    // too, and keeps everything else as it was.
    unsafe {
        let system = ffi::sqlite3_vfs_find(ptr::null());
        assert!(!system.is_null(), "SQLite has no layer of its own");
        let mut ours = *system;
        ours.szOsFile += c_int::try_from(size_of::<File>()).expect("it is small");
        ours.zName = c"watched".as_ptr();
        ours.pNext = ptr::null_mut();
        ours.pAppData = system.cast();
        ours.xOpen = Some(open);
        ours.xDelete = Some(delete);
        ours.xAccess = Some(access);
        ours.xFullPathname = Some(full_pathname);
        let code = ffi::sqlite3_vfs_register(Box::leak(Box::new(ours)), 1);
        assert_eq!(code, ffi::SQLITE_OK, "the layer is registered");
    }
}

/// The layer below ours.
unsafe fn system(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
    // SAFETY: `register` put it there.
    unsafe { (*vfs).pAppData.cast() }
}

/// The system's file behind ours.
unsafe fn inner(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    // SAFETY: `szOsFile` asked for room for both.
    unsafe { file.cast::<u8>().add(size_of::<File>()).cast() }
}

unsafe fn belongs<'f>(file: *mut ffi::sqlite3_file) -> Option<&'f Belongs> {
    // SAFETY: every file of ours was made by `open`, which set the pointer; `close` alone takes it away.
    unsafe { (*file.cast::<File>()).of.as_ref() }
}

fn whose(name: *const c_char) -> Option<Belongs> {
    if name.is_null() {
        return None;
    }
    // SAFETY: SQLite hands over a text that ends in a zero byte.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()));
    let watches = WATCHES.lock().unwrap_or_else(PoisonError::into_inner);
    watches.iter().find_map(|watched| {
        let (name, watched) = (watched.name_of(path)?, Arc::clone(watched));
        Some(Belongs { watched, name, flushes_folder: Cell::new(false) })
    })
}

/// SQLite's code for a call that fails.
fn code(call: DiskCall, failure: DiskFailure) -> c_int {
    match (call, failure) {
        (DiskCall::Write | DiskCall::Truncate | DiskCall::Sync | DiskCall::ShmMap, DiskFailure::Full) => {
            ffi::SQLITE_FULL
        }
        (DiskCall::Open, DiskFailure::Full) => ffi::SQLITE_CANTOPEN,
        (DiskCall::Lock | DiskCall::ShmLock, DiskFailure::Busy) => ffi::SQLITE_BUSY,
        (DiskCall::Read, DiskFailure::Short) => ffi::SQLITE_IOERR_SHORT_READ,
        (DiskCall::Open, _) => ffi::SQLITE_CANTOPEN,
        (DiskCall::Delete, _) => ffi::SQLITE_IOERR_DELETE,
        (DiskCall::Access, _) => ffi::SQLITE_IOERR_ACCESS,
        (DiskCall::Read, _) => ffi::SQLITE_IOERR_READ,
        (DiskCall::Write, _) => ffi::SQLITE_IOERR_WRITE,
        (DiskCall::Truncate, _) => ffi::SQLITE_IOERR_TRUNCATE,
        (DiskCall::Sync, _) => ffi::SQLITE_IOERR_FSYNC,
        (DiskCall::Size, _) => ffi::SQLITE_IOERR_FSTAT,
        (DiskCall::Lock, _) => ffi::SQLITE_IOERR_LOCK,
        (DiskCall::ShmMap, _) => ffi::SQLITE_IOERR_SHMMAP,
        (DiskCall::ShmLock, _) => ffi::SQLITE_IOERR_SHMLOCK,
    }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let of = whose(name);
    // SAFETY: SQLite gives room for `szOsFile` bytes and pointers that are good for the call.
    unsafe {
        (*file).pMethods = ptr::null();
        if let Some(failure) = of.as_ref().and_then(|of| of.watched.before(DiskCall::Open)) {
            return code(DiskCall::Open, failure);
        }
        let existed = !name.is_null() && Path::new(OsStr::from_bytes(CStr::from_ptr(name).to_bytes())).exists();
        let system = system(vfs);
        let code = (*system).xOpen.expect("every layer opens")(system, name, inner(file), flags, out);
        if code != ffi::SQLITE_OK || (*inner(file)).pMethods.is_null() {
            return code;
        }
        if let Some(of) = &of {
            of.watched.opened(&of.name, existed);
            let journals = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_SUPER_JOURNAL;
            of.flushes_folder.set(!existed && flags & journals != 0);
        }
        (*file.cast::<File>()).of = of.map_or(ptr::null_mut(), |of| Box::into_raw(Box::new(of)));
        (*file).pMethods = &raw const METHODS.get_or_init(methods).0;
        code
    }
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    let of = whose(name);
    if let Some(failure) = of.as_ref().and_then(|of| of.watched.before(DiskCall::Delete)) {
        return code(DiskCall::Delete, failure);
    }
    // SAFETY: the same pointers, to the layer they are meant for.
    let code = unsafe { (*system(vfs)).xDelete.expect("every layer deletes")(system(vfs), name, sync) };
    if let Some(of) = of.filter(|_| code == ffi::SQLITE_OK) {
        of.watched.deleted(&of.name, sync != 0);
    }
    code
}

unsafe extern "C" fn access(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, flags: c_int, out: *mut c_int) -> c_int {
    if let Some(failure) = whose(name).and_then(|of| of.watched.before(DiskCall::Access)) {
        return code(DiskCall::Access, failure);
    }
    // SAFETY: the same pointers, to the layer they are meant for.
    unsafe { (*system(vfs)).xAccess.expect("every layer looks")(system(vfs), name, flags, out) }
}

unsafe extern "C" fn full_pathname(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: the same pointers, to the layer they are meant for.
    unsafe { (*system(vfs)).xFullPathname.expect("every layer has paths")(system(vfs), name, room, out) }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the file was opened by `open`; after this call SQLite does not use it any more.
    unsafe {
        let of = std::mem::replace(&mut (*file.cast::<File>()).of, ptr::null_mut());
        let code = (*(*inner(file)).pMethods).xClose.expect("every file closes")(inner(file));
        if !of.is_null() {
            drop(Box::from_raw(of));
        }
        code
    }
}

/// Passes a call on unless it is to fail.
macro_rules! passed {
    ($name:ident, $method:ident, as $call:expr, ($($arg:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name(file: *mut ffi::sqlite3_file $(, $arg: $type)*) -> c_int {
            // SAFETY: the arguments are SQLite's own, for the file behind ours.
            unsafe {
                if let Some(failure) = belongs(file).and_then(|of| of.watched.before($call)) {
                    return code($call, failure);
                }
                (*(*inner(file)).pMethods).$method.expect("the system has it")(inner(file) $(, $arg)*)
            }
        }
    };
    ($name:ident, $method:ident, ($($arg:ident: $type:ty),*) $(-> $out:ty)?) => {
        unsafe extern "C" fn $name(file: *mut ffi::sqlite3_file $(, $arg: $type)*) $(-> $out)? {
            // SAFETY: the arguments are SQLite's own, for the file behind ours.
            unsafe { (*(*inner(file)).pMethods).$method.expect("the system has it")(inner(file) $(, $arg)*) }
        }
    };
}

passed!(file_size, xFileSize, as DiskCall::Size, (size: *mut i64));
passed!(lock, xLock, as DiskCall::Lock, (level: c_int));
passed!(shm_map, xShmMap, as DiskCall::ShmMap, (page: c_int, size: c_int, extend: c_int, out: *mut *mut c_void));
passed!(unlock, xUnlock, (level: c_int) -> c_int);
passed!(check_reserved, xCheckReservedLock, (out: *mut c_int) -> c_int);
passed!(control, xFileControl, (op: c_int, arg: *mut c_void) -> c_int);
passed!(sector_size, xSectorSize, () -> c_int);
passed!(characteristics, xDeviceCharacteristics, () -> c_int);
passed!(shm_barrier, xShmBarrier, ());
passed!(shm_unmap, xShmUnmap, (delete: c_int) -> c_int);
passed!(fetch, xFetch, (offset: i64, amount: c_int, out: *mut *mut c_void) -> c_int);
passed!(unfetch, xUnfetch, (offset: i64, page: *mut c_void) -> c_int);

/// Letting go of a lock does not fail.
unsafe extern "C" fn shm_lock(file: *mut ffi::sqlite3_file, offset: c_int, n: c_int, flags: c_int) -> c_int {
    // SAFETY: the arguments are SQLite's own, for the file behind ours.
    unsafe {
        if flags & ffi::SQLITE_SHM_LOCK != 0
            && let Some(failure) = belongs(file).and_then(|of| of.watched.before(DiskCall::ShmLock))
        {
            return code(DiskCall::ShmLock, failure);
        }
        (*(*inner(file)).pMethods).xShmLock.expect("the system has it")(inner(file), offset, n, flags)
    }
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, into: *mut c_void, amount: c_int, offset: i64) -> c_int {
    // SAFETY: `into` has room for `amount` bytes.
    unsafe {
        if let Some(failure) = belongs(file).and_then(|of| of.watched.before(DiskCall::Read)) {
            // What was not read is to be zero, says SQLite.
            ptr::write_bytes(into.cast::<u8>(), 0, usize::try_from(amount).unwrap_or_default());
            return code(DiskCall::Read, failure);
        }
        (*(*inner(file)).pMethods).xRead.expect("the system has it")(inner(file), into, amount, offset)
    }
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, from: *const c_void, amount: c_int, offset: i64) -> c_int {
    // SAFETY: `from` holds `amount` bytes.
    unsafe {
        let of = belongs(file);
        if let Some(failure) = of.and_then(|of| of.watched.before(DiskCall::Write)) {
            return code(DiskCall::Write, failure);
        }
        let code = (*(*inner(file)).pMethods).xWrite.expect("the system has it")(inner(file), from, amount, offset);
        if let Some(of) = of.filter(|_| code == ffi::SQLITE_OK) {
            let bytes = std::slice::from_raw_parts(from.cast::<u8>(), usize::try_from(amount).unwrap_or_default());
            let offset = offset.cast_unsigned();
            of.watched.happened(Op::Write { file: of.name.clone(), offset, bytes: bytes.to_vec() });
        }
        code
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: the arguments are SQLite's own, for the file behind ours.
    unsafe {
        let of = belongs(file);
        if let Some(failure) = of.and_then(|of| of.watched.before(DiskCall::Truncate)) {
            return code(DiskCall::Truncate, failure);
        }
        let code = (*(*inner(file)).pMethods).xTruncate.expect("the system has it")(inner(file), size);
        if let Some(of) = of.filter(|_| code == ffi::SQLITE_OK) {
            of.watched.happened(Op::Truncate { file: of.name.clone(), size: size.cast_unsigned() });
        }
        code
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: the arguments are SQLite's own, for the file behind ours.
    unsafe {
        let of = belongs(file);
        if let Some(failure) = of.and_then(|of| of.watched.before(DiskCall::Sync)) {
            return code(DiskCall::Sync, failure);
        }
        // Nobody cuts the real power: that it was asked for is all that counts.
        if let Some(of) = of {
            of.watched.happened(Op::Sync { file: of.name.clone(), folder: of.flushes_folder.replace(false) });
            return ffi::SQLITE_OK;
        }
        (*(*inner(file)).pMethods).xSync.expect("the system has it")(inner(file), flags)
    }
}

fn methods() -> Methods {
    Methods(ffi::sqlite3_io_methods {
        iVersion: 3,
        xClose: Some(close),
        xRead: Some(read),
        xWrite: Some(write),
        xTruncate: Some(truncate),
        xSync: Some(sync),
        xFileSize: Some(file_size),
        xLock: Some(lock),
        xUnlock: Some(unlock),
        xCheckReservedLock: Some(check_reserved),
        xFileControl: Some(control),
        xSectorSize: Some(sector_size),
        xDeviceCharacteristics: Some(characteristics),
        xShmMap: Some(shm_map),
        xShmLock: Some(shm_lock),
        xShmBarrier: Some(shm_barrier),
        xShmUnmap: Some(shm_unmap),
        xFetch: Some(fetch),
        xUnfetch: Some(unfetch),
    })
}
