//! What a program for Linux says of itself: whether it needs a loader, and whether it still has its symbols.

const LOADER_SEGMENT: u64 = 3;
const SYMBOL_TABLE: u64 = 2;

/// Static and stripped, or why not.
pub(crate) fn fit_to_be_packed(bytes: &[u8]) -> Result<(), &'static str> {
    let image = Image(bytes);
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return Err("this is no program for Linux on 64 bits");
    }
    let unreadable = "its headers lie outside the file";
    // Where the tables start, how long a row is, how many there are, and where in a row its kind stands.
    let segments = image.rows(0x20, 0x36, 0x38, 0).ok_or(unreadable)?;
    if segments.contains(&LOADER_SEGMENT) {
        return Err(
            "it is linked dynamically and would not run on every Linux; install the static C library and build it again: \
                    `cargo build --release`",
        );
    }
    let sections = image.rows(0x28, 0x3a, 0x3c, 4).ok_or(unreadable)?;
    if sections.contains(&SYMBOL_TABLE) {
        return Err(
            "it has its symbols, which nobody needs; build it with the release profile: `cargo build --release`",
        );
    }
    Ok(())
}

struct Image<'a>(&'a [u8]);

impl Image<'_> {
    fn number(&self, at: u64, length: usize) -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let bytes = self.0.get(at..at.checked_add(length)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// The kind of every row of a table.
    fn rows(&self, table: u64, length: u64, count: u64, kind: u64) -> Option<Vec<u64>> {
        let (table, length, count) = (self.number(table, 8)?, self.number(length, 2)?, self.number(count, 2)?);
        (0..count).map(|row| self.number(table.checked_add(row * length)?.checked_add(kind)?, 4)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::fit_to_be_packed;

    /// A header, one segment and one section of these kinds.
    fn program(segment: u8, section: u8) -> Vec<u8> {
        let mut bytes = vec![0; 0x40 + 56 + 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (bytes[0x20], bytes[0x36], bytes[0x38]) = (0x40, 56, 1);
        (bytes[0x28], bytes[0x3a], bytes[0x3c]) = (0x40 + 56, 64, 1);
        (bytes[0x40], bytes[0x40 + 56 + 4]) = (segment, section);
        bytes
    }

    #[test]
    fn i6_only_a_static_program_without_symbols_is_packed() {
        assert_eq!(fit_to_be_packed(&program(1, 1)), Ok(()));
        assert!(fit_to_be_packed(&program(3, 1)).unwrap_err().contains("dynamically"));
        assert!(fit_to_be_packed(&program(1, 2)).unwrap_err().contains("symbols"));
    }

    #[test]
    fn what_is_no_program_or_only_half_of_one_is_refused() {
        for bytes in [&b""[..], b"#!/bin/sh\n", &program(1, 1)[..0x50], b"\x7fELF\x02\x01"] {
            assert!(fit_to_be_packed(bytes).is_err());
        }
    }
}
