//! Telling what a machine made up from what a person wrote.

use super::scan::has;

/// Shorter texts are too easily like words.
const SHORTEST: usize = 16;

/// Looks drawn at random: letters and digits mixed, many different ones, and
/// none of the shapes that checksums, ids, paths and versions have.
pub fn is_random(text: &str) -> bool {
    text.len() >= SHORTEST && is_mixed(text) && different(text) >= 8 && !is_known_shape(text) && !is_words(text)
}

/// Has letters and digits both.
pub fn is_mixed(text: &str) -> bool {
    has(text, |byte| byte.is_ascii_alphabetic()) && has(text, |byte| byte.is_ascii_digit())
}

/// Letters of a token's alphabet, all of them.
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.+/=~%:".contains(&byte))
}

fn different(text: &str) -> u32 {
    let seen = text.bytes().filter(u8::is_ascii).fold(0_u128, |seen, byte| seen | 1 << byte);
    seen.count_ones()
}

/// Checksums, ids and digests are no secrets unless their name says so.
fn is_known_shape(text: &str) -> bool {
    let hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digest =
        ["sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "md5:"].iter().any(|kind| text.starts_with(kind));
    hex || digest || is_uuid(text) || text.contains("://") || text.contains("/.") || text.starts_with('/')
}

pub fn is_uuid(text: &str) -> bool {
    let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| if dash(at) { byte == b'-' } else { byte.is_ascii_hexdigit() })
}

/// Parts that each are a word or a number: `release-2026-candidate-3`, `src/lib/v2`.
fn is_words(text: &str) -> bool {
    text.split(|c: char| "-_./:".contains(c)).all(|part| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let lower = letters.bytes().all(|byte| byte.is_ascii_lowercase());
        let capital = letters.get(1..).is_some_and(|tail| tail.bytes().all(|byte| byte.is_ascii_lowercase()));
        (lower || capital) && letters.len() <= 14
    })
}

#[cfg(test)]
mod tests {
    use super::is_random;

    #[test]
    fn what_machines_make_up_is_told_from_what_people_write() {
        for random in ["q7Zr9kT2mX4vB8nL", "Zm9vYmFyMTIzNDU2Nzg5MA==", "a8f5f167f44f4964e6c998dee827110cz"] {
            assert!(is_random(random), "{random}");
        }
        for made in [
            "release-2026-candidate-3", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4",
            "123e4567-e89b-12d3-a456-426614174000", "thequickbrownfoxjumps", "1234567890123456",
            "src/components/button2",
        ] {
            assert!(!is_random(made), "{made}");
        }
    }
}
