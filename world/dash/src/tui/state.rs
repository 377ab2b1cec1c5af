//! What is on the screen, and what every input makes of it. Time, sizes, keys
//! and what was read come in as data; what is to be done goes out as data.

use super::acts::{Confirming, TopAct, Writing};
use super::card_panel::CardPanel;
use super::cursor::{Cursor, Span};
use super::detail::Detail;
use super::ended::EndedRow;
use super::fleet::{self, Sort, View};
use super::layout::Layout;
use super::look::ColorMode;
use super::timeline::Timeline;
use crate::view_model::{AgentRow, FleetSummary, Verdict};
use model::row::Event;
use model::{Ms, WallClock};
use store::TaskTotals;

/// What comes in.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewInput {
    Key(Key),
    Resize {
        width: u16,
        height: u16,
    },
    Snapshot(FleetSnapshot),
    Timeline(Chunk),
    /// The sessions that ended, those that were there last first.
    Ended(Vec<EndedRow>),
    Tick(ClockTick),
    /// Something to be told for a while.
    Notice(String),
    /// Something that was made ready is asked about, in these words.
    Ask {
        act: TopAct,
        question: String,
    },
    Mouse(ClickPlace),
}

/// Where a mouse was used, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickPlace {
    /// On this line, from the top.
    Line(u16),
    WheelUp,
    WheelDown,
}

/// A key, as far as any is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Ctrl(char),
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Esc,
    Tab,
    Backspace,
}

/// The fleet as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FleetSnapshot {
    pub rows: Vec<AgentRow>,
    /// The newest first.
    pub verdicts: Vec<Verdict>,
    pub tasks: Vec<TaskTotals>,
    /// What a person ought to know of the record, each one sentence.
    pub warnings: Vec<String>,
    /// An agent worked here before, whether or not one does now.
    pub had_sessions: bool,
}

/// Events of a session that follow those before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chunk {
    pub session: String,
    pub events: Vec<Event>,
}

