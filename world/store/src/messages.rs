//! Messages: what was said to or by an agent, in the order it was said. Those
//! for somebody wait until they are told, then are kept until they are pruned.

use crate::{Error, Store, agent_names, outbox_messages, remote_agents};
use model::Ms;
use model::agent_name::AgentMatch;
use model::effort::{Addressee, Message, WaitingMessages};
use model::fleet::Taker;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

/// So many are told at once.
const FEW: usize = 5;

macro_rules! columns {
    () => {
        "seq, id, at, kind, from_agent, to_agent, to_conversation, session, body"
    };
}
pub(crate) use columns;

/// What is for a name is for the agent that has it now: another that is called so later is somebody else.
const PUT: &str = "INSERT INTO messages
      (id, at, kind, from_agent, to_agent, to_conversation, session, body, delivered_at, dialect)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, (SELECT dialect FROM agents WHERE id = ?5)) ON CONFLICT DO NOTHING";

/// One more than are told at once, and than are left out: then there are others to be counted.
pub(crate) const DUE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM messages WHERE to_agent = ?1 AND delivered_at IS NULL AND instr(?2, ' ' || kind || ' ') = 0
      AND COALESCE(dialect, ?4, '') = COALESCE(?4, dialect, '') ORDER BY seq LIMIT ?3"
);
pub(crate) const DUE_IN_CONVERSATION: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM messages WHERE to_conversation = ?1 AND delivered_at IS NULL AND instr(?2, ' ' || kind || ' ') = 0
      AND COALESCE(dialect, ?4, '') = COALESCE(?4, dialect, '') ORDER BY seq LIMIT ?3"
);
pub(crate) const COUNT: &str = "SELECT count(*) FROM messages
    WHERE to_agent = ?1 AND delivered_at IS NULL AND instr(?2, ' ' || kind || ' ') = 0
      AND COALESCE(dialect, ?3, '') = COALESCE(?3, dialect, '')";
pub(crate) const COUNT_IN_CONVERSATION: &str = "SELECT count(*) FROM messages
    WHERE to_conversation = ?1 AND delivered_at IS NULL AND instr(?2, ' ' || kind || ' ') = 0
      AND COALESCE(dialect, ?3, '') = COALESCE(?3, dialect, '')";
pub(crate) const DELIVERED: &str = "UPDATE messages SET delivered_at = ?2 WHERE id = ?1 AND delivered_at IS NULL";

/// Which messages to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageFilter {
    /// Only those to or from this agent.
    pub agent: Option<String>,
    /// Those that were delivered too.
    pub delivered: bool,
    /// At most so many, the newest; zero means all.
    pub limit: usize,
}

/// A message as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    pub message: Message,
    pub delivered_at: Option<Ms>,
}

/// One that is for nobody in particular waits for nobody.
pub(crate) fn put(conn: &Connection, message: &Message) -> rusqlite::Result<()> {
    let Message { id, at, kind, from_agent, to, session, body } = message;
    let (agent, conversation) = match to {
        Some(Addressee::Agent(name)) => (Some(name), None),
        Some(Addressee::Conversation(name)) => (None, Some(name)),
        Some(Addressee::Remote(remote)) => return outbox_messages::put(conn, message, remote),
        None => (None, None),
    };
    let delivered = to.is_none().then_some(at.0);
    let row = params![id, at.0, kind, from_agent, agent, conversation, session, body, delivered];
    conn.prepare_cached(PUT)?.execute(row).map(drop)
}

pub(crate) fn deliver(conn: &Connection, id: &str, at: Ms) -> rusqlite::Result<()> {
    conn.prepare_cached(DELIVERED)?.execute(params![id, at.0]).map(drop)
}

/// What waits for somebody besides these kinds and these very ones, and stays so
/// until it is marked: the oldest few, and how many more.
pub(crate) fn waiting(
    conn: &Connection,
    taker: &Taker,
    unshown: &[&str],
    besides: &[String],
) -> rusqlite::Result<WaitingMessages> {
    let unshown = format!(" {} ", unshown.join(" "));
    let mut found = Vec::new();
    let most = i64::try_from(FEW + 1 + besides.len()).unwrap_or(i64::MAX);
    for (of, due, _) in ways(taker) {
        found.extend(
            conn.prepare_cached(due)?
                .query_map(params![of, unshown, most, taker.dialect], read)?
                .collect::<Result<Vec<_>, _>>()?,
        );
    }
    let all_found = found.len();
    found.retain(|(_, message)| !besides.contains(&message.id));
    let left_out = all_found - found.len();
    let mut waiting = WaitingMessages::default();
    if found.len() > FEW {
        let mut all = 0;
        for (of, _, count) in ways(taker) {
            let count = conn.prepare_cached(count)?.query_row(params![of, unshown, taker.dialect], |row| row.get(0));
            all += i64::cast_unsigned(count?);
        }
        waiting.more = all.saturating_sub((FEW + left_out) as u64);
    }
    found.sort_by_key(|(seq, _)| *seq);
    found.truncate(FEW);
    waiting.first = found.into_iter().map(|(_, message)| message).collect();
    waiting.names = agent_names::of(conn, waiting.first.iter().filter_map(|message| message.from_agent.as_deref()))?;
    Ok(waiting)
}

/// All that waits for somebody, the oldest first.
pub(crate) fn inbox(conn: &Connection, taker: &Taker) -> rusqlite::Result<Vec<Message>> {
    const ALL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM messages WHERE delivered_at IS NULL AND (to_agent = ?1 OR to_conversation = ?2)
          AND COALESCE(dialect, ?3, '') = COALESCE(?3, dialect, '') ORDER BY seq LIMIT 200"
    );
    let mut statement = conn.prepare_cached(ALL)?;
    let found = statement.query_map(params![taker.agent, taker.conversation, taker.dialect], read)?;
    found.map(|row| row.map(|(_, message)| message)).collect()
}

