//! Everything that is kept of one event or verdict, as text.

use super::entry::{self, TimelineLine};
use super::text::took;
use crate::run_view::{IterationRow, RunRow};
use crate::view_model::{Verdict, clean, flat};
use model::{Ms, WallClock};
use ratatui::text::Span;
use serde_json::Value;

/// A text over the list it was opened from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Detail {
    pub title: String,
    pub lines: Vec<String>,
    pub top: usize,
}

/// Longer ones are cut: a screen is no place for a megabyte.
const MOST_LINES: usize = 2000;

impl Detail {
    pub fn of_entry(entry: &TimelineLine, wall: WallClock) -> Self {
        let event = &entry.event;
        let mut text = Text::default();
        text.pair("event", &event.event);
        text.pair("at", &wall.whole(event.at));
        text.pair("tool", event.tool.as_deref().unwrap_or_default());
        text.pair("sub-agent", event.sub_agent.as_deref().unwrap_or_default());
        text.pair("took", &entry.took.map(took).unwrap_or_default());
        text.pair("verdict", event.verdict.name());
        text.pair("rules", &event.rules.join(", "));
        text.block("reason", event.reason.as_deref().unwrap_or_default());
        text.block("shown to the model", &entry::shown_text(event).unwrap_or_default());
        let mut detail = event.detail.clone();
        if let Some(input) = detail.as_object_mut().and_then(|fields| fields.remove("input")) {
            text.fields("input", &input);
        }
        text.fields("more", &detail);
        Self { title: format!("{} {}", wall.time(event.at), entry.what), lines: text.done(), top: 0 }
    }

    pub fn of_verdict(verdict: &Verdict, wall: WallClock) -> Self {
        let mut text = Text::default();
        text.pair("agent", &verdict.agent_name);
        text.pair("at", &wall.whole(verdict.at));
        text.pair("verdict", verdict.verdict);
        text.pair("event", &verdict.event);
        text.pair("tool", verdict.tool.as_deref().unwrap_or_default());
        text.pair("rules", &verdict.rules.join(", "));
        text.block("about", &verdict.about);
        text.block("reason", verdict.reason.as_deref().unwrap_or_default());
        Self { title: format!("{} {}", wall.time(verdict.at), verdict.verdict), lines: text.done(), top: 0 }
    }

    /// A run with its iterations, the newest first.
    pub fn of_run(run: &RunRow, now: Ms) -> Self {
        let mut text = Text::default();
        text.run(run);
        text.pair("folder", &run.folder);
        text.pair("logs", run.logs.as_deref().unwrap_or_default());
        text.pair("denied", &run.denied.join(", "));
        let ended = |run: &RunRow| run.iterations.iter().rev().map(iteration).collect::<Vec<_>>().join("\n");
        text.block("iterations", &ended(run));
        for worker in &run.workers {
            text.0.push(String::new());
            text.pair("worker", &format!("{} {}", worker.short, worker.task.as_deref().unwrap_or_default()));
            text.run(worker);
            text.block("iterations", &ended(worker));
        }
        let age = super::text::age(now.since(run.started_at));
        Self { title: format!("loop {} began {age} ago", run.short), lines: text.done(), top: 0 }
    }

    /// As it stands in so many cells.
    pub fn wrapped(&self, cells: usize) -> Vec<String> {
        self.lines.iter().flat_map(|line| wrap(line, cells.max(1))).collect()
    }
}

#[derive(Default)]
struct Text(Vec<String>);

fn iteration(one: &IterationRow) -> String {
    let task = one.task.as_deref().map(|task| format!(" {task}")).unwrap_or_default();
    let exit = one.exit.map_or("a signal".to_string(), |code| code.to_string());
    let took = super::text::age(one.duration_ms);
    let mut lines = vec![format!(
        "{}{task}: {} with {exit} after {took}, {} commits, ${:.2}",
        one.iteration, one.outcome, one.commits, one.cost_usd
    )];
    lines.extend(one.said.iter().map(|said| format!("   {said}")));
    lines.extend(one.failure.iter().map(|failure| format!("   failed: {failure}")));
    lines.join("\n")
}

impl Text {
    fn run(&mut self, run: &RunRow) {
        self.pair("state", &run.now());
        self.pair("why", run.why.as_deref().unwrap_or_default());
        self.pair("task", run.task.as_deref().unwrap_or_default());
        self.pair("cost", &format!("${:.2}, {} tokens", run.cost_usd, run.tokens));
        self.pair("commits", &run.commits.to_string());
        self.pair("last words", run.said.as_deref().unwrap_or_default());
    }

    fn pair(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.0.push(format!("{name:<12} {}", flat(value)));
        }
    }

    fn block(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        self.0.push(String::new());
        self.0.push(format!("{name}:"));
        self.0.extend(clean(value).lines().map(|line| format!("  {line}")));
    }

    /// Texts stand as they are, everything else as JSON.
    fn fields(&mut self, name: &str, value: &Value) {
        let Some(fields) = value.as_object() else {
            let text = if value.is_null() { String::new() } else { value.to_string() };
            return self.block(name, &text);
        };
        for (field, value) in fields {
            let name = flat(field);
            match value {
                Value::String(text) if text.contains('\n') || text.len() > 60 => self.block(&name, text),
                Value::String(text) => self.pair(&name, text),
                other => self.pair(&name, &other.to_string()),
            }
        }
    }

    fn done(mut self) -> Vec<String> {
        self.0.truncate(MOST_LINES);
        self.0
    }
}

pub(super) fn wrap(line: &str, cells: usize) -> Vec<String> {
    let (mut rows, mut taken) = (vec![String::new()], 0);
    for grapheme in Span::raw(line).styled_graphemes(ratatui::style::Style::default()) {
        let wide = super::text::width(grapheme.symbol);
        if taken + wide > cells && taken > 0 {
            rows.push(String::new());
            taken = 0;
        }
        taken += wide;
        if let Some(row) = rows.last_mut() {
            row.push_str(grapheme.symbol);
        }
    }
    rows
}
