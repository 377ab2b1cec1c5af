//! How a run looks while it goes on: lines for what matters, and one status line that changes, only where a person
//! looks. With `--json` every message is a line of JSON.

use super::words::{bar, tokens};
use crate::commands::ago;
use crate::printer::{Printer, Text, text};
use host::paths::PathVariables;
use runner::{RunMessage, RunStatus, Tell};
use serde_json::{Value, json};
use service::workers::notifier;
use std::cell::{Cell, RefCell};

pub struct LoopScreen<'p> {
    printer: &'p Printer,
    /// The status line can be drawn over.
    live: bool,
    /// What the agent says is printed.
    words: bool,
    /// The status line that stands there and must be wiped before anything else.
    drawn: RefCell<Option<String>>,
    waits: Cell<bool>,
}

impl<'p> LoopScreen<'p> {
    pub fn new(printer: &'p Printer) -> Self {
        let live = !printer.json() && Printer::has_listener() && !Printer::is_dumb();
        Self { printer, live, words: false, drawn: RefCell::new(None), waits: Cell::new(false) }
    }

    pub fn with_words(self, words: bool) -> Self {
        Self { words, ..self }
    }

    fn line(&self, text: impl Into<Text>) {
        self.wipe();
        self.printer.note(text);
    }

    /// Only what is another line than before is drawn.
    fn draw(&self, text: String) {
        if self.live && self.drawn.borrow().as_ref() != Some(&text) {
            self.printer.draw(&text, width());
            self.drawn.replace(Some(text));
        }
    }

    fn wipe(&self) {
        if self.drawn.take().is_some() {
            self.printer.wipe();
        }
    }

    fn said(&self, worker: Option<&str>, said: &str) {
        let name = format!("{} │", worker.unwrap_or("agent"));
        for line in said.lines().filter(|line| !line.trim().is_empty()) {
            self.line(text!("{} {}", self.printer.dim(name.as_str()), line));
        }
    }

    fn object(&self, said: &RunMessage, begun: bool) {
        let waits = matches!(said, RunMessage::Countdown { .. });
        let quiet = matches!(said, RunMessage::AgentSaid { .. }) && !self.words || waits && !begun;
        if let Some(object) = object(said).filter(|_| self.printer.json() && !quiet) {
            self.printer.object(&object);
        }
    }
}

impl Tell for LoopScreen<'_> {
    fn show(&self, said: &RunMessage) {
        let printer = self.printer;
        // A wait is told once, not with every second of it.
        let begun = !self.waits.replace(matches!(said, RunMessage::Countdown { .. }));
        self.object(said, begun);
        match said {
            RunMessage::Note(text) => self.line(text),
            RunMessage::Warning(text) => self.line(text!("{} {}", printer.yellow("warning:"), text)),
            RunMessage::HookLine { hook, text } => {
                self.line(text!("{} {}", printer.cyan(format!("{hook} │")), text));
            }
            RunMessage::WorkerLine { worker, task, text } => {
                self.line(text!("{} {}", printer.cyan(format!("{worker} {task} │")), text));
            }
            RunMessage::AgentSaid { worker, text } if self.words => self.said(worker.as_deref(), text),
            RunMessage::AgentSaid { .. } => {}
            RunMessage::IterationStarted { iteration } => self.line(format!("iteration {iteration} begins")),
            RunMessage::IterationEnded { iteration, exit, commits, cost_micros, ms } => {
                let cost = *cost_micros as f64 / 1e6;
                let exit = exit.map_or("a signal".to_string(), |code| code.to_string());
                self.line(format!(
                    "iteration {iteration} ended with {exit}: {commits} commits, ${cost:.2}, {}",
                    ago(*ms)
                ));
            }
            RunMessage::Status(status) => self.draw(status_line(status)),
            RunMessage::Countdown { seconds, why } => {
                if begun {
                    tell_people();
                }
                self.draw(format!("{why}: {} left", span(*seconds)));
            }
            RunMessage::Paused { .. } | RunMessage::Finished { .. } => {
                self.wipe();
                tell_people();
            }
        }
    }
}

