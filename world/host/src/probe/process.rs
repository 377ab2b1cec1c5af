//! Processes: whether one still lives, when it started, and who stands behind it.

use model::ClientProcess;
use model::fact::Life;
#[cfg(target_os = "linux")]
pub(super) use sys::process_stat::said;
use sys::process_stat::stat;

/// Programs that only pass a command on.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ash", "ksh", "busybox", "timeout", "env", "nohup"];

/// How far up a chain of shells is followed.
const HIGHEST: usize = 4;

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

/// Whether the process has its terminal: what is typed there reaches it. One
/// that was suspended, or that nothing can be told of, has not.
pub fn in_foreground(pid: u32) -> bool {
    stat(pid).ok().flatten().is_some_and(|stat| stat.group > 0 && stat.group == stat.foreground)
}

/// Whether what is typed at the terminal of `pane` comes to this process: to itself, or through one above it that has given
/// it a terminal of its own. Where that one was suspended, a shell would read it.
pub fn has_the_terminal_of(pid: u32, pane: u32) -> bool {
    let foreground = |pid: u32| stat(pid).ok().flatten().map(|stat| stat.foreground).filter(|group| *group > 0);
    let Some(front) = foreground(pane) else { return false };
    ancestors(pid).find(|above| foreground(*above) == Some(front)).is_some_and(in_foreground)
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
