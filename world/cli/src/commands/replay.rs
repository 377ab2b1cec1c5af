//! `taut replay`: steps through a session as it was.

use super::sessions::find;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use clap::Args;
use dash::timeline::{self, TimelineEntry};
use dash::tui::replay_keys::{self, ReplayKey};
use model::Ms;
use std::io::IsTerminal;
use store::EventFilter;

/// More of a session than anybody steps through; of a longer one its end.
const MOST_EVENTS: usize = 20_000;
/// So many lines of a prompt or a reason stand below a step.
const LINES: usize = 12;

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Its id, ours or the one it is known by, or how that begins; or an agent's name for its newest
    session: String,
    /// Print all of it, also at a terminal
    #[arg(long)]
    all: bool,
}

pub fn run(args: &ReplayArgs, printer: &Printer) -> Result<Exit, CliError> {
    let (store, session) = find::seen("replay", &args.session)?;
    let filter = EventFilter { session: Some(session.id.clone()), limit: MOST_EVENTS, ..EventFilter::default() };
    let events = store.events(&filter)?;
    let mut steps = timeline::entries(&events, &[]);
    steps.reverse();
    if events.len() == MOST_EVENTS {
        printer.note(format!("only its last {MOST_EVENTS} events; `taut sessions export {}` has all", session.id));
    }
    if printer.json() {
        steps.iter().for_each(|step| printer.object(&serde_json::to_value(step).unwrap_or_default()));
        return Ok(Exit::Ok);
    }
    let Some(first) = steps.first() else {
        printer.note("nothing is recorded of this session any more; `taut sessions show` says what is known of it");
        return Ok(Exit::Ok);
    };
    let replay = Replay { steps: &steps, began: first.at, printer };
    let name = store.agent_name(&session.agent)?;
    let head = text!("{} of {} in {}, {} steps", session.id, name, session.project, steps.len());
    printer.line(printer.bold(head));
    if args.all || !Printer::has_reader() || !std::io::stdin().is_terminal() {
        (0..steps.len()).for_each(|at| replay.show(at));
    } else {
        replay.step_through()?;
    }
    Ok(Exit::Ok)
}

struct Replay<'r> {
    steps: &'r [TimelineEntry],
    began: Ms,
    printer: &'r Printer,
}

impl Replay<'_> {
    fn step_through(&self) -> Result<(), CliError> {
        self.printer.note("space or right: next; left: back; g and G: first and last; q: leave");
        let (mut at, last) = (0, self.steps.len() - 1);
        self.show(at);
        loop {
            let to = match replay_keys::wait()? {
                ReplayKey::Leave => return Ok(()),
                ReplayKey::Next if at == last => {
                    self.printer.note("that was the last; q leaves");
                    continue;
                }
                ReplayKey::Next => at + 1,
                ReplayKey::Back => at.saturating_sub(1),
                ReplayKey::First => 0,
                ReplayKey::Last => last,
            };
            if to != at + 1 {
                self.printer.line(self.printer.dim(format!("-- {} of {} --", to + 1, self.steps.len())));
            }
            at = to;
            self.show(at);
        }
    }

    fn show(&self, at: usize) {
        let (step, printer) = (&self.steps[at], self.printer);
        let what = match &step.tool {
            Some(tool) if step.event == "PermissionRequest" => format!("{tool} asks"),
            Some(tool) => tool.clone(),
            None => step.event.clone(),
        };
        let how = if step.verdict == "pass" { step.outcome.unwrap_or_default() } else { step.verdict };
        let how = match how {
            "deny" | "denied" | "failed" => printer.red(how),
            "ask" | "warn" => printer.yellow(how),
            how => printer.dim(how),
        };
        let rules = if step.rules.is_empty() { String::new() } else { format!("  [{}]", step.rules.join(", ")) };
        let after = printer.dim(passed(step.at.since(self.began)));
        printer.line(text!("{}  {}  {}  {}{}", after, what, how, step.about, rules).trimmed());
        let whole = step.text.as_deref().filter(|whole| whole.lines().count() > 1);
        whole.into_iter().for_each(|text| self.below("", text));
        step.reason.iter().for_each(|reason| self.below("why: ", reason));
        step.error.iter().for_each(|error| self.below("failed: ", error));
        for part in step.told.iter().filter(|part| part.as_what != "reason") {
            self.below(if part.to == "model" { "the model was told: " } else { "you were told: " }, &part.text);
        }
    }

    fn below(&self, name: &'static str, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        for (nth, line) in lines.iter().take(LINES).enumerate() {
            let name = if nth == 0 { name } else { "" };
            self.printer.line(text!("         {}{}", self.printer.dim(name), Text::line(line)));
        }
        if lines.len() > LINES {
            self.printer.line(self.printer.dim(format!("         and {} lines more", lines.len() - LINES)));
        }
    }
}

/// Since it began: `+0:00:12`.
fn passed(millis: i64) -> String {
    let seconds = millis / 1000;
    format!("+{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
