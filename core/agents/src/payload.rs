//! Payloads whose fields are named as most agents name them, in snake or camel case: what a dialect does not say
//! otherwise is read here.

use crate::lenient::Fields;
use crate::tool_table::AgentTools;
use model::AgentProfile;
use model::event::{Body, Envelope, EventKind, SessionStart, StartSource, SubAgent, ToolResponse};
use model::tool::{MADE_ID, ToolCall};
use serde_json::Value;

/// What a dialect says of its payloads.
#[derive(Debug)]
pub struct PayloadForm {
    pub agent: &'static AgentProfile,
    /// What the agent calls the events it has, and which they are. A name that is not here is of none we know.
    pub events: &'static [(&'static str, EventKind)],
    pub tools: &'static AgentTools,
    /// The fields that hold a call's id. Where an agent gives none, one is made of what the call asks for, so that its
    /// result is known to be its own.
    pub call_id: &'static [&'static str],
    /// The fields that hold what a tool gave back.
    pub response: &'static [&'static str],
}

impl PayloadForm {
    /// The event of that name. A dialect puts right what its agent tells otherwise.
    pub fn envelope(&self, fields: Fields<'_>, name: String) -> Envelope {
        let kind = self.events.iter().find(|(known, _)| *known == name).map_or(EventKind::Unknown, |(_, kind)| *kind);
        let some = |field: &str| fields.string(field).filter(|text| !text.is_empty());
        Envelope {
            agent: self.agent,
            kind,
            name,
            host_session: some("session_id"),
            transcript: some("transcript_path"),
            cwd: some("cwd"),
            prompt_id: some("prompt_id"),
            permission_mode: some("permission_mode"),
            sub_agent: some("agent_id").map(|id| SubAgent { id, kind: fields.plain("agent_type") }),
            body: self.body(fields, kind),
            notes: Vec::new(),
            cut: false,
        }
    }

    /// The call of a tool event.
    pub fn tool(&self, fields: Fields<'_>) -> ToolCall {
        let input = fields.value("tool_input").filter(|input| input.is_object()).cloned().unwrap_or_default();
        let name = fields.plain("tool_name");
        let id = match self.call_id {
            [] => Some(made_id(&name, &input)),
            names => names.iter().find_map(|field| fields.string(field)).filter(|id| !id.is_empty()),
        };
        self.tools.call(name, input, id)
    }

    fn body(&self, fields: Fields<'_>, kind: EventKind) -> Body {
        match kind {
            EventKind::SessionStart => Body::SessionStart(SessionStart {
                source: StartSource::parse(fields.text("source").unwrap_or_default()),
                previous: None,
                model: fields.string("model"),
                context_tokens: None,
            }),
            EventKind::UserPromptSubmit => Body::Prompt { text: fields.plain("prompt") },
            EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::PermissionDenied => {
                Body::Tool(self.tool(fields))
            }
            EventKind::PostToolUse => Body::ToolDone {
                call: self.tool(fields),
                response: self.response(fields),
                duration_ms: fields.number("duration_ms"),
            },
            EventKind::PostToolUseFailure => Body::ToolFailed {
                call: self.tool(fields),
                error: error_text(fields.value("error")),
                interrupted: fields.flag("is_interrupt"),
            },
            EventKind::Stop | EventKind::SubagentStop => Body::Stop {
                hook_active: fields.flag("stop_hook_active"),
                last_message: fields.string("last_assistant_message"),
                background: 0,
            },
            EventKind::StopFailure => Body::Failure {
                error: error_text(fields.value("error")),
                details: fields.string("error_details"),
                last_message: fields.string("last_assistant_message"),
            },
            EventKind::Notification => {
                Body::Notification { kind: fields.plain("notification_type"), message: fields.plain("message") }
            }
            EventKind::PreCompact | EventKind::PostCompact => {
                Body::Compact { trigger: fields.plain("trigger"), summary: fields.string("compact_summary") }
            }
            EventKind::SessionEnd => {
                Body::SessionEnd { reason: fields.string("reason").unwrap_or_else(|| "other".into()) }
            }
            _ => Body::Plain,
        }
    }

    /// Size and hash of what a tool gave back.
    pub fn response(&self, fields: Fields<'_>) -> ToolResponse {
        let value = self.response.iter().find_map(|field| fields.value(field));
        value.map(response_of).unwrap_or_default()
    }
}

/// An error as text: some agents send an object with a message in it.
pub fn error_text(error: Option<&Value>) -> String {
    let text = |value: &Value| value.as_str().map(str::to_string);
    let Some(error) = error else { return String::new() };
    text(error).or_else(|| error.get("message").and_then(text)).unwrap_or_else(|| error.to_string())
}

/// The same for a call and for its result, and for every other call that asks for the same.
pub fn made_id(name: &str, input: &Value) -> String {
    format!("{MADE_ID}{:016x}", fnv(&format!("{name}\n{input}")))
}

/// Size and hash of a response; the response itself is never kept.
pub fn response_of(value: &Value) -> ToolResponse {
    let text = value.to_string();
    ToolResponse { bytes: text.len() as u64, hash: fnv(&text) }
}

/// FNV-1a.
fn fnv(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
