//! Carrying a command out: what it writes and what it says. The hook that sees
//! the line and the process of the line itself both do it here.

use super::begin::{self, EffortSlot};
use super::hand_over::EffortPlace;
use super::phase::{self, Move};
use super::{facts, mail, note, offer, path, settings, skill};
use crate::event_context::EventContext;
use crate::fleet::text::line;
use crate::gates::workflow;
use crate::redact;
use grammar::{AgentCommand, Start};
use model::effect::{After, Write};
use model::effort::{Counters, Effort, EffortEnd, EffortLineage, HandOver, MemoryWrite, Message, PhaseStep, Refused};
use model::session::Once;

/// What was done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommandResult {
    pub keeps: Vec<MemoryWrite>,
    pub after: Vec<After>,
    pub output: String,
    /// What the session says of itself from now on.
    pub status: Option<String>,
    /// The effort as it stands now, where it changed.
    pub effort: Option<Effort>,
    pub counters: Option<Counters>,
    /// What the session has said by it: written to somebody, or reported.
    pub once: Option<Once>,
    /// What the session goes on with from now on: another's session, and its conversation.
    pub follows: Option<(String, String)>,
}

impl CommandResult {
    /// What is to be stored of it.
    pub fn writes(&self) -> impl Iterator<Item = Write> {
        let counters = self.counters.clone().filter(|counters| !counters.session.is_empty()).map(MemoryWrite::Counters);
        self.keeps.iter().cloned().chain(counters).map(Write::Memory)
    }
}

/// Done, or why it cannot be.
pub fn execute(command: AgentCommand, event: &EventContext<'_>) -> Result<CommandResult, Refused> {
    done(command, event).map(without_secrets)
}

/// Keys, tokens and passwords are not kept, whoever writes them down.
fn without_secrets(done: CommandResult) -> CommandResult {
    CommandResult {
        keeps: done.keeps.into_iter().map(redact::keep).collect(),
        after: done.after.into_iter().map(redact::after).collect(),
        output: redact::text_without_secrets(&done.output),
        status: done.status.as_deref().map(redact::text_without_secrets),
        ..done
    }
}

fn done(command: AgentCommand, event: &EventContext<'_>) -> Result<CommandResult, Refused> {
    if !event.sub_agent().is_empty() && speaks_for_the_session(&command) {
        return Err(Refused::Failed(NOT_FOR_SUB_AGENTS.to_string()));
    }
    match command {
        AgentCommand::Log { text } => Ok(log(&text, event)),
        AgentCommand::Status { text } => Ok(status(text, event)),
        AgentCommand::Start(start) => Ok(begin(start, event)?),
        AgentCommand::Phase { label, approved } => Ok(go(&label, approved, event)?),
        AgentCommand::Finish { note } => Ok(finish(&note, event)?),
        AgentCommand::Continue { what, take } => Ok(offer::take_up(what.as_deref(), take, event)?),
        AgentCommand::Decline { what } => Ok(offer::decline(what.as_deref(), event)?),
        AgentCommand::Dehydrate(hand_over) => Ok(dehydrate(*hand_over, event)?),
        AgentCommand::Restart { why } => Ok(restart(why, event)),
        AgentCommand::Send { to, text } => mail::send(&to, &text, event),
        AgentCommand::Report { summary, outcome } => mail::report(&summary, outcome, event),
        AgentCommand::Inbox => Ok(mail::inbox(event)),
        AgentCommand::Remember { text, scope } => facts::remember(&text, scope, event),
        AgentCommand::Forget { what } => facts::forget(&what, event),
    }
}

/// The effort, the note and the context are the main agent's.
fn speaks_for_the_session(command: &AgentCommand) -> bool {
    matches!(
        command,
        AgentCommand::Finish { .. }
            | AgentCommand::Decline { .. }
            | AgentCommand::Dehydrate(_)
            | AgentCommand::Restart { .. }
    )
}

const NOT_FOR_SUB_AGENTS: &str = "a sub-agent works for the effort of its main agent, which alone ends it, writes the \
    hand-over note and asks for a restart: end with what you found as your answer; `taut log \"…\"` and \
    `taut status \"…\"` are yours too";

const NO_EFFORT: &str = "no effort is active; `taut session activate <skill>` begins one";

fn log(text: &str, event: &EventContext<'_>) -> CommandResult {
    let mut done = CommandResult {
        counters: Some(Counters { since_log: 0, last_edit: None, ..event.counters() }),
        ..CommandResult::default()
    };
    done.keeps.push(MemoryWrite::Message(message(event, "log", text.to_string())));
    match event.effort() {
        Some(effort) => {
            let path = effort.artifact("LOG");
            let by = if event.sub_agent().is_empty() {
                String::new()
            } else {
                format!(" (sub-agent {})", event.sub_agent())
            };
            let heading = format!("## {}{by}", event.now.rfc3339());
            done.output = format!("logged to {path}");
            done.after.push(After::Append { path, text: format!("{heading}\n\n{text}\n\n") });
        }
        None => done.output = "noted; no effort is active, so there is no log file".to_string(),
    }
    done
}

