//! Reads JSON with comments and trailing commas into spans, so that an edit can
//! leave every byte it does not mean alone.

use crate::settings::SettingsError;
use std::ops::Range;

/// How deep a file may nest before it is refused; the reader is recursive.
const DEPTH: usize = 200;

/// What plain JSON does not have, and some agents read all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeyondJson {
    ByteOrderMark,
    Comment,
    TrailingComma,
}

/// A text and where everything in it stands.
pub(crate) struct Document<'t> {
    pub text: &'t str,
    /// Absent when the text holds nothing but space and comments.
    pub root: Option<Node>,
    /// Spans of the comments, in order.
    pub comments: Vec<Range<usize>>,
    /// Offsets of the commas, in order.
    pub commas: Vec<usize>,
    /// Those of them that nothing follows.
    trailing_commas: Vec<usize>,
}

pub(crate) struct Node {
    pub span: Range<usize>,
    pub value: Value,
}

pub(crate) enum Value {
    /// `None` when the text between the quotes is no lawful Unicode.
    Text(Option<String>),
    /// A number, `true`, `false` or `null`.
    Plain,
    Array(Vec<Node>),
    Object(Vec<Member>),
}

pub(crate) struct Member {
    pub key: Option<String>,
    /// From the key's first quote.
    pub start: usize,
    pub node: Node,
}

impl<'t> Document<'t> {
    pub fn read(text: &'t str) -> Result<Self, SettingsError> {
        let mut reader = Reader { text, at: 0, comments: Vec::new(), commas: Vec::new(), trailing_commas: Vec::new() };
        if text.starts_with('\u{feff}') {
            reader.at = '\u{feff}'.len_utf8();
        }
        reader.skip()?;
        let root = match reader.peek() {
            None => None,
            Some(_) => Some(reader.node(0)?),
        };
        reader.skip()?;
        if reader.peek().is_some() {
            return Err(reader.broken("there is more text after the settings have ended"));
        }
        let Reader { comments, commas, mut trailing_commas, .. } = reader;
        trailing_commas.sort_unstable();
        Ok(Self { text, root, comments, commas, trailing_commas })
    }

    pub fn slice(&self, span: Range<usize>) -> &'t str {
        self.text.get(span).unwrap_or_default()
    }

    pub fn last_comment(&self, span: &Range<usize>) -> Option<&Range<usize>> {
        self.comments.iter().rfind(|comment| span.contains(&comment.start))
    }

    /// Where the text first uses one of these.
    pub fn first_beyond_json(&self, looked_for: &[BeyondJson]) -> Option<(usize, BeyondJson)> {
        let first = |kind: &BeyondJson| {
            let at = match kind {
                BeyondJson::ByteOrderMark => self.text.starts_with('\u{feff}').then_some(0),
                BeyondJson::Comment => self.comments.first().map(|comment| comment.start),
                BeyondJson::TrailingComma => self.trailing_commas.first().copied(),
            };
            at.map(|at| (at, *kind))
        };
        looked_for.iter().filter_map(first).min_by_key(|(at, _)| *at)
    }

    pub fn comma_in(&self, span: Range<usize>) -> Option<usize> {
        self.commas.iter().copied().find(|comma| span.contains(comma))
    }

    pub fn is_commented(&self, span: &Range<usize>) -> bool {
        self.last_comment(span).is_some()
    }
}

impl BeyondJson {
    /// Not the byte order mark, which stands before all syntax.
    pub const SYNTAX: &[Self] = &[Self::Comment, Self::TrailingComma];

    pub fn name(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "byte order mark",
            Self::Comment => "comment",
            Self::TrailingComma => "trailing comma",
        }
    }
}

