//! A moment on two clocks: where they part, the machine slept or its clock was set.

use crate::clock;
use model::task::Moment;
use std::sync::OnceLock;

pub fn moment() -> Moment {
    Moment { now: clock::now(), awake: awake_ms(), boot: boot() }
}

/// Milliseconds on a clock that stands still while the machine sleeps.
fn awake_ms() -> i64 {
    // On macOS the monotonic clock goes on in sleep; this one does not.
    #[cfg(target_os = "macos")]
    const CLOCK: libc::clockid_t = libc::CLOCK_UPTIME_RAW;
    #[cfg(not(target_os = "macos"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;
    let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives on this stack frame and is filled by the call.
    let told = unsafe { libc::clock_gettime(CLOCK, &raw mut at) };
    if told == 0 { at.tv_sec * 1000 + at.tv_nsec / 1_000_000 } else { 0 }
}

/// Which run of the machine this is. Where nobody tells, all are one: a clock
/// that began anew then looks like a long sleep, which costs one grace.
fn boot() -> String {
    // Read once: a process does not outlive its boot, and the clock is asked under the queue's lock.
    static BOOT: OnceLock<String> = OnceLock::new();
    let read = || {
        let told = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        told.trim().chars().filter(char::is_ascii_hexdigit).take(12).collect()
    };
    BOOT.get_or_init(read).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_clock_goes_forward_within_one_boot() {
        let (first, second) = (moment(), moment());
        assert!(first.awake > 0 && second.awake >= first.awake);
        assert_eq!(first.boot, second.boot);
    }
}
