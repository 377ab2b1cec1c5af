//! Following what clients say of themselves, off the way of an event: the files of those that are not at rest are looked
//! at, and read where they are others than before. Of those at rest it is looked at, seldom, whether they are still there.

use crate::stamp::Stamp;
use agents::{Dialect, Dialects};
use engine::client_turn::{self, CLIENT_GONE, SeenClient};
use model::client_state::ClientState;
use model::effect::Write;
use model::row::Agent;
use model::session::Session;
use model::{ClientProcess, Ms};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use store::{Durability, Error, Store};

/// Whether a process is still there is asked so often.
const LIVES_MS: i64 = 1_000;

/// Those at rest are looked at so often.
const RESTED_MS: i64 = 5_000;

/// One that is gone has so long for its last hook.
const LAST_HOOK_MS: i64 = 3_000;

/// A file that was written so shortly before may have been written again within the same tick of its clock.
const SAME_TICK_MS: i64 = 50;

/// Follows the clients of a fleet.
#[derive(Debug)]
pub struct ClientWatch {
    dialects: Dialects,
    followed: Vec<Followed>,
    /// Those at rest, and when they were looked at.
    rested: Vec<Followed>,
    rested_at: Option<Ms>,
    /// By session.
    views: BTreeMap<String, ClientView>,
    /// The state of the database that `followed` is of.
    version: Option<i64>,
}

/// What came of a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WatchRound {
    /// Somebody's status is another.
    pub turned: bool,
    /// There is somebody to follow.
    pub follows: bool,
}

/// An agent in a client that says what it does.
#[derive(Debug)]
struct Followed {
    agent: Agent,
    session: Session,
    client: ClientProcess,
    host_session: String,
    dialect: &'static Dialect,
    /// The client's own folder.
    folder: PathBuf,
}

/// What is remembered of one client between two looks.
#[derive(Debug, Default)]
struct ClientView {
    stamp: Option<Stamp>,
    state: Option<ClientState>,
    first_seen: Ms,
    /// When the last dialog came up that was seen.
    dialog_since: Option<Ms>,
    /// Its file has named this process and this session: it is the client, and nothing else.
    is_known: bool,
    asked_at: Option<Ms>,
    gone_since: Option<Ms>,
}

/// What a look at one client gives.
enum Found {
    Nothing,
    Says(SeenClient),
    Gone,
}

impl ClientWatch {
    pub fn new(dialects: Dialects) -> Self {
        let (followed, rested, rested_at) = (Vec::new(), Vec::new(), None);
        Self { dialects, followed, rested, rested_at, views: BTreeMap::new(), version: None }
    }

    /// Whether there is anybody to follow whose client lives.
    pub fn is_needed(store: &Store, dialects: Dialects) -> Result<bool, Error> {
        let mut watch = Self::new(dialects);
        watch.list(store)?;
        Ok(watch.followed.iter().any(|one| sys::process_stat::lives(one.client.pid, one.client.started)))
    }

    /// One look at everybody, and what follows from it stored. The connection is nobody else's: what others commit is
    /// noticed by it.
    pub fn round(&mut self, store: &mut Store, now: Ms) -> Result<WatchRound, Error> {
        let version = Some(store.data_version()?);
        if self.version != version {
            self.list(store)?;
            self.version = version;
        }
        // Not at the first look: one alone does not tell that somebody is gone.
        let last = *self.rested_at.get_or_insert(now);
        let due = last != now && !(0..RESTED_MS).contains(&now.0.saturating_sub(last.0));
        if due {
            self.rested_at = Some(now);
            self.rested = self.clients(store.rested()?);
            self.forget();
        }
        let mut turned = false;
        for one in self.followed.iter().chain(self.rested.iter().filter(|_| due)) {
            let view = self.views.entry(one.session.id.clone()).or_default();
            let found = view.look(one, now);
            // What is stored is decided again on the rows as they are then.
            if !writes((&one.agent, &one.session), &found, now).is_empty() {
                turned |= store.transact(Durability::Normal, |tx| {
                    let rows = tx.agent_in(&one.agent.id, &one.session.id)?;
                    let same = rows.filter(|(_, session)| session.client == Some(one.client));
                    let writes =
                        same.map(|(agent, session)| writes((&agent, &session), &found, now)).unwrap_or_default();
                    tx.apply(&writes)?;
                    Ok(!writes.is_empty())
                })?;
            }
        }
        if turned {
            // Our own commit is none that we are told of.
            self.version = None;
        }
        Ok(WatchRound { turned, follows: !self.followed.is_empty() })
    }

