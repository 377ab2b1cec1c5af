//! Carrying a command out: what it writes and what it says. The hook that sees
//! the line and the process of the line itself both do it here.

use super::command::{AgentCommand, Start, Take};
use super::phase::{self, Move};
use super::skill::Skill;
use super::{hand_over, mail, path, settings};
use crate::redact;
use model::Ms;
use model::effect::{After, Write};
use model::effort::{
    Addressee, Counters, Effort, EffortLineage, HandOver, MemoryWrite, Message, PhaseStep, Refused, StoredHandOver,
};
use model::session::{Once, Session};
use policy::Policy;
use serde_json::Value;

/// Who wants it done, and what is known.
pub struct Scene<'a> {
    pub agent: &'a str,
    pub project: &'a str,
    pub session: Option<&'a Session>,
    /// The sub-agent that speaks, or empty.
    pub sub_agent: &'a str,
    /// The agent's current effort.
    pub effort: Option<&'a Effort>,
    /// The effort that was asked for by name.
    pub named: Option<&'a Effort>,
    /// Somebody else's open session carries the named one.
    pub named_busy: bool,
    pub counters: Counters,
    /// Where a new effort would go.
    pub room: EffortSlot,
    pub policy: &'a Policy,
    /// What the skill's own file declares.
    pub own: Value,
    pub now: Ms,
    /// Becomes the id of whatever is made.
    pub id: &'a str,
    /// Folders that artifacts may be written to: the project's, and our own.
    pub roots: [&'a str; 2],
    pub mail: Mail<'a>,
}

/// What a command about messages is carried out with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mail<'a> {
    /// Whom a message is for, or who there is instead.
    pub addressee: Option<&'a Addressee>,
    pub names: &'a [String],
    /// What waits for the agent.
    pub inbox: &'a [Message],
    /// The conversation that started this worker.
    pub reports_to: Option<&'a str>,
    /// The agents that carry it.
    pub starters: &'a [String],
    /// The agent that writes; nobody where no agent does.
    pub from: Option<&'a str>,
}

/// A task, its folder, and the number a new effort of it gets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EffortSlot {
    pub task: String,
    pub folder: String,
    pub ordinal: i64,
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommandResult {
    pub keeps: Vec<MemoryWrite>,
    pub after: Vec<After>,
    pub said: String,
    /// What the session says of itself from now on.
    pub status: Option<String>,
    /// The effort as it stands now, where it changed.
    pub effort: Option<Effort>,
    pub counters: Option<Counters>,
    /// What the session has said by it: written to somebody, or reported.
    pub once: Option<Once>,
}

impl CommandResult {
    /// What is to be stored of it.
    pub fn writes(&self) -> impl Iterator<Item = Write> {
        let counters = self.counters.clone().filter(|counters| !counters.session.is_empty()).map(MemoryWrite::Counters);
        self.keeps.iter().cloned().chain(counters).map(Write::Memory)
    }
}

/// Done, or why it cannot be.
pub fn execute(command: AgentCommand, scene: &Scene<'_>) -> Result<CommandResult, Refused> {
    done(command, scene).map(without_secrets)
}

/// Keys, tokens and passwords are not kept, whoever writes them down.
fn without_secrets(done: CommandResult) -> CommandResult {
    CommandResult {
        keeps: done.keeps.into_iter().map(redact::keep).collect(),
        after: done.after.into_iter().map(redact::after).collect(),
        said: redact::text_without_secrets(&done.said),
        status: done.status.as_deref().map(redact::text_without_secrets),
        ..done
    }
}

fn done(command: AgentCommand, scene: &Scene<'_>) -> Result<CommandResult, Refused> {
    match command {
        AgentCommand::Log { text } => Ok(log(&text, scene)),
        AgentCommand::Status { text } => Ok(status(text, scene)),
        AgentCommand::Start(start) => Ok(begin(start, scene)?),
        AgentCommand::Phase { label, approved } => Ok(go(&label, approved, scene)?),
        AgentCommand::Finish { note } => Ok(finish(&note, scene)?),
        AgentCommand::Continue { what, take } => Ok(resume(what.as_deref(), take, scene)?),
        AgentCommand::Dehydrate(hand_over) => Ok(dehydrate(*hand_over, scene)?),
        AgentCommand::Restart { why } => Ok(restart(why, scene)),
        AgentCommand::End { why } => Ok(finish(&why, scene)?),
        AgentCommand::Send { to, text } => mail::send(&to, &text, scene),
        AgentCommand::Report { summary, outcome } => mail::report(&summary, outcome, scene),
        AgentCommand::Inbox => Ok(mail::inbox(scene)),
    }
}

const NO_EFFORT: &str = "no effort is active; `taut session activate <skill>` begins one";

