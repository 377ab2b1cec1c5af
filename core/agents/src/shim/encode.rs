//! What the plugin reads: one object with a text for each thing it can do.

use crate::Dialect;
use crate::answers;
use model::Answer;
use model::event::Envelope;
use model::reply::{ByFamily, GateStop, Reply};
use serde_json::{Map, json};

/// What a hook prints that crashed before it could judge anything.
pub const DENY_UNJUDGED: &str = concat!(
    r#"{"deny":"Taut could not judge this call: it crashed, or there was no time or room left; "#,
    r#"`taut doctor` says more."}"#,
    "\n"
);

/// Only what the dialect declares: the plugin would do nothing with more.
pub fn encode(dialect: &Dialect, envelope: &Envelope, reply: &Reply) -> Answer {
    let said = match &reply.answer {
        ByFamily::Gate(gate) => gate.stop.as_ref().map(|stop| stop_words(dialect, stop)),
        ByFamily::Feedback(feedback) => match (&feedback.block, &feedback.context) {
            (Some(block), _) if declares(dialect, envelope, "block") => Some(("block", block.as_str())),
            (block, context) => context.as_ref().or(block.as_ref()).map(|text| ("context", text.as_str())),
        },
        ByFamily::Context(context) => context.text.as_ref().map(|text| ("context", text.as_str())),
        _ => None,
    };
    let mut answer = match said {
        Some((name, text)) if declares(dialect, envelope, name) => one(name, text),
        _ => Answer::default(),
    };
    if let Some(warning) = &reply.warning {
        answer.stderr = format!("{warning}\n");
    }
    answer
}

/// A payload that could not be read is stopped as the event a guard stands on.
pub fn stop_unread(dialect: &Dialect, stop: &GateStop) -> Answer {
    let (name, text) = stop_words(dialect, stop);
    one(name, text)
}

/// A question that can be put to nobody is a denial.
fn stop_words<'a>(dialect: &Dialect, stop: &'a GateStop) -> (&'static str, &'a str) {
    match stop {
        GateStop::Ask { reason } if dialect.profile.expresses.ask => ("ask", reason),
        GateStop::Ask { reason } | GateStop::Deny { reason, .. } => ("deny", reason),
    }
}

fn declares(dialect: &Dialect, envelope: &Envelope, name: &str) -> bool {
    dialect.honours(envelope.kind, &one(name, "text")).is_ok()
}

fn one(name: &str, text: &str) -> Answer {
    answers::object(Map::from_iter([(name.to_string(), json!(text))]))
}
