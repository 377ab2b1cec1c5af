//! Processes: whether one still lives, when it started, and who stands behind it.

use model::ClientProcess;
use model::fact::Life;

/// Programs that only pass a command on.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ash", "ksh", "busybox", "timeout", "env", "nohup"];

/// How far up a chain of shells is followed.
const HIGHEST: usize = 4;

#[derive(Debug, Clone)]
struct Stat {
    name: String,
    parent: u32,
    group: i64,
    /// The group that has its terminal; none of those is positive where it has no terminal.
    foreground: i64,
    started: u64,
}

/// Whether the process lives; `None` when that cannot be told.
pub fn life(pid: u32) -> Option<Life> {
    match stat(pid) {
        Ok(Some(stat)) => Some(Life::Alive { started: stat.started }),
        Ok(None) => Some(Life::Gone),
        Err(_) => None,
    }
}

/// The nearest process at or above this one that is not a shell, nor the first, to which whoever outlived its client is
/// given: that one is somebody only if it is a client itself, as in a container.
pub fn behind(pid: u32) -> Option<ClientProcess> {
    let mut at = pid;
    for _ in 0..HIGHEST {
        let stat = stat(at).ok()??;
        if at == 1 && !is_client(at) {
            return None;
        }
        if !SHELLS.contains(&stat.name.as_str()) || stat.parent <= 1 {
            return Some(ClientProcess { pid: at, started: stat.started });
        }
        at = stat.parent;
    }
    None
}

fn is_client(pid: u32) -> bool {
    let line = crate::origin::tree::command_line(pid);
    crate::origin::clients::is_client(&line.split(|byte| *byte == 0).collect::<Vec<_>>())
}

/// The process and those above it, nearest first.
pub fn ancestors(pid: u32) -> impl Iterator<Item = u32> {
    let above = |pid: &u32| stat(*pid).ok()?.map(|stat| stat.parent).filter(|parent| *parent > 1);
    std::iter::successors(Some(pid), above).take(HIGHEST * 2)
}

/// The processes above this one, nearest first.
#[cfg(target_os = "linux")]
pub(super) fn above(pid: u32) -> impl Iterator<Item = u32> {
    let parent = |pid: &u32| stat(*pid).ok()?.map(|stat| stat.parent).filter(|parent| *parent > 1);
    std::iter::successors(parent(&pid), parent)
}

/// What one of the files of a process says, as far as anybody looks; nothing when it went away meanwhile.
#[cfg(target_os = "linux")]
pub(super) fn said(pid: u32, file: &str) -> Vec<u8> {
    use std::io::Read;
    const LONGEST: u64 = 16 * 1024;
    let mut bytes = Vec::new();
    let read = |file: std::fs::File| file.take(LONGEST).read_to_end(&mut bytes);
    match std::fs::File::open(format!("/proc/{pid}/{file}")).and_then(read) {
        Ok(_) => bytes,
        Err(_) => Vec::new(),
    }
}

/// Whether the process has its terminal: what is typed there reaches it. One
/// that was suspended, or that nothing can be told of, has not.
pub fn in_foreground(pid: u32) -> bool {
    stat(pid).ok().flatten().is_some_and(|stat| stat.group > 0 && stat.group == stat.foreground)
}

/// `Ok(None)` when there is no such process (a zombie counts as none).
#[cfg(target_os = "linux")]
fn stat(pid: u32) -> std::io::Result<Option<Stat>> {
    use std::io::{ErrorKind, Read};
    // One read: the file is made anew for every one of them.
    let mut text = [0_u8; 1024];
    let read = std::fs::File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut text));
    match read {
        Ok(length) => Ok(parse(&String::from_utf8_lossy(text.get(..length).unwrap_or_default()))),
        // ESRCH: the process went away between open and read.
        Err(error) if error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The name stands in parentheses and may hold anything, so fields are counted
/// from the last one that closes.
#[cfg(target_os = "linux")]
fn parse(text: &str) -> Option<Stat> {
    let (before, after) = text.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_string();
    let fields: Vec<&str> = after.split_whitespace().collect();
    let state = *fields.first()?;
    if state == "Z" || state == "X" {
        return None;
    }
    let number = |at: usize| fields.get(at).and_then(|field| field.parse().ok());
    Some(Stat {
        name,
        parent: fields.get(1)?.parse().ok()?,
        group: number(2)?,
        foreground: number(5)?,
        started: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(target_os = "macos")]
fn stat(pid: u32) -> std::io::Result<Option<Stat>> {
    let info = match sys::process::info(pid) {
        Ok(info) => info,
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(None),
        Err(error) => return Err(error),
    };
    let name: Vec<u8> = info.pbi_comm.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
    Ok(Some(Stat {
        name: String::from_utf8_lossy(&name).into_owned(),
        parent: info.pbi_ppid,
        group: i64::from(info.pbi_pgid),
        foreground: i64::from(info.e_tpgid),
        started: info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_keeps_its_start() {
        let pid = std::process::id();
        assert!(matches!(life(pid), Some(Life::Alive { started }) if started > 0));
        assert_eq!(life(pid), life(pid));
    }

    #[test]
    fn a_process_that_was_waited_for_is_gone() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(life(child.id()), Some(Life::Gone));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let fields = "1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 777 0";
        let stat = parse(&format!("42 (a) b) S {fields}")).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent, stat.started), ("a) b", 1, 777));
        assert_eq!((stat.group, stat.foreground), (1, -1));
        assert!(parse(&format!("42 (x) Z {fields}")).is_none());
    }

    /// Whoever outlived its client is given to it, and it lives as long as the machine.
    #[test]
    fn the_first_process_stands_behind_nobody() {
        assert!(life(1).is_some());
        assert_eq!(behind(1), None);
    }

    #[test]
    fn a_shell_in_between_is_passed_over() {
        let ours = std::process::id();
        let child = std::process::Command::new("sh")
            .args(["-c", "read line; true"])
            .stdin(std::process::Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        assert_eq!(behind(child.id()).map(|caller| caller.pid), Some(ours));
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
