//! Other processes: signals to them and to their groups, their end, and how one is started.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What a child did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildChange {
    Stopped,
    /// With its code, or 128 and the number of the signal that ended it; none where nobody knows.
    Ended(Option<i32>),
}

/// Whether the signal went out.
pub fn signal(pid: u32, signal: i32) -> bool {
    number(pid, signal).is_some_and(|(pid, signal)| rustix::process::kill_process(pid, signal).is_ok())
}

/// The same to all of a group, by the number of who leads it.
pub fn signal_group(leader: u32, signal: i32) -> bool {
    number(leader, signal).is_some_and(|(leader, signal)| rustix::process::kill_process_group(leader, signal).is_ok())
}

/// Whether a group has members that we may signal; one that has ended counts until it is reaped.
#[must_use]
pub fn has_group(leader: u32) -> bool {
    process(leader).is_some_and(|leader| rustix::process::test_kill_process_group(leader).is_ok())
}

/// Whether a process leads a group of its own.
#[must_use]
pub fn leads_its_group(pid: u32) -> bool {
    process(pid).is_some_and(|pid| rustix::process::getpgid(Some(pid)) == Ok(pid))
}

/// Whether this process is in the group that another leads.
#[must_use]
pub fn is_in_group(leader: u32) -> bool {
    process(leader).is_some_and(|leader| rustix::process::getpgrp() == leader)
}

fn number(pid: u32, signal: i32) -> Option<(Pid, Signal)> {
    process(pid).zip(Signal::from_named_raw(signal))
}

/// The first process and what is none are nobody's to signal.
fn process(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw)
}

/// Waits for the end of a child and leaves it to be reaped by its owner: until then its number is its own.
pub fn wait_unreaped(pid: u32) {
    let Some(pid) = process(pid) else { return };
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(rustix::process::waitid(WaitId::Pid(pid), how), Err(Errno::INTR)) {}
}

/// Whether a child has ended, which is left to be reaped by its owner. One that is not ours has.
#[must_use]
pub fn has_ended(pid: u32) -> bool {
    let Some(pid) = process(pid) else { return true };
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    match rustix::process::waitid(WaitId::Pid(pid), how) {
        Ok(found) => found.is_some(),
        Err(Errno::INTR) => false,
        Err(_) => true,
    }
}

/// Waits until a child stops or ends. One that is not ours has ended.
#[must_use]
pub fn wait_for_change(pid: u32) -> ChildChange {
    let Some(pid) = process(pid) else { return ChildChange::Ended(None) };
    loop {
        match rustix::process::waitpid(Some(pid), WaitOptions::UNTRACED) {
            Err(Errno::INTR) | Ok(None) => {}
            Err(_) => return ChildChange::Ended(None),
            Ok(Some((_, status))) if status.stopped() => return ChildChange::Stopped,
            Ok(Some((_, status))) => {
                let by_signal = || status.terminating_signal().map(|signal| 128 + signal);
                return ChildChange::Ended(status.exit_status().or_else(by_signal));
            }
        }
    }
}

/// Forks twice and begins a session: whoever kills the process tree of the starter, or waits on every copy of its pipes,
/// must not find the program there. The child that `spawn` knows ends at once; an error of `exec` still comes back,
/// because its pipe closes only when the grandchild has become the program.
pub fn detach(command: &mut Command) {
    // SAFETY: the closure runs between fork and exec and makes system calls only.
    unsafe {
        command.pre_exec(|| {
            if libc::setsid() < 0 {
                return Err(io::Error::last_os_error());
            }
            match libc::fork() {
                -1 => Err(io::Error::last_os_error()),
                0 => {
                    keep_no_descriptors();
                    Ok(())
                }
                _ => libc::_exit(0),
            }
        });
    }
}

