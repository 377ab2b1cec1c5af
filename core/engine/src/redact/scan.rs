//! Reading a text by its bytes. Whatever ends a name or a value is ASCII, so
//! every place found here is a boundary between characters.

/// The byte at a place; zero where the text has ended.
pub fn byte(text: &str, at: usize) -> u8 {
    text.as_bytes().get(at).copied().unwrap_or_default()
}

pub fn byte_before(text: &str, at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |before| byte(text, before))
}

pub fn part(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
}

pub fn rest(text: &str, from: usize) -> &str {
    text.get(from..).unwrap_or_default()
}

/// The first place from `at` on whose byte is not one of these.
pub fn skip(text: &str, at: usize, of: impl Fn(u8) -> bool) -> usize {
    let bytes = text.as_bytes().get(at..).unwrap_or_default();
    bytes.iter().position(|byte| !of(*byte)).map_or(text.len().max(at), |length| at + length)
}

/// The place after the last byte before `at` that is not one of these.
pub fn skip_back(text: &str, at: usize, of: impl Fn(u8) -> bool) -> usize {
    let bytes = text.as_bytes().get(..at).unwrap_or_default();
    bytes.iter().rposition(|byte| !of(*byte)).map_or(0, |last| last + 1)
}

/// The end of the line that `at` is in.
pub fn line_end(text: &str, at: usize) -> usize {
    skip(text, at, |byte| byte != b'\n')
}

pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

pub fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

pub fn starts_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

pub fn ends_ignoring_case(text: &str, end: &str) -> bool {
    let from = text.len().checked_sub(end.len());
    from.and_then(|from| text.get(from..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

pub fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|one| word.eq_ignore_ascii_case(one))
}

/// The same for a list that is one text.
pub fn is_among(word: &str, words: &str) -> bool {
    words.split_ascii_whitespace().any(|one| word.eq_ignore_ascii_case(one))
}

pub fn has(text: &str, of: impl Fn(u8) -> bool) -> bool {
    text.bytes().any(of)
}

/// A quote, with the backslashes that stand before it in quoted text inside quoted text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    pub mark: u8,
    pub slashes: usize,
}

/// The quote at a place, and the place after it.
pub fn quote_at(text: &str, at: usize) -> Option<(Quote, usize)> {
    let marked = skip(text, at, |byte| byte == b'\\');
    let mark = byte(text, marked);
    is_quote(mark).then_some((Quote { mark, slashes: marked - at }, marked + 1))
}

/// Where a quoted text ends, before the backslashes of its closing quote, and
/// the place after that quote. `None` where it is not closed.
pub fn quote_end(text: &str, from: usize, open: Quote) -> Option<(usize, usize)> {
    let mut at = from;
    let mut slashes = 0;
    loop {
        match text.as_bytes().get(at)? {
            b'\\' => slashes += 1,
            found if *found == open.mark => {
                // Settings files and SQL write a quote in quotes twice.
                let twice = open.mark == b'\'' && open.slashes == 0 && at > from;
                if twice && byte(text, at + 1) == b'\'' {
                    at += 2;
                    continue;
                }
                let closes = if open.slashes == 0 { slashes % 2 == 0 } else { slashes <= open.slashes };
                if closes {
                    return Some((at - slashes.min(open.slashes), at + 1));
                }
                slashes = 0;
            }
            _ => slashes = 0,
        }
        at += 1;
    }
}
