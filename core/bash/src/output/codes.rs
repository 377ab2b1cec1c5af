//! Decoders: base64, base32 and hexadecimal.

/// The bytes a base64 text stands for. Both alphabets; white space is skipped.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    grouped(text, 6, |c| match c {
        'A'..='Z' => Some(c as u32 - 'A' as u32),
        'a'..='z' => Some(c as u32 - 'a' as u32 + 26),
        '0'..='9' => Some(c as u32 - '0' as u32 + 52),
        '+' | '-' => Some(62),
        '/' | '_' => Some(63),
        _ => None,
    })
}

pub(super) fn base32(text: &str) -> Option<Vec<u8>> {
    grouped(text, 5, |c| match c {
        'A'..='Z' => Some(c as u32 - 'A' as u32),
        '2'..='7' => Some(c as u32 - '2' as u32 + 26),
        _ => None,
    })
}

pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    grouped(text, 4, |c| c.to_digit(16))
}

/// Gathers `bits` of every digit into bytes.
fn grouped(text: &str, bits: u32, digit: impl Fn(char) -> Option<u32>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut held, mut count) = (0u32, 0);
    for c in text.chars().filter(|c| !c.is_whitespace() && *c != '=') {
        held = (held << bits) | digit(c)?;
        count += bits;
        if count >= 8 {
            count -= 8;
            out.push((held >> count) as u8);
            held &= (1 << count) - 1;
        }
    }
    Some(out)
}
