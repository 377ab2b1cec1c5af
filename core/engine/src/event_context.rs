//! What a decision sees: one context, which every part of the engine takes as it is.

use crate::memory::skill::{Skill, SkillFolders};
use grammar::{AgentCommand, AgentLine};
use model::effort::{Counters, Effort, EffortLineage, EffortRows, StoredHandOver};
use model::event::{Envelope, EventKind};
use model::fact::Facts;
use model::session::Session;
use model::{Environment, Findings, Loaded, Ms, Placed, Who};
use policy::{Policy, Trust};

/// Everything a decision is made of. No clock, no ids, no I/O beyond this.
#[derive(Clone, Copy)]
pub struct EventContext<'a> {
    pub envelope: &'a Envelope,
    pub who: &'a Who,
    pub env: &'a Environment,
    /// The plain `taut` line that the event is about, if it is about one.
    pub line: Option<&'a AgentLine>,
    pub policy: &'a Policy,
    pub places: &'a Places,
    pub facts: &'a Facts,
    /// What the guard found; once strikes are counted, what still stands.
    pub findings: &'a Findings,
    pub loaded: &'a Loaded,
    /// Where the event belongs, once that is known. While it is decided, the
    /// session has its context measured anew.
    pub placed: &'a Placed,
    pub now: Ms,
    pub ids: Ids<'a>,
    /// What tells the call from every other, where something stands against it.
    pub digest: Option<&'a str>,
    /// No hook has told of it: it is told afterwards, from the transcript, and happened at this moment. Nobody reads
    /// the answer.
    pub late: Option<Ms>,
}

/// Ids for rows that may be made, drawn before deciding.
#[derive(Debug, Clone, Copy)]
pub struct Ids<'a> {
    /// Also the id of an effort or a message that the event makes.
    pub event: &'a str,
    pub session: &'a str,
    /// The request this event came as.
    pub request: &'a str,
}

/// Folders around an event, and what the user said of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Taut's own folder.
    pub state: String,
    pub home: String,
    /// The folder of the user's own configuration of Taut.
    pub config: String,
    /// The client's own folder of the user.
    pub agent_folder: String,
    /// The work tree of the event's project.
    pub tree: String,
    /// Until then Taut only watches.
    pub paused_until: Option<Ms>,
    /// Nothing stored can be looked at: then no gate is closed.
    pub blind: bool,
}

