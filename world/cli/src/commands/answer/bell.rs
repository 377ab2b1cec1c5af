//! The bell of a session, on the line that waits: at the beginning of a session its client is told which file to watch, and
//! when that file has changed the client is woken if messages wait.

use model::EventKind;
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use store::Store;

const PRINTING_TIME: Duration = Duration::from_secs(2);
/// With it the client takes what was said for a reason to go on.
const WAKES: u8 = 2;

/// An event that the bell is for.
pub struct BellEvent {
    kind: EventKind,
    session: String,
}

/// `None` for any other event.
pub fn event(payload: &[u8]) -> Option<BellEvent> {
    let payload: Value = serde_json::from_slice(payload).ok()?;
    let name = payload["hook_event_name"].as_str()?;
    let kind = [EventKind::SessionStart, EventKind::FileChanged].into_iter().find(|kind| kind.name() == name)?;
    Some(BellEvent { kind, session: payload["session_id"].as_str().unwrap_or_default().to_owned() })
}

pub fn serve(event: &BellEvent, agent: &str, state: &Path) -> ExitCode {
    if event.kind == EventKind::FileChanged {
        return rung(state, &event.session);
    }
    begin(agent, state, &event.session);
    ExitCode::SUCCESS
}

fn begin(agent: &str, state: &Path, session: &str) {
    let line = agents::ALL.find(agent).and_then(|dialect| dialect.settings.waiting.as_ref());
    let (Some(line), Ok(bell)) = (line, actions::bell::make(state, session)) else { return };
    let told = (line.watch)(&bell.to_string_lossy());
    let _ = sys::output::write_within(libc::STDOUT_FILENO, told.as_bytes(), PRINTING_TIME);
}

/// Any file that the user has the client watch comes here too: without a message it is nothing to us.
fn rung(state: &Path, session: &str) -> ExitCode {
    let heard = Store::open_existing_read_only(state).and_then(|store| actions::bell::heard(&store, session));
    match heard {
        Ok(Some(text)) if sys::output::write_within(libc::STDERR_FILENO, text.as_bytes(), PRINTING_TIME) => {
            ExitCode::from(WAKES)
        }
        _ => ExitCode::SUCCESS,
    }
}
