//! Puts elements into lists and objects and takes them out again. Taking out is
//! the exact inverse of putting in: every byte that was there stays.
//!
//! An element is put in after the last one, behind its comments, and keeps the
//! style found there: a line of its own or not, a trailing comma or not. A
//! container that was already there and empty gets it directly behind its
//! bracket, while containers we make ourselves have space there. So the text
//! alone says which containers were made by us and have to go with their last
//! element; no record is needed.

use super::jsonc::{Document, Node, Value};
use std::ops::Range;

/// Replaces a span by a text.
pub(crate) struct Splice {
    pub span: Range<usize>,
    pub with: String,
}

/// A list or an object seen as a row of elements.
pub(crate) struct Row {
    /// Between the brackets.
    inside: Range<usize>,
    elements: Vec<Range<usize>>,
}

/// The habits of the text that an insertion follows.
pub(crate) struct Layout {
    pub line_end: &'static str,
    pub indent: String,
}

impl Splice {
    fn insert(at: usize, with: impl Into<String>) -> Self {
        Self { span: at..at, with: with.into() }
    }

    fn cut(span: Range<usize>) -> Self {
        Self { span, with: String::new() }
    }
}

/// Carries out splices that do not overlap.
pub(crate) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| splice.span.start);
    let mut result = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for splice in splices {
        result.push_str(text.get(at..splice.span.start).unwrap_or_default());
        result.push_str(&splice.with);
        at = splice.span.end;
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}

impl Layout {
    pub fn of(document: &Document<'_>) -> Self {
        let text = document.text;
        let crlf = text.find('\n').is_some_and(|at| text.get(..at).is_some_and(|line| line.ends_with('\r')));
        let first = document.root.as_ref().and_then(Row::of).and_then(|row| {
            let first = row.elements.first()?;
            document.slice(row.inside.start..first.start).contains('\n').then(|| line_indent(text, first.start))
        });
        let indent = first.filter(|indent| !indent.is_empty()).unwrap_or("  ").to_owned();
        Self { line_end: if crlf { "\r\n" } else { "\n" }, indent }
    }
}

impl Row {
    pub fn of(node: &Node) -> Option<Self> {
        let elements = match &node.value {
            Value::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            Value::Object(members) => members.iter().map(|member| member.start..member.node.span.end).collect(),
            _ => return None,
        };
        Some(Self { inside: node.span.start + 1..node.span.end.saturating_sub(1), elements })
    }

    /// The row with an element and those right behind it taken as one.
    pub fn joined(mut self, index: usize, with: usize) -> Self {
        let last = index.saturating_add(with);
        if with > 0
            && let (Some(first), Some(end)) = (self.elements.get(index).cloned(), self.elements.get(last).cloned())
        {
            self.elements.splice(index..=last, Some(first.start..end.end));
        }
        self
    }

    /// Puts an element in at the end. `render` is told the indentation of the
    /// element's first line.
    pub fn append(&self, document: &Document<'_>, layout: &Layout, render: impl FnOnce(&str) -> String) -> Vec<Splice> {
        let Some(last) = self.elements.last() else {
            let indent = line_indent(document.text, self.inside.start);
            return vec![Splice::insert(self.inside.start, render(indent))];
        };
        let before_last = self.elements.iter().rev().nth(1).map_or(self.inside.start, |element| element.end);
        let own_line = document.slice(before_last..last.start).contains('\n');
        let indent = line_indent(document.text, last.start);
        let tail = last.end..self.inside.end;
        let comma = document.comma_in(tail.clone());
        let behind = match comma {
            Some(comma) => comma + 1,
            None => last.end,
        };
        let comment = document.last_comment(&(behind..tail.end)).map(|comment| comment.end);
        let space = if own_line || comment.is_some() { format!("{}{indent}", layout.line_end) } else { " ".to_owned() };
        let element = format!("{space}{}", render(indent));
        let at = comment.unwrap_or(behind);
        match comma {
            Some(_) => vec![Splice::insert(at, element + ",")],
            None if at == last.end => vec![Splice::insert(at, format!(",{element}"))],
            None => vec![Splice::insert(last.end, ","), Splice::insert(at, element)],
        }
    }