    fn list(&mut self, store: &Store) -> Result<(), Error> {
        self.followed = self.clients(store.unrested()?);
        self.forget();
        Ok(())
    }

    fn clients(&self, agents: Vec<(Agent, Session)>) -> Vec<Followed> {
        agents.into_iter().filter_map(|one| Followed::of(one, self.dialects)).collect()
    }

    /// What was seen of those that are looked at no more.
    fn forget(&mut self) {
        let looked_at: BTreeSet<&str> =
            self.followed.iter().chain(&self.rested).map(|one| one.session.id.as_str()).collect();
        self.views.retain(|id, _| looked_at.contains(id.as_str()));
    }
}

fn writes((agent, session): (&Agent, &Session), found: &Found, now: Ms) -> Vec<Write> {
    let id = || host::clock::uuid(now);
    match found {
        Found::Says(seen) => client_turn::turned((agent, session), seen, now, id),
        Found::Gone => client_turn::gone((agent, session), CLIENT_GONE, now, id),
        Found::Nothing => Vec::new(),
    }
}

impl Followed {
    /// `None` where the client keeps no file, or it is not known which.
    fn of((agent, session): (Agent, Session), dialects: Dialects) -> Option<Self> {
        let dialect = session.memo.dialect.as_deref().and_then(|id| dialects.find(id)).unwrap_or(agents::DEFAULT);
        let folder = (dialect.session_file.as_ref()?.folder)(session.transcript.as_deref()?)?;
        Some(Self {
            client: session.client?,
            host_session: session.host_session.clone()?,
            folder: Path::new(folder).to_path_buf(),
            dialect,
            agent,
            session,
        })
    }
}

impl ClientView {
    fn look(&mut self, one: &Followed, now: Ms) -> Found {
        let is_new = self.read(one, now);
        let due = self.asked_at.is_none_or(|at| !(0..LIVES_MS).contains(&now.0.saturating_sub(at.0)));
        if is_new || due {
            self.asked_at = Some(now);
            let lives = sys::process_stat::lives(one.client.pid, one.client.started);
            self.gone_since = if lives { None } else { self.gone_since.or(Some(now)) };
        }
        match (self.gone_since, &self.state) {
            (Some(since), _) if self.is_known && now.since(since) >= LAST_HOOK_MS => Found::Gone,
            // A file that was left behind says nothing.
            (Some(_), _) | (None, None) => Found::Nothing,
            (None, Some(state)) => {
                SeenClient::of(state, self.first_seen, self.dialog_since).map_or(Found::Nothing, Found::Says)
            }
        }
    }

    /// Reads the file where it is another than before; whether the client says something else now.
    fn read(&mut self, one: &Followed, now: Ms) -> bool {
        let Some(path) = host::client_state::path(one.dialect, &one.folder, one.client) else { return false };
        let stamp = Stamp::of(&path);
        let mut is_new = false;
        if self.stamp != Some(stamp) {
            let state = host::client_state::read(one.dialect, &one.folder, one.client, &one.host_session);
            let written = stamp.written();
            self.stamp = Some(stamp).filter(|_| written.is_none_or(|at| now.since(at) > SAME_TICK_MS));
            is_new = state != self.state;
            if is_new {
                self.first_seen = now;
            }
            if let Some(waiting) = state.as_ref().filter(|state| state.is_waiting()) {
                self.dialog_since = waiting.since.or(self.dialog_since.or(Some(now)));
            }
            self.is_known |= state.is_some();
            self.state = state;
        }
        is_new
    }
}
