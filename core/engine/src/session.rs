//! Which session an event belongs to.
//!
//! A session is one context window bound to one client process. It is never
//! resumed: resume, clear, compact and fork open a new one that follows the old.
//! A second live client under the same name is a child: nothing it does ends,
//! releases or inherits anything of the first.

use crate::event_context::EventContext;
use crate::helper_sessions;
use crate::identity::UNTOLD;
use crate::leases::was_halted;
use crate::queue::CONTEXT_LIMIT;
use crate::state::end;
use model::event::{Body, EventKind, StartSource};
use model::fact::Probe;
use model::fleet::Taker;
use model::session::{Session, SessionState};
use model::{Loaded, Ms, Placed};

/// How the process of a stored session stands to the one of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Client {
    Same,
    /// One of the two is not known.
    Unknown,
    /// Another process, and it is gone.
    Gone,
    /// Another process that lives, or of which nobody can tell.
    Other,
}

/// What must still be asked of the world before `place` can tell a live rival
/// from a dead one. Empty on the ordinary way.
pub fn rivals(event: &EventContext<'_>) -> Vec<Probe> {
    let EventContext { who, loaded, facts, .. } = *event;
    // Whether the client of an ended session is gone matters to whoever follows it.
    let ended = loaded.last_ended.iter().filter(|_| event.placed.opened && !who.named);
    let sharing = loaded.sharing.iter().filter(|_| event.placed.opened);
    let strangers = loaded.open.iter().chain(ended).chain(sharing).filter_map(|session| session.client);
    let mut pids: Vec<u32> = strangers
        .filter(|client| who.client.is_some_and(|ours| ours != *client))
        .map(|client| client.pid)
        .filter(|pid| facts.process(*pid).is_none())
        .collect();
    pids.dedup();
    pids.into_iter().map(|pid| Probe::Process { pid }).collect()
}

/// Where an event belongs. What a helper did before it was told whose it is ends with that.
pub fn place(event: &EventContext<'_>) -> Placed {
    let mut placed = find_or_open(event);
    let folded = placed.current.as_ref().and_then(|current| helper_sessions::folded(event, current));
    placed.ended.extend(folded);
    placed
}

fn find_or_open(event: &EventContext<'_>) -> Placed {
    let ours = event.loaded.open.iter().find(|session| is_ours(event, session));
    match (&event.envelope.body, ours) {
        (Body::SessionStart(start), Some(session)) if repeated(session, start.source, event.now) => stay(session),
        (Body::SessionStart(start), _) => succeed(event, start.source),
        (_, Some(session)) => stay(session),
        // Whose helper it is will be told: until then it is nobody's session.
        (_, None) if helper_sessions::is_stray(event.envelope) => Placed::default(),
        // Neither an end nor what means nothing begins anything.
        (_, None) if matches!(event.envelope.kind, EventKind::SessionEnd | EventKind::Unknown) => Placed::default(),
        // A turn that ends once more when its session is over begins none.
        (Body::Stop { .. }, None) if is_over(event) => Placed::default(),
        (_, None) if event.envelope.kind != EventKind::UserPromptSubmit && was_halted(event.loaded, event.who) => {
            Placed::default()
        }
        (_, None) => succeed(event, StartSource::Startup),
    }
}

/// The host's own session has ended, and nobody else uses its id.
fn is_over(event: &EventContext<'_>) -> bool {
    let ended = event.loaded.last_ended.as_ref();
    ended.is_some_and(|ended| ended.host_session.is_some() && ended.host_session == event.who.host_session)
}

fn stay(session: &Session) -> Placed {
    Placed { current: Some(session.clone()), opened: false, ended: Vec::new() }
}

/// The same call told twice, by two installed hook lines: a start that follows
/// the same start at once with nothing in between.
fn repeated(session: &Session, source: StartSource, now: Ms) -> bool {
    session.state == SessionState::Created && session.source == source.name() && now.since(session.started_at) < 2_000
}

