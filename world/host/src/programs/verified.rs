//! A program that is run as it was looked at: nobody but its user can change it, and what was opened is what is started.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use sys::outside::ours_or_root;

/// A program that may be run, held open.
#[derive(Debug)]
pub struct Verified {
    file: File,
    path: PathBuf,
}

const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

impl Verified {
    /// # Errors
    /// Why it is not to be run, in words for its user.
    pub fn open(path: &Path) -> Result<Self, &'static str> {
        let real = path.canonicalize().map_err(|error| unreachable(&error))?;
        let file = open(&real).map_err(|error| unreachable(&error))?;
        let meta = file.metadata().map_err(|error| unreachable(&error))?;
        if !meta.is_file() {
            return Err("it is not a file");
        }
        if !super::runs(&meta) {
            return Err("it is not executable");
        }
        if !ours_or_root(&meta) {
            return Err("it belongs to somebody else");
        }
        if meta.mode() & WRITABLE_BY_ALL != 0 {
            return Err("anybody may write to it");
        }
        for folder in real.ancestors().skip(1) {
            let meta = folder.metadata().map_err(|error| unreachable(&error))?;
            // In a folder with the sticky bit, as the one for temporary files, nobody can replace what is another's.
            let open_to_all = meta.mode() & WRITABLE_BY_ALL != 0 && meta.mode() & STICKY == 0;
            if open_to_all || !ours_or_root(&meta) {
                return Err("somebody else may replace it, for a folder above it is not yours alone");
            }
        }
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// Starts what was opened, whatever has its name by then. A script finds its own text under the name it is given.
    pub fn command(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(self.startable());
        command.arg0(&self.path).args(args);
        // The file lives as long as the command is used.
        sys::process::hand_over(&mut command, self.file.as_raw_fd());
        command
    }

    #[cfg(target_os = "linux")]
    fn startable(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// Elsewhere an open file cannot be started; nobody else can have replaced it.
    #[cfg(not(target_os = "linux"))]
    fn startable(&self) -> PathBuf {
        self.path.clone()
    }
}

/// It need not be readable to be run.
#[cfg(target_os = "linux")]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_NOFOLLOW).open(path)
}

#[cfg(not(target_os = "linux"))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW).open(path)
}

fn unreachable(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file",
        io::ErrorKind::PermissionDenied => "its folder may not be entered",
        _ => "it cannot be opened",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn script(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    fn said(program: &Verified) -> String {
        loop {
            match program.command(["x"]).output() {
                // A test beside this one has just forked, and holds for a moment what was written here.
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
                done => return String::from_utf8(done.unwrap().stdout).unwrap(),
            }
        }
    }

    #[test]
    fn t9_what_others_could_have_written_is_not_run_and_why_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let refused = |path: &Path| Verified::open(path).unwrap_err();
        assert_eq!(refused(&folder.join("none")), "there is no such file");
        assert_eq!(refused(folder), "it is not a file");
        assert_eq!(refused(&script(folder, "plain", "", 0o644)), "it is not executable");
        assert_eq!(refused(&script(folder, "open", "", 0o777)), "anybody may write to it");
        let shared = folder.join("shared");
        fs::create_dir(&shared).unwrap();
        let inside = script(&shared, "inside", "", 0o755);
        Verified::open(&inside).unwrap();
        fs::set_permissions(&shared, Permissions::from_mode(0o777)).unwrap();
        assert!(refused(&inside).starts_with("somebody else may replace it"));
        fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
        Verified::open(&inside).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn t9_what_was_opened_is_what_runs_though_another_has_its_name_by_then() {
        let folder = tempfile::tempdir().unwrap();
        let path = script(folder.path(), "tell", "echo \"good $1\"", 0o755);
        let program = Verified::open(&path).unwrap();
        fs::rename(script(folder.path(), "other", "echo evil", 0o755), &path).unwrap();
        assert_eq!(said(&program), "good x\n");
        assert_eq!(said(&Verified::open(Path::new("/bin/echo")).unwrap()), "x\n");
    }
}
