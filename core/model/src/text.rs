//! The one cleaner: text from outside as a person, a page, a notifier or a
//! model may be shown it. Whatever a terminal would obey and whatever hides
//! from the eye is replaced by something that is seen, never dropped, so that
//! two texts that differ look different and nobody reads past what was there:
//!
//! - controls below U+0080 become their pictures (`␛`, `␇`, `␍`), which also
//!   ends every sequence they begin: what follows an escape is shown as letters;
//! - all other controls and hidden characters become their number (`\u{202e}`);
//! - colours alone are dropped: they say nothing, and all that they could hide
//!   is shown without them;
//! - what makes up an emoji (joiners and variation selectors between its parts)
//!   and a few combining marks on a letter stay, because they are seen there.
//!   Flags spelled with tag characters are not: those spell whole hidden texts.

mod hidden;

pub use hidden::is_hidden;
use hidden::{is_mark, is_pictograph, selects_emoji};
use serde_json::Value;
use std::fmt::Write;

/// More marks on one letter than any language writes climb over the lines around it.
const MOST_MARKS: usize = 4;

const TAB: &str = "    ";

/// One line of at most so many characters; newlines and tabs become spaces.
pub fn line(text: &str, most: usize) -> String {
    Cleaner::new(most, Newlines::Spaces).clean(text)
}

/// The same with its lines kept.
pub fn lines(text: &str, most: usize) -> String {
    Cleaner::new(most, Newlines::Kept).clean(text)
}

/// The same text with every control but newlines and tabs as its picture, colours and the ends of lines too: for what somebody
/// agrees to. A shell reads on in what a terminal would take for a colour.
pub fn with_pictures(text: &str) -> String {
    let is_shown = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_shown) {
        return text.to_string();
    }
    text.chars().map(|c| if is_shown(c) { picture(c) } else { c.to_string() }).collect()
}

/// The same of every text in a value, the names of its fields too.
pub fn value_with_pictures(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(with_pictures(text)),
        Value::Array(items) => items.iter().map(value_with_pictures).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| (with_pictures(name), value_with_pictures(value));
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

/// JSON of the same value, without a character that a terminal would obey or an
/// eye would miss: those are written as escapes, inside strings as they all are.
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        if c.is_control() || is_hidden(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// A word as a shell reads it back unchanged.
pub fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+@%:,=".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Without escape sequences, controls and hidden characters. Only to recognise
/// a text however it is decorated: whoever shows it uses `line` or `lines`.
pub fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' | '\u{9b}' => skip_sequence(c, &mut rest),
            '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || is_hidden(c) => {}
            c => out.push(c),
        }
    }
    out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Newlines {
    Kept,
    Spaces,
}

struct Cleaner {
    out: String,
    /// Characters that may still be written.
    left: usize,
    newlines: Newlines,
    /// What was last written as it came.
    before: char,
    marks: usize,
}

impl Cleaner {
    fn new(most: usize, newlines: Newlines) -> Self {
        Self { out: String::new(), left: most, newlines, before: ' ', marks: 0 }
    }

    fn clean(mut self, text: &str) -> String {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            if let Some(after) = after_colour(c, after) {
                rest = after;
                continue;
            }
            let whole = match c {
                '\r' if after.starts_with('\n') => true,
                '\n' if self.newlines == Newlines::Kept => self.put("\n"),
                '\t' if self.newlines == Newlines::Kept => self.put(TAB),
                '\n' | '\t' => self.put(" "),
                _ if self.is_seen(c, after.chars().next()) => self.keep(c),
                _ => self.put(&picture(c)),
            };
            if !whole {
                self.out.push('…');
                return self.out;
            }
            rest = after;
        }
        self.out
    }

    /// Whether a character is seen as itself where it stands.
    fn is_seen(&self, c: char, next: Option<char>) -> bool {
        match c {
            '\u{200d}' => {
                let joins = is_pictograph(self.before) || matches!(self.before, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}');
                joins && next.is_some_and(is_pictograph)
            }
            '\u{fe0e}' | '\u{fe0f}' => selects_emoji(self.before, next),
            c if is_mark(c) => self.before != ' ' && self.marks < MOST_MARKS,
            c => !c.is_control() && !is_hidden(c),
        }
    }

    fn keep(&mut self, c: char) -> bool {
        let letter = if is_mark(c) { self.before } else { c };
        self.marks = if is_mark(c) { self.marks + 1 } else { 0 };
        let whole = self.put(c.encode_utf8(&mut [0; 4]));
        self.before = letter;
        whole
    }

    /// `false` when there was no room for all of it.
    fn put(&mut self, text: &str) -> bool {
        self.before = ' ';
        for c in text.chars() {
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            self.out.push(c);
        }
        true
    }
}

/// What stands for a character that is not shown as itself.
fn picture(c: char) -> String {
    match u32::from(c) {
        control @ 0..0x20 => char::from_u32(0x2400 + control).unwrap_or('\u{fffd}').to_string(),
        0x7f => '\u{2421}'.to_string(),
        number => format!("\\u{{{number:x}}}"),
    }
}

/// What follows a sequence that only colours: `ESC [ 1 ; 31 m`.
fn after_colour(c: char, after: &str) -> Option<&str> {
    let parameters = match c {
        '\u{1b}' => after.strip_prefix('[')?,
        '\u{9b}' => after,
        _ => return None,
    };
    parameters.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | ':')).strip_prefix('m')
}

fn skip_sequence(first: char, rest: &mut std::str::Chars<'_>) {
    let kind = if first == '\u{9b}' { Some('[') } else { rest.next() };
    let next_if = |rest: &mut std::str::Chars<'_>, wanted: &dyn Fn(char) -> bool| {
        let next = rest.clone().next().filter(|c| wanted(*c))?;
        rest.next();
        Some(next)
    };
    match kind {
        // Parameters, then one final letter.
        Some('[') => {
            while next_if(rest, &|c| ('\u{20}'..='\u{3f}').contains(&c)).is_some() {}
            next_if(rest, &|c| ('\u{40}'..='\u{7e}').contains(&c));
        }
        // Texts for the terminal end with BEL or with ESC and a backslash; an
        // unfinished one takes its line and no more.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = next_if(rest, &|c| c != '\n') {
                if matches!(c, '\u{7}' | '\u{9c}') || (c == '\u{1b}' && next_if(rest, &|c| c == '\\').is_some()) {
                    break;
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
