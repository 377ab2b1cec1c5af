//! What every key does.

use super::cursor::{Cursor, Move, Span};
use super::detail::Detail;
use super::fleet::View;
use super::state::{Focus, Key, Order, ViewEffect, ViewState};
use super::timeline::Timeline;

impl ViewState {
    pub(super) fn press(&mut self, key: Key) -> Vec<ViewEffect> {
        match key {
            Key::Ctrl('c') => return vec![ViewEffect::Quit],
            Key::Ctrl('z') => return vec![ViewEffect::Suspend],
            Key::Ctrl('l') => return vec![ViewEffect::Repaint],
            _ => {}
        }
        match self.focus {
            Focus::Filter => {
                self.type_filter(key);
                Vec::new()
            }
            Focus::Help => {
                self.focus = Focus::List;
                Vec::new()
            }
            Focus::Writing => self.press_writing(key),
            Focus::Confirming => self.press_confirming(key),
            Focus::List | Focus::Nobody if self.card.is_some() => self.press_card(key),
            Focus::List | Focus::Nobody => self.press_anywhere(key),
        }
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Char(letter) => self.filter.push(letter),
            Key::Backspace if self.filter.is_empty() => self.focus = Focus::List,
            Key::Backspace => drop(self.filter.pop()),
            Key::Ctrl('u') => self.filter.clear(),
            Key::Enter | Key::Tab => self.focus = Focus::List,
            Key::Esc => {
                self.filter.clear();
                self.focus = Focus::List;
            }
            Key::Up | Key::Down | Key::PageUp | Key::PageDown => {
                self.go(key);
                return;
            }
            Key::Home | Key::End | Key::Ctrl(_) => return,
        }
        self.list();
        self.ended = Cursor::default();
    }

    fn press_anywhere(&mut self, key: Key) -> Vec<ViewEffect> {
        match key {
            Key::Char('q') => return vec![ViewEffect::Quit],
            Key::Char('?') => self.focus = Focus::Help,
            Key::Char('e') if self.timeline.is_none() && self.detail.is_none() => return self.turn_ended(),
            Key::Char('o') => return self.jump(),
            Key::Char(letter @ ('a' | 'w' | 'v' | 'u' | 'x' | 'R' | 'l')) if self.has_agent() => {
                return self.act(letter);
            }
            Key::Esc | Key::Backspace => return self.back(),
            Key::Enter => return self.open(),
            Key::Char('/') if self.lists_agents() || self.lists_ended() => self.focus = Focus::Filter,
            Key::Char('i') if self.lists_agents() => {
                let run = self.chosen_row().and_then(|row| row.run.as_deref());
                match run.map(|run| Detail::of_run(run, self.now)) {
                    Some(detail) => self.detail = Some(detail),
                    None => self.tell("this agent is no loop: Enter shows what it does"),
                }
            }
            Key::Char('s') if self.lists_agents() => {
                self.sort = self.sort.next();
                self.list();
            }
            Key::Char('r') if self.lists_agents() => {
                self.order = if self.order == Order::Usual { Order::Reversed } else { Order::Usual };
                self.list();
            }
            Key::Tab | Key::Char('t') if self.timeline.is_none() && self.detail.is_none() => {
                return self.turn_to(self.view.next());
            }
            other => self.go(other),
        }
        Vec::new()
    }

    /// Whether what is open is about one agent.
    fn has_agent(&self) -> bool {
        let is_over = self.timeline.as_ref().is_some_and(|timeline| timeline.over.is_some());
        self.detail.is_none() && !is_over && (self.timeline.is_some() || self.view == View::Agents)
    }

    fn lists_agents(&self) -> bool {
        self.view == View::Agents && self.timeline.is_none() && self.detail.is_none()
    }

    fn lists_ended(&self) -> bool {
        self.view == View::Ended && self.timeline.is_none() && self.detail.is_none()
    }

    /// The sessions that ended, or the agents again.
    fn turn_ended(&mut self) -> Vec<ViewEffect> {
        self.turn_to(if self.view == View::Ended { View::Agents } else { View::Ended })
    }

    /// What the filter hid in one list is there in the next.
    fn turn_to(&mut self, view: View) -> Vec<ViewEffect> {
        let (before, after) = (self.view == View::Ended, view == View::Ended);
        self.view = view;
        if before != after {
            self.filter.clear();
            self.list();
            return vec![ViewEffect::ReadEnded(after)];
        }
        Vec::new()
    }

    /// One step out of what is open.
    fn back(&mut self) -> Vec<ViewEffect> {
        self.notice = None;
        if self.detail.take().is_some() {
            return Vec::new();
        }
        if self.timeline.take().is_some() {
            return vec![ViewEffect::CloseTimeline];
        }
        if !self.filter.is_empty() && matches!(self.view, View::Agents | View::Ended) {
            self.filter.clear();
            self.list();
        } else if self.view != View::Agents {
            return self.turn_to(View::Agents);
        }
        Vec::new()
    }

    pub(super) fn open(&mut self) -> Vec<ViewEffect> {
        if self.detail.is_some() {
            return self.back();
        }
        if let Some(timeline) = &self.timeline {
            self.detail = timeline.chosen().map(|entry| Detail::of_entry(entry, self.wall));
            return Vec::new();
        }
        match self.view {
            View::Agents => self.open_timeline(),
            View::Verdicts => {
                self.detail = self.latest().get(self.verdicts.at).map(|one| Detail::of_verdict(one, self.wall));
                Vec::new()
            }
            View::Tasks => Vec::new(),
            View::Ended => self.open_ended(),
        }
    }

    fn open_timeline(&mut self) -> Vec<ViewEffect> {
        let Some(row) = self.chosen_row().cloned() else { return Vec::new() };
        let Some(session) = row.session.clone() else {
            if let Some(place) = &row.remote {
                self.tell(format!(
                    "{} is on another machine: its timeline is in `taut top` on {}, and `taut events --fleet` asks the server",
                    row.called(),
                    place.machine
                ));
                return Vec::new();
            }
            if let Some(run) = &row.run {
                self.detail = Some(Detail::of_run(run, self.now));
                return Vec::new();
            }
            self.tell(format!("{} has no session open: `taut events --agent` lists what it did", row.name));
            return Vec::new();
        };
        self.timeline = Some(Timeline::of(&row, &session));
        vec![ViewEffect::OpenTimeline { session }]
    }

    fn jump(&mut self) -> Vec<ViewEffect> {
        let is_over = self.timeline.as_ref().is_some_and(|timeline| timeline.over.is_some());
        if is_over || self.lists_ended() {
            return Vec::new();
        }
        let agent = self.timeline.as_ref().map(|timeline| timeline.agent.clone()).or_else(|| self.chosen.clone());
        let row = self.rows().iter().find(|row| Some(&row.id) == agent.as_ref());
        if let Some((name, machine)) = row.and_then(|row| Some((row.called(), row.remote.as_ref()?.machine.clone()))) {
            self.tell(format!("{name} is on another machine: its terminal is on {machine}"));
            return Vec::new();
        }
        match row.map(|row| (row.name.clone(), row.pane.clone())) {
            Some((_, Some(pane))) => return vec![ViewEffect::Jump { pane }],
            Some((name, None)) => self.tell(format!("{name} is in no tmux pane")),
            None => {}
        }
        Vec::new()
    }

    pub(super) fn go(&mut self, key: Key) {
        let by = match key {
            Key::Up | Key::Char('k') => Move::Up,
            Key::Down | Key::Char('j') => Move::Down,
            Key::PageUp | Key::Ctrl('b') => Move::PageUp,
            Key::PageDown | Key::Ctrl('f') | Key::Char(' ') => Move::PageDown,
            Key::Home | Key::Char('g') => Move::First,
            Key::End | Key::Char('G') => Move::Last,
            _ => return,
        };
        let height = self.layout().body.height();
        if let Some(detail) = &mut self.detail {
            let page = height.saturating_sub(1).max(1);
            detail.top = match by {
                Move::Up => detail.top.saturating_sub(1),
                Move::Down => detail.top.saturating_add(1),
                Move::PageUp => detail.top.saturating_sub(page),
                Move::PageDown => detail.top.saturating_add(page),
                Move::First => 0,
                Move::Last => usize::MAX,
            };
            return;
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.go(by, height);
            return;
        }
        match self.view {
            View::Agents => self.agents.go(by, Span { len: self.listed.len(), height }),
            View::Verdicts => self.verdicts.go(by, Span { len: self.latest().len(), height }),
            View::Tasks => self.tasks.go(by, Span { len: self.totals().len(), height }),
            View::Ended => {
                let len = self.ended_rows().len();
                self.ended.go(by, Span { len, height });
            }
        }
    }
}
