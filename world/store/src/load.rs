//! What a decision reads: first the rows that tell whom an event is about, then
//! those that it needs besides. Nothing is written here.

use crate::efforts::{pre_executed, unfinished, wordless};
use crate::sessions::Around;
use crate::{
    Error, Store, Tx, agent_names, agents, allowances, cards, efforts, helper_sessions, injections, messages,
    outbox_messages, remote_agents, sessions, strikes, tasks,
};
use model::effort::{Addressee, EffortRows, StoredHandOver, UnfinishedWork};
use model::needs::Unfinished;
use model::session::Session;
use model::who::KnownHelper;
use model::{Loaded, Ms, Needs, Who};
use rusqlite::Connection;

impl Tx<'_> {
    /// What is known of those an event is about.
    pub fn identify(&self, who: &Who, now: Ms) -> Result<Loaded, Error> {
        self.verb(|conn| {
            let Around { open, last_ended, sharing, agents } = sessions::around(conn, who)?;
            Ok(Loaded {
                // An unnamed client that has changed its folder, or was resumed, goes on being the agent it was.
                agent: agents.first().map(|agent| agents::load(conn, agent)).transpose()?.flatten(),
                held: tasks::held(conn, &agents, open.iter().chain(&last_ended))?,
                open,
                last_ended,
                sharing,
                strikes: strikes::unexpired(conn, strikes::root_session(who), now)?,
                ..Loaded::default()
            })
        })
    }

    /// Whose helper's session this is, where helpers have some of their own.
    pub fn helper(&self, who: &Who) -> Result<Option<KnownHelper>, Error> {
        self.verb(|conn| helper_sessions::find(conn, who))
    }

    /// The session in which a helper begins, where the event tells of one.
    pub fn parent_of_helper(&self, who: &Who) -> Result<Option<Session>, Error> {
        self.verb(|conn| helper_sessions::parent_of_helper(conn, who))
    }

    /// The rest of what the decision needs.
    pub fn load(&self, needs: &Needs, now: Ms, loaded: &mut Loaded) -> Result<(), Error> {
        self.verb(|conn| {
            loaded.efforts = effort_rows(conn, needs)?;
            // One that begins may be the agent of the session it follows.
            let current = needs.placed.current.as_ref().filter(|_| needs.placed.opened);
            if let Some(session) = current
                && loaded.agent.as_ref().is_none_or(|agent| agent.id != session.agent)
            {
                loaded.agent = agents::load(conn, &session.agent)?;
            }
            if let Some(agent) = loaded.agent.as_ref().filter(|_| needs.agent_name) {
                loaded.agent_name = agent_names::own(conn, &agent.id)?;
            }
            if needs.allowances {
                loaded.allowances = allowances::unexpired(conn, now)?;
            }
            if let Some(name) = &needs.teammate {
                loaded.teammate = agents::load(conn, name)?;
            }
            if let Some(session) = &needs.cards {
                loaded.cards = cards::waiting(conn, session)?;
            }
            for session in &needs.injections {
                loaded.waiting.extend(injections::waiting(conn, session, needs.audience)?);
            }
            if let Some((project, words)) = &needs.listed {
                loaded.listed = pre_executed::listed(conn, words, project, now)?;
            }
            // Read in the transaction that marks what is shown of them, so that each is shown once.
            if let Some(taker) = &needs.messages {
                loaded.messages = messages::waiting(conn, taker, needs.unshown_kinds, &loaded.listed)?;
            }
            Ok(())
        })
    }
}

impl Store {
    /// The note that an id, or the end of one, stands for.
    pub fn note_named(&self, project: &str, name: &str) -> Result<Option<StoredHandOver>, Error> {
        self.read(|conn| {
            let mut rows = EffortRows::default();
            unfinished::named(conn, project, name, &mut rows)?;
            Ok(rows.named_note)
        })
    }
}

/// For an agent without an effort this is one look into a small index.
fn effort_rows(conn: &Connection, needs: &Needs) -> rusqlite::Result<EffortRows> {
    let mut rows = efforts::known(conn, needs)?;
    if let Some(task) = &needs.task {
        rows.next_ordinal = efforts::next_ordinal(conn, &needs.project, task)?;
        rows.task_folder = efforts::task_folder(conn, &needs.project, task)?;
    }
    if let Some(name) = &needs.named {
        unfinished::named(conn, &needs.project, name, &mut rows)?;
    }
    if let Some(what) = needs.unfinished {
        rows.unfinished = unfinished::of_project(conn, &needs.project, what)?;
        if what == Unfinished::EffortsAndNotes {
            wordless::add_to(conn, &needs.project, &mut rows.unfinished)?;
        }
        // What another agent has left is not offered.
        let ours = |work: &UnfinishedWork| work.dialect.as_ref().is_none_or(|theirs| *theirs == needs.dialect);
        rows.unfinished.retain(|work| needs.dialect.is_empty() || ours(work));
    }
    if let Some(session) = &needs.prompt_of {
        rows.last_prompt = unfinished::last_prompt(conn, session)?;
    }
    if let Some(name) = &needs.addressee {
        match messages::addressee(conn, name)? {
            Ok(Addressee::Agent(agent)) => {
                rows.addressee_name = agent_names::own(conn, &agent)?;
                rows.addressee = Some(Addressee::Agent(agent));
            }
            Ok(Addressee::Remote(remote)) => {
                rows.outbox_is_full = outbox_messages::is_full(conn)?;
                rows.addressee = Some(Addressee::Remote(remote));
            }
            Ok(conversation) => rows.addressee = Some(conversation),
            Err(several) => (rows.addressees, rows.names) = (several, messages::names(conn)?),
        }
    }
    if let Some(session) = &needs.started_by {
        rows.reports_to = messages::conversation_of(conn, session)?;
        if rows.reports_to.is_none() {
            rows.reports_to = remote_agents::conversation(conn, session)?;
        }
    }
    if let Some(Addressee::Agent(_)) = rows.addressee
        && let Some(conversation) = needs.reports_to.as_ref().or(rows.reports_to.as_ref())
    {
        rows.starters = messages::carriers(conn, conversation)?;
    }
    if let Some(taker) = &needs.inbox {
        rows.inbox = messages::inbox(conn, taker)?;
    }
    Ok(rows)
}