/// The program is ended when the thread that starts it is gone, where the kernel can do that: whoever kills the starter
/// with a signal that nobody can catch leaves nothing at work.
#[cfg(target_os = "linux")]
pub fn end_with_starter(command: &mut Command) {
    let starter = std::process::id();
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // It may have died before that was said.
            if u32::try_from(libc::getppid()) == Ok(starter) {
                Ok(())
            } else {
                Err(io::Error::from_raw_os_error(libc::ESRCH))
            }
        });
    }
}

#[cfg(not(target_os = "linux"))]
pub fn end_with_starter(_: &mut Command) {}

/// The program gets this descriptor too, which must live as long as the command is used.
pub fn hand_over(command: &mut Command, fd: RawFd) {
    // SAFETY: between fork and exec only a flag is taken from a descriptor.
    unsafe {
        command.pre_exec(
            move || {
                if libc::fcntl(fd, libc::F_SETFD, 0) < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
            },
        );
    }
}

/// The program begins with the terminal: it must not be stopped for reading from it before it was given to it.
pub fn begin_in_foreground(command: &mut Command) {
    // SAFETY: only calls that are allowed between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGTTOU, libc::SIG_IGN);
            libc::tcsetpgrp(0, libc::getpid());
            libc::signal(libc::SIGTTOU, libc::SIG_DFL);
            Ok(())
        });
    }
}

/// Descriptors above the standard ones are closed by `exec`, whoever opened them without saying so.
#[cfg(target_os = "linux")]
fn keep_no_descriptors() {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
    // SAFETY: only sets a flag on descriptors; an old kernel refuses, and then they stay as their owners made them.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
}

