//! Bytes compared, searched and moved without the C library's `mem` functions.

use core::arch::asm;
use core::cell::UnsafeCell;

/// Static memory that one thread uses before any other exists.
pub struct StaticMemory<const N: usize>(UnsafeCell<[u8; N]>);

// SAFETY: the fast client runs before the first thread can be made, and nothing else uses a room.
unsafe impl<const N: usize> Sync for StaticMemory<N> {}

/// A buffer over memory that somebody else owns. It refuses what does not fit.
pub struct Buffer {
    at: *mut u8,
    len: usize,
    room: usize,
}

impl<const N: usize> StaticMemory<N> {
    pub const fn new() -> Self {
        Self(UnsafeCell::new([0; N]))
    }

    pub fn at(&self) -> *mut u8 {
        self.0.get().cast()
    }
}

impl Buffer {
    /// # Safety
    /// `room` bytes at `at` must be initialised, live for the rest of the process and be used by this buffer alone.
    pub unsafe fn new(at: *mut u8, room: usize) -> Self {
        Self { at, len: 0, room }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn bytes(&self) -> &'static [u8] {
        // SAFETY: `len` never exceeds `room`, and the memory lives as `new` was promised.
        unsafe { core::slice::from_raw_parts(self.at, self.len) }
    }

    /// Where the next byte goes, and how many there is room for.
    pub fn rest(&self) -> (*mut u8, usize) {
        (self.at.wrapping_add(self.len), self.room - self.len)
    }

    /// Counts bytes that were written into [`Buffer::rest`].
    pub fn grow(&mut self, count: usize) {
        self.len += if count < self.room - self.len { count } else { self.room - self.len };
    }

    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let (at, rest) = self.rest();
        if bytes.len() > rest {
            return false;
        }
        // SAFETY: the rest of the room is ours and large enough; a slice of somebody else's cannot overlap it.
        unsafe { copy(bytes.as_ptr(), at, bytes.len()) };
        self.len += bytes.len();
        true
    }

    /// Writes over bytes that are already there.
    pub fn patch(&mut self, place: usize, bytes: &[u8]) -> bool {
        if place + bytes.len() > self.len {
            return false;
        }
        // SAFETY: the range lies within what was pushed.
        unsafe { copy(bytes.as_ptr(), self.at.wrapping_add(place), bytes.len()) };
        true
    }

    /// A tag, a length and the bytes.
    pub fn field(&mut self, tag: u8, bytes: &[u8]) -> bool {
        self.field_head(tag, bytes.len()) && self.push(bytes)
    }

    pub fn field_head(&mut self, tag: u8, len: usize) -> bool {
        self.push(&[tag]) && self.push(&(len as u32).to_le_bytes())
    }
}

/// # Safety
/// `from` must be readable and `to` writable for `count` bytes, and they must not overlap.
pub unsafe fn copy(from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: moves exactly the bytes the caller vouches for; the direction flag is clear by the calling convention.
    unsafe {
        asm!(
            "rep movsb",
            inout("rcx") count => _,
            inout("rsi") from => _,
            inout("rdi") to => _,
            options(nostack, preserves_flags),
        );
    }
}

/// # Safety
/// `at` must point to a string that ends with a zero and lives for the rest of the process.
pub unsafe fn text(at: *const u8) -> &'static [u8] {
    let mut len = 0;
    // SAFETY: every byte up to the zero is readable.
    while unsafe { *at.wrapping_add(len) } != 0 {
        len += 1;
    }
    // SAFETY: the bytes before the zero, which live as long as the caller says.
    unsafe { core::slice::from_raw_parts(at, len) }
}

pub fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && starts_with(a, b)
}

pub fn starts_with(bytes: &[u8], start: &[u8]) -> bool {
    let mut i = 0;
    while let Some(wanted) = start.get(i) {
        if bytes.get(i) != Some(wanted) {
            return false;
        }
        i += 1;
    }
    true
}

pub fn strip<'a>(bytes: &'a [u8], start: &[u8]) -> Option<&'a [u8]> {
    if starts_with(bytes, start) { bytes.get(start.len()..) } else { None }
}

pub fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    let mut i = 0;
    while let Some(rest) = bytes.get(i..) {
        if rest.len() < wanted.len() {
            return false;
        }
        if starts_with(rest, wanted) {
            return true;
        }
        i += 1;
    }
    false
}

/// A little-endian `u32` at a place.
pub fn number(bytes: &[u8], place: usize) -> Option<usize> {
    let part = bytes.get(place..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*part) as usize)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::{Buffer, contains, number, same, strip};
    use std::boxed::Box;

    fn buffer(room: usize) -> Buffer {
        let memory = Box::leak(std::vec![0; room].into_boxed_slice());
        // SAFETY: leaked and used by this buffer alone.
        unsafe { Buffer::new(memory.as_mut_ptr(), room) }
    }

    #[test]
    fn a_buffer_refuses_what_does_not_fit_and_keeps_what_it_has() {
        let mut buffer = buffer(6);
        assert!(buffer.push(b"abcd"));
        assert!(!buffer.push(b"efg"));
        assert!(buffer.push(b"ef"));
        assert!(buffer.patch(1, b"XY") && !buffer.patch(5, b"XY"));
        assert_eq!(buffer.bytes(), b"aXYdef");
        buffer.grow(10);
        assert_eq!(buffer.len(), 6);
    }

    #[test]
    fn fields_carry_tag_and_length() {
        let mut buffer = buffer(64);
        assert!(buffer.field(7, b"ok"));
        assert_eq!(buffer.bytes(), [7, 2, 0, 0, 0, b'o', b'k']);
    }

    #[test]
    fn searching_and_comparing_agree_with_std() {
        assert!(same(b"abc", b"abc") && !same(b"abc", b"ab") && !same(b"ab", b"abc"));
        assert!(contains(b"xxabc", b"abc") && !contains(b"xxab", b"abc") && contains(b"", b""));
        assert_eq!(strip(b"A=b", b"A="), Some(&b"b"[..]));
        assert_eq!(strip(b"A", b"A="), None);
        assert_eq!(number(&[0, 1, 1, 0, 0], 1), Some(257));
        assert_eq!(number(&[0, 1, 1, 0], 1), None);
    }
}
