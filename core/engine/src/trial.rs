//! `TEST_MODE=1`: what would be done before a compaction, in words, and nothing of it done. Only there: no variable
//! changes what is said of a tool call.

use crate::Outcome;
use model::effect::Write;
use model::effort::MemoryWrite;
use model::event::{Envelope, EventKind};
use model::session::Session;
use model::{Environment, text};

/// Whether the event is only to be talked about.
pub fn is_trial(envelope: &Envelope, env: &Environment) -> bool {
    envelope.kind == EventKind::PreCompact && env.get("TEST_MODE") == Some("1")
}

/// One line for each thing.
pub fn would_do(outcome: &Outcome) -> String {
    let verdict = match crate::reply::reason(&outcome.reply) {
        Some(reason) => format!("would refuse the compaction: {}", text::line(&reason, 400)),
        None => "would let it compact".to_string(),
    };
    let mut lines = vec![verdict];
    lines.extend(outcome.writes.iter().filter_map(said));
    lines.iter().map(|line| format!("TEST_MODE: {line}\n")).collect()
}

fn said(write: &Write) -> Option<String> {
    match write {
        Write::Session(session) => ended(session),
        Write::Task(turn) => Some(format!("would let task {} go", turn.after.slug)),
        Write::Memory(MemoryWrite::HandOver(note)) => {
            Some(format!("would write a hand-over note ({} prompts)", note.hand_over.work.prompts.len()))
        }
        Write::Memory(MemoryWrite::Message(message)) if message.kind == "restart_request" => {
            Some("would ask for a restart".to_string())
        }
        _ => None,
    }
}

fn ended(session: &Session) -> Option<String> {
    let reason = session.end_reason.as_deref().filter(|_| !session.open())?;
    Some(format!("would end session {} ({reason})", session.logical_id))
}