#[cfg(not(target_os = "linux"))]
fn keep_no_descriptors() {
    for fd in 3..256 {
        // SAFETY: only sets a flag; a number that is not open is an error we do not need.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// Large pieces of memory are rare here: they go back to the system at once instead of staying in the allocator.
pub fn keep_memory_small() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets parameters of the allocator, which may be done at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 256 << 10);
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// What the system tells of a process.
///
/// # Errors
/// Those of the system; `ESRCH` where there is none.
#[cfg(target_os = "macos")]
pub fn info(pid: u32) -> io::Result<libc::proc_bsdinfo> {
    let mut info = std::mem::MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    let size = size_of::<libc::proc_bsdinfo>() as libc::c_int;
    // SAFETY: the buffer is as large as the size passed, and is only read when filled whole.
    unsafe {
        let filled = libc::proc_pidinfo(pid as libc::c_int, libc::PROC_PIDTBSDINFO, 0, info.as_mut_ptr().cast(), size);
        if filled == size { Ok(info.assume_init()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Whether there is such a process, and it is not this user's.
#[must_use]
pub fn is_of_another_user(pid: u32) -> bool {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    number.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(Errno::PERM))
}

/// Whether the system itself tells of processes where it does, and nothing else is mounted there.
#[cfg(target_os = "linux")]
#[must_use]
pub fn proc_is_true() -> bool {
    const PROC_SUPER_MAGIC: u64 = 0x9fa0;
    rustix::fs::statfs("/proc").is_ok_and(|about| u64::try_from(about.f_type) == Ok(PROC_SUPER_MAGIC))
}

/// How finely the start of a process is told.
#[cfg(target_os = "linux")]
#[must_use]
pub fn ticks_per_second() -> i64 {
    // SAFETY: asks for a number.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) }
}

/// What a process was started with.
#[cfg(target_os = "macos")]
#[derive(Debug, Clone, Default)]
pub struct StartText {
    pub words: Vec<Vec<u8>>,
    /// `NAME=value`; empty for the processes of others.
    pub environment: Vec<Vec<u8>>,
}

/// The numbers of all processes.
#[cfg(target_os = "macos")]
#[must_use]
pub fn all() -> Option<Vec<u32>> {
    // Room for those that start meanwhile.
    const MORE: usize = 256;
    // SAFETY: without a buffer only the count is told; then the buffer is as large as the size passed.
    unsafe {
        let count = usize::try_from(libc::proc_listallpids(std::ptr::null_mut(), 0)).ok()?;
        let mut pids = vec![0_i32; count + MORE];
        let size = libc::c_int::try_from(size_of_val(pids.as_slice())).ok()?;
        let filled = usize::try_from(libc::proc_listallpids(pids.as_mut_ptr().cast(), size)).ok()?;
        pids.truncate(filled);
        Some(pids.into_iter().filter_map(|pid| u32::try_from(pid).ok()).collect())
    }
}

/// The file that a process runs.
#[cfg(target_os = "macos")]
#[must_use]
pub fn program(pid: u32) -> Option<std::path::PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let mut path = vec![0_u8; 4096];
    let pid = libc::c_int::try_from(pid).ok()?;
    // SAFETY: the buffer is as large as the size passed.
    let length = unsafe { libc::proc_pidpath(pid, path.as_mut_ptr().cast(), path.len() as u32) };
    path.truncate(usize::try_from(length).ok().filter(|length| *length > 0)?);
    Some(std::ffi::OsString::from_vec(path).into())
}

/// The file that a process runs, by the path it was started from.
#[cfg(not(target_os = "macos"))]
#[must_use]
pub fn program(pid: u32) -> Option<std::path::PathBuf> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let target = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    // So it is called once another version has taken its place.
    let path = target.as_os_str().as_bytes().strip_suffix(b" (deleted)").map(<[u8]>::to_vec);
    Some(path.map_or(target, |path| std::ffi::OsString::from_vec(path).into()))
}

/// What a process was started with, where that is told.
#[cfg(target_os = "macos")]
#[must_use]
pub fn arguments(pid: u32) -> Option<StartText> {
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, libc::c_int::try_from(pid).ok()?];
    let mut bytes = vec![0_u8; 1 << 20];
    let mut length = bytes.len();
    // SAFETY: the name has three parts, and no more than `length` bytes are written.
    let told = unsafe {
        libc::sysctl(name.as_mut_ptr(), 3, bytes.as_mut_ptr().cast(), &raw mut length, std::ptr::null_mut(), 0)
    };
    if told != 0 {
        return None;
    }
    bytes.truncate(length);
    // The count of words, the path of the program, zeros, the words, and the environment.
    let (count, rest) = bytes.split_first_chunk::<4>()?;
    let count = usize::try_from(i32::from_ne_bytes(*count)).ok()?;
    let path_ends = rest.iter().position(|byte| *byte == 0)?;
    let rest = rest.get(path_ends..)?;
    let begin = rest.iter().position(|byte| *byte != 0)?;
    let mut texts = rest.get(begin..)?.split(|byte| *byte == 0).map(<[u8]>::to_vec);
    let words = texts.by_ref().take(count).collect();
    Some(StartText { words, environment: texts.take_while(|text| !text.is_empty()).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_signalled_by_its_leader_and_nobody_else_is() {
        let mut child = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        assert!(leads_its_group(child.id()));
        assert!(!signal(0, libc::SIGKILL) && !signal_group(1, libc::SIGKILL) && !signal_group(0, libc::SIGKILL));
        assert!(signal_group(child.id(), libc::SIGSTOP));
        assert_eq!(wait_for_change(child.id()), ChildChange::Stopped);
        assert!(signal_group(child.id(), libc::SIGKILL));
        wait_unreaped(child.id());
        assert!(leads_its_group(child.id()), "its number is still its own");
        child.wait().unwrap();
        assert_eq!(wait_for_change(child.id()), ChildChange::Ended(None));
        let mut child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        assert_eq!(wait_for_change(child.id()), ChildChange::Ended(Some(7)));
        assert!(child.wait().is_err(), "it is reaped already");
        let mut child = Command::new("sh").args(["-c", "kill -TERM $$"]).spawn().unwrap();
        assert_eq!(wait_for_change(child.id()), ChildChange::Ended(Some(143)));
        assert!(child.wait().is_err());
    }
}
