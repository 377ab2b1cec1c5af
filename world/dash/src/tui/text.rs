//! Text in cells: how wide it is, how it is cut, and how ages and shares are
//! written so that a column never changes its width.

/// What may stand on a line of the screen: one line, nothing to obey.
pub(super) use crate::view_model::flat as line;
use ratatui::text::Span;

/// How many cells a text takes.
pub(super) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// Cut at the end to this many cells.
pub(super) fn cut(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_string();
    }
    let mut kept = head(text, cells.saturating_sub(1));
    if cells > 0 {
        kept.push('…');
    }
    kept
}

/// Cut in the middle: both ends of a path or a name tell more than its middle.
pub(super) fn squeeze(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_string();
    }
    if cells < 5 {
        return cut(text, cells);
    }
    let tail_cells = (cells - 1) * 3 / 5;
    format!("{}…{}", head(text, cells - 1 - tail_cells), tail(text, tail_cells))
}

/// Exactly this many cells, to the left.
pub(super) fn left(text: &str, cells: usize) -> String {
    let mut text = cut(text, cells);
    text.push_str(&" ".repeat(cells.saturating_sub(width(&text))));
    text
}

/// Exactly this many cells, to the right.
pub(super) fn right(text: &str, cells: usize) -> String {
    let text = cut(text, cells);
    format!("{}{text}", " ".repeat(cells.saturating_sub(width(&text))))
}

/// An age in at most four cells: 12s, 3m, 2h, 5d.
pub(super) fn age(millis: i64) -> String {
    match millis.max(0) / 1000 {
        seconds @ ..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds @ 3600..86_400 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", (seconds / 86_400).min(999)),
    }
}

/// How long something took, where tenths matter.
pub(super) fn took(millis: i64) -> String {
    match millis.max(0) {
        short @ ..1000 => format!("{short}ms"),
        short @ 1000..10_000 => format!("{}.{}s", short / 1000, short % 1000 / 100),
        long => age(long),
    }
}

/// A project by its last folder.
pub(super) fn project(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// A file of the project by its path there.
pub(super) fn within(about: &str, project: &str) -> String {
    let inside = about.strip_prefix(project).and_then(|rest| rest.strip_prefix('/'));
    inside.filter(|rest| !rest.is_empty() && !project.is_empty()).unwrap_or(about).to_string()
}

fn head(text: &str, cells: usize) -> String {
    let (mut kept, mut taken) = (String::new(), 0);
    for grapheme in Span::raw(text).styled_graphemes(ratatui::style::Style::default()) {
        taken += width(grapheme.symbol);
        if taken > cells {
            break;
        }
        kept.push_str(grapheme.symbol);
    }
    kept
}

pub(super) fn tail(text: &str, cells: usize) -> String {
    let span = Span::raw(text);
    let graphemes: Vec<&str> = span.styled_graphemes(ratatui::style::Style::default()).map(|g| g.symbol).collect();
    let (mut from, mut taken) = (graphemes.len(), 0);
    for (at, grapheme) in graphemes.iter().enumerate().rev() {
        taken += width(grapheme);
        if taken > cells {
            break;
        }
        from = at;
    }
    graphemes.get(from..).unwrap_or_default().concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_fits_and_says_that_it_was_cut() {
        assert_eq!((cut("abcdef", 4).as_str(), cut("abcd", 4).as_str(), cut("ab", 0).as_str()), ("abc…", "abcd", ""));
        assert_eq!(cut("日本語", 4), "日…", "half of a wide letter is not shown");
        assert_eq!((left("日本", 5).as_str(), right("7", 3).as_str()), ("日本 ", "  7"));
    }

    #[test]
    fn a_path_keeps_both_ends() {
        assert_eq!(squeeze("/home/ada/work/compiler", 13), "/home…ompiler");
        assert_eq!(width(&squeeze("/home/日本語日本語/compiler", 13)), 13);
        assert_eq!((squeeze("abcdef", 3).as_str(), project("/home/ada/work/"), project("/")), ("ab…", "work", ""));
    }

    #[test]
    fn ages_are_short() {
        let ages = [-5, 0, 59_999, 60_000, 3_599_999, 7_200_000, 86_400_000 * 2].map(age);
        assert_eq!(ages, ["0s", "0s", "59s", "1m", "59m", "2h", "2d"]);
        assert_eq!([7, 1_234, 12_345, 61_000].map(took), ["7ms", "1.2s", "12s", "1m"]);
    }
}
