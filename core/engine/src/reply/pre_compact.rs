//! PreCompact: an agent that holds a task and runs by itself is stopped when
//! its context is full, so that a fresh one goes on. `continue: false` alone
//! does not stop the client here: the compaction is refused as well.

use super::ReplyDraft;
use crate::leases::{Holding, STOP_REASON};
use model::event::Family;
use model::reply::{ByFamily, Halt, Reply, Veto};

const RULE: &str = "context-limit";

pub fn say(holding: &Holding) -> ReplyDraft {
    if !holding.halted {
        return Reply::nothing(Family::Veto).into();
    }
    let veto = Veto { block: Some(stop_text()), halt: Some(halt()) };
    ReplyDraft {
        reply: Reply { answer: ByFamily::Veto(veto), ..Reply::default() },
        rules: vec![RULE.to_string()],
        ..ReplyDraft::default()
    }
}

pub fn halt() -> Halt {
    Halt { stop_reason: STOP_REASON.to_string() }
}

/// What the agent and its owner read.
pub fn stop_text() -> String {
    "context limit reached: this session is over. Its tasks were released for retry (`taut task list`), \
     and what it knew is stored for the next session of this agent"
        .to_string()
}