/// The statements that find what waits for somebody, and count it.
fn ways(taker: &Taker) -> impl Iterator<Item = (&String, &'static str, &'static str)> {
    let agent = taker.agent.iter().map(|agent| (agent, DUE, COUNT));
    agent.chain(taker.conversation.iter().map(|name| (name, DUE_IN_CONVERSATION, COUNT_IN_CONVERSATION)))
}

impl Store {
    /// Messages of one kind, the oldest first.
    pub fn messages(&self, kind: &str) -> Result<Vec<Message>, Error> {
        const LIST: &str = concat!("SELECT ", columns!(), " FROM messages WHERE kind = ?1 ORDER BY seq");
        self.read(|conn| {
            conn.prepare_cached(LIST)?.query_map([kind], read)?.map(|row| row.map(|(_, one)| one)).collect()
        })
    }

    /// Messages for somebody, the oldest first.
    pub fn addressed_messages(&self, filter: &MessageFilter) -> Result<Vec<MessageRow>, Error> {
        let mut sql = concat!(
            "SELECT ",
            columns!(),
            ", delivered_at FROM messages WHERE (to_agent IS NOT NULL OR to_conversation IS NOT NULL)"
        )
        .to_owned();
        let mut values: Vec<&dyn ToSql> = Vec::new();
        if let Some(agent) = &filter.agent {
            sql.push_str(
                " AND (?1 IN (to_agent, to_conversation, from_agent) OR to_conversation IN
                (SELECT conversation FROM sessions WHERE agent = ?1 AND ended_at IS NULL))",
            );
            values.push(agent);
        }
        if !filter.delivered {
            sql.push_str(" AND delivered_at IS NULL");
        }
        sql.push_str(" ORDER BY seq DESC");
        if filter.limit > 0 {
            sql.push_str(&format!(" LIMIT {}", filter.limit));
        }
        let letter = |row: &Row<'_>| {
            Ok(MessageRow { message: read(row)?.1, delivered_at: row.get::<_, Option<i64>>(9)?.map(Ms) })
        };
        let mut found: Vec<MessageRow> =
            self.read(|conn| conn.prepare(&sql)?.query_map(values.as_slice(), letter)?.collect())?;
        found.reverse();
        Ok(found)
    }

    /// Whom a name stands for: an agent, a conversation, or a session's conversation.
    pub fn addressee(&self, name: &str) -> Result<Option<Addressee>, Error> {
        self.addressee_or_several(name).map(Result::ok)
    }

    /// The same, or all that could be meant.
    pub fn addressee_or_several(&self, name: &str) -> Result<Result<Addressee, Vec<String>>, Error> {
        self.read(|conn| addressee(conn, name))
    }
}

/// Or all agents that could be meant: none, or several.
pub(crate) fn addressee(conn: &Connection, name: &str) -> rusqlite::Result<Result<Addressee, Vec<String>>> {
    if crate::agents::load(conn, name)?.is_some() {
        return Ok(Ok(Addressee::Agent(name.to_string())));
    }
    let known = conn.prepare_cached(crate::sessions::CONVERSATION)?.exists([name])?;
    let conversation = if known { Some(name.to_string()) } else { conversation_of(conn, name)? };
    if let Some(conversation) = conversation {
        return Ok(Ok(Addressee::Conversation(conversation)));
    }
    Ok(match agent_names::resolve(conn, name)? {
        AgentMatch::One(agent) => Ok(Addressee::Agent(agent)),
        AgentMatch::Several(names) => Err(names),
        // Nobody here: somebody on another machine, where any are known.
        AgentMatch::Unknown => remote_agents::addressee(conn, name)?.map(|remote| Addressee::Remote(Box::new(remote))),
    })
}

pub(crate) fn conversation_of(conn: &Connection, session: &str) -> rusqlite::Result<Option<String>> {
    conn.prepare_cached(crate::sessions::CONVERSATION_OF)?.query_row([session], |row| row.get(0)).optional()
}

pub(crate) fn carriers(conn: &Connection, conversation: &str) -> rusqlite::Result<Vec<String>> {
    const CARRIERS: &str = "SELECT DISTINCT agent FROM sessions WHERE conversation = ?1 AND ended_at IS NULL LIMIT 64";
    conn.prepare_cached(CARRIERS)?.query_map([conversation], |row| row.get(0))?.collect()
}

/// Who could be meant: agents that `taut agents` lists, and conversations that are going on.
pub(crate) fn names(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    const NAMES: &str =
        "SELECT ifnull(name, id) FROM (SELECT id FROM agents WHERE named OR session IS NOT NULL LIMIT 500)
        LEFT JOIN agent_names ON agent = id
        UNION SELECT conversation FROM (SELECT conversation FROM sessions WHERE ended_at IS NULL LIMIT 500)";
    let mut names: Vec<String> =
        conn.prepare_cached(NAMES)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    names.extend(remote_agents::names(conn)?);
    Ok(names)
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<(i64, Message)> {
    let agent: Option<String> = row.get(5)?;
    let conversation: Option<String> = row.get(6)?;
    let message = Message {
        id: row.get(1)?,
        at: Ms(row.get(2)?),
        kind: row.get(3)?,
        from_agent: row.get(4)?,
        to: agent.map(Addressee::Agent).or_else(|| conversation.map(Addressee::Conversation)),
        session: row.get(7)?,
        body: row.get(8)?,
    };
    Ok((row.get(0)?, message))
}
