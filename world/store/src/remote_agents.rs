//! Agents of other machines as they were last heard of: a copy of what a server told, for views and for who sends them
//! something. Nothing here is asked of a server.

use crate::{Durability, Error, Store};
use model::Ms;
use model::agent_name;
use model::effort::RemoteAddressee;
use model::remote_card::PresenceCard;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

/// After so long without a word nobody is shown or written to any more.
const KEPT_MS: i64 = 30 * 86_400_000;

/// More than this of one fleet are not kept.
const MOST: usize = 5_000;

/// What was too old to be kept of other machines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ForgottenRemote {
    pub agents: usize,
    /// Messages to other machines, which no server could be told.
    pub messages: usize,
}

/// One agent of another machine.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteAgent {
    /// The machine's own id.
    pub machine: String,
    /// What people call the machine.
    pub label: String,
    /// The agent's id there.
    pub agent: String,
    pub told: RemoteAgentRow,
    /// When its machine was last heard of, by this machine's clock.
    pub heard_at: Ms,
}

/// What its machine says of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoteAgentRow {
    /// What it is called there; its id where it has no other name.
    pub name: String,
    pub client: Option<String>,
    pub status: String,
    /// What the project is called on the server.
    pub project: Option<String>,
    pub conversation: Option<String>,
    pub task: Option<String>,
    pub now_does: Option<String>,
    /// What it asks of a person, which is answered on its machine.
    pub asks: Option<String>,
    /// The same, as far as it can be answered from elsewhere.
    pub card: Option<PresenceCard>,
    pub context: Option<i64>,
    /// When its status last changed, by this machine's clock.
    pub since: i64,
}

impl RemoteAgent {
    /// What it is called here: `api@vm-3`.
    pub fn shown(&self) -> String {
        format!("{}@{}", self.told.name, self.label)
    }

    /// The same, told from those of another machine that is called so: `api@0193f2aa-…`.
    pub fn shown_among(&self, all: &[Self]) -> String {
        told_apart(self, &all.iter().collect::<Vec<_>>())
    }
}

const PUT: &str = "INSERT OR REPLACE INTO remote_agents (server, machine, agent, label, row, heard_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const LIST: &str = "SELECT machine, label, agent, row, heard_at FROM remote_agents ORDER BY label, machine, agent";

impl Store {
    /// All that a server knows of the other agents now. Whom it does not name is gone.
    pub fn put_remote_agents(&mut self, server: &str, agents: &[RemoteAgent]) -> Result<(), Error> {
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| {
                conn.prepare_cached("DELETE FROM remote_agents")?.execute([])?;
                let mut put = conn.prepare_cached(PUT)?;
                for one in agents.iter().take(MOST) {
                    let row = serde_json::to_string(&one.told).unwrap_or_default();
                    put.execute(params![server, one.machine, one.agent, one.label, row, one.heard_at.0])?;
                }
                Ok(())
            })
        })
    }

    /// The server that told of them, by its own id.
    pub fn remote_server(&self) -> Result<Option<String>, Error> {
        const SERVER: &str = "SELECT server FROM remote_agents LIMIT 1";
        self.read(|conn| conn.prepare_cached(SERVER)?.query_row([], |row| row.get(0)).optional())
    }

    /// Agents of other machines as they are written to: `api@vm-3`.
    pub fn remote_names(&self) -> Result<Vec<String>, Error> {
        self.read(names)
    }

    /// By machine.
    pub fn remote_agents(&self) -> Result<Vec<RemoteAgent>, Error> {
        self.read(list)
    }

    /// Those of whom nothing was heard for long, and messages that nobody could be told, are forgotten.
    pub fn forget_remote(&mut self, now: Ms) -> Result<ForgottenRemote, Error> {
        const AGENTS: &str = "DELETE FROM remote_agents WHERE heard_at < ?1";
        const MESSAGES: &str = "DELETE FROM outbox WHERE kind = 'message' AND at < ?1";
        self.transact(Durability::Normal, |tx| {
            tx.verb(|conn| {
                let before = [now.plus(-KEPT_MS).0];
                let agents = conn.prepare_cached(AGENTS)?.execute(before)?;
                Ok(ForgottenRemote { agents, messages: conn.prepare_cached(MESSAGES)?.execute(before)? })
            })
        })
    }

    /// Nothing is shared any more: the others are strangers.
    pub fn forget_remote_agents(&mut self) -> Result<(), Error> {
        self.transact(Durability::Normal, |tx| tx.verb(|conn| conn.execute("DELETE FROM remote_agents", []).map(drop)))
    }
}