/// Opens a new session, ends what it takes the place of, and says what it follows.
fn succeed(event: &EventContext<'_>, source: StartSource) -> Placed {
    let who = event.who;
    let followed = predecessor(event, source);
    let prev = followed.map(|(prev, _)| prev);
    // The same context goes on: what held for it holds still. A new one of the same agent begins afresh.
    let context = followed.filter(|(_, evidence)| *evidence == Succession::Context).map(|(prev, _)| prev);
    let agent = prev.filter(|prev| !who.named && is_heir(event, prev)).map_or(&who.agent, |prev| &prev.agent);
    let parent =
        event.loaded.open.iter().filter(|session| is_elder(event, session)).min_by_key(|session| session.started_at);
    let ended = event
        .loaded
        .open
        .iter()
        .filter_map(|session| {
            reason_to_end(event, session, &Successor { prev, agent, source }).map(|why| (session, why))
        })
        .map(|(session, why)| end(session.clone(), why, event.now))
        .collect();
    // The place goes on being the same agent's, wherever a `cd` has led it.
    let kin = context.filter(|prev| client(event, prev) == Client::Same);
    let memo = context.map(|prev| prev.memo.inherited()).unwrap_or_default();
    // No person has spoken to the client, whatever it calls its session by now.
    let of_client = prev.into_iter().chain(&event.loaded.open).filter(|known| client(event, known) == Client::Same);
    let uninterrupted = of_client.max_by_key(|known| known.memo.stops);
    let session = Session {
        id: event.ids.session.to_string(),
        logical_id: who.logical_id.clone(),
        host_session: who.host_session.clone(),
        agent: agent.clone(),
        conversation: who
            .conversation
            .clone()
            .or_else(|| prev.filter(|prev| !is_taken(event, prev)).map(|prev| prev.conversation.clone()))
            .unwrap_or_else(|| event.ids.session.to_string()),
        project: kin.map_or_else(|| who.project.clone(), |kin| kin.project.clone()),
        state: SessionState::Created,
        role: who.role.clone().or_else(|| context.and_then(|prev| prev.role.clone())),
        mode: who.mode.clone().or_else(|| context.and_then(|prev| prev.mode.clone())),
        cwd: event.envelope.cwd.clone(),
        transcript: event.envelope.transcript.clone(),
        client: who.client,
        pane: who.pane.clone(),
        mission: who.mission.clone(),
        prev: prev.map(|prev| prev.id.clone()),
        // Who was there first stays so, whoever else has come since.
        parent: match kin {
            Some(kin) => kin.parent.clone(),
            None => parent.map(|parent| parent.id.clone()),
        },
        source: source.name().to_string(),
        started_at: event.now,
        last_seen_at: event.now,
        ended_at: None,
        end_reason: None,
        in_flight: Vec::new(),
        context_tokens: None,
        context_window: None,
        context_limit: None,
        status_text: None,
        memo: match uninterrupted {
            Some(prev) => memo.counting_on(&prev.memo),
            None => memo,
        },
    };
    Placed { current: Some(session), opened: true, ended }
}

/// What says that a session follows another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Succession {
    /// The same session, client or conversation.
    Context,
    /// The same agent, started anew.
    Agent,
}

