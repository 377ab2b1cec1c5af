//! Processes a sandbox started and did not see end: found by their environment, ended one by one.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::poll;

const LIMIT: Duration = Duration::from_secs(10);

/// A process that still runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    pub pid: i32,
    pub command: String,
}

/// Every process whose environment names a place in `root`. That survives double forks and new sessions, which process
/// groups do not, and cannot match a stranger, because the folder's name is unique. Empty where there is no `/proc`.
pub(super) fn of(root: &Path) -> Vec<Leftover> {
    let mark = format!("={}/", root.display());
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| started_with(*pid, &mark))
        .map(|pid| Leftover { pid, command: command_line(pid) })
        .collect()
}

/// Kills until nothing is left, because a process may start another while it is being looked for.
pub(super) fn kill_all(root: &Path) {
    let gone = poll::until("leftover processes to end", LIMIT, || {
        let left = of(root);
        for leftover in &left {
            // SAFETY: kill takes plain numbers.
            unsafe { libc::kill(leftover.pid, libc::SIGKILL) };
        }
        left.is_empty().then_some(())
    });
    if let Err(cause) = gone {
        eprintln!("testkit: {cause}: {:?}", of(root));
    }
}

/// Whether a daemon may live in `taut_home`, at most `depth` folders down.
pub(super) fn has_socket_or_pid(taut_home: &Path, depth: usize) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let Ok(entries) = fs::read_dir(taut_home) else {
        return false;
    };
    entries.filter_map(Result::ok).any(|entry| {
        let path = entry.path();
        let kind = entry.file_type();
        kind.as_ref().is_ok_and(FileTypeExt::is_socket)
            || path.extension().is_some_and(|end| end == "pid")
            || depth > 0 && kind.is_ok_and(|kind| kind.is_dir()) && has_socket_or_pid(&path, depth - 1)
    })
}

fn started_with(pid: i32, mark: &str) -> bool {
    // Other users' processes cannot be read, and a zombie's environment is empty: neither is ours to end.
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    String::from_utf8_lossy(&environment).contains(mark)
}

fn command_line(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ").trim_end().to_owned()
}
