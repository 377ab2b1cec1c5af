//! Stdin, read as far as it goes within its limits of time and size.

use super::bytes::{StaticMemory, contains, copy};
use super::json::is_whole_object;
use super::sys::{self, Moved, Wait, WaitBudget};
use crate::limits;

/// What was read.
pub struct FastInput {
    pub bytes: &'static [u8],
    pub complete: bool,
}

const FIRST: usize = 64 << 10;
static ROOM: StaticMemory<FIRST> = StaticMemory::new();

/// Memory that grows: static first, then a mapping of its own.
struct Growing {
    at: *mut u8,
    len: usize,
    room: usize,
}

/// Whether the bytes are of a SessionEnd, which has half the time of other events.
pub fn is_session_end(bytes: &[u8]) -> bool {
    bytes.len() <= limits::SEARCHED_BYTES && contains(bytes, b"\"SessionEnd\"")
}

/// Reads until the end of stdin. Without an end it goes on with one whole object after a moment of silence; without
/// that it gives up at the limit, incomplete.
pub fn read() -> FastInput {
    let mut memory = Growing { at: ROOM.at(), len: 0, room: FIRST };
    let complete = fill(&mut memory);
    // SAFETY: the first `len` bytes were read into the memory, which is never freed or written again.
    let bytes = unsafe { core::slice::from_raw_parts(memory.at, memory.len) };
    match bytes.get(..limits::STDIN_BYTES) {
        Some(most) if bytes.len() > limits::STDIN_BYTES => FastInput { bytes: most, complete: false },
        _ => FastInput { bytes, complete },
    }
}

fn fill(memory: &mut Growing) -> bool {
    const QUIET: i64 = limits::STDIN_QUIET_MS as i64 * 1_000_000;
    let mut spent = 0;
    loop {
        if memory.len == memory.room && !memory.grow() {
            return false;
        }
        let mut quiet = WaitBudget::millis(limits::STDIN_QUIET_MS);
        let wait = quiet.wait(sys::STDIN, sys::READABLE);
        if wait == Wait::TimedOut {
            spent += QUIET;
            if is_whole_object(memory.bytes()) {
                return true;
            }
        } else {
            spent += QUIET - quiet.left();
            match sys::read(sys::STDIN, memory.at.wrapping_add(memory.len), memory.room - memory.len) {
                Moved::Bytes(0) | Moved::Failed => return true,
                Moved::Bytes(count) => memory.len += count,
                Moved::Again => {}
            }
        }
        if spent >= limit(memory, spent) {
            return false;
        }
    }
}

/// Only looked up once time has really passed: a stdin that is simply there is not searched.
fn limit(memory: &Growing, spent: i64) -> i64 {
    const SHORT: i64 = limits::STDIN_SESSION_END_MS as i64 * 1_000_000;
    const LONG: i64 = limits::STDIN_MS as i64 * 1_000_000;
    if spent >= SHORT && is_session_end(memory.bytes()) { SHORT } else { LONG }
}

impl Growing {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are ours and were read.
        unsafe { core::slice::from_raw_parts(self.at, self.len) }
    }

    /// One byte more than the limit, so that exactly the limit is still seen to end.
    fn grow(&mut self) -> bool {
        const MOST: usize = limits::STDIN_BYTES + 4096;
        if self.room == MOST {
            return false;
        }
        let room = if self.room * 8 < MOST { self.room * 8 } else { MOST };
        let grown = if self.room == FIRST { sys::map(room) } else { sys::remap(self.at, self.room, room) };
        let Some(at) = grown else {
            return false;
        };
        if self.room == FIRST {
            // SAFETY: the new mapping is larger than what was read so far and cannot overlap it.
            unsafe { copy(self.at, at, self.len) };
        }
        (self.at, self.room) = (at, room);
        true
    }
}
