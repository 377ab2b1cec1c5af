//! Reading a hook's stdin, bounded in size and time: some hosts never close it.

use fast_client::limits;
use std::io::{ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// What came on stdin.
pub struct StdinText {
    pub bytes: Vec<u8>,
    /// Its end was reached, or it holds one whole object.
    pub complete: bool,
}

/// Everything up to the end, the limit of size, or the limit of time. Bytes
/// that are there when time is up are used: they may hold the whole call.
pub fn read() -> StdinText {
    read_while(Duration::MAX, |_| true)
}

/// The same, given up as soon as what came is of no use, or where nothing comes at all for so long.
pub fn read_while(silence: Duration, is_of_use: fn(&[u8]) -> bool) -> StdinText {
    let mut input = std::io::stdin().lock();
    let begun = Instant::now();
    let mut bytes = Vec::new();
    let mut chunk = [0_u8; 64 * 1024];
    while bytes.len() < limits::STDIN_BYTES && is_of_use(&bytes) {
        let whole = is_whole(&bytes);
        let patience = match (whole, bytes.is_empty()) {
            (true, _) => Duration::from_millis(u64::from(limits::STDIN_QUIET_MS)),
            (false, true) => silence,
            (false, false) => Duration::MAX,
        };
        let limit = if is_session_end(&bytes) { limits::STDIN_SESSION_END_MS } else { limits::STDIN_MS };
        let left = Duration::from_millis(u64::from(limit)).saturating_sub(begun.elapsed());
        if !is_ready(left.min(patience)) {
            return StdinText { bytes, complete: whole };
        }
        match input.read(&mut chunk) {
            Ok(0) => return StdinText { bytes, complete: true },
            Ok(count) => bytes.extend(chunk.iter().take(count)),
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(_) => return StdinText { bytes, complete: false },
        }
    }
    StdinText { bytes, complete: false }
}

/// What a here-document or a pipe holds. Some hosts leave stdin open and empty
/// for ever: then there is nothing, and nobody waits for it long.
pub fn waiting() -> Option<String> {
    use std::io::IsTerminal;
    if std::io::stdin().is_terminal() || !is_ready(Duration::from_millis(WAITING_MS)) {
        return None;
    }
    let text = String::from_utf8_lossy(&read().bytes).into_owned();
    Some(text).filter(|text| !text.trim().is_empty())
}

/// A shell writes its here-document before it starts the command.
const WAITING_MS: u64 = 200;

/// Cheap and good enough: a SessionEnd is small and names itself.
pub fn is_session_end(bytes: &[u8]) -> bool {
    let head = bytes.get(..limits::SEARCHED_BYTES).unwrap_or(bytes);
    head.windows(12).any(|window| window == b"\"SessionEnd\"")
}

/// Whether the bytes end where a JSON object could end.
fn is_whole(bytes: &[u8]) -> bool {
    let end = bytes.iter().rev().find(|byte| !byte.is_ascii_whitespace());
    end == Some(&b'}') && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

fn is_ready(limit: Duration) -> bool {
    sys::poll::becomes_readable(std::io::stdin().as_raw_fd(), limit)
}