/// The clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockTick {
    pub now: Ms,
}

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewEffect {
    Quit,
    /// Give the terminal back until somebody calls for us again.
    Suspend,
    /// Draw everything anew: something else wrote on the screen.
    Repaint,
    /// Read this session's events from now on.
    OpenTimeline {
        session: String,
    },
    CloseTimeline,
    /// Read the sessions that ended from now on, or no more.
    ReadEnded(bool),
    /// Do this, and tell what came of it.
    Act(TopAct),
    /// Find out what this would do, and ask.
    Prepare(TopAct),
    /// Show the agent's tmux pane.
    Jump {
        pane: String,
    },
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ViewState {
    pub(super) now: Ms,
    /// What its times are shown by.
    pub(super) wall: WallClock,
    pub(super) width: u16,
    pub(super) height: u16,
    pub(super) look: ColorMode,
    pub(super) read: Option<FleetSnapshot>,
    /// Indexes of the rows that are listed, in order.
    pub(super) listed: Vec<usize>,
    /// The chosen agent. Its row may move, the choice stays with it.
    pub(super) chosen: Option<String>,
    pub(super) agents: Cursor,
    pub(super) verdicts: Cursor,
    pub(super) tasks: Cursor,
    pub(super) ended: Cursor,
    pub(super) ended_read: Option<Vec<EndedRow>>,
    pub(super) view: View,
    pub(super) sort: Sort,
    pub(super) order: Order,
    pub(super) filter: String,
    pub(super) focus: Focus,
    pub(super) timeline: Option<Timeline>,
    pub(super) detail: Option<Detail>,
    pub(super) notice: Option<Notice>,
    pub(super) card: Option<CardPanel>,
    pub(super) writing: Option<Writing>,
    pub(super) confirming: Option<Confirming>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Usual,
    Reversed,
}

/// Who gets the keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Focus {
    #[default]
    List,
    Filter,
    Help,
    /// A line is typed that goes to an agent.
    Writing,
    /// Yes or no.
    Confirming,
    /// Nobody: the picture is printed.
    Nobody,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Notice {
    pub text: String,
    pub until: Ms,
}

/// How long a notice stands.
const NOTICE_MS: i64 = 10_000;

impl ViewState {
    pub fn new(width: u16, height: u16, look: ColorMode) -> Self {
        Self { width, height, look, ..Self::default() }
    }

    /// Times are shown as this clock has them, and in UTC else.
    #[must_use]
    pub fn with_wall(self, wall: WallClock) -> Self {
        Self { wall, ..self }
    }

    /// A picture of it: no keys, no chosen line.
    pub(super) fn printed(self) -> Self {
        Self { focus: Focus::Nobody, ..self }
    }

    pub fn step(mut self, input: ViewInput) -> (Self, Vec<ViewEffect>) {
        let effects = match input {
            ViewInput::Key(key) => self.press(key),
            ViewInput::Resize { width, height } => {
                (self.width, self.height) = (width, height);
                Vec::new()
            }
            ViewInput::Snapshot(snapshot) => self.take(snapshot),
            ViewInput::Timeline(chunk) => {
                self.follow(chunk);
                Vec::new()
            }
            ViewInput::Ended(rows) => {
                self.take_ended(rows);
                Vec::new()
            }
            ViewInput::Tick(tick) => {
                self.now = tick.now;
                self.notice = self.notice.take().filter(|notice| notice.until > tick.now);
                Vec::new()
            }
            ViewInput::Notice(text) => {
                self.tell(text);
                Vec::new()
            }
            ViewInput::Ask { act, question } => {
                self.ask(act, question);
                Vec::new()
            }
            ViewInput::Mouse(place) => self.click(place),
        };
        self.settle();
        (self, effects)
    }

    pub(super) fn rows(&self) -> &[AgentRow] {
        self.read.as_ref().map(|read| read.rows.as_slice()).unwrap_or_default()
    }

    pub(super) fn latest(&self) -> &[Verdict] {
        self.read.as_ref().map(|read| read.verdicts.as_slice()).unwrap_or_default()
    }

    pub(super) fn totals(&self) -> &[TaskTotals] {
        self.read.as_ref().map(|read| read.tasks.as_slice()).unwrap_or_default()
    }

    pub(super) fn summary(&self) -> FleetSummary {
        FleetSummary::of(self.rows())
    }

    pub(super) fn layout(&self) -> Layout {
        if self.focus == Focus::Nobody {
            let count = |len: usize| u16::try_from(len.min(2000)).unwrap_or_default();
            return Layout::printed(self.width, count(self.rows().len().max(1)), count(self.latest().len()))
                .warned(self.warned());
        }
        if self.card.is_some() || self.timeline.is_some() || self.detail.is_some() || self.view != View::Agents {
            return self.list_layout();
        }
        self.fleet_layout()
    }

    fn list_layout(&self) -> Layout {
        Layout::list(self.width, self.height.saturating_sub(self.warned())).warned(self.warned())
    }

    fn fleet_layout(&self) -> Layout {
        Layout::fleet(self.width, self.height.saturating_sub(self.warned())).warned(self.warned())
    }

    /// The lines that the standing warning takes.
    fn warned(&self) -> u16 {
        u16::from(!self.warnings().is_empty())
    }

    pub(super) fn warnings(&self) -> &[String] {
        self.read.as_ref().map(|read| read.warnings.as_slice()).unwrap_or_default()
    }

    pub(super) fn chosen_row(&self) -> Option<&AgentRow> {
        self.listed.get(self.agents.at).and_then(|at| self.rows().get(*at))
    }

    pub(super) fn tell(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), until: self.now.plus(NOTICE_MS) });
    }

    /// The list anew: after a change of rows, order or filter.
    pub(super) fn list(&mut self) {
        self.listed = fleet::order(self.rows(), &self.filter, (self.sort, self.order));
        let place = self.listed.iter().position(|at| self.rows().get(*at).map(|row| &row.id) == self.chosen.as_ref());
        // An agent that is gone leaves the choice where it was, to whoever stands there now.
        self.agents.at = place.unwrap_or(self.agents.at);
    }

    fn take(&mut self, snapshot: FleetSnapshot) -> Vec<ViewEffect> {
        let same = |one: &Verdict| self.latest().get(self.verdicts.at) == Some(one);
        let verdict = snapshot.verdicts.iter().position(same).filter(|_| self.verdicts.at > 0);
        self.verdicts.at = verdict.unwrap_or(self.verdicts.at);
        self.read = Some(snapshot);
        self.list();
        self.keep_card();
        self.go_on()
    }

    /// The choice stays with its session, wherever it stands now.
    fn take_ended(&mut self, rows: Vec<EndedRow>) {
        let chosen = self.ended_rows().get(self.ended.at).map(|row| row.session.clone());
        self.ended_read = Some(rows);
        let place = self.ended_rows().iter().position(|row| Some(&row.session) == chosen.as_ref());
        self.ended.at = place.filter(|_| self.ended.at > 0).unwrap_or(self.ended.at);
    }

    /// The open timeline follows its agent into the next session.
    fn go_on(&mut self) -> Vec<ViewEffect> {
        let Some(timeline) = self.timeline.as_mut().filter(|timeline| timeline.over.is_none()) else {
            return Vec::new();
        };
        let rows = self.read.as_ref().map(|read| read.rows.as_slice()).unwrap_or_default();
        let session = rows.iter().find(|row| row.id == timeline.agent).and_then(|row| row.session.clone());
        match session.filter(|session| *session != timeline.session) {
            Some(session) => {
                timeline.goes_on(&session);
                vec![ViewEffect::OpenTimeline { session }]
            }
            None => Vec::new(),
        }
    }

    fn follow(&mut self, chunk: Chunk) {
        let height = self.layout().body.height();
        // What was read for a timeline that is closed meanwhile is nobody's.
        if let Some(timeline) = self.timeline.as_mut().filter(|timeline| timeline.session == chunk.session) {
            timeline.add(chunk.events, height);
        }
    }

    /// Every place back within its list; the choice is whoever stands at it.
    fn settle(&mut self) {
        let list = self.list_layout().body.height();
        let agents = match self.focus {
            Focus::Nobody => self.layout().body.height(),
            Focus::List | Focus::Filter | Focus::Help | Focus::Writing | Focus::Confirming => {
                self.fleet_layout().body.height()
            }
        };
        self.agents.settle(Span { len: self.listed.len(), height: agents });
        self.chosen = self.chosen_row().map(|row| row.id.clone()).or_else(|| self.chosen.take());
        self.verdicts.settle(Span { len: self.latest().len(), height: list });
        self.tasks.settle(Span { len: self.totals().len(), height: list });
        let ended = self.ended_rows().len();
        self.ended.settle(Span { len: ended, height: list });
        if let Some(timeline) = &mut self.timeline {
            timeline.settle(list);
        }
        if let Some(panel) = &mut self.card {
            let lines = panel.wrapped(usize::from(self.width).saturating_sub(2)).len();
            panel.top = panel.top.min(lines.saturating_sub(list));
        }
        if let Some(detail) = &mut self.detail {
            let lines = detail.wrapped(usize::from(self.width).saturating_sub(2)).len();
            detail.top = detail.top.min(lines.saturating_sub(list));
        }
    }
}
