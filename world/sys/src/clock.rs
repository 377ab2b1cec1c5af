//! The clock on the wall, clocks that nobody sets, and which run of the machine they count.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, as the system has them.
#[must_use]
pub fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Milliseconds on a clock that stands still while the machine sleeps.
#[must_use]
pub fn awake_ms() -> i64 {
    // On macOS the monotonic clock goes on in sleep; this one does not.
    #[cfg(target_os = "macos")]
    const CLOCK: libc::clockid_t = libc::CLOCK_UPTIME_RAW;
    #[cfg(not(target_os = "macos"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;
    millis(CLOCK)
}

/// Milliseconds since the machine was started, asleep or awake.
#[must_use]
pub fn since_boot_ms() -> i64 {
    #[cfg(target_os = "linux")]
    const CLOCK: libc::clockid_t = libc::CLOCK_BOOTTIME;
    // On macOS this one goes on in sleep.
    #[cfg(not(target_os = "linux"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;
    millis(CLOCK)
}

/// Which run of the machine this is; empty where nobody tells. Read once: a process does not outlive its boot.
pub fn boot() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        let told = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        told.trim().chars().filter(char::is_ascii_hexdigit).take(12).collect()
    })
}

/// How far the clock on this machine's wall is ahead of UTC at that second since 1970, in seconds.
#[must_use]
pub fn utc_offset_s(at: i64) -> i32 {
    // SAFETY: all zeroes is a valid `tm`, and the call only writes into it.
    let local = unsafe {
        let mut local: libc::tm = std::mem::zeroed();
        if libc::localtime_r(&raw const at, &raw mut local).is_null() { None } else { Some(local) }
    };
    // Where the zone cannot be told, UTC is as good as any.
    local.and_then(|local| i32::try_from(local.tm_gmtoff).ok()).unwrap_or_default()
}

fn millis(clock: libc::clockid_t) -> i64 {
    let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives on this stack frame and is filled by the call.
    let told = unsafe { libc::clock_gettime(clock, &raw mut at) };
    if told == 0 { at.tv_sec * 1000 + at.tv_nsec / 1_000_000 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_go_forward_and_a_boot_has_one_name() {
        let (awake, boot_ms) = (awake_ms(), since_boot_ms());
        assert!(awake > 0 && awake_ms() >= awake);
        // A machine was started before it was last awake.
        assert!(boot_ms >= awake && since_boot_ms() >= boot_ms);
        assert_eq!(boot(), boot());
        assert!(boot().chars().all(|c| c.is_ascii_hexdigit()));
    }
}
