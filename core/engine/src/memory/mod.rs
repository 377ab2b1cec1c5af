//! Memory: what an event does to an agent's effort, its counters and its
//! account, and what the gates say of it. Without an effort and without
//! configuration all of this is silent.

pub mod ask;
mod begin;
pub mod command;
mod dialogue;
mod discover;
pub mod execute;
pub mod hand_over;
pub mod line;
pub mod mail;
pub mod path;
pub mod phase;
pub mod settings;
pub mod skill;
mod start;
mod subs;
mod tool;
pub(crate) mod yaml;

pub use begin::{Wanted, folder as own_folder, task_name, wanted};

use crate::context::{ContextBudget, Rank, ShownFile};
use crate::redact::redact;
use crate::status;
use line::Plain;
use model::effect::{After, Write};
use model::effort::{Counters, Effort, EffortLineage, EffortRows, MemoryWrite, Message};
use model::event::{Body, Envelope, EventKind};
use model::fact::Facts;
use model::row::AgentStatus;
use model::session::{Once, Session};
use model::{Finding, Loaded, Ms, Who};
use policy::Policy;
use serde_json::{Value, json};
use skill::Skill;

/// The ground an event stands on: places, and what the user said of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ground<'a> {
    /// Taut's own folder.
    pub state: &'a str,
    pub home: &'a str,
    /// The client's own folder of the user.
    pub agent_folder: &'a str,
    /// The work tree of the event's project.
    pub tree: &'a str,
    /// The user has asked Taut to only watch for a while.
    pub paused: bool,
    /// Nothing stored can be looked at: then no gate is closed.
    pub blind: bool,
}

/// What is known when an event arrives.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    pub envelope: &'a Envelope,
    pub who: &'a Who,
    pub loaded: &'a Loaded,
    pub facts: &'a Facts,
    pub policy: &'a Policy,
    pub ground: Ground<'a>,
    pub session: Option<&'a Session>,
    /// The event opened the session.
    pub opened: bool,
    /// The guard stops the call.
    pub denied: bool,
    pub now: Ms,
    /// The event's id: becomes that of an effort it begins.
    pub id: &'a str,
}

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
}

pub fn step(sight: &Sight<'_>) -> Memory {
    let mut memory = Memory::default();
    let current = sight.current();
    match (sight.envelope.kind, &sight.envelope.body) {
        (EventKind::SessionStart, _) => start::step(sight, current, &mut memory),
        (EventKind::UserPromptExpansion, Body::Expansion { command, .. }) => {
            begin::invoked(sight, current, command, &mut memory)
        }
        (EventKind::PreToolUse, Body::Tool(call)) => tool::step(sight, current, call, &mut memory),
        (EventKind::PostToolUse, Body::ToolDone { call, .. }) => {
            discover::step(sight, current, call, &mut memory);
            dialogue::step(sight, current, call, &mut memory);
        }
        (EventKind::PostToolUseFailure, Body::ToolFailed { call, error, .. }) => {
            let text = redact(&json!(format!("{}: {error}", call.name)));
            memory.say_for_the_record(sight, "tool_failure", text.as_str().unwrap_or_default().to_string());
        }
        (EventKind::SubagentStart, _) => subs::started(sight, current, &mut memory),
        (EventKind::SubagentStop, _) => subs::stopped(sight, current, &mut memory),
        (EventKind::TaskCreated | EventKind::TaskCompleted, Body::HostTask { id, subject, .. }) => {
            let body = json!({"event": sight.envelope.name, "id": id, "subject": subject, "effort": current.map(|effort| &effort.id)});
            memory.say_for_the_record(sight, "host_task", body.to_string());
        }
        (EventKind::PreCompact, Body::Compact { trigger }) if trigger == "auto" => {
            start::before_compaction(sight, current, &mut memory)
        }
        _ => {}
    }
    memory.finish_report(sight, current);
    memory
}

impl<'a> Sight<'a> {
    /// The effort this session carries: never another agent's, never a parent's.
    pub fn current(&self) -> Option<&'a Effort> {
        let session = self.session?;
        self.known().efforts.iter().find(|effort| carries(session, effort))
    }

    pub fn known(&self) -> &'a EffortRows {
        &self.loaded.efforts
    }

    pub fn sub_agent(&self) -> &'a str {
        self.envelope.sub_agent.as_ref().map_or("", |sub| &sub.id)
    }

    pub fn cwd(&self) -> &'a str {
        self.envelope.cwd.as_deref().unwrap_or(self.ground.tree)
    }

    pub fn skill(&self, effort: &Effort) -> Skill {
        Skill::declared(self.policy, &effort.skill, &effort.declared).unwrap_or_else(|| Skill::bare(&effort.skill))
    }

    /// Of this session and sub-agent.
    pub fn counters(&self) -> Counters {
        let session = self.session.map(|session| session.id.clone()).unwrap_or_default();
        let known = self.known().counters.clone().filter(|counters| counters.session == session);
        known.unwrap_or_else(|| Counters { session, sub_agent: self.sub_agent().to_string(), ..Counters::default() })
    }

    /// Where skills are declared: the project's own count where the user trusts it.
    pub fn places(&self) -> skill::SkillFolders<'a> {
        let trusted = self.policy.trust == policy::Trust::Trusted;
        skill::SkillFolders {
            project: trusted.then_some(self.ground.tree),
            user: self.ground.agent_folder,
            below: self.envelope.agent.folder,
        }
    }
}

