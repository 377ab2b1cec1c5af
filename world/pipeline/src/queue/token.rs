//! Tokens of attempts.

use super::QueueError;

/// 128 bits from the system's generator, in hexadecimal. Where there is no
/// generator there is no claim: a token that can be guessed is worse than none.
pub(super) fn draw() -> Result<String, QueueError> {
    let mut bytes = [0_u8; 16];
    match sys::random::fill(&mut bytes) {
        Ok(()) => Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        Err(cause) => Err(QueueError::Wrong(format!(
            "nothing was claimed: no token could be drawn, because the system gave no randomness ({cause}); \
             try again when the machine has started up"
        ))),
    }
}
