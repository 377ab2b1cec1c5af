//! One transaction: what a decision reads and writes.

use crate::{Error, agents, efforts, events, injections, messages, sessions, strikes, tasks};
use model::effect::{Audience, Injection, Write};
use model::effort::{Addressee, EffortRows, Message, WaitingMessages};
use model::fleet::Taker;
use model::row::Agent;
use model::session::Session;
use model::{Answer, Loaded, Ms, Who};
use rusqlite::Connection;
use std::path::Path;

#[derive(Debug)]
pub struct Tx<'s> {
    conn: &'s Connection,
    path: &'s Path,
}

impl<'s> Tx<'s> {
    pub(crate) fn new(conn: &'s Connection, path: &'s Path) -> Self {
        Self { conn, path }
    }

    /// The stored answer of the event with this key: an empty one where it was
    /// answered with nothing, `None` where there is no such event.
    pub fn answered(&self, key: &str) -> Result<Option<Answer>, Error> {
        self.verb(|conn| events::answered(conn, key))
    }

    /// The stored answer of that event is given now: it counts as answered.
    pub fn deliver(&self, key: &str) -> Result<(), Error> {
        self.verb(|conn| events::delivered(conn, key))
    }

    /// What is known of those an event is about.
    pub fn load(&self, who: &Who, now: Ms) -> Result<Loaded, Error> {
        self.verb(|conn| {
            let open = sessions::open_ones(conn, who)?;
            let last_ended = sessions::last_ended(conn, who)?;
            // An unnamed client that has changed its folder goes on being the agent it was.
            let agent = open.iter().find(|session| who.carries(session)).map_or(&who.agent, |session| &session.agent);
            Ok(Loaded {
                agent: agents::load(conn, agent)?,
                teammate: None,
                held: tasks::held(conn, &who.agent, open.iter().chain(&last_ended))?,
                open,
                last_ended,
                strikes: strikes::unexpired(conn, strikes::root_session(who), now)?,
                waiting: Vec::new(),
                messages: WaitingMessages::default(),
                efforts: EffortRows::default(),
            })
        })
    }

    /// The session with our own id.
    pub fn session(&self, id: &str) -> Result<Option<Session>, Error> {
        self.verb(|conn| sessions::by_id(conn, id))
    }

    pub fn agent(&self, id: &str) -> Result<Option<Agent>, Error> {
        self.verb(|conn| agents::load(conn, id))
    }

    /// Open sessions of this logical id, the newest first.
    pub fn open_sessions(&self, logical_id: &str) -> Result<Vec<Session>, Error> {
        self.verb(|conn| sessions::open_of_id(conn, logical_id))
    }

    /// All of them or, on an error, none once the transaction or savepoint ends.
    pub fn apply(&self, writes: &[Write]) -> Result<(), Error> {
        writes.iter().try_for_each(|write| self.verb(|conn| apply_one(conn, write)))
    }

    /// What is waiting to be told to the model of this session, oldest first;
    /// told once: it is gone when the transaction commits.
    pub fn take_injections(&self, session: &str) -> Result<Vec<Injection>, Error> {
        self.verb(|conn| injections::take(conn, session, None))
    }

    /// Only what is for the model: a tool's result is not shown to the user.
    pub fn take_model_injections(&self, session: &str) -> Result<Vec<Injection>, Error> {
        self.verb(|conn| injections::take(conn, session, Some(Audience::Model)))
    }

    /// What waits for somebody: the oldest few, and how many besides. Told once
    /// it is marked in this transaction.
    pub fn waiting_messages(&self, taker: &Taker) -> Result<WaitingMessages, Error> {
        self.verb(|conn| messages::waiting(conn, taker))
    }

    /// All that waits for somebody, the oldest first.
    pub fn inbox(&self, taker: &Taker) -> Result<Vec<Message>, Error> {
        self.verb(|conn| messages::inbox(conn, taker))
    }

    /// Whom a name stands for: an agent, a conversation, or a session's conversation.
    pub fn addressee(&self, name: &str) -> Result<Option<Addressee>, Error> {
        self.verb(|conn| messages::addressee(conn, name))
    }

    /// Who there is to write to.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        self.verb(messages::names)
    }

    /// The conversation of the session with this id, ours or the one it is known by.
    pub fn conversation_of(&self, session: &str) -> Result<Option<String>, Error> {
        self.verb(|conn| messages::conversation_of(conn, session))
    }

    /// The agents whose open sessions carry this conversation.
    pub fn carriers(&self, conversation: &str) -> Result<Vec<String>, Error> {
        self.verb(|conn| messages::carriers(conn, conversation))
    }

    /// One item among several in a commit: its error undoes it alone.
    pub fn savepoint<T>(&self, work: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Error> {
        self.run("SAVEPOINT item")?;
        match work(self) {
            Ok(done) => self.run("RELEASE item").map(|()| done),
            Err(cause) => {
                // After a full disk SQLite has undone the whole transaction, and
                // the caller must hear of that rather than of the one item.
                if self.conn.is_autocommit() {
                    return Err(Error::RolledBack);
                }
                self.run("ROLLBACK TO item")?;
                self.run("RELEASE item")?;
                Err(cause)
            }
        }
    }

    fn run(&self, sql: &str) -> Result<(), Error> {
        self.verb(|conn| conn.prepare_cached(sql)?.execute([]).map(drop))
    }

    /// Guards every statement: once SQLite has rolled back by itself, a further
    /// statement would commit on its own.
    pub(crate) fn verb<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        if self.conn.is_autocommit() {
            return Err(Error::RolledBack);
        }
        work(self.conn).map_err(|cause| Error::of(self.path, cause))
    }
}

fn apply_one(conn: &Connection, write: &Write) -> rusqlite::Result<()> {
    match write {
        Write::Session(session) => sessions::put(conn, session),
        Write::Agent(agent) => agents::put(conn, agent),
        Write::Rest { agent, session, at } => agents::rest(conn, agent, session, *at),
        Write::Event(event) => events::record(conn, event).map(drop),
        Write::Strike(strike) => strikes::give(conn, strike),
        Write::AllowanceSpent { rule } => strikes::spend(conn, rule),
        Write::StrikesDelivered { session, denied_to } => strikes::deliver(conn, session, denied_to),
        Write::Injection(injection) => injections::put(conn, injection),
        Write::Task(turn) => tasks::write_turn(conn, turn).map(drop),
        Write::Memory(keep) => efforts::keep(conn, keep),
    }
}