    /// Takes an element out, with the space before it and one comma.
    pub fn detach(&self, document: &Document<'_>, index: usize) -> Vec<Splice> {
        let Some(element) = self.elements.get(index) else {
            return Vec::new();
        };
        let previous = index.checked_sub(1).and_then(|index| self.elements.get(index));
        let next = self.elements.get(index + 1).map_or(self.inside.end, |next| next.start);
        let comma_before = previous.and_then(|previous| document.comma_in(previous.end..element.start));
        let comma_after = document.comma_in(element.end..next);
        let from = comma_before.map_or(self.inside.start, |comma| comma + 1);
        let from = match document.last_comment(&(from..element.start)) {
            // What follows on the element's line would become part of the comment.
            Some(comment) if is_line_comment(document, comment) && !ends_its_line(document.text, element.end) => {
                element.start
            }
            Some(comment) => comment.end,
            None => from,
        };
        let mut splices = vec![Splice::cut(from..element.end)];
        // With no comma behind it the element was the last; the comma before it
        // is then the one that was put in with it.
        splices.extend(comma_after.or(comma_before).map(|comma| Splice::cut(comma..comma + 1)));
        splices
    }

    /// Whether nothing but this one element is inside, not even a comment.
    pub fn holds_only(&self, document: &Document<'_>, index: usize) -> bool {
        let Some(element) = self.elements.get(index) else {
            return false;
        };
        let (before, after) = (self.inside.start..element.start, element.end..self.inside.end);
        self.elements.len() == 1 && !document.is_commented(&before) && !document.is_commented(&after)
    }

    /// Whether the row was made by us, as far as its form tells.
    pub fn is_made_by_us(&self) -> bool {
        self.elements.first().is_some_and(|first| first.start > self.inside.start)
    }
}

fn is_line_comment(document: &Document<'_>, comment: &Range<usize>) -> bool {
    document.slice(comment.clone()).starts_with("//")
}

/// Whether at most a comma stands between the offset and the end of its line.
fn ends_its_line(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default().trim();
    line.is_empty() || line == ","
}

/// The white space that begins the line of an offset.
fn line_indent(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..).unwrap_or_default();
    let length = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
    line.get(..length).unwrap_or_default()
}

/// Begins the settings in a text that has none.
pub(crate) fn put_root(document: &Document<'_>, layout: &Layout, member: &str) -> Splice {
    let text = document.text;
    let (line_end, indent) = (layout.line_end, &layout.indent);
    let root = format!("{{{line_end}{indent}{member}{line_end}}}");
    let before = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fresh_line = before.is_empty() || before.ends_with('\n');
    Splice::insert(text.len(), if fresh_line { root + line_end } else { line_end.to_owned() + &root })
}

/// The inverse of [`put_root`].
pub(crate) fn cut_root(document: &Document<'_>) -> Splice {
    let Some(root) = &document.root else {
        return Splice::cut(0..0);
    };
    let span = root.span.clone();
    let line_end = if document.slice(span.clone()).starts_with("{\r\n") { "\r\n" } else { "\n" };
    let (before, after) = (document.slice(0..span.start), document.slice(span.end..document.text.len()));
    if after.starts_with(line_end) {
        Splice::cut(span.start..span.end + line_end.len())
    } else if after.is_empty() && before.ends_with(line_end) {
        Splice::cut(span.start - line_end.len()..span.end)
    } else {
        Splice::cut(span)
    }
}

/// The indentation for further lines of an insertion into a row.
pub(crate) fn inner_indent(row: &Row, indent: &str, layout: &Layout) -> String {
    // In a row that has elements, `indent` is theirs already.
    if row.elements.is_empty() { format!("{indent}{}", layout.indent) } else { indent.to_owned() }
}
