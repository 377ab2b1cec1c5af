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
    format!(
        "context limit reached: this session is over. Its tasks were released for retry (`taut task list`), \
         and what it knew is stored for the next session of this agent. {USER_LINE}"
    )
}

/// What the user does now: told where an answer can carry it, for a compaction that is refused shows them nothing else.
pub const USER_LINE: &str = "Taut: the context is full and was not compacted. Type `/clear` to go on: the next session is \
    told what this one left. (Under `taut run` it is started again by itself.)";
