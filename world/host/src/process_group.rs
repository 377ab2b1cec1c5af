//! Stopping a process group that Taut itself started, and no other: its leader
//! is known by number and start time, so a number used again is spared.

use crate::probe;
use model::ClientProcess;
use model::fact::Life;
use std::time::{Duration, Instant};

/// What became of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupEnd {
    /// Its leader was gone, or is another process by now.
    WasGone,
    Ended,
    /// It outlived the signals, or we may not send them.
    Survived,
}

const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Asks the group to end, waits, and then ends it.
pub fn stop(leader: ClientProcess, grace: Duration) -> GroupEnd {
    if !is_alive(leader) {
        return GroupEnd::WasGone;
    }
    for signal in [libc::SIGTERM, libc::SIGKILL] {
        if !send(leader, signal) {
            return if is_alive(leader) { GroupEnd::Survived } else { GroupEnd::Ended };
        }
        let deadline = Instant::now() + grace;
        while Instant::now() < deadline {
            if !is_alive(leader) {
                return GroupEnd::Ended;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
    if is_alive(leader) { GroupEnd::Survived } else { GroupEnd::Ended }
}

/// A leader whose start is not known cannot be told from another and is left alone.
fn is_alive(leader: ClientProcess) -> bool {
    leader.started != 0 && probe::life(leader.pid) == Some(Life::Alive { started: leader.started })
}

/// Whether the signal went out. A leader that does not lead its own group is
/// somebody's child in somebody else's group, which is not ours to signal.
fn send(leader: ClientProcess, signal: libc::c_int) -> bool {
    sys::process::leads_its_group(leader.pid) && sys::process::signal_group(leader.pid, signal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    fn sleeper(own_group: bool) -> (Child, ClientProcess) {
        let mut command = Command::new("sleep");
        command.arg("600");
        if own_group {
            command.process_group(0);
        }
        let child = command.spawn().unwrap();
        let Some(Life::Alive { started }) = probe::life(child.id()) else { panic!("not alive") };
        let leader = ClientProcess { pid: child.id(), started };
        (child, leader)
    }

    #[test]
    fn q8_a_group_we_started_is_stopped() {
        let (mut child, leader) = sleeper(true);
        assert_eq!(stop(leader, Duration::from_secs(5)), GroupEnd::Ended);
        child.wait().unwrap();
        assert_eq!(stop(leader, Duration::from_secs(5)), GroupEnd::WasGone);
    }

    /// Whoever ignores the first signal gets the second, and so does all it started.
    #[test]
    fn q8_a_group_that_ignores_term_is_ended_with_its_children() {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TERM; sleep 600 & echo; wait"]).stdout(std::process::Stdio::piped());
        let mut child = command.process_group(0).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let mut up = [0];
        std::io::Read::read_exact(&mut out, &mut up).unwrap();
        let Some(Life::Alive { started }) = probe::life(child.id()) else { panic!("not alive") };
        assert_eq!(stop(ClientProcess { pid: child.id(), started }, Duration::from_millis(500)), GroupEnd::Ended);
        child.wait().unwrap();
        // The pipe ends when the last that holds it does.
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || tell.send(std::io::Read::read(&mut out, &mut up).unwrap()));
        assert_eq!(told.recv_timeout(Duration::from_secs(20)), Ok(0), "a child of the group lives on");
    }

    #[test]
    fn q8_a_number_used_again_and_a_group_of_others_are_spared() {
        let (mut child, leader) = sleeper(false);
        let reused = ClientProcess { started: leader.started + 1, ..leader };
        assert_eq!(stop(reused, Duration::from_millis(20)), GroupEnd::WasGone);
        assert_eq!(stop(leader, Duration::from_millis(20)), GroupEnd::Survived);
        assert!(is_alive(leader));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