fn log(text: &str, scene: &Scene<'_>) -> CommandResult {
    let mut done = CommandResult {
        counters: Some(Counters { since_log: 0, last_edit: None, ..scene.counters.clone() }),
        ..CommandResult::default()
    };
    done.keeps.push(MemoryWrite::Message(scene.message("log", text.to_string())));
    match scene.effort {
        Some(effort) => {
            let path = effort.artifact("LOG");
            let by =
                if scene.sub_agent.is_empty() { String::new() } else { format!(" (sub-agent {})", scene.sub_agent) };
            let heading = format!("## {}{by}", scene.now.rfc3339());
            done.said = format!("logged to {path}");
            done.after.push(After::Append { path, text: format!("{heading}\n\n{text}\n\n") });
        }
        None => done.said = "noted; no effort is active, so there is no log file".to_string(),
    }
    done
}

fn status(text: String, scene: &Scene<'_>) -> CommandResult {
    let keep = scene.session.map(|session| MemoryWrite::Status { session: session.id.clone(), text: text.clone() });
    CommandResult {
        said: format!("status: {text}"),
        keeps: keep.into_iter().collect(),
        status: Some(text),
        ..CommandResult::default()
    }
}

/// Begins an effort. The same skill again, while its effort runs, is that effort.
pub fn begin(start: Start, scene: &Scene<'_>) -> Result<CommandResult, String> {
    if start.skill.is_empty() {
        return Err("which skill? `taut session activate implement`".to_string());
    }
    if !scene.may_hold(&scene.room.folder) {
        return Err(format!("{} is outside this project; name a folder inside it, or none", scene.room.folder));
    }
    let same_task = |effort: &&Effort| start.task.as_ref().is_none_or(|task| *task == effort.task);
    if let Some(effort) = scene.effort.filter(|effort| effort.skill == start.skill).filter(same_task) {
        return Ok(CommandResult {
            said: format!("already active: {}", shown(effort, scene)),
            ..CommandResult::default()
        });
    }
    let child = scene.session.is_some_and(|session| session.parent.is_some());
    let effort = Effort {
        id: scene.id.to_string(),
        agent: scene.agent.to_string(),
        project: scene.project.to_string(),
        task: scene.room.task.clone(),
        folder: scene.room.folder.clone(),
        ordinal: scene.room.ordinal.max(1),
        skill: start.skill,
        session: scene.session.map(|session| session.id.clone()),
        line: if child { EffortLineage::Child } else { EffortLineage::Agent },
        phase: None,
        loading: true,
        declared: scene.own.clone(),
        metadata: start.metadata,
        files: Vec::new(),
        started_at: scene.now,
        finished_at: None,
    };
    let fresh = Counters {
        session: scene.counters.session.clone(),
        sub_agent: scene.counters.sub_agent.clone(),
        ..Counters::default()
    };
    Ok(CommandResult {
        said: format!("begun: {}", shown(&effort, scene)),
        keeps: vec![MemoryWrite::Effort(Box::new(effort.clone()))],
        effort: Some(effort),
        counters: Some(fresh),
        ..CommandResult::default()
    })
}

fn go(label: &str, approved: Option<String>, scene: &Scene<'_>) -> Result<CommandResult, String> {
    let effort = scene.effort.ok_or(NO_EFFORT)?;
    let skill = scene.skill(effort);
    let label = match phase::step(&skill.phases, effort.phase.as_deref(), label, approved.as_deref()) {
        Move::Stay => {
            return Ok(CommandResult { said: format!("already in phase {label}"), ..CommandResult::default() });
        }
        Move::Refused(why) => return Err(why),
        Move::To(label) => label,
    };
    let after = Effort { phase: Some(label.clone()), loading: false, ..effort.clone() };
    let step = PhaseStep { effort: effort.id.clone(), label: label.clone(), at: scene.now, approved };
    let next = phase::next(&skill.phases, Some(&label));
    let next =
        next.map_or("the last phase; `taut effort finish` ends the effort".to_string(), |next| format!("next: {next}"));
    Ok(CommandResult {
        said: format!("phase {label} ({next})"),
        keeps: vec![MemoryWrite::Effort(Box::new(after.clone())), MemoryWrite::Phase(step)],
        effort: Some(after),
        counters: Some(Counters { since_log: 0, ..scene.counters.clone() }),
        ..CommandResult::default()
    })
}

fn finish(note: &str, scene: &Scene<'_>) -> Result<CommandResult, String> {
    let effort = scene.effort.ok_or(NO_EFFORT)?;
    let after = Effort { finished_at: Some(scene.now), loading: false, ..effort.clone() };
    let mut done = CommandResult {
        said: format!("finished: {} (effort {} of {})", effort.skill, effort.ordinal, effort.task),
        keeps: vec![MemoryWrite::Effort(Box::new(after.clone()))],
        effort: Some(after),
        ..CommandResult::default()
    };
    if !note.is_empty() {
        let text = format!("## {} finished\n\n{note}\n\n", scene.now.rfc3339());
        done.after.push(After::Append { path: effort.artifact("LOG"), text });
    }
    Ok(done)
}

