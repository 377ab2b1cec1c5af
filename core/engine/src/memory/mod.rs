//! Memory: what an event does to an agent's effort, its counters and its
//! account, and what the gates say of it. Without an effort and without
//! configuration all of this is silent.

pub(crate) mod ask;
pub(crate) mod begin;
mod dialogue;
mod discover;
pub mod execute;
pub mod facts;
pub mod hand_over;
pub mod mail;
pub mod note;
pub mod offer;
pub mod path;
pub mod phase;
mod room;
pub mod settings;
pub mod skill;
mod start;
mod subs;
mod tool;

use crate::context::runtime::{self, EffortSummary};
use crate::context::{ContextBudget, Rank, ShownFile};
use crate::event_context::EventContext;
use crate::leases::Holding;
use crate::redact::redact;
use crate::status;
use grammar::AgentCommand;
use model::Finding;
use model::effect::{After, Write};
use model::effort::{Effort, MemoryWrite, Message};
use model::event::{Body, EventKind};
use model::row::AgentStatus;
use model::session::{Offered, Once, Session};
use serde_json::{Value, json};
use skill::Skill;

/// What an event does to memory, and what is to be told.
#[derive(Debug, Default)]
pub struct Memory {
    pub keeps: Vec<MemoryWrite>,
    pub after: Vec<After>,
    /// What the gates say against a tool call.
    pub findings: Vec<Finding>,
    pub texts: Vec<(Rank, String)>,
    pub files: Vec<(Rank, ShownFile)>,
    /// What the session says of itself from now on.
    pub status: Option<String>,
    /// What the session has said by it: written to somebody, or reported.
    pub once: Option<Once>,
    /// What the session goes on with from now on: another's session, and its conversation.
    pub follows: Option<(String, String)>,
    /// Unfinished work that the session is told of, and what its user is told.
    pub offered: Option<Offered>,
    pub user_line: Option<String>,
    pub report: RpcReport,
}

/// What a caller of a hook as a method is told besides the verdict.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RpcReport {
    /// The effort as it stands after the event.
    pub effort: Option<Effort>,
    pub skill: Option<Skill>,
    pub heartbeat: u32,
    pub block_after: u32,
    /// Share of the raw window.
    pub context_usage: Option<f64>,
    pub overflow_warning: bool,
    pub pending_preloads: Vec<String>,
    pub fired_rules: Vec<String>,
    pub dialogue: Option<String>,
    /// The account that was told to this session.
    pub account: Option<Value>,
    /// What the event makes of the agent's status.
    pub status: Option<&'static str>,
    /// Directives of the effort, by full path.
    pub directives: Vec<String>,
    /// The session's name for others, which is not the id it is stored under.
    pub logical_id: Option<String>,
    /// At a prompt: where the session stands, in one line.
    pub session_line: String,
}

pub fn step(event: &EventContext<'_>, holding: &Holding) -> Memory {
    let mut memory = Memory::default();
    let current = event.effort().filter(|effort| !offer::is_over(event, effort));
    match (event.envelope.kind, &event.envelope.body) {
        (EventKind::SessionStart, _) => {
            start::step(event, current, &mut memory);
            offer::step(event, &mut memory);
            facts::tell(event, &mut memory);
            discover::forget(event, current, &mut memory);
        }
        (EventKind::UserPromptSubmit, Body::Prompt { text }) => {
            if let Some(skill) = begin::prompted_skill(event.envelope, text).filter(|_| !event.places.blind) {
                begin::invoked(event, skill, &mut memory);
            }
            offer::answered(event, &mut memory);
        }
        (EventKind::UserPromptExpansion, Body::Expansion { command, .. }) => {
            begin::invoked(event, command, &mut memory)
        }
        (EventKind::PreToolUse, Body::Tool(call)) => tool::step(event, holding, call, &mut memory),
        (EventKind::PostToolUse, Body::ToolDone { call, .. }) => {
            discover::step(event, current, call, &mut memory);
            dialogue::step(event, current, call, &mut memory);
        }
        (EventKind::PostToolUseFailure, Body::ToolFailed { call, error, .. }) => {
            let text = redact(&json!(format!("{}: {error}", call.name)));
            memory.say_for_the_record(event, "tool_failure", text.as_str().unwrap_or_default().to_string());
        }
        (EventKind::SubagentStart, _) => subs::started(event, current, &mut memory),
        (EventKind::SubagentStop, _) => subs::stopped(event, current, &mut memory),
        (EventKind::TaskCreated | EventKind::TaskCompleted, Body::HostTask { id, subject, .. }) => {
            let body = json!({"event": event.envelope.name, "id": id, "subject": subject, "effort": current.map(|effort| &effort.id)});
            memory.say_for_the_record(event, "host_task", body.to_string());
        }
        (EventKind::PreCompact | EventKind::SessionEnd, _) => {
            note::before_it_ends(event, current, holding.halted, &mut memory);
        }
        (EventKind::PostCompact, _) => {
            discover::forget(event, current, &mut memory);
            note::compacted(event, &mut memory);
        }
        _ => {}
    }
    memory.finish_report(event, current);
    memory
}

