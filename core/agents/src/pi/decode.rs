//! Pi's tools; the payload is the extension's.

use super::PROFILE;
use crate::payload::PayloadForm;
use crate::shim;
use crate::tool_input::{CommandLanguage, shell_line};
use crate::tool_table::{AgentTools, KnownTool};
use model::Envelope;
use model::event::Body;
use model::tool::{ToolCall, ToolKind};
use serde_json::{Map, Value};

const FILE: &[&str] = &["path"];

const TOOLS: AgentTools = AgentTools {
    tools: &[
        KnownTool::shell("bash", &["command"], &[]),
        KnownTool::shell(POWERSHELL, &["command"], &[]),
        KnownTool::write("write", FILE, &["content"]),
        KnownTool::edit(EDIT, FILE, &["oldText"], &["newText"]),
        KnownTool::read("read", FILE),
        KnownTool::search("grep", FILE, &["pattern"]),
        KnownTool::search("find", FILE, &["pattern"]),
        KnownTool { kind: ToolKind::Search, ..KnownTool::read("ls", FILE) },
    ],
    is_servers: |name| name.contains("__"),
};

const EDIT: &str = "edit";
const POWERSHELL: &str = "powershell";

const FORM: PayloadForm = PayloadForm {
    agent: &PROFILE,
    events: shim::EVENTS,
    tools: &TOOLS,
    call_id: &["tool_use_id"],
    response: &["tool_response"],
};

pub fn decode(object: &Map<String, Value>) -> Envelope {
    let mut envelope = shim::decode(&FORM, object);
    if let Body::Tool(call) | Body::ToolDone { call, .. } | Body::ToolFailed { call, .. } = &mut envelope.body {
        put_right(call);
    }
    envelope
}

/// An edit is a list of them, and one of its shells speaks another language.
fn put_right(call: &mut ToolCall) {
    let joined = |field: &str| {
        let edits = call.input.get("edits").and_then(Value::as_array)?;
        let texts = edits.iter().filter_map(|edit| edit.get(field)?.as_str());
        Some(texts.collect::<Vec<_>>().join("\n"))
    };
    if call.name == EDIT
        && let (Some(removed), Some(added)) = (joined("oldText"), joined("newText"))
    {
        (call.subject.removed, call.subject.added) = (Some(removed), added);
    } else if call.name == POWERSHELL {
        let line = call.subject.command.take();
        call.subject.command = line.map(|line| shell_line(CommandLanguage::PowerShell, &line));
    }
}