/// Adopts an effort by hand: the agent's own by default, another's when named.
fn resume(what: Option<&str>, take: Take, scene: &Scene<'_>) -> Result<CommandResult, String> {
    let effort = match what {
        None => scene.effort.ok_or("this agent has no active effort; `taut effort list` shows those of others")?,
        Some(what) => scene
            .named
            .ok_or_else(|| format!("there is no effort of `{what}` here; `taut effort list --all` shows them"))?,
    };
    if !effort.active() {
        return Err(format!(
            "the effort is finished; `taut session activate {} --task {}` begins the next",
            effort.skill, effort.task
        ));
    }
    if what.is_some() && effort.agent != scene.agent && scene.named_busy && take == Take::No {
        return Err(format!("agent {} works on it in an open session; add --take to take it over", effort.agent));
    }
    let after = Effort {
        agent: scene.agent.to_string(),
        session: scene.session.map(|session| session.id.clone()),
        line: if scene.session.is_some_and(|session| session.parent.is_some()) {
            EffortLineage::Child
        } else {
            EffortLineage::Agent
        },
        ..effort.clone()
    };
    Ok(CommandResult {
        said: format!("continuing: {}", shown(&after, scene)),
        keeps: vec![MemoryWrite::Effort(Box::new(after.clone()))],
        effort: Some(after),
        ..CommandResult::default()
    })
}

fn dehydrate(hand_over: HandOver, scene: &Scene<'_>) -> Result<CommandResult, String> {
    let session = scene.session.ok_or("no session of this agent is known, so nothing could find the note again; `taut doctor` says whether the hooks run")?;
    let mut done = stored_hand_over(hand_over, session, scene);
    done.said = "Your hand-over note is stored: the next session of this agent gets it once. End your turn now; \
                 a supervised agent is restarted, otherwise `/clear` or a new session continues."
        .to_string();
    done.keeps.push(MemoryWrite::Message(scene.message("restart_request", "dehydrated".to_string())));
    Ok(done)
}

/// The account where the next session finds it, and beside the effort's artifacts.
pub fn stored_hand_over(hand_over: HandOver, session: &Session, scene: &Scene<'_>) -> CommandResult {
    let document = scene.effort.map(|effort| After::Replace {
        path: format!("{}/{}", effort.folder, hand_over::FILE),
        text: hand_over::document(&hand_over, scene.effort),
    });
    let keep = MemoryWrite::HandOver(Box::new(StoredHandOver {
        agent: scene.agent.to_string(),
        session: session.id.clone(),
        effort: scene.effort.map(|effort| effort.id.clone()),
        line: if session.parent.is_some() { EffortLineage::Child } else { EffortLineage::Agent },
        at: scene.now,
        hand_over,
    }));
    CommandResult { keeps: vec![keep], after: document.into_iter().collect(), ..CommandResult::default() }
}

fn restart(why: String, scene: &Scene<'_>) -> CommandResult {
    let mut done = match scene.session {
        Some(session) => {
            stored_hand_over(hand_over::mini(scene.effort, session.status_text.as_deref()), session, scene)
        }
        None => CommandResult::default(),
    };
    done.keeps.push(MemoryWrite::Message(scene.message("restart_request", why)));
    done.said = "A restart is asked for: a supervised agent is ended and started again; otherwise `/clear` does it."
        .to_string();
    done
}

fn shown(effort: &Effort, scene: &Scene<'_>) -> String {
    let skill = scene.skill(effort);
    let mut out = format!("{} (effort {} of {}) in {}", effort.skill, effort.ordinal, effort.task, effort.folder);
    if let Some(phase) = &effort.phase {
        out.push_str(&format!(", phase {phase}"));
    } else if let Some(first) = skill.phases.first() {
        out.push_str(&format!(". When you have read what you need: `taut effort phase \"{first}\"`"));
    }
    if skill.log {
        let heartbeat = settings::heartbeat(scene.policy, &skill);
        out.push_str(&format!(
            ". Log your work with `taut log \"…\"`: after {} tool calls without it you are reminded, after {} stopped",
            heartbeat.warn, heartbeat.block
        ));
    }
    out
}

impl Scene<'_> {
    /// The hook writes outside the client's sandbox, so not wherever it is told.
    fn may_hold(&self, folder: &str) -> bool {
        self.roots.iter().any(|root| !root.is_empty() && path::within(folder, root))
    }

    fn skill(&self, effort: &Effort) -> Skill {
        Skill::declared(self.policy, &effort.skill, &effort.declared).unwrap_or_else(|| Skill::bare(&effort.skill))
    }

    pub(super) fn message(&self, kind: &str, body: String) -> Message {
        Message {
            id: format!("{}-{kind}", self.id),
            at: self.now,
            kind: kind.to_string(),
            from_agent: Some(self.agent.to_string()),
            to: None,
            session: self.session.map(|session| session.id.clone()),
            body,
        }
    }
}
