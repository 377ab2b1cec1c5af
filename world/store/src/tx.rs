//! One transaction: what a decision reads and writes.

use crate::{
    Error, SameCalls, ToldOnce, agent_names, agents, allowances, cards, efforts, events, injections, session_facts,
    sessions, strikes, tasks,
};
use model::Answer;
use model::effect::Write;
use model::row::Agent;
use model::session::Session;
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

    /// Whether one of these calls was answered.
    pub fn any_answered(&self, calls: SameCalls<'_>) -> Result<bool, Error> {
        self.verb(|conn| calls.answered(conn))
    }

    /// The one of these calls that waits for its other hook to ask this.
    pub fn told_once(&self, calls: SameCalls<'_>, asked: &str) -> Result<Option<ToldOnce>, Error> {
        self.verb(|conn| calls.told_once(conn, asked))
    }

    /// The other hook has asked, and is answered as the first was.
    pub fn told_again(&self, call: &ToldOnce) -> Result<(), Error> {
        self.verb(|conn| events::told_again(conn, &call.key))
    }

    /// The stored answer of that event is given now: it counts as answered.
    pub fn deliver(&self, key: &str) -> Result<(), Error> {
        self.verb(|conn| events::delivered(conn, key))
    }

    /// The session with our own id.
    pub fn session(&self, id: &str) -> Result<Option<Session>, Error> {
        self.verb(|conn| sessions::by_id(conn, id))
    }

    /// An agent with the open session that its row names, where that is this one.
    pub fn agent_in(&self, agent: &str, session: &str) -> Result<Option<(Agent, Session)>, Error> {
        self.verb(|conn| agents::pair(conn, agent, session))
    }

    /// Open sessions of this logical id, the newest first.
    pub fn open_sessions(&self, logical_id: &str) -> Result<Vec<Session>, Error> {
        self.verb(|conn| sessions::open_of_id(conn, logical_id))
    }

    /// All of them or, on an error, none once the transaction or savepoint ends.
    pub fn apply(&self, writes: &[Write]) -> Result<(), Error> {
        writes.iter().try_for_each(|write| self.verb(|conn| apply_one(conn, write)))
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
        Write::AgentName(wish) => agent_names::give(conn, wish),
        Write::Rest { agent, session, at } => agents::rest(conn, agent, session, *at),
        Write::Event(event) => events::record(conn, event).map(drop),
        Write::Strike(strike) => strikes::give(conn, strike),
        Write::Allowance(allowance) => allowances::put(conn, allowance),
        Write::AllowanceSpent(what) => allowances::spend(conn, what),
        Write::StrikesDelivered { session, denied_to, until } => strikes::deliver(conn, session, denied_to, *until),
        Write::Injection(injection) => injections::put(conn, injection),
        Write::InjectionsShown { session, audience } => injections::clear(conn, session, *audience),
        Write::Task(turn) => tasks::write_turn(conn, turn).map(drop),
        Write::Memory(keep) => efforts::keep(conn, keep),
        Write::Card(step) => cards::step(conn, &step.id, (step.from, step.to), step.at).map(drop),
        Write::Fact { session, note, at } => session_facts::add(conn, session, note, *at),
    }
}
