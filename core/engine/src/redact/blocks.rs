//! Private keys in blocks: PEM, OpenSSH, PGP, SSH2 and PuTTY, on many lines or
//! on one with written-out line ends, and cut off before their end.

use super::hidden::Hidden;
use super::scan::{byte, line_end, part, rest, skip, skip_back};

/// No key holds a word of base64 that is shorter on a line of its own.
const RUN: usize = 16;

/// No key is longer.
const FARTHEST: usize = 64 * 1024;

pub fn find(text: &str, hidden: &mut Hidden) {
    pem(text, hidden);
    putty(text, hidden);
}

/// `-----BEGIN … PRIVATE KEY-----` up to its end. A key without an end goes on to the end of the text.
fn pem(text: &str, hidden: &mut Hidden) {
    let mut from = 0;
    while let Some(found) = rest(text, from).find("PRIVATE KEY") {
        let label = from + found;
        from = label + "PRIVATE KEY".len();
        let begins = skip_back(text, label, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
        if !part(text, begins, label).trim_start().starts_with("BEGIN ") || !part(text, 0, begins).ends_with("----") {
            continue;
        }
        let named = skip(text, from, |byte| byte.is_ascii_uppercase() || byte == b' ');
        let body = skip(text, named, |byte| byte == b'-');
        if body < named + 4 {
            continue;
        }
        let end = ending(text, body).unwrap_or(text.len());
        if holds_a_key(part(text, body, end)) {
            hidden.add(body, end);
            from = end;
        }
    }
}

fn ending(text: &str, body: usize) -> Option<usize> {
    let mut from = body;
    loop {
        let near = rest(text, from).get(..super::floor(rest(text, from), FARTHEST))?;
        let at = from + near.find("END ")?;
        if text.get(..at)?.trim_end_matches(' ').ends_with("----") {
            return Some(skip_back(text, skip_back(text, at, |byte| byte == b' '), |byte| byte == b'-'));
        }
        from = at + 4;
    }
}

/// A block that is only spoken of has no key in it.
fn holds_a_key(body: &str) -> bool {
    let line = body.strip_prefix("\\r").unwrap_or(body);
    let line = line.strip_prefix("\\n").or_else(|| line.trim_start_matches('\r').strip_prefix('\n'));
    let first = line.map(|line| line.trim_start_matches([' ', '\t'])).unwrap_or_default();
    first.bytes().take_while(|byte| is_base64(*byte)).count() >= 4
        || body
            .get(..super::floor(body, 4096))
            .unwrap_or_default()
            .split(|c: char| !c.is_ascii() || !is_base64(c as u8))
            .any(|run| run.len() >= RUN)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// `Private-Lines: 14` and the lines after it, and the proof of them.
fn putty(text: &str, hidden: &mut Hidden) {
    const LINES: &str = "Private-Lines:";
    let mut from = 0;
    while let Some(found) = rest(text, from).find(LINES) {
        let count = from + found + LINES.len();
        let number = skip(text, count, |byte| byte == b' ' || byte.is_ascii_digit());
        let written = byte(text, number) == b'\\';
        let body = if written { number } else { line_end(text, number) };
        let end = rest(text, body).find("Private-MAC:").map_or(text.len(), |length| body + length);
        if number > count {
            hidden.add(body, end);
        }
        from = end.max(count);
    }
}