impl Node {
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => text.as_deref(),
            _ => None,
        }
    }

    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    pub fn members(&self) -> Option<&[Member]> {
        match &self.value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The member of this name; the last one wins, as it does for the client.
    pub fn member(&self, key: &str) -> Option<&Member> {
        self.members()?.iter().rfind(|member| member.key.as_deref() == Some(key))
    }

    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Plain => "a plain value",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    comments: Vec<Range<usize>>,
    commas: Vec<usize>,
    trailing_commas: Vec<usize>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn broken(&self, why: impl Into<String>) -> SettingsError {
        SettingsError::at(self.text, self.at, why)
    }

    /// Passes over space and comments.
    fn skip(&mut self) -> Result<(), SettingsError> {
        loop {
            let rest = self.rest();
            if rest.starts_with([' ', '\t', '\r', '\n']) {
                self.at += 1;
            } else if rest.starts_with("//") {
                let length = rest.find('\n').unwrap_or(rest.len());
                // The carriage return belongs to the line's end, not to the comment.
                let body = rest.get(..length).unwrap_or_default();
                self.comment(body.strip_suffix('\r').unwrap_or(body).len());
            } else if rest.starts_with("/*") {
                let Some(length) = rest.get(2..).and_then(|body| body.find("*/")) else {
                    return Err(self.broken("a comment begins here and never ends"));
                };
                self.comment(length + 4);
            } else {
                return Ok(());
            }
        }
    }

    fn comment(&mut self, length: usize) {
        let end = self.at + length;
        self.comments.push(self.at..end);
        self.at = end;
    }

    fn node(&mut self, depth: usize) -> Result<Node, SettingsError> {
        if depth > DEPTH {
            return Err(self.broken("the settings nest too deeply"));
        }
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => Value::Object(self.list(b'}', |reader| reader.member(depth + 1))?),
            Some(b'[') => Value::Array(self.list(b']', |reader| reader.node(depth + 1))?),
            Some(b'"') => Value::Text(self.string()?),
            Some(_) => self.plain()?,
            None => return Err(self.broken("the text ends where a value is expected")),
        };
        Ok(Node { span: start..self.at, value })
    }

    /// The inside of a list or an object, brackets included.
    fn list<T>(
        &mut self,
        close: u8,
        element: impl Fn(&mut Self) -> Result<T, SettingsError>,
    ) -> Result<Vec<T>, SettingsError> {
        let mut elements = Vec::new();
        let mut comma = None;
        self.at += 1;
        loop {
            self.skip()?;
            if self.peek() == Some(close) {
                self.trailing_commas.extend(comma);
                self.at += 1;
                return Ok(elements);
            }
            elements.push(element(self)?);
            self.skip()?;
            comma = None;
            match self.peek() {
                Some(b',') => {
                    comma = Some(self.at);
                    self.commas.push(self.at);
                    self.at += 1;
                }
                Some(found) if found == close => {}
                Some(_) => return Err(self.broken(format!("`,` or `{}` is expected here", char::from(close)))),
                None => return Err(self.broken(format!("the text ends before its `{}`", char::from(close)))),
            }
        }
    }

    fn member(&mut self, depth: usize) -> Result<Member, SettingsError> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.broken("a name in double quotes is expected here"));
        }
        let key = self.string()?;
        self.skip()?;
        if self.peek() != Some(b':') {
            return Err(self.broken("`:` is expected after a name"));
        }
        self.at += 1;
        self.skip()?;
        Ok(Member { key, start, node: self.node(depth)? })
    }

    fn string(&mut self) -> Result<Option<String>, SettingsError> {
        let mut escaped = false;
        let length = self.rest().bytes().enumerate().skip(1).find_map(|(index, byte)| match byte {
            b'\n' => Some(Err(())),
            _ if escaped => {
                escaped = false;
                None
            }
            b'\\' => {
                escaped = true;
                None
            }
            b'"' => Some(Ok(index + 1)),
            _ => None,
        });
        let Some(Ok(length)) = length else {
            return Err(self.broken("a text begins here and its closing quote is missing on this line"));
        };
        let quoted = self.rest().get(..length).unwrap_or_default();
        if let Some(at) = quoted.find(|c: char| c.is_ascii_control() && c != '\u{7f}') {
            self.at += at;
            return Err(self.broken("a control character stands in a text as it is; JSON wants it as an escape, `\\t`"));
        }
        let text = serde_json::from_str(quoted).ok();
        self.at += length;
        Ok(text)
    }

    fn plain(&mut self) -> Result<Value, SettingsError> {
        let rest = self.rest();
        let length =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        if !(matches!(word, "true" | "false" | "null") || is_number(word)) {
            return Err(self.broken("this is no JSON value"));
        }
        self.at += length;
        Ok(Value::Plain)
    }
}

/// As it is written: how large it is matters to nobody here.
fn is_number(word: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (value, power) = word.split_once(['e', 'E']).unwrap_or((word, "0"));
    let (whole, fraction) = value.split_once('.').unwrap_or((value, "0"));
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let power = power.strip_prefix(['+', '-']).unwrap_or(power);
    (whole == "0" || !whole.starts_with('0')) && [whole, fraction, power].into_iter().all(digits)
}
