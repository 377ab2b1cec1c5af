//! The table of agents, the tasks' totals and the latest verdicts.

use super::canvas::{Canvas, rule, span};
use super::columns::{Column, Differs, GAP, MARGIN, Sized, fit};
use super::draw_lists::{totals_line, verdict_line};
use super::look::{bold, faint};
use super::state::{Focus, ViewState};
use super::text::{age, cut, left, line, project, right, squeeze, width, within};
use crate::remote_row::is_over_machines;
use crate::view_model::{AgentRow, FAILED_TOOL, is_mixed, standing};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) fn fleet(state: &ViewState, canvas: &mut Canvas<'_>) {
    let layout = state.layout();
    let differs = Differs { kinds: is_mixed(state.rows()), machines: is_over_machines(state.rows()) };
    let columns = fit(canvas.width(), differs);
    let name = |one: &Sized| {
        let text = if one.column.is_number() {
            right(one.column.name(), one.cells)
        } else {
            left(one.column.name(), one.cells)
        };
        span(text, faint())
    };
    canvas.put(layout.names, &joined(columns.iter().map(|one| vec![name(one)])));
    let rows = state.listed.iter().enumerate().skip(state.agents.top).take(layout.body.height());
    for (y, (at, row)) in (layout.body.from..).zip(rows.filter_map(|(at, row)| Some((at, state.rows().get(*row)?)))) {
        let line = joined(columns.iter().map(|one| cell(state, row, *one)));
        if at == state.agents.at && state.focus != Focus::Nobody {
            canvas.put_chosen(y, &line);
        } else {
            canvas.put(y, &line);
        }
    }
    if state.listed.is_empty() && layout.body.count > 0 {
        canvas.put(layout.body.from, &Line::styled(format!(" {}", nobody(state)), faint()));
    }
    if layout.tasks.count > 0 {
        let line = totals_line(state, state.totals(), canvas.width());
        canvas.put(layout.tasks.from, &line);
    }
    if layout.verdicts.count > 0 {
        canvas.put(layout.verdicts.from, &rule("last verdicts", canvas.width()));
        let wide = canvas.width();
        let below = super::layout::Lines { from: layout.verdicts.from + 1, count: layout.verdicts.count - 1 };
        canvas.fill(below, state.latest().iter().map(|verdict| verdict_line(state, verdict, wide)));
    }
}

fn nobody(state: &ViewState) -> &'static str {
    match &state.read {
        None => "reading…",
        Some(read) if read.rows.is_empty() && read.had_sessions && state.focus == Focus::Nobody => {
            "no agent is running; `taut sessions --all` lists the sessions that ended"
        }
        Some(read) if read.rows.is_empty() && read.had_sessions => {
            "no agent is running; `e` lists the sessions that ended"
        }
        Some(read) if read.rows.is_empty() => {
            "no agents yet: one appears here when it starts, once `taut init` has installed the hooks"
        }
        Some(_) => "no agent matches the filter; Esc clears it",
    }
}

