//! Sessions that ended: listed and opened as those that run, until retention forgets them.

use super::canvas::{Canvas, span};
use super::look::{bold, faint};
use super::state::{ViewEffect, ViewState};
use super::text::{age, cut, left, line, project, right, squeeze, width};
use super::timeline::Timeline;
use crate::view_model::{flat, one_line};
use model::Ms;
use model::session::SessionState;
use ratatui::text::{Line, Span};
use store::{ListedSession, SessionOrder, SessionQuery, SessionStanding, Store};

/// So many are listed, those that were there last; `taut sessions --all` lists every one.
const MOST: usize = 500;

/// A session that is over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndedRow {
    pub session: String,
    pub agent: String,
    /// What people called the agent.
    pub name: String,
    pub project: String,
    pub ended_at: Ms,
    pub lasted_ms: i64,
    pub why: String,
    pub last_words: String,
}

pub fn read(store: &Store) -> Result<Vec<EndedRow>, store::Error> {
    let query = SessionQuery {
        standing: Some(SessionStanding::State(SessionState::Ended)),
        order: SessionOrder::Seen,
        limit: MOST,
        ..SessionQuery::default()
    };
    let names = store.agent_names()?;
    let row = |listed: &ListedSession| {
        let session = &listed.session;
        let ended_at = session.ended_at.unwrap_or(session.last_seen_at);
        EndedRow {
            session: session.id.clone(),
            agent: flat(&session.agent),
            name: flat(names.of(&session.agent)),
            project: flat(&session.project),
            ended_at,
            lasted_ms: ended_at.since(session.started_at),
            why: session.end_reason.as_deref().map(flat).unwrap_or_default(),
            last_words: listed.facts.last_words.as_deref().map(one_line).unwrap_or_default(),
        }
    };
    Ok(store.session_page(&query)?.sessions.iter().map(row).collect())
}

impl ViewState {
    /// Those that pass the filter.
    pub(super) fn ended_rows(&self) -> Vec<&EndedRow> {
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let passes = |row: &&EndedRow| {
            let shown = [&row.name, &row.agent, &row.project, &row.session, &row.why, &row.last_words];
            let text = shown.map(|text| text.to_lowercase()).join("\n");
            words.iter().all(|word| text.contains(word.as_str()))
        };
        self.ended_read.iter().flatten().filter(passes).collect()
    }

    pub(super) fn open_ended(&mut self) -> Vec<ViewEffect> {
        let Some(row) = self.ended_rows().get(self.ended.at).copied().cloned() else { return Vec::new() };
        let session = row.session.clone();
        self.timeline = Some(Timeline::over(row));
        vec![ViewEffect::OpenTimeline { session }]
    }
}

pub(super) fn draw(state: &ViewState, canvas: &mut Canvas<'_>) {
    let layout = state.layout();
    let wide = canvas.width();
    let agent = (wide / 5).clamp(8, 28);
    let folder = if wide >= 100 { (wide / 6).clamp(10, 20) } else { 0 };
    let names = format!(" {}  {}  {}  LASTED  LAST WORDS", left("ENDED", TIME), left("AGENT", agent), left("WHY", WHY));
    canvas.put(layout.names, &Line::styled(names, faint()));
    let rows = state.ended_rows();
    let listed = rows.iter().enumerate().skip(state.ended.top).take(layout.body.height());
    for (y, (at, row)) in (layout.body.from..).zip(listed) {
        let time = format!(" {}  ", left(&state.wall.short(row.ended_at, state.now), TIME));
        let why = format!("  {}  {}  ", left(&cut(&line(&row.why), WHY), WHY), right(&age(row.lasted_ms), LASTED));
        let room =
            wide.saturating_sub(width(&time) + agent + width(&why) + if folder > 0 { folder + 2 } else { 0 } + 1);
        let mut spans = vec![
            span(time, faint()),
            span(left(&squeeze(&line(&row.name), agent), agent), bold()),
            Span::raw(why),
            Span::raw(left(&cut(&line(&row.last_words), room), room)),
        ];
        if folder > 0 {
            spans.push(span(format!("  {}", left(&squeeze(&line(project(&row.project)), folder), folder)), faint()));
        }
        let line = Line::from(spans);
        if at == state.ended.at { canvas.put_chosen(y, &line) } else { canvas.put(y, &line) }
    }
    if rows.is_empty() {
        let why = match &state.ended_read {
            None => " reading…",
            Some(read) if read.is_empty() => " no session has ended yet",
            Some(_) => " no session that ended matches the filter; Esc clears it",
        };
        canvas.put(layout.body.from, &Line::styled(why, faint()));
    }
}

const TIME: usize = 11;
const WHY: usize = 12;
const LASTED: usize = 6;
