//! One frame as plain text, for scripts and for documents.

use super::canvas::Canvas;
use super::draw::paint;
use super::look::ColorMode;
use super::state::{ClockTick, FleetSnapshot, ViewInput, ViewState};
use model::Ms;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The fleet in so many cells, as high as it is: nobody can scroll a text.
pub fn picture(snapshot: FleetSnapshot, now: Ms, width: u16) -> Vec<String> {
    let state = ViewState::new(width, 0, ColorMode::Plain).printed();
    let (state, _) = state.step(ViewInput::Tick(ClockTick { now }));
    let (state, _) = state.step(ViewInput::Snapshot(snapshot));
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, state.layout().height()));
    paint(&state, &mut Canvas { buffer: &mut buffer });
    let mut lines = lines(&buffer);
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// The text of a screen, without the empty cells at the end of a line.
pub(super) fn lines(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    let row = |y: u16| {
        let (mut text, mut x) = (String::new(), area.left());
        while x < area.right() {
            let symbol = buffer.cell((x, y)).map(|cell| cell.symbol()).unwrap_or(" ");
            text.push_str(symbol);
            // A wide letter takes the cells behind it too.
            x = x.saturating_add(u16::try_from(super::text::width(symbol)).unwrap_or(1).max(1));
        }
        text.trim_end().to_string()
    };
    (area.top()..area.bottom()).map(row).collect()
}
