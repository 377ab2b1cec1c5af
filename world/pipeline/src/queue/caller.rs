//! Who runs a queue command: the agent its environment names, else the client
//! it was started from within, and the session that client is in.

use super::QueueError;
use model::event::{Body, Envelope};
use model::fact::Probe;
use model::{Call, Environment, Kind};
use std::path::Path;
use store::{Durability, Store};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub agent: String,
    pub project: String,
    /// Our id of the session, where one is known.
    pub session: Option<String>,
}

/// `host_session` is the id the client gives its own tools in their environment.
pub fn caller(store: &mut Store, call: &Call, host_session: &str, home: &Path) -> Result<Caller, QueueError> {
    let envelope = Envelope {
        agent: agents::claude_code::NAME,
        kind: Kind::Unknown,
        name: String::new(),
        host_session: Some(host_session.to_string()).filter(|id| !id.is_empty()),
        transcript: None,
        cwd: None,
        prompt_id: None,
        permission_mode: None,
        sub_agent: None,
        body: Body::Plain,
        notes: Vec::new(),
    };
    let named = call.env.get("CLAUDE_PID").and_then(|pid| pid.parse().ok());
    let client = named.map(|pid| Probe::Process { pid }).or(call.parent.map(|pid| Probe::Caller { pid }));
    let mut probes = vec![Probe::Project { folder: call.cwd.clone() }];
    probes.extend(client);
    let who = engine::who(&envelope, call, &host::probe::observe(&probes, home));
    let loaded = store.transact(Durability::Normal, |tx| tx.load(&who, call.at))?;
    let above: Vec<u32> = call.parent.map(|pid| host::probe::ancestors(pid).collect()).unwrap_or_default();
    let session = loaded.open.iter().find(|session| session.host_session == envelope.host_session && envelope.host_session.is_some());
    let session = session.or_else(|| {
        above.iter().find_map(|pid| loaded.open.iter().find(|session| session.client.is_some_and(|client| client.pid == *pid)))
    });
    let session = session.or_else(|| {
        let id = call.env.first(&["TAUT_SESSION_ID", "CLAUDE_SESSION_ID"])?;
        loaded.open.iter().find(|session| session.logical_id == id)
    });
    Ok(Caller {
        agent: session.filter(|_| !who.named).map_or(who.agent, |session| session.agent.clone()),
        project: who.project,
        session: session.map(|session| session.id.clone()),
    })
}

impl Caller {
    /// The call a command makes, as a hook would.
    pub fn call(cwd: String, env: Environment, parent: Option<u32>) -> Call {
        let at = host::clock::now();
        let agent = agents::claude_code::NAME.to_string();
        Call { request: String::new(), agent, stdin: Vec::new(), cwd, env, parent, at }
    }
}
