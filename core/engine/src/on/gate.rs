//! PreToolUse: the strictest verdict wins, all reasons of that level at once.
//! The model reads why and what to do instead; the user, how to overrule it.

use super::pre_compact;
use model::reply::{ByFamily, Gate, GateStop, Reply};
use model::{Findings, Level};

pub fn reply(findings: &Findings) -> Reply {
    let told = || policy::reason(findings);
    let gate = match findings.level() {
        Level::Pass => Gate::default(),
        Level::Warn => Gate { stop: None, context: Some(told()) },
        Level::Ask => Gate { stop: Some(GateStop::Ask { reason: told() }), context: None },
        Level::Deny => Gate { stop: Some(GateStop::Deny { reason: told(), halt: None }), context: None },
    };
    let user_line = if findings.level() == Level::Deny { policy::way_out(findings) } else { None };
    Reply { answer: ByFamily::Gate(gate), user_line, ..Reply::default() }
}

/// The call of an agent that was stopped at its context limit: it is denied,
/// and the client told to end, for it took no notice the first time.
pub fn halted() -> Reply {
    let stop = GateStop::Deny { reason: pre_compact::told(), halt: Some(pre_compact::halt()) };
    Reply { answer: ByFamily::Gate(Gate { stop: Some(stop), context: None }), ..Reply::default() }
}