fn status(text: String, event: &EventContext<'_>) -> CommandResult {
    let keep = event.session().map(|session| MemoryWrite::Status { session: session.id.clone(), text: text.clone() });
    CommandResult {
        output: format!("status: {text}"),
        keeps: keep.into_iter().collect(),
        status: Some(text),
        ..CommandResult::default()
    }
}

/// Begins an effort. The same skill again, while its effort runs, is that effort.
pub fn begin(start: Start, event: &EventContext<'_>) -> Result<CommandResult, String> {
    if start.skill.is_empty() {
        return Err("which skill? `taut session activate implement`".to_string());
    }
    let declared = skill::own(&start.skill, &event.skill_folders(), event.facts);
    let sections = &event.policy.sections;
    // Where a session is required and no skill is declared at all, any name is the only way to one.
    let any = sections.session.required && sections.skills.is_empty();
    let wants = skill::Skill::declared(event.policy, &start.skill, &declared);
    let wants = wants.or_else(|| any.then(|| skill::Skill::bare(&start.skill)));
    let wants = wants.ok_or_else(|| undeclared(&start.skill, event))?;
    let slot = EffortSlot::of(&start, event);
    if !may_hold(event, &start, &slot.folder) {
        return Err(format!("{} is outside this project; name a folder inside it, or none", slot.folder));
    }
    let same_task = |effort: &&Effort| start.task.as_ref().is_none_or(|task| *task == effort.task);
    if let Some(effort) = event.effort().filter(|effort| effort.skill == start.skill).filter(same_task) {
        return Ok(CommandResult {
            output: format!("already active: {}", shown(effort, event)),
            ..CommandResult::default()
        });
    }
    let title = begin::title(&start, event);
    let child = event.session().is_some_and(|session| session.parent.is_some());
    let effort = Effort {
        id: event.ids.event.to_string(),
        agent: event.agent().to_string(),
        project: event.project().to_string(),
        task: slot.task,
        folder: slot.folder,
        ordinal: slot.ordinal,
        skill: start.skill,
        session: event.session().map(|session| session.id.clone()),
        line: if child { EffortLineage::Child } else { EffortLineage::Agent },
        phase: None,
        loading: true,
        declared,
        metadata: start.metadata,
        files: Vec::new(),
        started_at: event.now,
        finished_at: None,
        title,
        end: None,
    };
    let Counters { session, sub_agent, calls, told, .. } = event.counters();
    let told = workflow::lasting(event, &told);
    let fresh = Counters { session, sub_agent, calls, told, ..Counters::default() };
    let mut output = format!("begun: {}", shown(&effort, event));
    if !wants.preload.is_empty() {
        output.push_str(&format!(". Read first, unless shown: {}", wants.preload.join(", ")));
    }
    Ok(CommandResult {
        output,
        keeps: vec![MemoryWrite::Effort(Box::new(effort.clone()))],
        effort: Some(effort),
        counters: Some(fresh),
        ..CommandResult::default()
    })
}

/// What nobody declared begins nothing: a wrong word would open a gate.
fn undeclared(name: &str, event: &EventContext<'_>) -> String {
    let known = &event.policy.sections.skills;
    let near = known.keys().min_by_key(|known| strsim::levenshtein(&name.to_lowercase(), &known.to_lowercase()));
    let near = near.map(|near| format!("; the nearest that is: `taut session activate {near}`")).unwrap_or_default();
    let name = line(name, 80);
    format!(
        "no skill `{name}` is declared here, so no effort begins{near}. A skill declares itself with \
         `[skills.{name}]` in the configuration or `taut:` at the head of its own file"
    )
}

fn go(label: &str, approved: Option<String>, event: &EventContext<'_>) -> Result<CommandResult, String> {
    let effort = event.effort().ok_or(NO_EFFORT)?;
    let skill = event.skill(effort);
    let label = match phase::step(&skill.phases, effort.phase.as_deref(), label, approved.as_deref()) {
        Move::Stay => {
            return Ok(CommandResult { output: format!("already in phase {label}"), ..CommandResult::default() });
        }
        Move::Refused(why) => return Err(why),
        Move::To(label) => label,
    };
    let after = Effort { phase: Some(label.clone()), loading: false, ..effort.clone() };
    let step = PhaseStep { effort: effort.id.clone(), label: label.clone(), at: event.now, approved };
    let next = phase::next(&skill.phases, Some(&label));
    let next =
        next.map_or("the last phase; `taut effort finish` ends the effort".to_string(), |next| format!("next: {next}"));
    Ok(CommandResult {
        output: format!("phase {label} ({next})"),
        keeps: vec![MemoryWrite::Effort(Box::new(after.clone())), MemoryWrite::Phase(step)],
        effort: Some(after),
        counters: Some(Counters { since_log: 0, ..event.counters() }),
        ..CommandResult::default()
    })
}

