//! The keys, as `?` shows them.

use super::canvas::Canvas;
use super::look::{bold, faint};
use super::text::{left, width};
use ratatui::text::{Line, Span};

const KEYS: [(&str, &str); 20] = [
    ("j k ↓ ↑", "move"),
    ("PgDn g G", "a page on; the first, the last"),
    ("/", "filter by agent, project, status, tool, task"),
    ("s", "sort: urgency, name, context, tool time, since"),
    ("r", "the other way round"),
    ("Enter", "timeline of the agent; there: all of one event"),
    ("i", "iterations and workers of a loop"),
    ("Tab t", "agents, verdicts, tasks"),
    ("e", "sessions that ended; Enter opens one"),
    ("a", "answer what the agent asks"),
    ("w", "say to the agent what is next"),
    ("x R", "stop what it does; start it again (both ask)"),
    ("l", "allow the rule that stopped it, here (asks)"),
    ("v u", "mark it as seen; how to take up its effort"),
    ("mouse", "click chooses and opens; Shift selects text"),
    ("o", "go to the agent's tmux pane"),
    ("Esc", "back; clears the filter"),
    ("Ctrl+L +Z", "draw the screen anew; to the shell (`fg`)"),
    ("q Ctrl+C", "quit"),
    ("✖ ▲ ● ◇ ○", "error, attention, working, checked, done"),
];

/// A box in the middle, as large as fits.
pub(super) fn overlay(canvas: &mut Canvas<'_>) {
    let inner = canvas.width().saturating_sub(4).min(64);
    let lines: Vec<Line<'static>> = KEYS
        .iter()
        .map(|(key, does)| {
            Line::from(vec![
                Span::styled(format!("  {}", left(key, 11)), bold()),
                Span::raw(left(does, inner.saturating_sub(13))),
            ])
        })
        .collect();
    let height = usize::from(canvas.buffer.area.height);
    let x = (canvas.width().saturating_sub(inner + 2) / 2) as u16;
    let mut y = (height.saturating_sub(lines.len() + 2) / 2) as u16;
    let edge = |from: &str, title: &str, to: &str| {
        let rest = "─".repeat(inner.saturating_sub(width(title)));
        Line::styled(format!("{from}{title}{rest}{to}"), faint())
    };
    let mut put = |line: Line<'static>| {
        let area = canvas.buffer.area;
        if y < area.height {
            canvas.buffer.set_line(area.x + x, area.y + y, &line, area.width.saturating_sub(x));
        }
        y = y.saturating_add(1);
    };
    put(edge("┌", " keys ", "┐"));
    for line in lines {
        let mut spans = vec![Span::styled("│", faint())];
        spans.extend(line.spans);
        spans.push(Span::styled("│", faint()));
        put(Line::from(spans));
    }
    put(edge("└", " any key closes ", "┘"));
}

#[cfg(test)]
mod tests {
    use super::KEYS;

    /// The keys that a table of the page names in its first column.
    fn named(page: &str) -> Vec<&str> {
        let part = page.split("## `taut top`").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default();
        let cells = part.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
    }

    #[test]
    fn f4_every_key_that_the_page_names_is_in_the_help() {
        let known: Vec<&str> = KEYS.iter().flat_map(|(keys, _)| keys.split_whitespace()).chain(["PgUp", "?"]).collect();
        let named = named(include_str!("../../../../docs/fleet.md"));
        assert!(named.len() > 15, "{named:?}");
        let unknown: Vec<&&str> = named.iter().filter(|key| !known.contains(key)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
