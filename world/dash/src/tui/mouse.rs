//! What the mouse does: the same as keys would. A click never answers and never
//! sends: it chooses, and a click on what is chosen opens it.

use super::cursor::Cursor;
use super::fleet::View;
use super::layout::Lines;
use super::state::{ClickPlace, Focus, Key, ViewEffect, ViewState};

/// How many lines one notch of the wheel moves.
const NOTCH: usize = 3;

impl ViewState {
    pub(super) fn click(&mut self, place: ClickPlace) -> Vec<ViewEffect> {
        match (place, self.focus) {
            (ClickPlace::WheelUp, Focus::List | Focus::Filter) => self.wheel(Key::Up),
            (ClickPlace::WheelDown, Focus::List | Focus::Filter) => self.wheel(Key::Down),
            (ClickPlace::Line(y), Focus::List) if self.card.is_none() && self.detail.is_none() => return self.point(y),
            _ => {}
        }
        Vec::new()
    }

    fn wheel(&mut self, key: Key) {
        for _ in 0..NOTCH {
            match &mut self.card {
                Some(panel) if key == Key::Up => panel.top = panel.top.saturating_sub(1),
                Some(panel) => panel.top = panel.top.saturating_add(1),
                None => self.go(key),
            }
        }
    }

    fn point(&mut self, y: u16) -> Vec<ViewEffect> {
        let body = self.layout().body;
        let ended = self.ended_rows().len();
        let (cursor, len) = match (&mut self.timeline, self.view) {
            (Some(timeline), _) => {
                let len = timeline.entries.len();
                (&mut timeline.cursor, len)
            }
            (None, View::Agents) => (&mut self.agents, self.listed.len()),
            (None, View::Verdicts) => {
                let len = self.read.as_ref().map(|read| read.verdicts.len()).unwrap_or_default();
                (&mut self.verdicts, len)
            }
            (None, View::Ended) => (&mut self.ended, ended),
            (None, View::Tasks) => return Vec::new(),
        };
        let Some(at) = line_at(body, y, cursor).filter(|at| *at < len) else { return Vec::new() };
        if cursor.at == at {
            return self.open();
        }
        cursor.at = at;
        if let Some(timeline) = &mut self.timeline {
            timeline.stays();
        }
        self.chosen = self.chosen_row().map(|row| row.id.clone());
        Vec::new()
    }
}

fn line_at(body: Lines, y: u16, cursor: &Cursor) -> Option<usize> {
    let below = y.checked_sub(body.from).filter(|below| *below < body.count)?;
    Some(cursor.top + usize::from(below))
}
