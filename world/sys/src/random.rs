//! Bytes of the system's generator, in one call that opens nothing: it works without a free descriptor too.

use std::io;

/// Fills `bytes`.
///
/// # Errors
/// When the system has no randomness to give.
pub fn fill(bytes: &mut [u8]) -> io::Result<()> {
    // More than this at once is not promised to be given whole.
    for part in bytes.chunks_mut(256) {
        // SAFETY: the part is valid for its length, and only written to.
        if unsafe { libc::getentropy(part.as_mut_ptr().cast(), part.len()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn two_draws_differ_and_a_long_one_is_filled_to_its_end() {
        let (mut one, mut two) = ([0; 1000], [0; 1000]);
        fill(&mut one).unwrap();
        fill(&mut two).unwrap();
        assert_ne!(one, two);
        // A part that was left out would be all zeroes.
        assert!(one.chunks(100).all(|part| part.iter().any(|byte| *byte != 0)));
    }
}
