//! What happened in a session, one entry for each thing that a person would
//! name: a tool call is one, from its permission to its result. Pure.

use crate::view_model::{about, moment};
use engine::client_turn;
use model::row::Event;
use model::{Answer, Level, Ms};
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineEntry {
    /// Where to page on from, and what a page recognises it by.
    pub key: String,
    #[serde(serialize_with = "moment")]
    pub at: Ms,
    pub kind: TimelineKind,
    pub event: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// One line of what it is about.
    pub about: String,
    /// The whole of it, where one line is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    pub verdict: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was told, and to whom.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<AnswerPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// How long the hook itself took, in milliseconds.
    pub ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimelineKind {
    Prompt,
    Tool,
    Session,
    SubAgent,
    Notice,
    Other,
}

impl TimelineEntry {
    /// What it is called in a list: the tool, and whether that was asked for or answered; else the event.
    pub fn what(&self) -> String {
        match &self.tool {
            Some(tool) if self.event == "PermissionRequest" => format!("{tool} asks"),
            Some(tool) if self.event == actions::ANSWER_EVENT => format!("{tool} answered"),
            Some(tool) => tool.clone(),
            None => self.event.clone(),
        }
    }
}

/// A part of the stored answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnswerPart {
    /// `model`, `user` or `log`.
    pub to: &'static str,
    /// When the client showed it: `context`, `reason`, `stop`.
    pub as_what: &'static str,
    pub text: String,
}

/// Events in the order they were stored make entries, the newest first. A call
/// is running only while its session waits for it: some never come back, and
/// the result of others is on another page.
pub fn entries(events: &[Event], in_flight: &[String]) -> Vec<TimelineEntry> {
    let mut made: Vec<TimelineEntry> = Vec::new();
    let mut calls: HashMap<String, usize> = HashMap::new();
    for event in events {
        let call = event.detail.get("call").and_then(Value::as_str).map(str::to_owned);
        let begun = call.as_ref().and_then(|call| calls.get(call)).and_then(|at| made.get_mut(*at));
        match begun {
            Some(entry) if event.event.starts_with("PostToolUse") => finish(entry, event),
            // A batch says nothing that its calls have not said.
            _ if event.event == "PostToolBatch" && event.verdict == Level::Pass && event.answer.stdout.is_empty() => {}
            _ => {
                let mut entry = entry(event);
                if let Some(call) = call {
                    let runs = entry.outcome.is_none() && in_flight.contains(&call);
                    entry.outcome = entry.outcome.or(runs.then_some("running"));
                    calls.insert(call, made.len());
                }
                made.push(entry);
            }
        }
    }
    made.reverse();
    made
}

/// An event's key as a page may hold it: agents have a say in what is in it.
pub fn cursor(key: &str) -> String {
    key.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Back from a cursor; `None` where it is none of ours.
pub fn key_of(cursor: &str) -> Option<String> {
    let pairs = cursor.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()
}

fn entry(event: &Event) -> TimelineEntry {
    let mut entry = TimelineEntry {
        key: cursor(&event.key),
        at: event.at,
        kind: kind(event),
        event: event.event.clone(),
        tool: event.tool.clone(),
        about: about(event),
        text: whole(event),
        verdict: event.verdict.name(),
        rules: event.rules.clone(),
        reason: event.reason.clone(),
        told: answer_parts(&event.answer),
        outcome: None,
        duration_ms: None,
        response_bytes: None,
        error: None,
        sub_agent: event.sub_agent.clone(),
        context: None,
        ms: event.micros as f64 / 1000.0,
    };
    if entry.kind == TimelineKind::Tool && event.verdict == Level::Deny {
        entry.outcome = Some("denied");
    }
    result(&mut entry, event);
    entry
}

/// The result of a call joins the entry that its permission made.
fn finish(entry: &mut TimelineEntry, event: &Event) {
    result(entry, event);
    let waited = u64::try_from(event.at.since(entry.at)).ok();
    entry.duration_ms = entry.duration_ms.or(waited);
    entry.told.extend(answer_parts(&event.answer));
    entry.rules.extend(event.rules.iter().cloned());
    if event.verdict > Level::Pass && entry.verdict == Level::Pass.name() {
        entry.verdict = event.verdict.name();
        entry.reason.clone_from(&event.reason);
    }
}

fn result(entry: &mut TimelineEntry, event: &Event) {
    let number = |path: &str| event.detail.pointer(path).and_then(Value::as_u64);
    entry.duration_ms = number("/duration_ms").or(entry.duration_ms);
    entry.response_bytes = number("/response/bytes").or(entry.response_bytes);
    entry.context = event.detail.get("context").cloned().or_else(|| entry.context.take());
    if let Some(error) = event.detail.get("error").and_then(Value::as_str) {
        entry.error = Some(error.to_owned());
    }
    match event.event.as_str() {
        "PostToolUse" => entry.outcome = Some("done"),
        "PostToolUseFailure" => entry.outcome = Some("failed"),
        _ => {}
    }
}

fn kind(event: &Event) -> TimelineKind {
    match event.event.as_str() {
        "UserPromptSubmit" => TimelineKind::Prompt,
        "SubagentStart" | "SubagentStop" => TimelineKind::SubAgent,
        "Notification" | "PermissionRequest" | "Elicitation" => TimelineKind::Notice,
        "PreToolUse" | "PostToolUse" | "PostToolUseFailure" => TimelineKind::Tool,
        client_turn::STATE | client_turn::GONE => TimelineKind::Session,
        name if name.contains("Session") || name.contains("Compact") || name.starts_with("Stop") => {
            TimelineKind::Session
        }
        _ => TimelineKind::Other,
    }
}

/// The prompt, or the tool's input field by field, as it was stored.
fn whole(event: &Event) -> Option<String> {
    if let Some(prompt) = event.detail.get("prompt").and_then(Value::as_str) {
        return Some(prompt.to_owned());
    }
    let input = event.detail.get("input")?;
    let Some(fields) = input.as_object() else { return Some(input.to_string()) };
    let line = |(name, value): (&String, &Value)| match value.as_str() {
        Some(text) if text.contains('\n') => format!("{name}:\n{text}"),
        Some(text) => format!("{name}: {text}"),
        None => format!("{name}: {value}"),
    };
    Some(fields.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// What the stored answer told, as its readers saw it.
fn answer_parts(answer: &Answer) -> Vec<AnswerPart> {
    let mut told = Vec::new();
    let mut tell = |to, as_what, text: Option<&Value>| {
        if let Some(text) = text.and_then(Value::as_str).filter(|text| !text.trim().is_empty()) {
            told.push(AnswerPart { to, as_what, text: text.to_owned() });
        }
    };
    if let Ok(said) = serde_json::from_str::<Value>(&answer.stdout) {
        tell("model", "context", said.pointer("/hookSpecificOutput/additionalContext"));
        tell("model", "reason", said.pointer("/hookSpecificOutput/permissionDecisionReason"));
        tell("model", "reason", said.pointer("/hookSpecificOutput/decision/message"));
        tell("model", "reason", said.get("reason"));
        tell("user", "stop", said.get("stopReason"));
        tell("user", "line", said.get("systemMessage"));
    } else if !answer.stdout.trim().is_empty() {
        told.push(AnswerPart { to: "model", as_what: "context", text: answer.stdout.clone() });
    }
    if !answer.stderr.trim().is_empty() {
        let to = if answer.exit == 2 { "model" } else { "log" };
        told.push(AnswerPart { to, as_what: "stderr", text: answer.stderr.clone() });
    }
    told
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