/// The session a new one follows, and what says so. Beside a live elder of the same name it
/// follows its own client's only: what else is known by that name is the elder's.
fn predecessor<'a>(event: &'a EventContext<'_>, source: StartSource) -> Option<(&'a Session, Succession)> {
    let who = event.who;
    // One agent follows nothing of another's, whatever they have in common.
    let open = || event.loaded.open.iter().filter(|session| who.speaks_as(session));
    // Those that told no id have none in common.
    let told = |session: &Session| who.logical_id != UNTOLD || session.agent == who.agent;
    let by_id = |session: &Session| session.logical_id == who.logical_id && told(session);
    let named = |session: &&Session| (by_id(session) || is_told(event, session)) && shares_place(event, session);
    let same_id = open().find(|session| named(session) && client(event, session) != Client::Other);
    let beside_elder = event.loaded.open.iter().any(|session| is_elder(event, session));
    let ended = event.loaded.last_ended.as_ref().filter(|session| who.speaks_as(session));
    let ended = ended.filter(|session| !beside_elder || client(event, session) == Client::Same);
    let same_id = same_id.or_else(|| ended.filter(named));
    let same_client = || {
        let open = open().find(|session| shares_client(event, session));
        open.or_else(|| ended.filter(|session| shares_client(event, session)))
    };
    // Those that are over: nobody is at work in them any more.
    let over = || {
        let gone = open().filter(|session| !beside_elder && client(event, session) == Client::Gone);
        gone.chain(ended)
    };
    let same_conversation = || {
        let told = who.conversation.as_ref()?;
        let theirs = |session: &Session| session.conversation == *told && shares_place(event, session);
        let ours = |session: &&Session| theirs(session) && !who.named;
        let lives = |session: &Session| theirs(session) && client(event, session) != Client::Gone;
        let goes_on = event.loaded.open.iter().any(lives);
        over().filter(ours).max_by_key(|session| session.started_at).filter(|_| !goes_on)
    };
    // Iterations of a loop have a name in common and nothing else; so has a name that is used in two projects.
    let same_agent = || {
        let same_place = |session: &Session| session.agent == who.agent && session.project == who.project;
        let ours = |session: &&Session| same_place(session) && !who.standing.is_loop();
        over().filter(ours).max_by_key(|session| session.started_at)
    };
    let context = match source {
        StartSource::Startup | StartSource::Compact => same_id,
        StartSource::Resume | StartSource::Clear | StartSource::Fork => same_id.or_else(same_client),
    };
    let context = context.or_else(same_conversation).map(|session| (session, Succession::Context));
    context.or_else(|| same_agent().map(|session| (session, Succession::Agent)))
}

/// The host itself says that the context of this session goes on in the one that begins.
fn is_told(event: &EventContext<'_>, session: &Session) -> bool {
    let previous = event.who.previous.as_ref();
    previous.is_some_and(|id| session.logical_id == *id || session.host_session.as_ref() == Some(id))
}

/// Whether an unnamed client that follows a session is the agent of it: its own process was,
/// or that agent's client is gone and nobody else is it. An id that somebody uses in every
/// project says nothing of who works in this one.
fn is_heir(event: &EventContext<'_>, prev: &Session) -> bool {
    let exited = prev.end_reason.as_deref().is_some_and(|reason| !matches!(reason, "clear" | "resume" | CONTEXT_LIMIT));
    let over = match client(event, prev) {
        Client::Same => return true,
        Client::Gone => true,
        Client::Unknown if is_told(event, prev) => return true,
        Client::Unknown | Client::Other => exited,
    };
    let lives = |session: &Session| session.id != prev.id && client(event, session) != Client::Gone;
    over && prev.project == event.who.project
        && !event.loaded.open.iter().any(|session| session.agent == prev.agent && lives(session))
}

/// What is known of a new session that others may have to make room for.
struct Successor<'a> {
    prev: Option<&'a Session>,
    agent: &'a str,
    source: StartSource,
}

/// Why an open session ends when another opens, if it does.
fn reason_to_end(event: &EventContext<'_>, session: &Session, next: &Successor<'_>) -> Option<&'static str> {
    let followed = next.prev.is_some_and(|prev| prev.id == session.id);
    match client(event, session) {
        Client::Gone if session.pane.is_some() && session.pane == event.who.pane => Some("pane_reused"),
        Client::Gone if followed || session.agent == next.agent => Some("client_gone"),
        _ if !followed => None,
        _ if next.source == StartSource::Startup => Some("restarted"),
        _ => Some(next.source.name()),
    }
}