pub(crate) fn list(conn: &Connection) -> rusqlite::Result<Vec<RemoteAgent>> {
    conn.prepare_cached(LIST)?.query_map([], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<RemoteAgent> {
    let told: String = row.get(3)?;
    Ok(RemoteAgent {
        machine: row.get(0)?,
        label: row.get(1)?,
        agent: row.get(2)?,
        told: serde_json::from_str(&told).unwrap_or_default(),
        heard_at: Ms(row.get(4)?),
    })
}

/// Whom a name means that is nobody's here: `api@vm-3`, `api` where only one in the fleet is called so, or a conversation.
/// Else all that could be meant.
pub(crate) fn addressee(conn: &Connection, typed: &str) -> rusqlite::Result<Result<RemoteAddressee, Vec<String>>> {
    const SERVER: &str = "SELECT server FROM remote_agents LIMIT 1";
    let all = list(conn)?;
    if all.is_empty() {
        return Ok(Err(Vec::new()));
    }
    let server: String = conn.prepare_cached(SERVER)?.query_row([], |row| row.get(0))?;
    let (name, place) = typed.rsplit_once('@').map_or((typed, None), |(name, place)| (name, Some(place)));
    let key = agent_name::key(name);
    let is_meant = |one: &&RemoteAgent| {
        (one.agent == name || agent_name::key(&one.told.name) == key)
            && place.is_none_or(|place| one.label.eq_ignore_ascii_case(place) || is_id(&one.machine, place))
    };
    let meant: Vec<&RemoteAgent> = all.iter().filter(is_meant).collect();
    Ok(match meant.as_slice() {
        // A name means an agent first: what a conversation is called is for its machine to say, and it may say anything.
        [] if is_conversation(typed) && carried(&all, typed) => {
            let name = typed.to_string();
            Ok(RemoteAddressee { server, machine: None, shown: name.clone(), name })
        }
        [one] => Ok(RemoteAddressee {
            server,
            machine: Some(one.machine.clone()),
            name: one.agent.clone(),
            shown: one.shown(),
        }),
        several => Err(several.iter().map(|one| told_apart(one, several)).collect()),
    })
}

/// All of them as they are written to, each told from the others.
pub(crate) fn names(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let all = list(conn)?;
    let among: Vec<&RemoteAgent> = all.iter().collect();
    // Of very many nobody reads a list; the nearest name is looked for among these.
    Ok(all.iter().take(500).map(|one| told_apart(one, &among)).collect())
}

/// A conversation that another machine carries, where this is its name.
pub(crate) fn conversation(conn: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    Ok((is_conversation(name) && carried(&list(conn)?, name)).then(|| name.to_string()))
}

fn carried(all: &[RemoteAgent], name: &str) -> bool {
    all.iter().any(|one| one.told.conversation.as_deref() == Some(name))
}

/// As clients call conversations (`0197e5a1-…`, `session_79a8…`, `ses_e1c2…`): nobody types that and means an agent.
fn is_conversation(typed: &str) -> bool {
    const SHORTEST: usize = 24;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    typed.len() >= SHORTEST && typed.bytes().all(is_plain) && typed.bytes().any(|byte| byte.is_ascii_digit())
}

/// The id of a machine, or the end of it, as views show it where two have one label.
fn is_id(machine: &str, typed: &str) -> bool {
    const SHORTEST: usize = 8;
    machine == typed || (typed.len() >= SHORTEST && machine.ends_with(typed))
}

/// Two machines of one label are told apart by their ids.
fn told_apart(one: &RemoteAgent, among: &[&RemoteAgent]) -> String {
    let is_like = |other: &RemoteAgent| other.label.eq_ignore_ascii_case(&one.label) && other.machine != one.machine;
    let twice = among.iter().any(|other| is_like(other));
    if twice { format!("{}@{}", one.told.name, one.machine) } else { one.shown() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const TALK: &str = "0193f2aa-7c41-7000-8000-0000bbbb3333";

    fn agent(machine: &str, label: &str, name: &str) -> RemoteAgent {
        let told = RemoteAgentRow { name: name.into(), status: "working".into(), ..RemoteAgentRow::default() };
        let (machine, label, agent) = (machine.into(), label.into(), format!("id-of-{name}"));
        RemoteAgent { machine, label, agent, told, heard_at: Ms(1_000) }
    }

    fn store(agents: &[RemoteAgent]) -> (tempfile::TempDir, Store) {
        let home = tempfile::tempdir().unwrap();
        let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
        store.put_remote_agents("srv", agents).unwrap();
        (home, store)
    }

    #[test]
    fn f9_a_name_means_one_agent_of_the_fleet_or_all_that_could_be_meant_are_named() {
        let mut web = agent("m2", "vm-4", "web");
        web.told.conversation = Some(TALK.into());
        let (_home, store) = store(&[agent("m1", "vm-3", "api"), agent("m2", "vm-4", "api"), web]);
        let meant = |typed: &str| store.read(|conn| addressee(conn, typed)).unwrap();
        assert_eq!(meant("api@vm-3").unwrap().shown, "api@vm-3");
        assert_eq!(meant("API@m2").unwrap().machine.as_deref(), Some("m2"));
        assert_eq!(meant("web").unwrap().name, "id-of-web");
        assert_eq!(meant(TALK).unwrap().machine, None, "a conversation is of no machine");
        assert_eq!(meant("api").unwrap_err(), ["api@vm-3", "api@vm-4"]);
        assert!(meant("nobody@vm-3").unwrap_err().is_empty());
    }

    #[test]
    fn t7_a_conversation_that_is_called_like_an_agent_takes_nobodys_messages() {
        let mut hostile = agent("m9", "evil", "x");
        let meant = |talk: &str, typed: &str| {
            hostile.told.conversation = Some(talk.into());
            let (_home, store) = store(&[agent("m1", "ben-laptop", "web"), hostile.clone()]);
            store.read(|conn| addressee(conn, typed)).unwrap().map(|one| one.machine)
        };
        let mut meant = meant;
        for typed in ["web@ben-laptop", "web", "id-of-web"] {
            assert_eq!(meant(typed, typed), Ok(Some("m1".into())), "{typed}");
        }
        assert_eq!(meant("api@ben-laptop", "api@ben-laptop"), Err(Vec::new()), "nobody has this name");
        assert_eq!(meant("api", "api"), Err(Vec::new()), "no conversation is called so");
    }

    #[test]
    fn f9_machines_of_one_label_are_told_apart_by_their_ids() {
        let (_home, store) = store(&[agent("m1", "vm", "api"), agent("m2", "vm", "api")]);
        let several = store.read(|conn| addressee(conn, "api@vm")).unwrap().unwrap_err();
        assert_eq!(several, ["api@m1", "api@m2"]);
        let long = agent("0193f2aa-7c41-7000-8000-0000bbbb2222", "vm", "api");
        let (_home, store) = super::tests::store(&[long, agent("m2", "vm", "api")]);
        let meant = |typed: &str| store.read(|conn| addressee(conn, typed)).unwrap();
        assert_eq!(meant("api@bbbb2222").unwrap().machine.as_deref(), Some("0193f2aa-7c41-7000-8000-0000bbbb2222"));
        assert!(meant("api@2222").is_err(), "too short to be an id");
    }

    #[test]
    fn f9_whom_the_server_does_not_name_is_gone_and_silence_is_forgotten() {
        let (_home, mut store) = store(&[agent("m1", "vm-3", "api"), agent("m2", "vm-4", "web")]);
        store.put_remote_agents("srv", &[agent("m1", "vm-3", "api")]).unwrap();
        assert_eq!(store.remote_agents().unwrap(), [agent("m1", "vm-3", "api")]);
        assert_eq!(store.forget_remote(Ms(1_000 + KEPT_MS)).unwrap(), ForgottenRemote::default());
        assert_eq!(store.forget_remote(Ms(1_001 + KEPT_MS)).unwrap(), ForgottenRemote { agents: 1, messages: 0 });
    }
}
