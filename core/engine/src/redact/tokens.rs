//! Tokens by their shape, whatever stands around them.

use super::entropy::is_mixed;
use super::hidden::Hidden;
use super::prefixes::{Letters, SHAPES, Shape, TokenCheck};
use super::scan::{byte, byte_before, has, part, rest, skip};

/// No token with its prefix is shorter.
const SHORTEST: usize = 14;

pub fn find(text: &str, hidden: &mut Hidden) {
    let mut at = 0;
    while at < text.len() {
        let from = skip(text, at, |byte| byte.is_ascii_whitespace());
        let end = skip(text, from, |byte| !byte.is_ascii_whitespace());
        at = end.max(at + 1);
        // Most words are too short to hold one: reading them would cost more than all the rest.
        if end - from >= SHORTEST {
            word(text, from, end, hidden);
        }
    }
}

/// Looks for tokens in what stands between two blanks.
fn word(text: &str, mut at: usize, end: usize, hidden: &mut Hidden) {
    while at < end {
        let from = skip(text, at, |byte| !byte.is_ascii_alphanumeric());
        if from >= end {
            return;
        }
        let to = skip(text, from, |byte| byte.is_ascii_alphanumeric());
        at = to.max(at + 1);
        let from = start(text, from, to);
        if let Some(end) = token(text, from).or_else(|| unmarked(text, from, to)) {
            hidden.add(from, end);
            at = at.max(end);
        }
    }
}

/// An escape before a word hides its beginning: `\nghp_…`, `%3Dghp_…`.
fn start(text: &str, from: usize, to: usize) -> usize {
    let hex = |at: usize| byte(text, at).is_ascii_hexdigit();
    match byte_before(text, from) {
        b'\\' if matches!(byte(text, from), b'n' | b'r' | b't') && from + 1 < to => from + 1,
        b'%' if hex(from) && hex(from + 1) && from + 2 < to => from + 2,
        _ => from,
    }
}

fn token(text: &str, from: usize) -> Option<usize> {
    let first = byte(text, from);
    let begin = SHAPES.partition_point(|shape| shape.prefix.as_bytes().first() < Some(&first));
    let candidates = SHAPES.iter().skip(begin).take_while(|shape| shape.prefix.as_bytes().first() == Some(&first));
    let tail = rest(text, from);
    candidates.filter(|shape| tail.starts_with(shape.prefix)).filter_map(|shape| body(text, from, shape)).max()
}

/// The end of a token of this shape that begins here.
fn body(text: &str, from: usize, shape: &Shape) -> Option<usize> {
    let begin = from + shape.prefix.len();
    let run = skip(text, begin, |byte| is_of(byte, shape.letters));
    let end = run - trailing(part(text, begin, run));
    let body = part(text, begin, end);
    let proven = match shape.proof {
        TokenCheck::Sure => true,
        TokenCheck::Mixed => is_mixed(body) && is_apart(text, from),
        TokenCheck::Case => {
            is_mixed(body)
                && has(body, |b| b.is_ascii_uppercase())
                && has(body, |b| b.is_ascii_lowercase())
                && is_apart(text, from)
        }
    };
    let jwt = shape.letters != Letters::Jwt || body.split('.').nth(1).is_some_and(|part| part.len() >= 4);
    let whole = !byte(text, end).is_ascii_alphanumeric();
    let invented = body.bytes().any(|byte| !b"xX*.-_".contains(&byte));
    (body.len() >= shape.least && proven && jwt && whole && invented).then_some(end)
}

/// Not a part of a longer name or a path.
fn is_apart(text: &str, from: usize) -> bool {
    !matches!(byte_before(text, from), b'-' | b'_' | b'.' | b'/' | b'#')
}

/// A dot or a dash at the end belongs to the sentence.
fn trailing(body: &str) -> usize {
    body.bytes().rev().take_while(|byte| b".-:".contains(byte)).count()
}

fn is_of(byte: u8, letters: Letters) -> bool {
    match letters {
        Letters::Hex => byte.is_ascii_hexdigit(),
        Letters::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        Letters::Alnum => byte.is_ascii_alphanumeric(),
        Letters::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
        Letters::Dotted | Letters::Jwt => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
        Letters::Base64 => {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'/' | b'=' | b'.' | b',')
        }
        Letters::Percent => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'%'),
        Letters::Dollar => byte.is_ascii_alphanumeric() || byte == b'$',
    }
}

/// Tokens that begin with nothing of their own, told by how they are joined.
fn unmarked(text: &str, from: usize, to: usize) -> Option<usize> {
    let length = to - from;
    let word = part(text, from, to);
    let after = rest(text, to);
    let alnum = |at: usize| skip(text, at, |byte| byte.is_ascii_alphanumeric());
    let token = |at: usize| skip(text, at, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let hex = |at: usize| skip(text, at, |byte| byte.is_ascii_hexdigit());
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    match length {
        // Telegram: `123456789:AA…`.
        8..=10 if digits && after.starts_with(":AA") => (token(to + 1) - to >= 34).then(|| token(to + 1)),
        // Google's refresh tokens: `1//0…`.
        1 if after.starts_with("//0") && word == "1" => (token(to + 2) - to >= 30).then(|| token(to + 2)),
        // Asana: `1/1234567890123456:…`.
        1 if digits && after.starts_with('/') => {
            let number = skip(text, to + 1, |byte| byte.is_ascii_digit() || byte == b'/');
            (number - to > 12 && byte(text, number) == b':' && hex(number + 1) - number > 32).then(|| hex(number + 1))
        }
        // Terraform Cloud: `….atlasv1.…`.
        14 if after.starts_with(".atlasv1.") => Some(token(to + 9)),
        // Airtable: `pat….` and 64 hex letters.
        17 if word.starts_with("pat") && after.starts_with('.') => (hex(to + 1) - to == 65).then(|| hex(to + 1)),
        // Mailchimp: 32 hex letters and `-us12`; Mailgun: and `-12345678-12345678`.
        32 if hex(from) == to && after.starts_with("-us") => Some(alnum(to + 1)),
        32 if hex(from) == to && byte(text, to) == b'-' && byte(text, to + 9) == b'-' => {
            (hex(to + 10) == to + 18).then_some(to + 18)
        }
        // New Relic's licences.
        40 if word.ends_with("NRAL") => Some(to),
        // Discord: an id in base64, a time and a proof.
        23..=28 if matches!(byte(text, from), b'M' | b'N' | b'O') && after.starts_with('.') => {
            let time = token(to + 1);
            let proof = token(time + 1);
            (byte(text, time) == b'.' && time - to == 7 && proof - time > 26).then_some(proof)
        }
        _ => None,
    }
}
