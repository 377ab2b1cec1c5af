//! Who runs a queue command: the agent its environment names, else the client
//! it was started from within, and the session that client is in.

use super::QueueError;
use model::event::{Body, Envelope};
use model::fact::Probe;
use model::session::Session;
use model::{Call, Environment, Kind, Who};
use std::path::Path;
use store::{SessionFilter, Store};

/// What a session is called that told no id.
const NOBODY: &str = "unknown";
/// More sessions than this are not looked through.
const MOST: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub agent: String,
    pub project: String,
    /// Our id of the session, where one is known.
    pub session: Option<String>,
    /// Named by its environment, and not after the place it runs in.
    pub named: bool,
    /// The session that started this worker, as its environment tells.
    pub started_by: Option<String>,
}

/// `host_session` is the id the client gives its own tools in their environment.
pub fn caller(store: &Store, call: &Call, host_session: &str, home: &Path) -> Result<Caller, QueueError> {
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
        cut: false,
    };
    let named = call.env.get("CLAUDE_PID").and_then(|pid| pid.parse().ok());
    let client = named.map(|pid| Probe::Process { pid }).or(call.parent.map(|pid| Probe::Caller { pid }));
    let mut probes = vec![Probe::Project { folder: call.cwd.clone() }];
    probes.extend(client);
    let who = engine::who(&envelope, call, &host::probe::observe(&probes, home));
    let session = session(store, &who, call)?;
    // A claim made under another name from within a client is not that client's.
    let session = session.as_ref().filter(|session| !who.named || session.agent == who.agent);
    Ok(Caller {
        agent: session.filter(|_| !who.named).map_or(who.agent, |session| session.agent.clone()),
        project: who.project,
        session: session.map(|session| session.id.clone()),
        named: who.named,
        started_by: who.started_by,
    })
}

/// By the id the client told, else by the client this runs within. Reads only:
/// many workers ask at once.
fn session(store: &Store, who: &Who, call: &Call) -> Result<Option<Session>, QueueError> {
    let told = [Some(who.logical_id.as_str()), who.host_session.as_deref()];
    for id in told.into_iter().flatten().filter(|id| *id != NOBODY) {
        if let Some(session) = store.session(id)?.filter(Session::open) {
            return Ok(Some(session));
        }
    }
    let above: Vec<u32> = call.parent.map(|pid| host::probe::ancestors(pid).collect()).unwrap_or_default();
    let of_agent = SessionFilter { agent: Some(who.agent.clone()), only_open: true, limit: MOST, project: None };
    let within = |sessions: Vec<Session>| {
        above.iter().find_map(|pid| {
            sessions.iter().find(|session| session.client.is_some_and(|client| client.pid == *pid)).cloned()
        })
    };
    if let Some(session) = within(store.sessions(&of_agent)?) {
        return Ok(Some(session));
    }
    // Inside a client whose agent goes by another name here: it began in another folder.
    match call.env.get("CLAUDECODE") {
        Some(_) if !who.named => Ok(within(store.sessions(&SessionFilter { agent: None, ..of_agent })?)),
        _ => Ok(None),
    }
}

impl Caller {
    /// The call a command makes, as a hook would.
    pub fn call(cwd: String, env: Environment, parent: Option<u32>) -> Call {
        let at = host::clock::now();
        let agent = agents::claude_code::NAME.to_string();
        Call { request: String::new(), agent, stdin: Vec::new(), cwd, env, parent, at }
    }
}