impl Memory {
    pub fn writes(&self) -> impl Iterator<Item = Write> {
        self.keeps.iter().cloned().map(Write::Memory)
    }

    /// Puts what is to be told into the one budget of the event.
    pub fn add_to(&self, budget: &mut ContextBudget) {
        for (rank, text) in &self.texts {
            match rank {
                // They wait in their files, and are told again at the next start.
                Rank::Fact => budget.offer(*rank, text.clone(), ""),
                _ => budget.say(*rank, text.clone()),
            }
        }
        for (rank, file) in &self.files {
            budget.show(*rank, file.clone());
        }
    }

    fn take(&mut self, done: execute::CommandResult) {
        self.keeps.extend(done.keeps);
        self.after.extend(done.after);
        self.status = done.status.or(self.status.take());
        self.once = done.once.or(self.once);
        self.follows = done.follows.or(self.follows.take());
        self.report.effort = done.effort.or(self.report.effort.take());
        self.keeps.extend(done.counters.map(MemoryWrite::Counters));
    }

    /// Kept as a message that is for nobody in particular.
    fn say_for_the_record(&mut self, event: &EventContext<'_>, kind: &str, body: String) {
        self.keeps.push(MemoryWrite::Message(Message {
            id: format!("{}-{kind}", event.ids.event),
            at: event.now,
            kind: kind.to_string(),
            from_agent: event.session().map(|session| session.agent.clone()),
            to: None,
            session: event.session().map(|session| session.id.clone()),
            body,
        }));
    }

    fn finish_report(&mut self, event: &EventContext<'_>, current: Option<&Effort>) {
        if self.report.effort.is_none() {
            self.report.effort = current.cloned();
        }
        self.report.status = status::word(event.envelope).map(AgentStatus::name);
        self.report.context_usage =
            event.session().and_then(Session::raw_context_percent).map(|percent| percent / 100.0);
        let counted = self.keeps.iter().rev().find_map(|keep| match keep {
            MemoryWrite::Counters(counters) => Some(counters.since_log),
            _ => None,
        });
        self.report.heartbeat = counted.unwrap_or_else(|| event.counters().since_log);
        if let Some(effort) = self.report.effort.as_ref().filter(|effort| effort.active()) {
            let skill = event.skill(effort);
            let found = event.rows().directives.iter().filter(|one| one.effort == effort.id);
            self.report.directives = found.map(|one| one.path.clone()).collect();
            self.report.block_after = settings::heartbeat(event.policy, &skill).block;
            self.report.skill = Some(skill);
        }
        let Some(session) = event.session() else { return };
        self.report.logical_id = Some(session.logical_id.clone());
        if event.envelope.kind == EventKind::UserPromptSubmit {
            let line = redact(&json!(runtime::line(session, EffortSummary::of(&self.report), event.now)));
            self.report.session_line = line.as_str().unwrap_or_default().to_string();
        }
    }
}

/// The words under which is kept what a `taut inbox` lists, from the call until it
/// has come back: only then it was read, and not where the user said no. What runs
/// in the background is read later or never, and a sub-agent reads for itself.
pub fn reading(event: &EventContext<'_>) -> Option<Vec<String>> {
    let envelope = event.envelope;
    let call = match (envelope.kind, &envelope.body) {
        (EventKind::PreToolUse, Body::Tool(call)) | (EventKind::PostToolUse, Body::ToolDone { call, .. }) => call,
        _ => return None,
    };
    let inbox = matches!(event.line?.command, Some(Ok(AgentCommand::Inbox)));
    let background = call.input.get("run_in_background").and_then(Value::as_bool) == Some(true);
    if !inbox || background || envelope.sub_agent.is_some() {
        return None;
    }
    Some(vec!["inbox".to_string(), envelope.host_session.clone()?, call.use_id.clone()?])
}
