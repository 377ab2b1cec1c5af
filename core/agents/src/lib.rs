//! Dialects: how each agent says things on stdin and wants to be answered on
//! stdout. One folder per agent; everything else speaks the words of `model`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod claude_code;
mod lenient;
mod salvage;

use model::reply::{GateStop, Reply};
use model::run::{AgentOutput, Launch, LaunchLine};
use model::{Answer, Envelope};
use serde_json::{Map, Value};

/// One agent's dialect.
pub struct Dialect {
    /// The name users type after `--agent`.
    pub name: &'static str,
    decode: fn(&Map<String, Value>) -> Envelope,
    encode: fn(&Envelope, &Reply) -> Answer,
    stop_unread: fn(GateStop) -> Answer,
    launch: fn(&Launch) -> LaunchLine,
    hear: fn(&str, &mut AgentOutput),
}

/// A payload no event could be made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub why: String,
}

static CLAUDE_CODE: Dialect = Dialect {
    name: claude_code::NAME,
    decode: claude_code::decode::decode,
    encode: claude_code::encode::encode,
    stop_unread: claude_code::encode::stop_unread,
    launch: claude_code::launch::line,
    hear: claude_code::stream::hear,
};

/// Every agent Taut speaks with. A new agent is a new folder and one line here.
static DIALECTS: &[&Dialect] = &[&CLAUDE_CODE];

/// The dialect of an agent; an unknown name is taken for Claude Code's, which
/// other agents imitate.
pub fn dialect(agent: &str) -> &'static Dialect {
    DIALECTS.iter().find(|dialect| dialect.name == agent).unwrap_or(&&CLAUDE_CODE)
}

/// The names of agents that can be started.
pub fn names() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().map(|dialect| dialect.name)
}

/// How an agent is started for one iteration of a loop.
pub fn launch(agent: &str, launch: &Launch) -> LaunchLine {
    (dialect(agent).launch)(launch)
}

/// Takes in one line of what a started agent says of its work.
pub fn hear(agent: &str, line: &str, heard: &mut AgentOutput) {
    (dialect(agent).hear)(line, heard);
}

/// Turns a payload into an event. Lenient about every field, strict only about
/// there being an event at all.
pub fn decode(agent: &str, bytes: &[u8]) -> Result<Envelope, Unreadable> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (fields, broken) = match first_object(bytes) {
        Ok(fields) => (fields, None),
        Err(broken) => match salvage::salvage(bytes) {
            Some(fields) => (fields, Some(broken)),
            None => return Err(Unreadable { why: broken.why }),
        },
    };
    let mut envelope = (dialect(agent).decode)(&fields);
    if envelope.name.is_empty() {
        return Err(Unreadable { why: "no hook_event_name in the payload".into() });
    }
    if let Some(Broken { why, cut }) = broken {
        envelope.notes.push(format!("payload is not whole JSON ({why}); read what could be read"));
        envelope.cut = cut || salvage::shortened(&fields);
    }
    Ok(envelope)
}

/// The answer in the dialect the event came in.
pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    (dialect(envelope.agent).encode)(envelope, reply)
}

/// What is answered to a payload that could not be read: the event a guard
/// stands on is stopped, and any other ignores what is not its own.
pub fn stop_unread(agent: &str, stop: GateStop) -> Answer {
    (dialect(agent).stop_unread)(stop)
}

/// What a hook prints that crashed before it could judge anything: the user is asked. Fixed, because there may be no
/// memory to make it of.
pub fn unjudged() -> &'static [u8] {
    claude_code::encode::UNJUDGED.as_bytes()
}

/// Why the bytes are not one whole object.
struct Broken {
    why: String,
    /// They end too early.
    cut: bool,
}

/// The first JSON object of the bytes. Agents have been seen to send a byte
/// order mark before it and garbage after it.
fn first_object(bytes: &[u8]) -> Result<Map<String, Value>, Broken> {
    let text = String::from_utf8_lossy(bytes);
    let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    match values.next() {
        Some(Ok(Value::Object(fields))) => Ok(fields),
        Some(Ok(_)) => Err(Broken { why: "not a JSON object".into(), cut: false }),
        Some(Err(error)) => Err(Broken { why: error.to_string(), cut: error.is_eof() }),
        None => Err(Broken { why: "empty input".into(), cut: true }),
    }
}
