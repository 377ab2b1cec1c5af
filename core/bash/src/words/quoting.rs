//! Quotes and escapes: what the quoted text says.

use super::cursor::Cursor;

/// The text up to the closing single quote; the cursor stands after the opening one.
pub(crate) fn single(cursor: &mut Cursor<'_>) -> String {
    let text = cursor.take_while(|c| c != '\'').to_string();
    cursor.bump();
    text
}

/// The text of `$'…'` up to its closing quote, escapes decoded.
pub(crate) fn ansi_c(cursor: &mut Cursor<'_>) -> String {
    let mut out = Vec::new();
    while let Some(c) = cursor.bump() {
        match c {
            '\'' => break,
            '\\' => escape(cursor, &mut out, Escapes::Quote),
            other => push_char(&mut out, other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The text with the escapes of `printf` and `echo -e` decoded, as bytes.
pub(crate) fn printf_escapes(text: &str) -> Vec<u8> {
    let mut cursor = Cursor::new(text);
    let mut out = Vec::new();
    while let Some(c) = cursor.bump() {
        match c {
            '\\' => escape(&mut cursor, &mut out, Escapes::Printf),
            other => push_char(&mut out, other),
        }
    }
    out
}

/// Whether `\0nn` counts the zero among its three digits.
#[derive(Clone, Copy, PartialEq)]
enum Escapes {
    Quote,
    Printf,
}

fn push_char(out: &mut Vec<u8>, c: char) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn escape(cursor: &mut Cursor<'_>, out: &mut Vec<u8>, style: Escapes) {
    let Some(c) = cursor.bump() else {
        out.push(b'\\');
        return;
    };
    match c {
        'a' => out.push(7),
        'b' => out.push(8),
        'e' | 'E' => out.push(27),
        'f' => out.push(12),
        'n' => out.push(b'\n'),
        'r' => out.push(b'\r'),
        't' => out.push(b'\t'),
        'v' => out.push(11),
        'x' => match number(cursor, 16, 2) {
            Some(value) => out.push(value as u8),
            None => out.extend_from_slice(b"\\x"),
        },
        'u' => unicode(cursor, out, 4),
        'U' => unicode(cursor, out, 8),
        'c' if style == Escapes::Quote => {
            if let Some(control) = cursor.bump() {
                out.push((control as u32 & 0x1f) as u8);
            }
        }
        '0' if style == Escapes::Printf => out.push(number(cursor, 8, 3).unwrap_or(0) as u8),
        '0'..='7' => {
            let first = c.to_digit(8).unwrap_or(0);
            let mut value = first;
            for _ in 0..2 {
                match cursor.peek().and_then(|digit| digit.to_digit(8)) {
                    Some(digit) => {
                        value = value * 8 + digit;
                        cursor.bump();
                    }
                    None => break,
                }
            }
            out.push(value as u8);
        }
        '\\' | '\'' | '"' | '?' => push_char(out, c),
        other => {
            out.push(b'\\');
            push_char(out, other);
        }
    }
}

fn unicode(cursor: &mut Cursor<'_>, out: &mut Vec<u8>, digits: usize) {
    if let Some(c) = number(cursor, 16, digits).and_then(char::from_u32) {
        push_char(out, c);
    }
}

/// Up to `digits` digits in `radix`; `None` when there is not one.
fn number(cursor: &mut Cursor<'_>, radix: u32, digits: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..digits {
        match cursor.peek().and_then(|digit| digit.to_digit(radix)) {
            Some(digit) => {
                value = Some(value.unwrap_or(0u32).wrapping_mul(radix).wrapping_add(digit));
                cursor.bump();
            }
            None => break,
        }
    }
    value
}
