//! The short code of a stop: the first letters of what tells the stopped call from every other.

/// Without the letters that are taken for digits or for one another.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// So many letters are shown; a person may type more of them where two stops begin alike.
pub const SHOWN: usize = 4;

/// Bytes as letters, five bits each; what is left over is dropped.
pub fn letters(bytes: &[u8]) -> String {
    let mut out = String::new();
    let (mut held, mut bits) = (0_u32, 0);
    for byte in bytes {
        held = (held << 8) | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            let letter = LETTERS.get((held >> bits) as usize % LETTERS.len());
            out.extend(letter.map(|letter| char::from(*letter)));
        }
    }
    out
}

/// As it is shown.
pub fn short(digest: &str) -> &str {
    digest.get(..SHOWN).unwrap_or(digest)
}

/// What a person typed, as the letters it stands for; `None` where it can be no code.
pub fn typed(text: &str) -> Option<String> {
    let letter = |typed: char| match typed.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    };
    let code: String = text.trim().chars().map(letter).collect();
    let known = code.bytes().all(|byte| LETTERS.contains(&byte));
    (known && code.len() >= SHOWN).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_letters_and_what_is_typed_stands_for_them() {
        assert_eq!(letters(&[0, 0xff, 0b0000_1000]), "03zg");
        assert_eq!(letters(&[0xff; 20]), "z".repeat(32));
        assert_eq!((short("7kf2mz"), short("7k")), ("7kf2", "7k"));
        assert_eq!(typed(" 7KfO ").as_deref(), Some("7kf0"));
        assert_eq!(typed("l1iz").as_deref(), Some("111z"));
        assert!([typed("7kf"), typed("7kf!"), typed("git-clean"), typed("")].iter().all(Option::is_none));
    }
}
