//! What can stand where a program expects a file, with nobody at its other end; and a file system that never answers.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// Something that is not the file it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strange {
    Pipe,
    Socket,
    Device,
    Folder,
    /// Three gigabytes that take no room.
    Sparse,
    LinkLoop,
    LinkToPipe,
    LinkToNowhere,
}

impl Strange {
    pub const ALL: [Self; 8] = [
        Self::Pipe,
        Self::Socket,
        Self::Device,
        Self::Folder,
        Self::Sparse,
        Self::LinkLoop,
        Self::LinkToPipe,
        Self::LinkToNowhere,
    ];

    /// Puts it at the path, in place of what is there, with the folders above it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn put(self, path: &Path) -> io::Result<()> {
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        remove(path)?;
        match self {
            Self::Pipe => pipe(path),
            Self::Socket => UnixListener::bind(path).map(drop),
            Self::Device => symlink("/dev/zero", path),
            Self::Folder => fs::create_dir(path),
            Self::Sparse => File::create(path)?.set_len(3 << 30),
            Self::LinkLoop => symlink(path, path),
            Self::LinkToPipe => {
                let beside = path.with_extension("pipe");
                remove(&beside)?;
                pipe(&beside)?;
                symlink(beside, path)
            }
            Self::LinkToNowhere => symlink("/nowhere/at/all", path),
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

fn pipe(path: &Path) -> io::Result<()> {
    let name = CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: a path that ends in a zero byte.
    if unsafe { libc::mkfifo(name.as_ptr(), 0o600) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A mounted file system whose server never says anything: every look below it waits. It ends with this value, and so
/// does every wait.
pub struct Stalled {
    path: PathBuf,
    server: Option<File>,
}

impl Stalled {
    /// # Errors
    /// Where file systems cannot be mounted here: it takes root, or a namespace of one's own.
    pub fn mount(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        let server = File::options().read(true).write(true).open("/dev/fuse")?;
        let data = format!("fd={},rootmode=40000,user_id=0,group_id=0,allow_other", server.as_raw_fd());
        let (at, data) = (CString::new(path.as_os_str().as_encoded_bytes())?, CString::new(data)?);
        // SAFETY: all are strings that end in a zero byte and outlive the call.
        let mounted =
            unsafe { libc::mount(c"stalled".as_ptr(), at.as_ptr(), c"fuse".as_ptr(), 0, data.as_ptr().cast()) };
        if mounted != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { path: path.to_owned(), server: Some(server) })
    }
}

impl Drop for Stalled {
    fn drop(&mut self) {
        // The server's end goes first: whoever waits below is told that it is gone.
        drop(self.server.take());
        if let Ok(at) = CString::new(self.path.as_os_str().as_encoded_bytes()) {
            // SAFETY: a path that ends in a zero byte, mounted by this value.
            unsafe { libc::umount2(at.as_ptr(), libc::MNT_DETACH) };
        }
    }
}
