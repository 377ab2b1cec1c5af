//! The screen: head, list, strips and foot.

use super::acts::WritingAbout;
use super::canvas::{Canvas, span};
use super::fleet::View;
use super::look::{bold, faint};
use super::state::{Focus, Order, ViewState};
use super::text::{cut, line, tail, width};
use super::{draw_fleet, draw_lists, draw_timeline, ended, help};
use model::row::AgentStatus;
use ratatui::Frame;
use ratatui::text::Span;

pub fn draw(state: &ViewState, frame: &mut Frame<'_>) {
    paint(state, &mut Canvas { buffer: frame.buffer_mut() });
}

pub(super) fn paint(state: &ViewState, canvas: &mut Canvas<'_>) {
    head(state, canvas);
    warning(state, canvas);
    if let Some(panel) = &state.card {
        draw_timeline::card(state, panel, canvas);
    } else if state.detail.is_some() {
        draw_timeline::detail(state, canvas);
    } else if state.timeline.is_some() {
        draw_timeline::timeline(state, canvas);
    } else {
        match state.view {
            View::Agents => draw_fleet::fleet(state, canvas),
            View::Verdicts => draw_lists::verdicts(state, canvas),
            View::Tasks => draw_lists::tasks(state, canvas),
            View::Ended => ended::draw(state, canvas),
        }
    }
    foot(state, canvas);
    if state.focus == Focus::Help {
        help::overlay(canvas);
    }
}

/// How the fleet stands, the worst first. All of them always, so that nothing moves.
fn head(state: &ViewState, canvas: &mut Canvas<'_>) {
    let summary = state.summary();
    let wide = canvas.width() >= 72;
    let mut left = vec![span(" taut ", bold().patch(state.look.accent()))];
    for status in AgentStatus::ALL {
        let count = summary.count(status);
        let text = match wide {
            true => format!(" {} {count:>2} {} ", status.mark(), status.name()),
            false => format!(" {}{count:>2}", status.mark()),
        };
        left.push(span(text, if count == 0 { faint() } else { state.look.status(status) }));
    }
    let agents = state.rows().len();
    let mut right = vec![span(format!("{agents} agent{} ", if agents == 1 { "" } else { "s" }), faint())];
    if canvas.width() >= 100 && state.focus != Focus::Nobody {
        let arrow = if state.order == Order::Usual { "▾" } else { "▴" };
        right.insert(0, span(format!("by {} {arrow}  ", state.sort.name()), faint()));
        right.push(span(format!(" {} ", state.wall.time(state.now)), faint()));
    }
    canvas.put_both(state.layout().head, left, right);
}

/// Stands until a person has seen to it, whatever else is shown.
fn warning(state: &ViewState, canvas: &mut Canvas<'_>) {
    let place = state.layout().warning;
    if place.count > 0 {
        let text = cut(&line(&state.warnings().join("; ")), canvas.width().saturating_sub(2));
        canvas.put_both(place.from, vec![span(format!(" {text}"), state.look.warn())], Vec::new());
    }
}

fn foot(state: &ViewState, canvas: &mut Canvas<'_>) {
    let layout = state.layout();
    if layout.foot.count == 0 {
        return;
    }
    let (left, right) = match (&state.notice, state.focus) {
        (_, Focus::Writing) => (vec![Span::raw(writing(state, canvas.width()))], String::new()),
        (_, Focus::Confirming) => {
            let question = state.confirming.as_ref().map(|one| line(&one.question)).unwrap_or_default();
            let room = canvas.width().saturating_sub(8);
            (vec![span(format!(" {} [y/N] ", cut(&question, room)), state.look.warn())], String::new())
        }
        (_, Focus::Filter) => {
            (vec![Span::raw(format!(" /{}▏", line(&state.filter)))], "Enter keeps  Esc clears ".to_string())
        }
        (Some(notice), _) => (
            vec![span(format!(" {}", cut(&line(&notice.text), canvas.width().saturating_sub(2))), state.look.warn())],
            String::new(),
        ),
        (None, _) => (keys(state, canvas.width()), place(state)),
    };
    canvas.put_both(layout.foot.from, left, vec![span(right, faint())]);
}

/// The end of what is typed stays in sight.
fn writing(state: &ViewState, cells: usize) -> String {
    let Some(writing) = &state.writing else { return String::new() };
    let to = match &writing.about {
        WritingAbout::Say { name, .. } => format!(" to {}: ", cut(&line(name), 24)),
        WritingAbout::Deny => " why not (Enter sends, Esc leaves it): ".to_string(),
        WritingAbout::Question => " in your words: ".to_string(),
    };
    let room = cells.saturating_sub(width(&to) + 2);
    let text = line(&writing.text);
    format!("{to}{}▏", tail(&text, room))
}

/// The keys that matter most here.
fn keys(state: &ViewState, cells: usize) -> Vec<Span<'static>> {
    if let Some(panel) = &state.card {
        return pairs_of(panel.keys(), cells);
    }
    let pairs: &[(&str, &str)] = match (&state.detail, &state.timeline, state.view) {
        (Some(_), _, _) => &[("Esc", "back"), ("j/k", "scroll"), ("?", "help"), ("q", "quit")],
        (None, Some(_), _) => &[
            ("Esc", "back"),
            ("j/k", "move"),
            ("Enter", "detail"),
            ("G", "follow"),
            ("o", "pane"),
            ("?", "help"),
            ("q", "quit"),
        ],
        (None, None, View::Agents) => &[
            ("Enter", "timeline"),
            ("a", "answer"),
            ("w", "say"),
            ("/", "filter"),
            ("e", "ended"),
            ("Tab", "next"),
            ("?", "help"),
            ("q", "quit"),
            ("o", "pane"),
        ],
        (None, None, View::Verdicts) => {
            &[("Enter", "detail"), ("Tab", "tasks"), ("Esc", "back"), ("?", "help"), ("q", "quit")]
        }
        (None, None, View::Tasks) => &[("Tab", "agents"), ("Esc", "back"), ("?", "help"), ("q", "quit")],
        (None, None, View::Ended) => {
            &[("Enter", "timeline"), ("/", "filter"), ("e", "agents"), ("Esc", "back"), ("?", "help"), ("q", "quit")]
        }
    };
    pairs_of(pairs, cells)
}

fn pairs_of(pairs: &[(&str, &str)], cells: usize) -> Vec<Span<'static>> {
    let (mut spans, mut taken) = (Vec::new(), 0);
    for (key, does) in pairs {
        // A key that is half told is not told.
        taken += key.len() + does.len() + 3;
        if taken > cells {
            break;
        }
        spans.push(span(format!(" {key}"), bold()));
        spans.push(span(format!(" {does} "), faint()));
    }
    spans
}

/// Where in the list the keys are.
fn place(state: &ViewState) -> String {
    if state.card.is_some() || state.detail.is_some() || state.timeline.is_some() {
        return String::new();
    }
    let (at, len) = match state.view {
        View::Agents => (state.agents.at, state.listed.len()),
        View::Verdicts => (state.verdicts.at, state.latest().len()),
        View::Tasks => (state.tasks.at, state.totals().len()),
        View::Ended => (state.ended.at, state.ended_rows().len()),
    };
    let filtered = match state.view {
        View::Agents | View::Ended if !state.filter.is_empty() => format!("/{}  ", cut(&line(&state.filter), 24)),
        _ => String::new(),
    };
    format!("{filtered}{}/{len} ", (at + 1).min(len))
}
