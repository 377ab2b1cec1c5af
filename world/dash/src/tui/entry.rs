//! One line of a timeline, made from a stored event: a prompt, a tool call, a
//! verdict with its reason, something the model was told.

use crate::view_model::{about, clean, one_line};
use engine::client_turn;
use model::row::Event;
use model::{Level, Ms};
use serde_json::Value;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub struct TimelineLine {
    pub at: Ms,
    pub mark: LineMark,
    /// The tool, or what happened, in a word or two.
    pub what: String,
    /// In one line.
    pub about: String,
    /// How long a tool call took, once it is back.
    pub took: Option<i64>,
    /// The tool call this is about.
    pub call: Option<String>,
    pub event: Arc<Event>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineMark {
    Prompt,
    /// A tool call that has not come back.
    Running,
    Returned,
    Failed,
    /// Not let through.
    Stopped,
    /// The turn went on without its return.
    Lost,
    Verdict(Level),
    /// Put into the model's context.
    Shown,
    /// The agent wants something of a person.
    Attention,
    /// A session begins, ends, or a turn is over.
    Turn,
    Other,
}

impl LineMark {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Prompt => "»",
            Self::Running => "▸",
            Self::Returned => "✓",
            Self::Failed => "✗",
            Self::Stopped => "⊘",
            Self::Lost => "?",
            Self::Verdict(_) | Self::Attention => "!",
            Self::Shown => "+",
            Self::Turn => "─",
            Self::Other => " ",
        }
    }
}

/// What an event is on a timeline: mostly one line, more where something was said to it.
pub(super) fn of(event: &Arc<Event>) -> Vec<TimelineLine> {
    let mut found: Vec<TimelineLine> = happened(event).into_iter().collect();
    if event.verdict > Level::Pass {
        let rules = event.rules.iter().map(|rule| clean(rule)).collect::<Vec<_>>().join(", ");
        let reason = event.reason.as_deref().map(one_line).unwrap_or_default();
        let about = [rules, reason].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        found.push(entry(event, LineMark::Verdict(event.verdict), event.verdict.name(), about));
    }
    if let Some(told) = shown_text(event) {
        found.push(entry(event, LineMark::Shown, "shown", one_line(&told)));
    }
    found
}

/// What the answer puts into the model's context.
pub(super) fn shown_text(event: &Event) -> Option<String> {
    let answer: Value = serde_json::from_str(&event.answer.stdout).ok()?;
    let text = answer.pointer("/hookSpecificOutput/additionalContext")?.as_str()?;
    (!text.trim().is_empty()).then(|| text.to_string())
}

/// The id of the tool call an event is about.
pub(super) fn call(event: &Event) -> Option<String> {
    event.detail.get("call").and_then(Value::as_str).filter(|call| !call.is_empty()).map(str::to_string)
}

fn happened(event: &Arc<Event>) -> Option<TimelineLine> {
    let about = about(event);
    let tool = || event.tool.as_deref().map_or_else(|| clean(&event.event), clean);
    let (mark, what) = match event.event.as_str() {
        "UserPromptSubmit" => (LineMark::Prompt, "prompt".to_string()),
        "PreToolUse" if event.verdict == Level::Deny => (LineMark::Stopped, tool()),
        "PreToolUse" => (LineMark::Running, tool()),
        "PostToolUse" => (LineMark::Returned, tool()),
        "PostToolUseFailure" => (LineMark::Failed, tool()),
        "PermissionRequest" => (LineMark::Attention, format!("{} asks", tool())),
        "Notification" | "Elicitation" => (LineMark::Attention, "notice".to_string()),
        "StopFailure" => (LineMark::Failed, "stop".to_string()),
        "SessionStart" => (LineMark::Turn, "start".to_string()),
        "SessionEnd" => (LineMark::Turn, "end".to_string()),
        "Stop" => (LineMark::Turn, "stop".to_string()),
        client_turn::STATE | client_turn::GONE => (LineMark::Turn, "client".to_string()),
        "SubagentStart" => (LineMark::Turn, "sub-agent".to_string()),
        "SubagentStop" => (LineMark::Turn, "sub-agent end".to_string()),
        // It says once more what its tools have said.
        "PostToolBatch" => return None,
        other => (LineMark::Other, clean(other)),
    };
    Some(entry(event, mark, &what, about))
}

fn entry(event: &Arc<Event>, mark: LineMark, what: &str, about: String) -> TimelineLine {
    TimelineLine {
        at: event.at,
        mark,
        what: what.to_string(),
        about,
        took: event.detail.get("duration_ms").and_then(Value::as_i64),
        call: call(event),
        event: Arc::clone(event),
    }
}
