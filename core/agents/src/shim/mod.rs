//! Agents that call no hook but run a plugin inside themselves. The plugin is ours, so what it sends and what it reads are
//! our own words: one core in plain JavaScript, and a thin top for each agent.

mod decode;
mod encode;
mod registered;
mod script;
#[cfg(test)]
mod tests;

pub use decode::{EVENTS, decode};
pub use encode::{DENY_UNJUDGED, encode, stop_unread};
pub use registered::{PROOF, REGISTERED};
pub use script::{ShimTop, script};

use crate::answer_form::{AnswerForm, FieldValue, FormPart};
use model::{Environment, EventKind};

/// What the plugin tells each of its calls: whether somebody sits in front of the agent.
pub const ATTENDED: &str = "TAUT_ATTENDED";

pub fn unattended(env: &Environment) -> bool {
    env.get(ATTENDED) == Some("0")
}

/// A text in the plugin's answer.
pub const fn text(on: &'static [EventKind], name: &'static str) -> AnswerForm {
    AnswerForm { on, what: FormPart::Field(name, FieldValue::AnyText) }
}
