//! Waiting for a condition instead of for a time.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// Looks are close together at first, because most things happen at once, and then leave the processor to others.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(25);

/// Asks `look` again and again until it answers or `limit` has passed.
///
/// # Errors
/// `TimedOut`, naming `what` was waited for.
pub fn until<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Option<T>) -> io::Result<T> {
    let deadline = Instant::now() + limit;
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if Instant::now() >= deadline {
            let message = format!("waited {limit:?} in vain for {what}");
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
