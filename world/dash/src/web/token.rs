//! The secret that a page must know to be told anything.

use std::fs::File;
use std::io::{self, Read};

/// 256 bits from the system, as the page holds and sends them.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    pub fn fresh() -> io::Result<Self> {
        let bytes: [u8; 32] = random()?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Six digits: short enough to be typed, for where guesses are counted.
    pub fn code() -> io::Result<Self> {
        Ok(Self(format!("{:06}", u64::from_be_bytes(random()?) % 1_000_000)))
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// Looks at every byte whatever the first ones are: how long it takes tells nothing.
    pub fn is(&self, offered: &[u8]) -> bool {
        let ours = self.0.as_bytes();
        let differences = ours.iter().zip(offered).fold(0, |found, (a, b)| found | (a ^ b));
        std::hint::black_box(differences) == 0 && ours.len() == offered.len()
    }
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_a_token_is_long_never_the_same_and_only_itself() {
        let (one, other) = (Token::fresh().unwrap(), Token::fresh().unwrap());
        assert_eq!(one.text().len(), 64);
        assert_ne!(one.text(), other.text());
        assert!(one.is(one.text().as_bytes()));
        for wrong in ["", &one.text()[..63], &format!("{}0", one.text()), other.text()] {
            assert!(!one.is(wrong.as_bytes()), "{wrong}");
        }
    }
}