fn joined(cells: impl Iterator<Item = Vec<Span<'static>>>) -> Line<'static> {
    let mut spans = Vec::new();
    for (nth, cell) in cells.enumerate() {
        spans.push(Span::raw(" ".repeat(if nth == 0 { MARGIN } else { GAP })));
        spans.extend(cell);
    }
    Line::from(spans)
}

/// Exactly as wide as its column.
fn cell(state: &ViewState, row: &AgentRow, sized: Sized) -> Vec<Span<'static>> {
    let cells = sized.cells;
    let number = |count: u64| if count == 0 { String::new() } else { count.to_string() };
    match sized.column {
        Column::Machine => {
            let machine = row.remote.as_ref().map_or_else(|| "(here)".to_string(), |at| line(&at.machine));
            vec![span(left(&squeeze(&machine, cells), cells), faint())]
        }
        Column::Status => {
            let text = format!("{} {}", row.status.mark(), row.status.name());
            vec![span(left(&text, cells), state.look.status(row.status))]
        }
        Column::Agent => {
            let name = row.run.as_ref().map_or_else(|| row.name.clone(), |run| format!("loop {}", run.short));
            vec![span(left(&squeeze(&line(&name), cells), cells), bold())]
        }
        Column::Place => {
            vec![span(left(&cut(&line(row.place.as_deref().unwrap_or_default()), cells), cells), faint())]
        }
        Column::Client => {
            vec![span(left(&cut(&line(row.client.as_deref().unwrap_or_default()), cells), cells), Style::new())]
        }
        Column::Project => vec![span(left(&squeeze(&line(project(&row.project)), cells), cells), Style::new())],
        Column::Context => context(state, row.context_percent, cells),
        Column::Now => marked(state, row, cells),
        Column::For => {
            let since = row.tool.as_ref().map(|tool| age(state.now.since(tool.since))).unwrap_or_default();
            vec![Span::raw(right(&since, cells))]
        }
        Column::Task => vec![Span::raw(left(&cut(&work(row), cells), cells))],
        Column::SubAgents => vec![Span::raw(right(&number(row.sub_agents), cells))],
        Column::Messages => vec![span(right(&number(row.messages), cells), state.look.warn())],
        Column::Changes => {
            let size = row.diff.filter(|diff| diff.files > 0).map(|diff| format!("+{} −{}", diff.added, diff.removed));
            vec![Span::raw(right(&size.unwrap_or_default(), cells))]
        }
        Column::Cost => {
            let about = if row.cost_estimated { "≈" } else { "" };
            let cost = row.cost_usd.map(|cost| format!("{about}${cost:.2}")).unwrap_or_default();
            vec![Span::raw(right(&cost, cells))]
        }
        Column::Since => vec![Span::raw(right(&age(state.now.since(row.since)), cells))],
    }
}

/// A bar where there is room for one, and always the number.
fn context(state: &ViewState, percent: Option<f64>, cells: usize) -> Vec<Span<'static>> {
    let Some(percent) = percent else { return vec![span(right("?", cells), faint())] };
    let number = right(&format!("{percent:.0}%"), 4);
    let bar = cells.saturating_sub(5);
    if bar < 3 {
        return vec![span(right(&number, cells), state.look.fullness(percent))];
    }
    let full = ((percent / 100.0 * bar as f64).round().max(0.0) as usize).min(bar);
    vec![
        span("━".repeat(full), state.look.fullness(percent)),
        span("╌".repeat(bar - full), faint()),
        span(format!(" {number}"), state.look.fullness(percent)),
    ]
}

/// What it does now, behind the mark of a tool that failed before.
fn marked(state: &ViewState, row: &AgentRow, cells: usize) -> Vec<Span<'static>> {
    if let Some(silence) = row.remote.as_ref().and_then(|at| at.silence(state.wall, state.now)) {
        return vec![span(left(&silence, cells), state.look.warn())];
    }
    if row.failed_tool.is_none() || row.why.is_some() || cells <= FAILED_TOOL.chars().count() {
        return now(row, cells);
    }
    let mark = span(FAILED_TOOL, state.look.bad());
    std::iter::once(mark).chain(now(row, cells - FAILED_TOOL.chars().count())).collect()
}

/// Why somebody has to look, else the tool it waits for, else what it says it does or said last, else how its session
/// stands.
fn now(row: &AgentRow, cells: usize) -> Vec<Span<'static>> {
    if let Some(why) = &row.why {
        return vec![Span::raw(left(&cut(&line(why), cells), cells))];
    }
    let Some(tool) = row.tool.as_ref().filter(|_| row.run.is_none()) else {
        let text = row.doing.as_deref().or(row.last_words.as_deref()).map(line);
        let text = text.unwrap_or_else(|| standing(row).to_string());
        return vec![span(left(&text, cells), faint())];
    };
    let mut name = line(&tool.name);
    if tool.beside > 0 {
        name.push_str(&format!(" +{}", tool.beside));
    }
    let name = cut(&name, cells);
    let room = cells.saturating_sub(width(&name) + 1);
    if room < 2 {
        return vec![Span::raw(left(&name, cells))];
    }
    let about = within(&line(&tool.about), &row.project);
    let about = if about.starts_with('/') || !about.contains(' ') { squeeze(&about, room) } else { cut(&about, room) };
    vec![span(format!("{name} "), Style::new()), Span::raw(left(&about, room))]
}

/// The task it holds, the skill it follows and the phase that is in.
fn work(row: &AgentRow) -> String {
    let parts = [row.task.as_deref(), row.effort.as_deref(), row.phase.as_deref()];
    parts.into_iter().flatten().map(line).collect::<Vec<_>>().join(" · ")
}
