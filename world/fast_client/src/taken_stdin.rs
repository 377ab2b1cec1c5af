//! What the fast client had read before it handed over to the ordinary way.

use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// Stdin as far as it was read, and the id under which the daemon may already have been asked.
#[derive(Debug, Clone, Copy)]
pub struct TakenStdin {
    pub stdin: &'static [u8],
    /// False when stdin was cut: too long, or not over in time.
    pub complete: bool,
    /// The work done in process carries the same id, so that a daemon that wakes up late does not do it twice.
    pub request: [u8; 16],
    /// The daemon was asked and did not answer in time or could not: it is not asked again.
    pub asked: bool,
}

static LEFT: AtomicBool = AtomicBool::new(false);
static STDIN: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static COMPLETE: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static REQUEST: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

impl TakenStdin {
    /// The request id as it goes over the wire: 32 hexadecimal digits.
    #[must_use]
    pub fn request_text(&self) -> [u8; 32] {
        hex(&self.request)
    }
}

/// What is left of a hook that came through the fast client and was not answered there; `None` when nothing was read.
#[must_use]
pub fn taken() -> Option<TakenStdin> {
    if !LEFT.load(Ordering::Acquire) {
        return None;
    }
    let at = STDIN.load(Ordering::Relaxed);
    // SAFETY: `leave` stored a pointer to that many initialised bytes, which nobody writes or frees afterwards.
    let stdin = unsafe { core::slice::from_raw_parts(at, LENGTH.load(Ordering::Relaxed)) };
    let [high, low] = &REQUEST;
    let request = (u128::from(high.load(Ordering::Relaxed)) << 64) | u128::from(low.load(Ordering::Relaxed));
    Some(TakenStdin {
        stdin,
        complete: COMPLETE.load(Ordering::Relaxed),
        request: request.to_be_bytes(),
        asked: ASKED.load(Ordering::Relaxed),
    })
}

/// Keeps what was read for the ordinary way.
#[cfg(fast_client)]
pub(crate) fn leave(taken: &TakenStdin) {
    let request = u128::from_be_bytes(taken.request);
    let [high, low] = &REQUEST;
    high.store((request >> 64) as u64, Ordering::Relaxed);
    low.store(request as u64, Ordering::Relaxed);
    STDIN.store(taken.stdin.as_ptr().cast_mut(), Ordering::Relaxed);
    LENGTH.store(taken.stdin.len(), Ordering::Relaxed);
    COMPLETE.store(taken.complete, Ordering::Relaxed);
    ASKED.store(taken.asked, Ordering::Relaxed);
    LEFT.store(true, Ordering::Release);
}

/// Written without slices of unknown length and without a table lookup: the fast client calls it.
pub(crate) fn hex(bytes: &[u8; 16]) -> [u8; 32] {
    let mut text = [0; 32];
    let mut value = u128::from_be_bytes(*bytes);
    let mut place = 32;
    while place > 0 {
        place -= 1;
        let digit = (value & 15) as u8;
        if let Some(byte) = text.get_mut(place) {
            *byte = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
        }
        value >>= 4;
    }
    text
}
