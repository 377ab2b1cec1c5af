//! `taut task history`: every attempt on a task and how it ended.

use super::store_session::StoreSession;
use crate::commands::ago;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text};
use model::task::Attempt;
use serde_json::json;

pub fn run(id: &str, store_session: &mut StoreSession, printer: &Printer) -> Result<Exit, CliError> {
    store_session.reap();
    let task = store_session.task(id)?;
    let attempts = store_session.queue().attempts(&task.queued)?;
    if printer.json() {
        for attempt in &attempts {
            printer.object(&json!({
                "id": id,
                "attempt": attempt.number,
                "agent": attempt.agent,
                "session": attempt.session,
                "claimed_at": attempt.claimed_at.rfc3339(),
                "ended_at": attempt.ended_at.map(|at| at.rfc3339()),
                "outcome": attempt.outcome.map(model::task::AttemptOutcome::name),
                "reason": attempt.reason,
            }));
        }
        return Ok(Exit::Ok);
    }
    if attempts.is_empty() {
        printer.note(format!("task '{id}' was never claimed"));
        return Ok(Exit::Ok);
    }
    let rows: Vec<Vec<Text>> = attempts.iter().map(|attempt| row(attempt, printer)).collect();
    printer.table(&["#", "OUTCOME", "AGENT", "TOOK", "CLAIMED", "REASON"], &rows);
    Ok(Exit::Ok)
}

fn row(attempt: &Attempt, printer: &Printer) -> Vec<Text> {
    use model::task::AttemptOutcome;
    let outcome = match attempt.outcome {
        None => printer.green("active"),
        Some(AttemptOutcome::Done) => AttemptOutcome::Done.name().into(),
        Some(outcome @ AttemptOutcome::Failed) => printer.red(outcome.name()),
        Some(outcome) => printer.yellow(outcome.name()),
    };
    let until = attempt.ended_at.unwrap_or_else(host::clock::now);
    vec![
        attempt.number.to_string().into(),
        outcome,
        attempt.agent.as_str().into(),
        ago(until.since(attempt.claimed_at)).into(),
        host::clock::shown(attempt.claimed_at).into(),
        attempt.reason.as_deref().unwrap_or("-").into(),
    ]
}
