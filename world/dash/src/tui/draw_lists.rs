//! Verdicts and tasks, as a strip of the fleet and as lists of their own.

use super::canvas::{Canvas, span};
use super::look::faint;
use super::state::ViewState;
use super::text::{age, cut, left, line, right, squeeze, width};
use crate::view_model::Verdict;
use ratatui::text::{Line, Span};
use store::TaskTotals;

const STATUSES: [&str; 5] = ["open", "active", "blocked", "done", "quarantined"];

pub(super) fn verdicts(state: &ViewState, canvas: &mut Canvas<'_>) {
    let layout = state.layout();
    let wide = canvas.width();
    canvas.put(layout.names, &Line::styled(format!("  AGO  SAID  {}", left("AGENT", agent_cells(wide))), faint()));
    let listed = state.latest().iter().enumerate().skip(state.verdicts.top).take(layout.body.height());
    for (y, (at, verdict)) in (layout.body.from..).zip(listed) {
        let line = verdict_line(state, verdict, wide);
        if at == state.verdicts.at { canvas.put_chosen(y, &line) } else { canvas.put(y, &line) }
    }
    if state.latest().is_empty() {
        canvas.put(layout.body.from, &Line::styled(" nothing was stopped, asked or warned about", faint()));
    }
}

pub(super) fn tasks(state: &ViewState, canvas: &mut Canvas<'_>) {
    let layout = state.layout();
    let wide = canvas.width();
    let cells = wide.saturating_sub(2 + STATUSES.iter().map(|name| name.len() + 3).sum::<usize>()).max(12);
    let names: String = STATUSES.iter().map(|name| right(&name.to_uppercase(), name.len() + 3)).collect();
    canvas.put(layout.names, &Line::styled(format!(" {}{names}", left("PROJECT", cells)), faint()));
    let listed = state.totals().iter().enumerate().skip(state.tasks.top).take(layout.body.height());
    for (y, (at, totals)) in (layout.body.from..).zip(listed) {
        let counts: String =
            STATUSES.iter().map(|name| right(&count(totals, name).to_string(), name.len() + 3)).collect();
        let project = left(&squeeze(&line(&totals.project), cells), cells);
        let line = Line::raw(format!(" {project}{counts}"));
        if at == state.tasks.at { canvas.put_chosen(y, &line) } else { canvas.put(y, &line) }
    }
    if state.totals().is_empty() {
        canvas.put(layout.body.from, &Line::styled(" no tasks; `taut task create` makes one", faint()));
    }
}

/// All projects as one.
pub(super) fn totals_line(state: &ViewState, totals: &[TaskTotals], cells: usize) -> Line<'static> {
    let mut spans = vec![span(" tasks ", faint())];
    let fits = |spans: &[Span<'_>], text: &str| spans.iter().map(Span::width).sum::<usize>() + text.len() <= cells;
    for name in STATUSES {
        let sum: u64 = totals.iter().map(|one| count(one, name)).sum();
        let style = match (sum, name) {
            (0, _) => faint(),
            (_, "quarantined") => state.look.bad(),
            (_, "active") => state.look.good(),
            _ => ratatui::style::Style::new(),
        };
        let text = format!(" {sum:>2} {name} ");
        if fits(&spans, &text) {
            spans.push(span(text, style));
        }
    }
    let projects = format!(" in {} projects", totals.len());
    if totals.len() > 1 && fits(&spans, &projects) {
        spans.push(span(projects, faint()));
    }
    Line::from(spans)
}

pub(super) fn verdict_line(state: &ViewState, verdict: &Verdict, wide: usize) -> Line<'static> {
    let agent = agent_cells(wide);
    let before = format!(" {}  ", right(&age(state.now.since(verdict.at)), 4));
    let said = left(verdict.verdict, 4);
    let who = format!("  {}  ", left(&squeeze(&line(&verdict.agent_name), agent), agent));
    let rules = line(&verdict.rules.join(", "));
    let rules_cells = if wide >= 100 { (wide / 5).min(34) } else { 0 };
    let taken = width(&before) + 4 + width(&who);
    let tool = verdict.tool.as_deref().unwrap_or(&verdict.event);
    let about = format!("{} {}", line(tool), line(&verdict.about));
    let mut spans = vec![Span::raw(before), span(said, state.look.verdict(verdict.verdict)), Span::raw(who)];
    let room = wide.saturating_sub(taken);
    if rules_cells == 0 {
        let text = if rules.is_empty() { about } else { format!("{rules}: {about}") };
        spans.push(Span::raw(cut(&text, room)));
    } else {
        spans.push(Span::raw(format!("{}  ", left(&rules, rules_cells))));
        spans.push(Span::raw(cut(about.trim(), room.saturating_sub(rules_cells + 3))));
    }
    Line::from(spans)
}

fn agent_cells(wide: usize) -> usize {
    (wide / 6).clamp(8, 24)
}

fn count(totals: &TaskTotals, name: &str) -> u64 {
    totals.counts.get(name).copied().unwrap_or_default()
}