impl<'a> EventContext<'a> {
    pub fn session(&self) -> Option<&'a Session> {
        self.placed.current.as_ref()
    }

    /// A command that runs as a process of its own comes with no event.
    pub(crate) fn is_process(&self) -> bool {
        self.envelope.kind == EventKind::Unknown && self.line.is_some()
    }

    /// What the agent wants done, where it is done now: before its tool call, or by the process itself.
    pub(crate) fn command(&self) -> Option<&'a AgentCommand> {
        let now = self.envelope.kind == EventKind::PreToolUse || self.is_process();
        self.line.filter(|_| now)?.command.as_ref()?.as_ref().ok()
    }

    /// The stored session that the event speaks in, before it is placed.
    pub(crate) fn own_session(&self) -> Option<&'a Session> {
        if self.is_process() {
            return self.session();
        }
        let named = |session: &&Session| session.logical_id == self.who.logical_id && self.who.speaks_as(session);
        let open = &self.loaded.open;
        open.iter().find(|session| self.who.carries(session)).or_else(|| open.iter().find(named))
    }

    /// The agent that acts.
    pub fn agent(&self) -> &'a str {
        self.session().map_or(&self.who.agent, |session| &session.agent)
    }

    /// The project that names stand for: the session's own, wherever a `cd` has
    /// led it; a process names what lies where it runs.
    pub fn project(&self) -> &'a str {
        let session = self.session().filter(|_| !self.is_process());
        session.map_or(&self.who.project, |session| &session.project)
    }

    /// The effort this session carries: never another agent's, never a parent's.
    pub fn effort(&self) -> Option<&'a Effort> {
        let carried = |effort: &&Effort| match self.session() {
            Some(session) => carries(session, effort),
            None => self.is_process() && effort.agent == self.who.agent,
        };
        self.rows().efforts.iter().find(carried)
    }

    pub fn rows(&self) -> &'a EffortRows {
        &self.loaded.efforts
    }

    /// The sub-agent's id, or empty.
    pub fn sub_agent(&self) -> &'a str {
        self.envelope.sub_agent.as_ref().map_or("", |sub| &sub.id)
    }

    pub fn cwd(&self) -> &'a str {
        self.envelope.cwd.as_deref().unwrap_or(&self.places.tree)
    }

    pub fn paused(&self) -> bool {
        self.places.paused_until.is_some_and(|until| self.now < until)
    }

    /// Nothing is noted, indexed or told here.
    pub fn memory_off(&self) -> bool {
        self.policy.sections.memory.enabled == Some(false)
    }

    pub fn skill(&self, effort: &Effort) -> Skill {
        Skill::declared(self.policy, &effort.skill, &effort.declared).unwrap_or_else(|| Skill::bare(&effort.skill))
    }

    /// Of this session and sub-agent.
    pub fn counters(&self) -> Counters {
        let session = self.session().map(|session| session.id.clone()).unwrap_or_default();
        let known = self.rows().counters.clone().filter(|counters| counters.session == session);
        known.unwrap_or_else(|| Counters { session, sub_agent: self.sub_agent().to_string(), ..Counters::default() })
    }

    /// The agent has written a hand-over note in this very session.
    pub fn handed_over(&self) -> bool {
        let session = self.session().map(|session| session.id.as_str());
        let account = self.account().filter(|stored| !stored.hand_over.mini);
        account.is_some_and(|stored| Some(stored.session.as_str()) == session)
    }

    /// The newest note of this session's agent; a child has only what its own line of sessions wrote.
    pub fn account(&self) -> Option<&'a StoredHandOver> {
        match self.session().is_some_and(|session| session.parent.is_some()) {
            true => self.rows().child_account.as_ref(),
            false => self.rows().account.as_ref(),
        }
    }

    /// Where skills are declared: the project's own count where the user trusts it.
    pub fn skill_folders(&self) -> SkillFolders<'a> {
        let trusted = self.policy.trust == Trust::Trusted;
        SkillFolders {
            project: trusted.then_some(self.places.tree.as_str()),
            user: &self.places.agent_folder,
            below: self.envelope.agent.folder,
        }
    }
}

/// Whether a session is one of those that carry the effort on: it follows the one that did, or is its agent's
/// in the same project.
pub fn carries(session: &Session, effort: &Effort) -> bool {
    let own = effort.agent == session.agent;
    let here = effort.project == session.project;
    let of_agent = own && here && effort.line == EffortLineage::Agent && session.parent.is_none();
    let carrier = effort.session.as_ref();
    let followed = carrier.is_some() && (carrier == Some(&session.id) || carrier == session.prev.as_ref());
    effort.active() && (of_agent || followed && (own || here))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::LazyLock;

    /// What surrounds an event of which nothing else is known.
    struct Blank {
        who: Who,
        env: Environment,
        policy: Policy,
        places: Places,
        facts: Facts,
        findings: Findings,
        loaded: Loaded,
        placed: Placed,
    }

    /// The context of an event of which nothing else is known: a test names what it is about.
    pub fn context(envelope: &Envelope) -> EventContext<'_> {
        static BLANK: LazyLock<Blank> = LazyLock::new(|| Blank {
            who: Who::default(),
            env: Environment::default(),
            policy: Policy::built_in(),
            places: Places::default(),
            facts: Facts::default(),
            findings: Findings::default(),
            loaded: Loaded::default(),
            placed: Placed::default(),
        });
        let Blank { who, env, policy, places, facts, findings, loaded, placed } = &*BLANK;
        let ids = Ids { event: "e", session: "fresh", request: "r" };
        EventContext {
            envelope,
            who,
            env,
            line: None,
            policy,
            places,
            facts,
            findings,
            loaded,
            placed,
            now: Ms(1),
            ids,
            digest: None,
            late: None,
        }
    }
}
