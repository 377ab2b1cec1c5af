//! How a run looks while it goes on: lines for what matters, and one status
//! line that changes, only where a person looks.

use crate::printer::{Printer, Text, text};
use runner::{RunMessage, RunStatus, Tell};
use serde_json::json;
use std::cell::Cell;

pub struct LoopScreen<'p> {
    printer: &'p Printer,
    live: bool,
    /// A status line stands there and must be wiped before anything else.
    drawn: Cell<bool>,
}

impl<'p> LoopScreen<'p> {
    pub fn new(printer: &'p Printer) -> Self {
        Self { printer, live: !printer.json() && Printer::has_listener(), drawn: Cell::new(false) }
    }

    fn line(&self, text: impl Into<Text>) {
        self.wipe();
        self.printer.note(text);
    }

    fn draw(&self, text: &str) {
        if self.live {
            self.printer.draw(text, width());
            self.drawn.set(true);
        }
    }

    fn wipe(&self) {
        if self.drawn.replace(false) {
            self.printer.wipe();
        }
    }
}

impl Tell for LoopScreen<'_> {
    fn show(&self, said: &RunMessage) {
        let printer = self.printer;
        match said {
            RunMessage::Note(text) => self.line(text),
            RunMessage::Warning(text) => self.line(text!("{} {}", printer.yellow("warning:"), text)),
            RunMessage::HookLine { hook, text } => {
                self.line(text!("{} {}", printer.cyan(format!("{hook} │")), text));
            }
            RunMessage::WorkerLine { worker, task, text } => {
                self.line(text!("{} {}", printer.cyan(format!("{worker} {task} │")), text));
            }
            RunMessage::IterationStarted { iteration } => self.line(format!("iteration {iteration} begins")),
            RunMessage::IterationEnded { iteration, exit, commits, cost_micros, ms } => {
                let cost = *cost_micros as f64 / 1e6;
                if printer.json() {
                    printer.object(&json!({"iteration": iteration, "exit": exit, "commits": commits, "cost_usd": cost, "duration_ms": ms}));
                }
                let exit = exit.map_or("a signal".to_string(), |code| code.to_string());
                self.line(format!(
                    "iteration {iteration} ended with {exit}: {commits} commits, ${cost:.2}, {}",
                    crate::commands::ago(*ms)
                ));
            }
            RunMessage::Status(status) => self.draw(&status_line(status)),
            RunMessage::Countdown { seconds, why } => self.draw(&format!("{why}: {} left", span(*seconds))),
            RunMessage::Finished { .. } => self.wipe(),
        }
    }
}

fn status_line(status: &RunStatus) -> String {
    let mut parts = vec![
        format!("iteration {}", status.iteration),
        span(status.elapsed_ms / 1000),
        format!("${:.2}", status.cost_micros as f64 / 1e6),
    ];
    parts.extend(status.context_tokens.map(|tokens| format!("context {}k", tokens / 1000)));
    if let (Some(done), Some(left)) = (status.done, status.left) {
        parts.push(format!("{done} done, {left} left"));
    }
    parts.extend(status.tool.clone());
    parts.join(" · ")
}

fn span(seconds: i64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// How many columns the terminal has.
fn width() -> usize {
    sys::terminal::columns().map_or(79, |columns| usize::from(columns) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_line_says_iteration_time_cost_context_tasks_and_tool() {
        let status = RunStatus {
            iteration: 3,
            elapsed_ms: 3_725_000,
            cost_micros: 1_234_000,
            context_tokens: Some(84_000),
            done: Some(4),
            left: Some(7),
            tool: Some("Bash".into()),
        };
        assert_eq!(status_line(&status), "iteration 3 · 1:02:05 · $1.23 · context 84k · 4 done, 7 left · Bash");
    }
}
