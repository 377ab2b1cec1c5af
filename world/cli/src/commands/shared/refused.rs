//! `taut shared refused`: what agents said of their tasks and the server would not take any more, kept for 30 days.

use super::seen::SeenQueues;
use crate::commands::{counted, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use serde_json::json;
use store::{RefusedTurn, Store};

/// So much of a result is shown in the list; `--json` has all of it.
const LONGEST: usize = 200;

/// So long they are shown.
pub const KEPT_MS: i64 = 30 * 24 * 3_600_000;

/// Those of so many milliseconds, the newest first.
pub fn recent(store: &Store, ms: i64) -> Result<Vec<RefusedTurn>, CliError> {
    let since = host::clock::now().plus(-ms);
    Ok(store.refused_turns()?.into_iter().filter(|turn| turn.at >= since).collect())
}

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let refused = match stored()? {
        Some(store) => {
            let seen = SeenQueues::of("shared refused", &store)?;
            recent(&store, KEPT_MS)?.into_iter().filter(|turn| seen.includes_turn(turn)).collect()
        }
        None => Vec::new(),
    };
    if printer.json() {
        refused.iter().for_each(|turn| printer.object(&object(turn)));
        return Ok(Exit::Ok);
    }
    if refused.is_empty() {
        printer.line("nothing was refused in the last 30 days");
        return Ok(Exit::Ok);
    }
    for turn in &refused {
        let (agent, outcome) = (turn.agent.as_deref().unwrap_or("-"), turn.outcome.as_deref().unwrap_or("-"));
        printer.line(text!(
            "{}  {}  {} of {}, attempt {}: {}",
            host::clock::shown(turn.at),
            turn.slug,
            outcome,
            agent,
            turn.attempt,
            turn.why
        ));
        if let Some(result) = &turn.result {
            printer.line(text!("  result {}", Text::line(model::text::line(&model::text::json(result), LONGEST))));
        }
    }
    printer.note(format!(
        "{}: the work is where its agent left it; say `taut task done` again from a new claim, if it is to count",
        counted(refused.len() as u64, "result")
    ));
    Ok(Exit::Ok)
}

fn object(turn: &RefusedTurn) -> serde_json::Value {
    json!({
        "at": turn.at.rfc3339(), "queue": turn.queue, "id": turn.slug, "agent": turn.agent, "attempt": turn.attempt,
        "outcome": turn.outcome, "result": turn.result, "why": turn.why,
    })
}
