//! One agent's timeline, and one thing of it in full.

use super::canvas::{Canvas, span};
use super::card_panel::CardPanel;
use super::entry::{LineMark, TimelineLine};
use super::look::{bold, faint};
use super::state::ViewState;
use super::text::{age, cut, left, line, project, right, took, within};
use super::timeline::{Follows, Reading, Timeline};
use model::row::AgentStatus;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) fn timeline(state: &ViewState, canvas: &mut Canvas<'_>) {
    let Some(timeline) = &state.timeline else { return };
    let layout = state.layout();
    title(state, timeline, canvas);
    let listed = timeline.entries.iter().enumerate().skip(timeline.cursor.top).take(layout.body.height());
    let wide = canvas.width();
    let root = state.rows().iter().find(|row| row.id == timeline.agent).map_or("", |row| row.project.as_str());
    for (y, (at, entry)) in (layout.body.from..).zip(listed) {
        let line = entry_line(state, entry, wide, root);
        if at == timeline.cursor.at { canvas.put_chosen(y, &line) } else { canvas.put(y, &line) }
    }
    if timeline.entries.is_empty() && layout.body.count > 0 {
        let text = if timeline.reading == Reading::Awaited {
            " reading…"
        } else {
            " nothing has happened in this session yet"
        };
        canvas.put(layout.body.from, &Line::styled(text, faint()));
    }
}

pub(super) fn detail(state: &ViewState, canvas: &mut Canvas<'_>) {
    let Some(detail) = &state.detail else { return };
    let layout = state.layout();
    canvas.put(layout.names, &Line::styled(format!(" {}", line(&detail.title)), bold()));
    let lines = detail.wrapped(canvas.width().saturating_sub(2));
    canvas.fill(layout.body, lines.into_iter().skip(detail.top).map(|text| Line::raw(format!(" {text}"))));
}

/// What an agent asks; lines of a difference in its colours.
pub(super) fn card(state: &ViewState, panel: &CardPanel, canvas: &mut Canvas<'_>) {
    let layout = state.layout();
    let title = format!(" {} {}", AgentStatus::Attention.mark(), panel.title(state.now));
    canvas.put(layout.names, &Line::styled(title, state.look.status(AgentStatus::Attention)));
    let is_diff = panel.card.diff.is_some();
    let style = |text: &str| match text.trim_start().chars().next() {
        Some('+') if is_diff => state.look.good(),
        Some('-') if is_diff => state.look.bad(),
        _ => Style::new(),
    };
    let lines = panel.wrapped(canvas.width().saturating_sub(2)).into_iter().skip(panel.top);
    canvas.fill(layout.body, lines.map(|text| Line::styled(format!(" {text}"), style(&text))));
}

/// Who it is, how it stands, and whether the newest stays in sight.
fn title(state: &ViewState, timeline: &Timeline, canvas: &mut Canvas<'_>) {
    let row = state.rows().iter().find(|row| row.id == timeline.agent).filter(|_| timeline.over.is_none());
    let mut left = vec![span(format!(" {} ", line(&timeline.name)), bold())];
    if let Some(over) = &timeline.over {
        let why = if over.why.is_empty() { String::new() } else { format!(" ({})", line(&over.why)) };
        let when = state.wall.shown(over.ended_at, state.now);
        left.push(span(format!(" ended {when}{why}  {}", line(project(&over.project))), faint()));
    }
    if let Some(row) = row {
        left.push(span(format!(" {} {} ", row.status.mark(), row.status.name()), state.look.status(row.status)));
        let context = row.context_percent.map(|percent| format!(" {percent:.0}% context ")).unwrap_or_default();
        let client = row.client.as_deref().map(|client| format!("{} ", line(client))).unwrap_or_default();
        left.push(Span::raw(format!(" {client}{} {context}", line(project(&row.project)))));
    }
    let right = match timeline.follows {
        Follows::Newest if timeline.over.is_some() => span("", faint()),
        Follows::Newest => span("following ", faint()),
        Follows::Stays => {
            span(format!("{} newer, G follows ", timeline.entries.len() - timeline.cursor.at - 1), state.look.warn())
        }
    };
    canvas.put_both(state.layout().names, left, vec![right]);
}

fn entry_line(state: &ViewState, entry: &TimelineLine, wide: usize, root: &str) -> Line<'static> {
    let what_cells = if wide >= 100 { 16 } else { 10 };
    let style = style(state, entry.mark);
    // Where there is little room, the day stands in the cells of the seconds.
    let time = if wide >= 100 { state.wall.shown(entry.at, state.now) } else { state.wall.short(entry.at, state.now) };
    let time = format!(" {time}  ");
    let lasted = match (entry.mark, entry.took) {
        (LineMark::Returned | LineMark::Failed, Some(millis)) => took(millis),
        (LineMark::Running, _) => age(state.now.since(entry.at)),
        _ => String::new(),
    };
    let room = wide.saturating_sub(time.len() + 2 + what_cells + 2 + 7);
    Line::from(vec![
        span(time, faint()),
        span(format!("{} ", entry.mark.sign()), style),
        span(format!("{}  ", left(&line(&entry.what), what_cells)), style),
        Span::raw(left(&cut(&within(&line(&entry.about), root), room), room)),
        Span::raw(right(&lasted, 6)),
    ])
}

fn style(state: &ViewState, mark: LineMark) -> Style {
    match mark {
        LineMark::Prompt => bold().patch(state.look.accent()),
        LineMark::Running => state.look.good(),
        LineMark::Returned => Style::new(),
        LineMark::Failed | LineMark::Stopped => state.look.bad(),
        LineMark::Lost => faint(),
        LineMark::Verdict(level) => state.look.verdict(level.name()),
        LineMark::Shown => state.look.accent(),
        LineMark::Attention => state.look.warn(),
        LineMark::Turn | LineMark::Other => faint(),
    }
}
