//! Who runs a queue command: the agent its environment names, else the client
//! it was started from within, and the session that client is in. A name in
//! the environment is a word; the processes above the command are a fact: of
//! clients that call hooks, and of agents that a loop has started.

use super::{QueueError, hostname};
use agents::Dialect;
use engine::queue::Speaker;
use model::event::{Body, Envelope};
use model::fact::{Life, Probe};
use model::run::Run;
use model::session::Session;
use model::{AgentProfile, Call, ClientProcess, Environment, EventKind, Who};
use std::path::Path;
use store::{OpenClient, Store};

/// What a session is called that told no id.
const NOBODY: &str = "unknown";
/// No real chain of processes is longer.
const MOST_ABOVE: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskCaller {
    /// Whom its claims are for.
    pub agent: String,
    pub project: String,
    /// Our id of the session, where one is known.
    pub session: Option<String>,
    /// The host's id of the session, as the client tells its own tools.
    pub host_session: Option<String>,
    /// Named by its environment, and not after the place it runs in.
    pub named: bool,
    /// The agent it runs inside of, or the usual one.
    pub client: &'static str,
    /// The session that started this worker, as its environment tells.
    pub started_by: Option<String>,
    /// Whose attempts it may touch without their token.
    pub speaker: Speaker,
}

/// What the processes above a command show.
struct Above {
    /// The open sessions of the nearest client, the newest first.
    clients: Vec<OpenClient>,
    /// Workers that were registered for a process between that client and the command.
    workers: Vec<String>,
    /// Agents that loops started and this is below of, nearest first.
    leaders: Vec<String>,
    /// So many of them are below that client, or are it.
    inner: usize,
}

/// `host_session` is the id the client gives its own tools in their environment.
pub fn caller(store: &Store, call: &Call, host_session: &str, home: &Path) -> Result<TaskCaller, QueueError> {
    let pids = call.parent.map(pids_above).unwrap_or_default();
    let above = above(store, &pids)?;
    // Variables go on to whatever is started: one agent within another has both their marks.
    let profile = above.dialect().or(around(call)).unwrap_or(agents::DEFAULT).profile;
    let claimed = profile.process(&call.env);
    let call = &without_strange_client(call, profile, &pids);
    let who = who(call, profile, host_session, home);
    let told = named_session(store, &who)?.filter(|told| above.may_be(&told.agent));
    // Inside a client whose agent goes by another name here, it began in another folder.
    let elsewhere = !who.named && is_marked(call, profile);
    let within = above.clients.iter().find(|client| client.agent == who.agent || elsewhere);
    let (agent, session) = match (&told, within) {
        (Some(told), _) => (told.agent.clone(), Some(told.id.clone())),
        (None, Some(client)) => (client.agent.clone(), Some(client.session.clone())),
        (None, None) => (who.agent.clone(), None),
    };
    // A claim made under another name from within a client is not that client's.
    let session = session.filter(|_| !who.named || agent == who.agent);
    let agent = if who.named { who.agent } else { agent };
    let marked = around(call).is_some() || who.logical_id != NOBODY;
    let shown = above.agents();
    // Below the agent of a loop no name is taken from the environment.
    let (agent, session) = match above.leader().filter(|_| !shown.contains(&agent)) {
        Some(leader) => (leader.to_string(), None),
        None => (agent, session),
    };
    let speaker = match shown {
        shown if !shown.is_empty() => Speaker::Agents(shown),
        _ if who.named || marked => Speaker::agent(&agent),
        _ => Speaker::Person,
    };
    let host_session = match who.host_session {
        None if session.is_none() => claimed_session(store, claimed)?,
        told => told,
    };
    let (named, client, started_by) = (who.named, profile.id, who.started_by);
    Ok(TaskCaller { agent, project: who.project, session, host_session, named, client, started_by, speaker })
}

/// Whether the agent has told what it started that it did.
fn is_marked(call: &Call, agent: &AgentProfile) -> bool {
    let names = &agent.variables;
    call.env.first(names.marks.get(..1).unwrap_or_default()).is_some()
        || (names.marks.is_empty() && call.env.first(names.inside).is_some())
}

impl Above {
    /// Which agent the nearest client is.
    fn dialect(&self) -> Option<&'static Dialect> {
        self.clients.iter().find_map(|client| agents::ALL.find(client.dialect.as_deref()?))
    }

    fn may_be(&self, agent: &str) -> bool {
        self.clients.is_empty() || self.agents().iter().any(|shown| shown == agent)
    }

    /// The agent of the loop this runs in, where it is nearer than any client, or is the nearest.
    fn leader(&self) -> Option<&str> {
        self.leaders.iter().take(self.inner).next().map(String::as_str)
    }

    /// Empty where nothing above is known to be an agent.
    fn agents(&self) -> Vec<String> {
        let mut agents: Vec<String> = self.leaders.iter().take(self.inner).cloned().collect();
        agents.extend(self.clients.iter().map(|client| client.agent.clone()));
        if !self.clients.is_empty() {
            agents.extend(self.workers.iter().cloned());
        }
        agents.extend(self.leaders.iter().skip(self.inner).cloned());
        agents.dedup();
        agents
    }
}

/// The agent that a command runs inside of, as its variables tell.
fn around(call: &Call) -> Option<&'static Dialect> {
    agents::ALL.around(|name| call.env.get(name).is_some())
}

