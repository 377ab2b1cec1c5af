//! Tokens of attempts.

use super::QueueError;
use std::io::Read;

/// 128 bits from the system's generator, in hexadecimal. Where there is no
/// generator there is no claim: a token that can be guessed is worse than none.
pub(super) fn draw() -> Result<String, QueueError> {
    let mut bytes = [0_u8; 16];
    let drawn = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    match drawn {
        Ok(()) => Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        Err(cause) => Err(QueueError::Wrong(format!(
            "nothing was claimed: no token could be drawn, because /dev/urandom cannot be read ({cause}); \
             `ls -l /dev/urandom` shows it"
        ))),
    }
}
