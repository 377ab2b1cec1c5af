//! Reading a hook's stdin, bounded in size and time: some hosts never close it.

use entry::limits;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Everything up to the end, the limit of size, or the limit of time. Bytes
/// that are there when time is up are used: they may hold the whole call.
pub fn read() -> Vec<u8> {
    let mut input = std::io::stdin().lock();
    let deadline = Instant::now() + Duration::from_millis(u64::from(limits::STDIN_MS));
    let mut bytes = Vec::new();
    let mut chunk = [0_u8; 64 * 1024];
    while bytes.len() < limits::STDIN_BYTES {
        let patience =
            if is_whole(&bytes) { Duration::from_millis(u64::from(limits::STDIN_QUIET_MS)) } else { Duration::MAX };
        if !is_ready(deadline.saturating_duration_since(Instant::now()).min(patience)) {
            break;
        }
        match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => bytes.extend(chunk.iter().take(count)),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    bytes
}

/// What a here-document or a pipe holds. Some hosts leave stdin open and empty
/// for ever: then there is nothing, and nobody waits for it long.
pub fn waiting() -> Option<String> {
    use std::io::IsTerminal;
    if std::io::stdin().is_terminal() || !is_ready(Duration::from_millis(WAITING_MS)) {
        return None;
    }
    let text = String::from_utf8_lossy(&read()).into_owned();
    Some(text).filter(|text| !text.trim().is_empty())
}

/// A shell writes its here-document before it starts the command.
const WAITING_MS: u64 = 200;

/// Whether the bytes end where a JSON object could end.
fn is_whole(bytes: &[u8]) -> bool {
    let end = bytes.iter().rev().find(|byte| !byte.is_ascii_whitespace());
    end == Some(&b'}') && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

fn is_ready(limit: Duration) -> bool {
    let mut stdin = libc::pollfd { fd: std::io::stdin().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let millis = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one pollfd that lives on this stack frame, and its count of one.
    unsafe { libc::poll(&mut stdin, 1, millis) > 0 }
}
