//! Bytes of the system's generator, in one call that opens nothing: it works without a free descriptor too.

use std::io;

/// Fills `bytes`.
///
/// # Errors
/// When the system has no randomness to give.
pub fn fill(bytes: &mut [u8]) -> io::Result<()> {
    // More than this at once is not promised to be given whole.
    for part in bytes.chunks_mut(256) {
        while !draw(part) {
            let cause = io::Error::last_os_error();
            if cause.kind() != io::ErrorKind::Interrupted {
                return Err(cause);
            }
        }
    }
    Ok(())
}

/// Whether all of the part was filled. Not every C library of Linux has the call that the others share.
fn draw(part: &mut [u8]) -> bool {
    // SAFETY: the part is valid for its length, and only written to.
    #[cfg(target_os = "linux")]
    let whole = unsafe { libc::getrandom(part.as_mut_ptr().cast(), part.len(), 0) } == part.len().cast_signed();
    // SAFETY: as above.
    #[cfg(not(target_os = "linux"))]
    let whole = unsafe { libc::getentropy(part.as_mut_ptr().cast(), part.len()) } == 0;
    whole
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
