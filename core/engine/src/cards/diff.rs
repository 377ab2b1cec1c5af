//! What an edit would change, as a difference of lines: with the lines around it where the file is known, of the two
//! texts alone where it is not.

use super::lines::{LineChange, changes};
use super::shown::OldContent;
use model::{ToolCall, ToolKind};

/// So much of a difference is shown.
pub const MOST_DIFF: usize = 96 * 1024;

/// So many lines that stay are shown around a change.
const AROUND: usize = 3;

/// `None` where the call changes no file, or what it changes cannot be told.
pub fn of_call(call: &ToolCall, old: &OldContent) -> Option<String> {
    let subject = &call.subject;
    let shown = difference(call, old)?;
    let before = match (call.kind, old) {
        (ToolKind::Write, OldContent::Text(old)) => Some(old.as_str()),
        (ToolKind::Write, _) => None,
        _ => subject.removed.as_deref(),
    };
    Some(match before {
        _ if !shown.is_empty() => shown,
        Some(before) if before != subject.added => "\\ only line ends change\n".to_string(),
        // An empty file that was not there is made.
        None => "\\ an empty file is made\n".to_string(),
        Some(_) => "\\ nothing changes\n".to_string(),
    })
}

fn difference(call: &ToolCall, old: &OldContent) -> Option<String> {
    let subject = &call.subject;
    let added = with_plain_ends(&subject.added);
    match (call.kind, subject.removed.as_deref(), old) {
        (ToolKind::Write, _, OldContent::Text(old)) => Some(of_texts(&with_plain_ends(old), &added)),
        (ToolKind::Write, _, OldContent::Missing) => Some(of_texts("", &added)),
        (ToolKind::Edit, Some(removed), old) => {
            let removed = with_plain_ends(removed);
            let file = match old {
                OldContent::Text(text) => with_plain_ends(text),
                OldContent::Missing | OldContent::Unknown => String::new(),
            };
            match edited(&file, (&removed, &added), subject.everywhere) {
                Some(edited) => Some(of_texts(&file, &edited)),
                None => Some(of_texts(&removed, &added)),
            }
        }
        _ => None,
    }
}

/// At most so much of it, to the end of a line.
pub fn cut(diff: String) -> String {
    if diff.len() <= MOST_DIFF {
        return diff;
    }
    let end = (0..=MOST_DIFF).rev().find(|end| diff.is_char_boundary(*end)).unwrap_or_default();
    let head = diff.get(..end).unwrap_or_default();
    let head = head.rfind('\n').and_then(|end| head.get(..=end)).unwrap_or(head);
    format!("{head}… [{} bytes in all]\n", diff.len())
}

/// The client edits a file with the line ends it has; how a line ends is no part of what is shown of it.
fn with_plain_ends(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The file after the edit; `None` where the text to replace does not stand in it as it has to.
fn edited(file: &str, (removed, added): (&str, &str), everywhere: bool) -> Option<String> {
    if removed.is_empty() {
        return file.is_empty().then(|| added.to_string());
    }
    match (file.matches(removed).take(2).count(), everywhere) {
        (0, _) | (2, false) => None,
        (_, true) => Some(file.replace(removed, added)),
        (_, false) => Some(file.replacen(removed, added, 1)),
    }
}

/// In the form of `diff -u`, without its head.
fn of_texts(old: &str, new: &str) -> String {
    let (before, after) = (lines(old), lines(new));
    let all = changes(&before, &after);
    let mut out = String::new();
    let (mut old_line, mut new_line) = (1, 1);
    let mut at = 0;
    while at < all.len() {
        let rest = all.get(at..).unwrap_or_default();
        let Some(next) = rest.iter().position(|change| !matches!(change, LineChange::Kept(_))) else { break };
        let skipped = next.saturating_sub(AROUND);
        (old_line, new_line, at) = (old_line + skipped, new_line + skipped, at + skipped);
        let hunk = hunk_of(all.get(at..).unwrap_or_default());
        let count = |wanted: fn(&LineChange<'_>) -> bool| hunk.iter().filter(|change| wanted(change)).count();
        let (olds, news) =
            (count(|it| !matches!(it, LineChange::Added(_))), count(|it| !matches!(it, LineChange::Removed(_))));
        out.push_str(&format!("@@ -{},{olds} +{},{news} @@\n", start(old_line, olds), start(new_line, news)));
        for change in hunk {
            let (sign, text) = match change {
                LineChange::Kept(text) => (' ', text),
                LineChange::Removed(text) => ('-', text),
                LineChange::Added(text) => ('+', text),
            };
            out.push(sign);
            out.push_str(text);
            out.push('\n');
        }
        (old_line, new_line, at) = (old_line + olds, new_line + news, at + hunk.len());
    }
    if !all.is_empty() && old.ends_with('\n') != new.ends_with('\n') && !old.is_empty() && !new.is_empty() {
        out.push_str(if new.ends_with('\n') {
            "\\ a newline is added at the end\n"
        } else {
            "\\ the newline at the end is taken out\n"
        });
    }
    out
}

/// An empty side begins before its first line.
fn start(line: usize, count: usize) -> usize {
    if count == 0 { line - 1 } else { line }
}

/// From the lines before a change to those after it; changes that stand close together are one piece.
fn hunk_of<'a, 'b>(from: &'b [LineChange<'a>]) -> &'b [LineChange<'a>] {
    let (mut end, mut kept) = (0, 0);
    for (at, change) in from.iter().enumerate() {
        match change {
            LineChange::Kept(_) => kept += 1,
            _ => (end, kept) = (at + 1, 0),
        }
        if end > 0 && kept > 2 * AROUND {
            break;
        }
    }
    from.get(..(end + AROUND).min(from.len())).unwrap_or(from)
}

fn lines(text: &str) -> Vec<&str> {
    text.strip_suffix('\n').map_or_else(
        || if text.is_empty() { Vec::new() } else { text.split('\n').collect() },
        |text| text.split('\n').collect(),
    )
}