/// A daemon looks by itself; without one a process of its own tells, where somebody wants to be told.
fn tell_people() {
    let places = PathVariables::from_process();
    if notifier::is_on(&service::setting(&places)) {
        service::tell_in_background(&places);
    }
}

/// What changes all the time is no line.
fn object(said: &RunMessage) -> Option<Value> {
    Some(match said {
        RunMessage::Note(text) => json!({"message": "note", "text": text}),
        RunMessage::Warning(text) => json!({"message": "warning", "text": text}),
        RunMessage::HookLine { hook, text } => json!({"message": "hook_line", "hook": hook, "text": text}),
        RunMessage::WorkerLine { worker, task, text } => {
            json!({"message": "worker_line", "worker": worker, "task": task, "text": text})
        }
        RunMessage::AgentSaid { worker, text } => json!({"message": "agent_said", "worker": worker, "text": text}),
        RunMessage::IterationStarted { iteration } => json!({"message": "iteration_started", "iteration": iteration}),
        RunMessage::IterationEnded { iteration, exit, commits, cost_micros, ms } => json!({
            "message": "iteration_ended", "iteration": iteration, "exit": exit, "commits": commits,
            "cost_usd": *cost_micros as f64 / 1e6, "duration_ms": ms,
        }),
        RunMessage::Countdown { seconds, why } => json!({"message": "waiting", "why": why, "seconds": seconds}),
        RunMessage::Paused { iteration } => json!({"message": "paused", "iteration": iteration}),
        RunMessage::Finished { finish, why } => json!({"message": "finished", "finish": finish.name(), "why": why}),
        RunMessage::Status(_) => return None,
    })
}

/// The most important first: a narrow terminal shows the beginning.
fn status_line(status: &RunStatus) -> String {
    let mut parts = Vec::new();
    if let (Some(done), Some(left)) = (status.done, status.left) {
        parts.push(bar(done, done + left));
    }
    parts.push(format!("iteration {}", status.iteration));
    parts.push(span(status.elapsed_ms / 1000));
    parts.push(format!("${:.2}", status.cost_micros as f64 / 1e6));
    parts.extend(status.task.clone());
    parts.extend(status.tool.clone());
    parts.extend((status.tokens > 0).then(|| format!("{} tokens", tokens(status.tokens))));
    parts.extend(status.context_tokens.map(|tokens| format!("context {}k", tokens / 1000)));
    parts.extend(
        status
            .said
            .as_deref()
            .and_then(|said| said.lines().map(str::trim).rfind(|line| !line.is_empty()))
            .map(String::from),
    );
    parts.join(" · ")
}

fn span(seconds: i64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// How many columns may be written to; the last one would begin a new line on some terminals.
fn width() -> usize {
    sys::terminal::columns().map_or(79, |columns| usize::from(columns).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l13_the_status_line_says_progress_iteration_time_cost_task_tool_tokens_and_words() {
        let status = RunStatus {
            iteration: 3,
            elapsed_ms: 3_725_000,
            cost_micros: 1_234_000,
            context_tokens: Some(84_000),
            done: Some(4),
            left: Some(7),
            tool: Some("Bash".into()),
            task: Some("parse-dates".into()),
            tokens: 1_250_000,
            said: Some("First.\nI run the tests now.\n".into()),
        };
        assert_eq!(
            status_line(&status),
            "[###-------] 4/11 · iteration 3 · 1:02:05 · $1.23 · parse-dates · Bash · 1.2M tokens · context 84k \
             · I run the tests now."
        );
        assert_eq!(status_line(&RunStatus::default()), "iteration 0 · 0:00:00 · $0.00");
    }

    #[test]
    fn l13_a_status_that_changes_is_no_line_of_json_and_everything_else_is() {
        assert_eq!(object(&RunMessage::Status(RunStatus::default())), None);
        let said = RunMessage::AgentSaid { worker: Some("w1".into()), text: "hello".into() };
        assert_eq!(object(&said), Some(json!({"message": "agent_said", "worker": "w1", "text": "hello"})));
    }
}