fn client(event: &EventContext<'_>, session: &Session) -> Client {
    let (Some(theirs), Some(ours)) = (session.client, event.who.client) else { return Client::Unknown };
    let unsure = theirs.started == 0 || ours.started == 0;
    let same = theirs.pid == ours.pid && (theirs.started == ours.started || unsure);
    match event.facts.lives(theirs) {
        // Of one process only one agent is known: what speaks in another's is within it.
        _ if same && event.who.speaks_as(session) => Client::Same,
        Some(false) => Client::Gone,
        Some(true) | None => Client::Other,
    }
}

fn is_ours(event: &EventContext<'_>, session: &Session) -> bool {
    let by_id = session.logical_id == event.who.logical_id && event.who.speaks_as(session);
    by_id && matches!(client(event, session), Client::Same | Client::Unknown)
}

/// The same client's, or at least the same agent's where no client is known.
fn shares_client(event: &EventContext<'_>, session: &Session) -> bool {
    match client(event, session) {
        Client::Same => true,
        Client::Unknown => session.agent == event.who.agent,
        Client::Gone | Client::Other => false,
    }
}

/// In the same project, or of the same client, wherever a `cd` has led it. Ids and conversations that
/// somebody's shell sets are the same in every project.
fn shares_place(event: &EventContext<'_>, session: &Session) -> bool {
    let of_client = match client(event, session) {
        Client::Same => true,
        // The id of an unnamed agent says which project it is of.
        Client::Unknown => session.agent == event.who.agent && !event.who.named,
        Client::Gone | Client::Other => false,
    };
    of_client || session.project == event.who.project
}

/// Another client that lives has taken up the conversation of this session.
fn is_taken(event: &EventContext<'_>, prev: &Session) -> bool {
    let goes_on = |session: &Session| session.id != prev.id && session.conversation == prev.conversation;
    event.loaded.sharing.iter().any(|session| goes_on(session) && client(event, session) == Client::Other)
}

/// A live session of another client under this name or in this pane, which was there first. Of two agents under one
/// name the second is a child also where their clients are not known.
fn is_elder(event: &EventContext<'_>, session: &Session) -> bool {
    let shares_name = session.agent == event.who.agent || session.logical_id == event.who.logical_id;
    let shares_pane = session.pane.is_some() && session.pane == event.who.pane;
    match client(event, session) {
        Client::Other => shares_name || shares_pane,
        Client::Unknown => shares_name && session.logical_id != UNTOLD && !event.who.speaks_as(session),
        Client::Same | Client::Gone => false,
    }
}

/// Who takes the messages that a placed event can tell. A second client under a name
/// takes what is for its own conversation alone, and never the first's.
pub fn taker(event: &EventContext<'_>) -> Taker {
    let of = |session: &Session| {
        let elder = event.loaded.open.iter().find(|other| Some(&other.id) == session.parent.as_ref());
        let own = elder.is_none_or(|elder| elder.conversation != session.conversation);
        Taker {
            agent: session.parent.is_none().then(|| session.agent.clone()),
            conversation: own.then(|| session.conversation.clone()),
            dialect: Some(event.who.dialect.clone()).filter(|dialect| !dialect.is_empty()),
        }
    };
    let starts = event.envelope.kind == EventKind::SessionStart;
    match event.loaded.open.iter().find(|session| !starts && event.who.carries(session)) {
        Some(session) => of(session),
        None => event.session().map(of).unwrap_or_default(),
    }
}

/// The conversation that started the worker: not its own, and not what a client
/// within it merely has from its surroundings.
pub fn reports_to(session: &Session, loaded: &Loaded) -> Option<String> {
    let told = loaded.efforts.reports_to.as_ref().filter(|told| **told != session.conversation)?;
    let elder = loaded.open.iter().find(|other| Some(&other.id) == session.parent.as_ref());
    let surroundings = elder.is_some_and(|elder| elder.memo.reports_to.as_ref() == Some(told));
    (!surroundings).then(|| told.clone())
}