/// A command that runs as a process of its own is no event of a client's.
fn envelope(agent: &'static AgentProfile, host_session: Option<String>, cwd: Option<String>) -> Envelope {
    Envelope {
        agent,
        kind: EventKind::Unknown,
        name: String::new(),
        host_session,
        transcript: None,
        cwd,
        prompt_id: None,
        permission_mode: None,
        sub_agent: None,
        body: Body::Plain,
        notes: Vec::new(),
        cut: false,
    }
}

fn who(call: &Call, agent: &'static AgentProfile, host_session: &str, home: &Path) -> Who {
    let envelope = envelope(agent, Some(host_session.to_string()).filter(|id| !id.is_empty()), None);
    let named = agent.process(&call.env);
    let client = named.map(|pid| Probe::Process { pid }).or(call.parent.map(|pid| Probe::Caller { pid }));
    let mut probes = vec![Probe::Project { folder: call.cwd.clone() }];
    probes.extend(client);
    engine::who(&envelope, call, &host::probe::observe(&probes, home))
}

/// A client that is not above the command is not the one it runs in, whatever the environment says.
fn without_strange_client(call: &Call, agent: &AgentProfile, above: &[u32]) -> Call {
    let mut call = call.clone();
    if agent.process(&call.env).is_none_or(|pid| !above.contains(&pid)) {
        call.env.0.retain(|name, _| !agent.variables.process.contains(&name.as_str()));
    }
    call
}

/// The session of the client that the environment names, where a sandbox hides every process: enough to be told what
/// was done for it, and for nothing else.
fn claimed_session(store: &Store, claimed: Option<u32>) -> Result<Option<String>, QueueError> {
    let Some(pid) = claimed else { return Ok(None) };
    let Some(client) = store.open_clients(&[pid])?.into_iter().next() else { return Ok(None) };
    Ok(store.session(&client.session)?.and_then(|session| session.host_session))
}

/// The session whose id the environment tells.
fn named_session(store: &Store, who: &Who) -> Result<Option<Session>, QueueError> {
    let told = [Some(who.logical_id.as_str()), who.host_session.as_deref()];
    for id in told.into_iter().flatten().filter(|id| *id != NOBODY) {
        if let Some(session) = store.session(id)?.filter(Session::open) {
            return Ok(Some(session));
        }
    }
    Ok(None)
}

/// Reads only: many workers ask at once.
fn above(store: &Store, pids: &[u32]) -> Result<Above, QueueError> {
    let mut clients = store.open_clients(pids)?;
    clients.retain(|client| is_same(client.process));
    let nearest = clients.first().map(|client| client.process.pid);
    clients.retain(|client| Some(client.process.pid) == nearest);
    let below: Vec<u32> = pids.iter().copied().take_while(|pid| Some(*pid) != nearest).collect();
    let runs = store.led_runs()?;
    let leads = |run: &&Run, pid: u32| run.leader.is_some_and(|leader| leader.pid == pid && is_same(leader));
    let led = |pid: &u32| runs.iter().find(|run| leads(run, *pid)).map(Run::agent_name);
    let leaders: Vec<String> = pids.iter().filter_map(led).collect();
    let inner = below.iter().chain(&nearest).filter_map(led).count();
    let here = hostname();
    let registered = if nearest.is_some() { store.workers_alive()? } else { Vec::new() };
    let between = registered
        .into_iter()
        .filter(|worker| worker.host == here && below.contains(&worker.process.pid) && is_same(worker.process));
    Ok(Above { clients, workers: between.map(|worker| worker.id).collect(), leaders, inner })
}

/// Whether the process that has this number now is the one that was noted.
fn is_same(process: ClientProcess) -> bool {
    match host::probe::life(process.pid) {
        Some(Life::Alive { started }) => process.started == 0 || started == 0 || started == process.started,
        Some(Life::Gone) | None => false,
    }
}

/// All of them, nearest first: a dozen shells in between hide nobody.
fn pids_above(pid: u32) -> Vec<u32> {
    let mut above = vec![pid];
    while let Some(highest) = above.last().copied().filter(|_| above.len() < MOST_ABOVE) {
        let known = above.len();
        above.extend(host::probe::ancestors(highest).skip(1));
        if above.len() == known {
            break;
        }
    }
    above
}

impl TaskCaller {
    /// What a command of this caller is decided on, in the place of a client's event.
    pub(crate) fn envelope(&self, call: &Call) -> Envelope {
        let agent = agents::ALL.find(self.client).unwrap_or(agents::DEFAULT).profile;
        envelope(agent, None, Some(call.cwd.clone()))
    }

    pub(crate) fn who(&self, session: Option<&Session>) -> Who {
        Who {
            agent: self.agent.clone(),
            named: self.named,
            dialect: session.and_then(|session| session.memo.dialect.clone()).unwrap_or_default(),
            logical_id: session.map_or(NOBODY, |session| &session.logical_id).to_string(),
            project: self.project.clone(),
            started_by: self.started_by.clone(),
            ..Who::default()
        }
    }

    /// The call a command makes, as a hook would.
    pub fn call(cwd: String, env: Environment, parent: Option<u32>) -> Call {
        let at = host::clock::now();
        let agent = agents::ALL.around(|name| env.get(name).is_some()).unwrap_or(agents::DEFAULT).id().to_string();
        Call { request: String::new(), agent, stdin: Vec::new(), cwd, env, parent, at }
    }
}
