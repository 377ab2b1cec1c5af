//! What a person reads: short, of one line, without anything a terminal or a
//! desktop could take for more than text. What is quoted was stored redacted.

use crate::client_turn;
use crate::fleet::run_turn;
use model::row::{Agent, AgentStatus, Event};
use serde_json::{Value, json};

/// One agent that is told of.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub agent: &'a Agent,
    /// What it is called.
    pub name: &'a str,
    pub cause: Option<&'a Event>,
    pub task: Option<&'a str>,
    /// What it asks, where that can be answered from elsewhere.
    pub card: Option<&'a str>,
}

/// One thing a person is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    pub status: AgentStatus,
    /// `refactor-auth needs you`.
    pub title: String,
    /// `permission for Bash (git push)`; may be empty.
    pub body: String,
    /// For a program of the user's.
    pub event: Value,
    /// The place on the page of `taut ui` that it is about: `#/card/…`.
    pub place: String,
}

/// Names of a group that are spelled out.
const MOST_NAMES: usize = 5;

/// Longest texts, in characters.
const NAME: usize = 60;
const QUOTED: usize = 60;
const BODY: usize = 160;

/// What is told of these agents, which all turned to the same status.
pub fn notice(status: AgentStatus, subjects: &[Subject<'_>]) -> Notice {
    let (title, body) = match subjects {
        [one] => (
            format!("{} {}", name(one), if is_wait(one) { "waits" } else { verb(status) }),
            one.cause.map(|event| why(event, QUOTED)).unwrap_or_default(),
        ),
        many => (format!("{} agents {}", many.len(), verb_of_many(status)), names(many)),
    };
    let body = clean(&body, BODY);
    let message = joined(&title, &body);
    Notice { status, event: event(status, subjects, &message), place: place(subjects), title, body }
}

/// Ids are made by Taut, but for those that a client gave: what would not be one word of an address leads to the fleet.
fn place(subjects: &[Subject<'_>]) -> String {
    let is_word =
        |id: &&str| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    match subjects {
        [Subject { card: Some(card), .. }] if is_word(card) => format!("#/card/{card}"),
        [one] => {
            // An agent whose client died has no session any more, and the event that says so has the one it died in.
            let session = one.agent.session.as_deref().or(one.cause.and_then(|cause| cause.session.as_deref()));
            let run = one.cause.and_then(|cause| cause.detail.get("run")?.as_str());
            match (session.filter(is_word), run.filter(is_word)) {
                (Some(session), _) => format!("#/session/{session}"),
                (None, Some(run)) => format!("#/run/{run}"),
                (None, None) => "#/".to_string(),
            }
        }
        _ => "#/".to_string(),
    }
}

impl Notice {
    /// `refactor-auth needs you: permission for Bash (git push)`.
    pub fn line(&self) -> String {
        joined(&self.title, &self.body)
    }
}

/// The text on one line with single spaces, no longer than it may be.
pub fn clean(text: &str, most: usize) -> String {
    // Far more than is shown, so that a long text costs no more than a short one.
    let visible = model::text::line(text, most.saturating_mul(8));
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let mut cut: String = line.chars().take(most.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut + "…"
}

fn joined(title: &str, body: &str) -> String {
    if body.is_empty() { title.to_string() } else { format!("{title}: {body}") }
}

fn name(subject: &Subject<'_>) -> String {
    let name = clean(subject.name, NAME);
    if name.is_empty() { "an agent".to_string() } else { name }
}

fn names(subjects: &[Subject<'_>]) -> String {
    let spelled: Vec<String> = subjects.iter().take(MOST_NAMES).map(|subject| clean(subject.name, 24)).collect();
    match subjects.len().saturating_sub(MOST_NAMES) {
        0 => spelled.join(", "),
        more => format!("{} and {more} more", spelled.join(", ")),
    }
}

fn verb(status: AgentStatus) -> &'static str {
    match status {
        AgentStatus::Attention => "needs you",
        AgentStatus::Error => "ran into an error",
        AgentStatus::Done => "is done",
        AgentStatus::Working => "is at work",
        AgentStatus::Checked => "was looked at",
    }
}

/// A loop that waits needs nobody, and whoever counts on it wants to know.
fn is_wait(subject: &Subject<'_>) -> bool {
    subject.cause.is_some_and(|cause| cause.event == run_turn::WAIT)
}

fn verb_of_many(status: AgentStatus) -> &'static str {
    match status {
        AgentStatus::Attention => "need you",
        AgentStatus::Error => "ran into errors",
        AgentStatus::Done => "are done",
        AgentStatus::Working => "are at work",
        AgentStatus::Checked => "were looked at",
    }
}

/// Why an event turned its agent to attention or error: in a few words of its own, of which no more than `quoted`
/// characters are quoted at once. Empty where it says nothing.
pub fn why(event: &Event, quoted: usize) -> String {
    let text = |name: &str| event.detail.get(name).and_then(Value::as_str).unwrap_or_default();
    let tool = event.tool.as_deref().unwrap_or("a tool");
    match event.event.as_str() {
        "PermissionRequest" | "PreToolUse" if text("asks") == "question" => match question(&event.detail) {
            Some(question) => format!("it asks “{}”", clean(question, quoted)),
            None => "it has a question".to_string(),
        },
        "PermissionRequest" | "PreToolUse" if text("asks") == "plan" => "a plan to approve".to_string(),
        "PermissionRequest" | "PreToolUse" => format!("permission for {}", call(tool, &event.detail, quoted)),
        "Elicitation" => "a form to fill in".to_string(),
        "Notification" | run_turn::TURN | run_turn::WAIT => text("message").to_string(),
        "PostToolUseFailure" => {
            let error = text("error").lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it failed");
            format!("{}: {error}", call(tool, &event.detail, quoted))
        }
        "StopFailure" => failed_turn(text("error"), [text("last_message"), text("details")], quoted),
        client_turn::GONE => "its client is gone".to_string(),
        client_turn::STATE => match text("for") {
            "permission" => "a permission or a plan in its terminal".to_string(),
            "input" => "a question or a form in its terminal".to_string(),
            _ => "a dialog in its terminal".to_string(),
        },
        _ => String::new(),
    }
}

/// `rate limit: “API Error: too many requests”`: the client's reason, and what the agent said last.
fn failed_turn(reason: &str, words: [&str; 2], quoted: usize) -> String {
    let reason = match reason {
        "" | "unknown" => "the turn failed".to_string(),
        known => known.replace('_', " "),
    };
    let said = words.iter().flat_map(|text| text.lines()).map(str::trim).find(|line| !line.is_empty());
    match said.map(|line| clean(line, quoted)).filter(|line| !line.is_empty()) {
        Some(said) => format!("{reason}: “{said}”"),
        None => reason,
    }
}

fn question(detail: &Value) -> Option<&str> {
    detail.get("input")?.get("questions")?.get(0)?.get("question")?.as_str()
}

/// `Bash (git push)`, `Edit (src/main.rs)`.
fn call(tool: &str, detail: &Value, quoted: usize) -> String {
    const TELLING: &[&str] =
        &["command", "file_path", "notebook_path", "path", "url", "pattern", "query", "description"];
    let input = detail.get("input");
    let telling = TELLING.iter().find_map(|name| input?.get(name)?.as_str());
    let tool = clean(tool, 40);
    match telling.map(|text| clean(text, quoted)).filter(|text| !text.is_empty()) {
        Some(text) => format!("{tool} ({text})"),
        None => tool,
    }
}

/// Longest names in what a program gets. They are whole as far as names go.
const WHOLE: usize = 4_000;

/// The first agent's own fields, and the names of all. Cleaned like the words:
/// a program that prints one field of it writes to somebody's terminal.
fn event(status: AgentStatus, subjects: &[Subject<'_>], message: &str) -> Value {
    let shown = |text: &str| model::text::line(text, WHOLE);
    let first = subjects.first();
    let agent = first.map(|subject| subject.agent);
    let from = first.and_then(|subject| subject.cause?.detail.get("status")?.get("from")?.as_str());
    json!({
        "agent": agent.map(|agent| shown(&agent.id)),
        "name": first.map(|subject| shown(subject.name)),
        "status": status.name(),
        "from": from.map(shown),
        "project": agent.map(|agent| shown(&agent.project)),
        "session": agent.and_then(|agent| agent.session.as_deref()).map(shown),
        "task": first.and_then(|subject| subject.task).map(shown),
        "message": message,
        "at": agent.map(|agent| agent.since.rfc3339()),
        "agents": subjects.iter().map(|subject| shown(&subject.agent.id)).collect::<Vec<_>>(),
    })
}
