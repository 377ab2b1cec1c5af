//! Lines on a screen. Nothing written beyond its edge, whatever its size.

use super::layout::Lines;
use super::text::width;
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) struct Canvas<'b> {
    pub buffer: &'b mut Buffer,
}

impl Canvas<'_> {
    pub fn width(&self) -> usize {
        usize::from(self.buffer.area.width)
    }

    /// Writes a line at this height, from the left edge.
    pub fn put(&mut self, y: u16, line: &Line<'_>) {
        let area = self.buffer.area;
        if y < area.height {
            self.buffer.set_line(area.x, area.y + y, line, area.width);
        }
    }

    /// Lines one below the other, as many as have room.
    pub fn fill(&mut self, lines: Lines, text: impl IntoIterator<Item = Line<'static>>) {
        for (y, line) in (lines.from..lines.from.saturating_add(lines.count)).zip(text) {
            self.put(y, &line);
        }
    }

    /// One part to the left and one to the right; the right one gives way.
    pub fn put_both(&mut self, y: u16, left: Vec<Span<'static>>, right: Vec<Span<'static>>) {
        let cells = |spans: &[Span<'_>]| spans.iter().map(Span::width).sum::<usize>();
        let room = self.width().saturating_sub(cells(&left));
        let mut spans = left;
        if cells(&right) < room {
            spans.push(Span::raw(" ".repeat(room - cells(&right))));
            spans.extend(right);
        }
        self.put(y, &Line::from(spans));
    }

    /// The chosen line: turned around from edge to edge.
    pub fn put_chosen(&mut self, y: u16, line: &Line<'_>) {
        let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
        let rest = " ".repeat(self.width().saturating_sub(width(&text)));
        self.put(y, &Line::styled(format!("{text}{rest}"), super::look::chosen()));
    }
}

pub(super) fn span(text: impl Into<String>, style: Style) -> Span<'static> {
    Span::styled(text.into(), style)
}

/// A title with a rule to the edge.
pub(super) fn rule(title: &str, cells: usize) -> Line<'static> {
    let title = format!("─ {title} ");
    let rest = "─".repeat(cells.saturating_sub(width(&title)));
    Line::styled(format!("{title}{rest}"), super::look::faint())
}
