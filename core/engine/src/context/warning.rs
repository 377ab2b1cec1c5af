//! Warnings on the way to a full context: each once, the highest crossed first,
//! and earlier where nobody stands by.

use super::ContextSettings;
use model::session::Session;

/// In percent of the point where the client compacts by itself.
const LEVELS: [u8; 4] = [95, 90, 80, 60];

/// From here on a warning is worth a turn of its own at a stop.
pub const WORTH_A_TURN: u8 = 90;

/// How much earlier a session is warned that works by itself.
const EARLIER: u8 = 10;

/// A warning that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub level: u8,
    pub text: String,
}

/// The highest level that was crossed, unless it or a higher one was told.
pub fn due(session: &Session, settings: &ContextSettings) -> Option<Warning> {
    if !settings.warnings {
        return None;
    }
    let percent = session.context_percent()?;
    let shift = if is_autonomous(session) { EARLIER } else { 0 };
    let crossed = LEVELS.into_iter().find(|level| percent >= f64::from(level - shift))?;
    (crossed > session.memo.warned).then(|| Warning { level: crossed, text: text(settings, crossed, shift) })
}

/// Nobody watches a session in one of these modes.
pub fn is_autonomous(session: &Session) -> bool {
    session.mission.is_some() || matches!(session.mode.as_deref(), Some("background" | "mission" | "autonomous"))
}

fn text(settings: &ContextSettings, level: u8, shift: u8) -> String {
    let at = level - shift;
    let first = match level {
        60 => settings.info(&format!("Context at {at}% - Consider writing reset notes soon")),
        80 => settings.warning(&format!("Context at {at}% - Write reset notes and prepare to transition")),
        90 => settings.warning(&format!("Context at {at}% - URGENT")),
        _ => settings.warning(&format!("Context at {at}% - CRITICAL")),
    };
    let then = match level {
        60 => "What only this conversation knows is lost when it is compacted: write it into a file.",
        80 => {
            "Finish the step you are at. Then `taut session dehydrate` keeps your hand-over note for the session after this one."
        }
        90 => {
            "Stop the task. Write the minimal state now: `taut session dehydrate --summary '…' --last '…' --next '…' --file …`."
        }
        _ => {
            "Reset immediately: `taut session dehydrate` now, before anything else. The next request may be compacted."
        }
    };
    let alone = if shift > 0 { "\nAUTONOMOUS MODE: no human backup. Nobody will save this state for you." } else { "" };
    format!("{first}\n{then}{alone}")
}

#[cfg(test)]
#[path = "warning_tests.rs"]
mod tests;
