//! PreToolUse: the strictest verdict wins, all reasons of that level at once.

use model::reply::{Gate, GateStop};
use model::{Findings, Level};

pub fn gate(findings: &Findings) -> Gate {
    let stop = match findings.level() {
        Level::Pass => return Gate::default(),
        Level::Warn => return Gate { stop: None, context: Some(policy::reason(findings)) },
        Level::Ask => GateStop::Ask { reason: policy::reason(findings) },
        Level::Deny => GateStop::Deny { reason: policy::reason(findings), halt: None },
    };
    Gate { stop: Some(stop), context: None }
}