/// Whether a session is one of those that carry the effort on.
pub fn carries(session: &Session, effort: &Effort) -> bool {
    if effort.agent != session.agent || !effort.active() {
        return false;
    }
    let followed =
        effort.session.is_some() && (effort.session.as_ref() == Some(&session.id) || effort.session == session.prev);
    followed || (effort.line == EffortLineage::Agent && session.parent.is_none())
}

impl Memory {
    pub fn writes(&self) -> impl Iterator<Item = Write> {
        self.keeps.iter().cloned().map(Write::Memory)
    }

    /// Puts what is to be told into the one budget of the event.
    pub fn tell(&self, budget: &mut ContextBudget) {
        for (rank, text) in &self.texts {
            budget.say(*rank, text.clone());
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
        self.report.effort = done.effort.or(self.report.effort.take());
        self.keeps.extend(done.counters.map(MemoryWrite::Counters));
    }

    /// Kept as a message that is for nobody in particular.
    fn say_for_the_record(&mut self, sight: &Sight<'_>, kind: &str, body: String) {
        self.keeps.push(MemoryWrite::Message(Message {
            id: format!("{}-{kind}", sight.id),
            at: sight.now,
            kind: kind.to_string(),
            from_agent: sight.session.map(|session| session.agent.clone()),
            to: None,
            session: sight.session.map(|session| session.id.clone()),
            body,
        }));
    }

    fn finish_report(&mut self, sight: &Sight<'_>, current: Option<&Effort>) {
        if self.report.effort.is_none() {
            self.report.effort = current.cloned();
        }
        self.report.status = status::word(sight.envelope).map(AgentStatus::name);
        self.report.context_usage = sight.session.and_then(Session::raw_context_percent).map(|percent| percent / 100.0);
        let counted = self.keeps.iter().rev().find_map(|keep| match keep {
            MemoryWrite::Counters(counters) => Some(counters.since_log),
            _ => None,
        });
        self.report.heartbeat = counted.unwrap_or_else(|| sight.counters().since_log);
        if let Some(effort) = self.report.effort.as_ref().filter(|effort| effort.active()) {
            let skill = sight.skill(effort);
            let found = sight.known().directives.iter().filter(|one| one.effort == effort.id);
            self.report.directives = found.map(|one| one.path.clone()).collect();
            self.report.block_after = settings::heartbeat(sight.policy, &skill).block;
            self.report.skill = Some(skill);
        }
    }
}

/// Whether an event writes an account down, which no power cut may take back.
pub fn is_dehydration(envelope: &Envelope) -> bool {
    let Body::Tool(call) = &envelope.body else { return false };
    plain(call).is_some_and(|plain| plain.verb() == "session" && plain.part() == "dehydrate")
}

/// Whether the agent asks for what waits for it.
pub fn is_inbox(envelope: &Envelope) -> bool {
    let Body::Tool(call) = &envelope.body else { return false };
    envelope.kind == EventKind::PreToolUse
        && plain(call).is_some_and(|plain| matches!(command::parse(&plain), Some(Ok(command::AgentCommand::Inbox))))
}

/// The words under which is kept what a `taut inbox` lists, from the call until it
/// has come back: only then it was read, and not where the user said no. What runs
/// in the background is read later or never, and a sub-agent reads for itself.
pub fn reading(envelope: &Envelope) -> Option<Vec<String>> {
    let call = match (envelope.kind, &envelope.body) {
        (EventKind::PreToolUse, Body::Tool(call)) | (EventKind::PostToolUse, Body::ToolDone { call, .. }) => call,
        _ => return None,
    };
    let inbox = matches!(command::parse(&plain(call)?), Some(Ok(command::AgentCommand::Inbox)));
    let background = call.input.get("run_in_background").and_then(Value::as_bool) == Some(true);
    if !inbox || background || envelope.sub_agent.is_some() {
        return None;
    }
    Some(vec!["inbox".to_string(), envelope.host_session.clone()?, call.use_id.clone()?])
}

/// The plain `taut` line a call would run, if it is one.
fn plain(call: &model::tool::ToolCall) -> Option<Plain> {
    call.command().and_then(line::plain)
}
