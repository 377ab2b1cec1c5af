//! Waiting for a condition instead of for a time.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(5);

/// Asks `look` again and again until it answers or `limit` has passed.
///
/// # Errors
/// `TimedOut`, naming `what` was waited for.
pub fn until<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Option<T>) -> io::Result<T> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if Instant::now() >= deadline {
            let message = format!("waited {limit:?} in vain for {what}");
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        thread::sleep(PAUSE);
    }
}