/// Ends the effort of the session, or the one whose id the first word is.
fn finish(note: &str, event: &EventContext<'_>) -> Result<CommandResult, String> {
    let named = event.rows().named.as_ref().filter(|_| offer::first_word(note).is_some());
    let (effort, note) = match named {
        Some(effort) => (effort, note.trim_start().split_once(char::is_whitespace).map_or("", |(_, rest)| rest)),
        None => (event.effort().ok_or(NO_EFFORT)?, note),
    };
    if !effort.active() {
        return Err(format!(
            "the effort {} (effort {} of {}) is over already",
            effort.skill, effort.ordinal, effort.task
        ));
    }
    if named.is_some() && effort.agent != event.agent() && offer::is_busy(event) {
        return Err(format!("agent {} works on it in an open session, which can finish it", line(&effort.agent, 80)));
    }
    let after =
        Effort { finished_at: Some(event.now), end: Some(EffortEnd::Finished), loading: false, ..effort.clone() };
    let mut done = CommandResult {
        output: format!("finished: {} (effort {} of {})", effort.skill, effort.ordinal, effort.task),
        keeps: vec![MemoryWrite::Effort(Box::new(after.clone()))],
        effort: Some(after),
        ..CommandResult::default()
    };
    if !note.is_empty() {
        let text = format!("## {} finished\n\n{note}\n\n", event.now.rfc3339());
        done.after.push(After::Append { path: effort.artifact("LOG"), text });
    }
    Ok(done)
}

fn dehydrate(hand_over: HandOver, event: &EventContext<'_>) -> Result<CommandResult, String> {
    let session = event.session().ok_or("no session of this agent is known, so nothing could find the note again; `taut doctor` says whether the hooks run")?;
    if event.memory_off() {
        return Ok(CommandResult {
            output: NOT_KEPT.to_string(),
            keeps: vec![MemoryWrite::Message(message(event, "restart_request", "dehydrated".to_string()))],
            ..CommandResult::default()
        });
    }
    let mut done = note::dehydrated(hand_over, session, event);
    done.output = "Your hand-over note is stored: the next session of this agent gets it. End your turn now; \
                 a supervised agent is restarted, otherwise `/clear` or a new session continues."
        .to_string();
    done.keeps.push(MemoryWrite::Message(message(event, "restart_request", "dehydrated".to_string())));
    Ok(done)
}

const NOT_KEPT: &str = "Memory is off here (`[memory] enabled = false`): your note is not kept, and the next session is \
    told nothing of it. What must last belongs into a file of the work tree. End your turn now; a supervised agent is \
    restarted, otherwise `/clear` or a new session begins.";

fn restart(why: String, event: &EventContext<'_>) -> CommandResult {
    let mut done = event.session().map_or_else(CommandResult::default, |session| note::restarted(session, event));
    done.keeps.push(MemoryWrite::Message(message(event, "restart_request", why)));
    done.output = "A restart is asked for: a supervised agent is ended and started again; otherwise `/clear` does it."
        .to_string();
    done
}

pub(super) fn shown(effort: &Effort, event: &EventContext<'_>) -> String {
    let skill = event.skill(effort);
    let EffortPlace { skill: name, phase, task, folder } = EffortPlace::of(effort);
    let mut out = format!("{name} (effort {} of {task}) in {folder}", effort.ordinal);
    if let Some(phase) = phase {
        out.push_str(&format!(", phase {phase}"));
    } else if let Some(first) = skill.phases.first() {
        let first = line(first, 80);
        out.push_str(&format!(". When you have read what you need: `taut effort phase \"{first}\"`"));
    }
    if skill.log {
        let heartbeat = settings::heartbeat(event.policy, &skill);
        out.push_str(&format!(
            ". Log your work with `taut log \"…\"`: after {} tool calls without it you are reminded, after {} stopped",
            heartbeat.warn, heartbeat.block
        ));
    }
    out
}

/// The hook writes outside the client's sandbox, so not wherever it is told; and which of our own folders is an
/// effort's, nobody says but us.
fn may_hold(event: &EventContext<'_>, start: &Start, folder: &str) -> bool {
    let inside = |root: &str| !root.is_empty() && path::within(folder, root);
    inside(&event.places.tree) || (start.folder.is_none() && inside(&event.places.state))
}

pub(super) fn message(event: &EventContext<'_>, kind: &str, body: String) -> Message {
    Message {
        id: format!("{}-{kind}", event.ids.event),
        at: event.now,
        kind: kind.to_string(),
        from_agent: Some(event.agent().to_string()),
        to: None,
        session: event.session().map(|session| session.id.clone()),
        body,
    }
}
