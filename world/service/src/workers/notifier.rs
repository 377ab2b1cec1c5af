//! Tells people of the fleet's turns, beside the agents' own terminals. In the
//! daemon it is a tick; without one a short-lived process of its own. Both read
//! the store anew and claim there what they tell, so it is told once.

use super::WorkerStore;
use crate::webhooks::WebhookSenders;
use daemon::{Next, PeriodicTask, Wake};
use engine::fleet::notify::{self, Notice, NotifyContext, Subject, Turned};
use engine::fleet::run_turn::{self, SeenRun};
use host::notify::{Notification, NotifyPrograms, Urgency};
use model::Ms;
use model::card::Card;
use model::row::{Agent, AgentStatus, Event};
use model::session::Session;
use pipeline::{PipelineSetup, PolicyCache, ProjectPolicy};
use policy::Notify;
use policy::notify::Offset;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use store::{CardFilter, EventFilter, FleetRun, Store};

/// Without a wake it is looked so often; a sweep is truth.
const EVERY: Duration = Duration::from_secs(30);

/// Between a wake and the look, and between two who want to tell at once.
const BREATH: Duration = Duration::from_millis(20);

/// A database that cannot be read is tried again so often, and so soon.
const TRIES: u32 = 10;
const RETRY: Duration = Duration::from_secs(1);

/// The event that made a status is among so many of its session's last ones, or is not told of.
const LOOK_BACK: usize = 500;

/// Whoever is the process that tells holds this lock.
const LOCK: &str = "notify.lock";

/// An agent that has just turned, with what is needed to tell of it.
struct Candidate {
    agent: Agent,
    /// What it is called.
    name: String,
    session: Option<Session>,
    project_policy: Rc<ProjectPolicy>,
    cause: Option<Event>,
}

/// What came of a look.
#[derive(Default)]
pub struct NotifyResult {
    again: Option<Duration>,
    troubles: Vec<String>,
}

/// Whoever tells, and what they keep between two looks.
struct Notifier {
    setting: PipelineSetup,
    store: WorkerStore,
    webhooks: WebhookSenders,
    tries: u32,
}

pub fn task(setting: &PipelineSetup) -> PeriodicTask {
    let mut notifier = Notifier::new(setting);
    PeriodicTask {
        name: "notifier",
        every: EVERY,
        run: Box::new(move || {
            // Many changes at once are one look.
            std::thread::sleep(BREATH);
            let told = notifier.round();
            told.troubles.iter().for_each(|trouble| tracing::warn!("notifier: {trouble}"));
            told.again.map_or(Next::AsUsual, Next::In)
        }),
        wake: Wake::default(),
    }
}

/// Tells what there is to tell, and waits for what must hold first. One process
/// at a time: another that comes meanwhile leaves it to this one.
pub fn run_to_the_end(setting: &PipelineSetup) -> std::io::Result<()> {
    host::programs::are_of(&setting.home);
    let mut notifier = Notifier::new(setting);
    loop {
        let Some(lock) = try_lock(&setting.state.join(LOCK))? else { return Ok(()) };
        while let Some(pause) = notifier.round().again {
            std::thread::sleep(pause);
        }
        drop(lock);
        // Whoever found the lock taken relied on a look after their change: this one.
        if notifier.round().again.is_none() {
            notifier.webhooks.finish();
            return Ok(());
        }
    }
}

impl Notifier {
    fn new(setting: &PipelineSetup) -> Self {
        Self {
            setting: setting.clone(),
            store: WorkerStore::new("notifier", &setting.state),
            webhooks: WebhookSenders::new(place(setting)),
            tries: TRIES,
        }
    }

    /// One look. What cannot be read now is looked for again, but not for ever.
    fn round(&mut self) -> NotifyResult {
        if let Ok(told) = self.store.with(|store| look(store, &self.setting, &mut self.webhooks)) {
            self.tries = TRIES;
            return told;
        }
        self.tries = self.tries.saturating_sub(1);
        NotifyResult { again: (self.tries > 0).then_some(RETRY), ..NotifyResult::default() }
    }
}

fn try_lock(path: &Path) -> std::io::Result<Option<File>> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn look(
    store: &mut Store,
    setting: &PipelineSetup,
    webhooks: &mut WebhookSenders,
) -> Result<NotifyResult, store::Error> {
    let mut policies = PolicyCache::new(setting.user_config.clone(), setting.state.clone());
    // What holds where no project has a say: mostly nothing is on, and this is all.
    let project_policy = policies.of("/", &setting.home);
    let ways = &project_policy.policy.sections.notify;
    if !ways.reaches_out() {
        return Ok(NotifyResult::default());
    }
    let (told, now) = (store.notified()?, host::clock::now());
    let is_told = |agent: &Agent| {
        told.iter().any(|told| told.agent == agent.id && told.status == agent.status && told.at >= agent.since)
    };
    let is_due = |agent: &Agent| notify::is_fresh(agent, ways, now) && !is_told(agent);
    // What becomes of a loop's agents is the loop's matter, which tells of itself.
    let of_loops = store.loop_agents()?;
    let turned = store.agents()?.into_iter().filter(|agent| is_due(agent) && !of_loops.contains(&agent.id));
    let mut candidates = candidates(store, &mut policies, (turned.collect(), setting))?;
    let offset = Offset { seconds: host::clock::utc_offset_s(now) };
    for (agent, cause) in run_turns(store, now)?.into_iter().filter(|(agent, _)| is_due(agent)) {
        let project_policy = policies.of(&agent.project, &setting.home);
        if project_policy.policy.sections.notify.reaches_out()
            && project_policy.policy.sections.notify.tells(agent.status)
        {
            candidates.push(Candidate {
                name: agent.id.clone(),
                agent,
                session: None,
                project_policy,
                cause: Some(cause),
            });
        }
    }
    let look = NotifyContext { told: &told, now, offset };
    let mut seen: Vec<Turned<'_>> = candidates.iter().map(Candidate::turned).collect();
    let mut round = notify::notices(&seen, &look);
    if !round.due.is_empty() {
        // Only those who are about to be told of are worth a question to tmux.
        for place in round.due.iter().flat_map(|(_, places)| places) {
            if let (Some(turned), Some(one)) = (seen.get_mut(*place), candidates.get(*place)) {
                turned.watched = one.watched();
            }
        }
        round = notify::notices(&seen, &look);
    }
    let again = round.again_ms.map(|ms| Duration::from_millis(ms.cast_unsigned()));
    if round.due.is_empty() && seen.iter().all(|turned| !turned.watched) {
        return Ok(NotifyResult { again, troubles: Vec::new() });
    }
    if !store.claim_told(&told, &round.told)? {
        // Somebody else tells; what they leave is looked for at once.
        return Ok(NotifyResult { again: Some(BREATH), troubles: Vec::new() });
    }
    let (tasks, cards) = (store.holders()?, store.cards(&CardFilter::default())?);
    let mut troubles = Vec::new();
    for (status, places) in round.due {
        let chosen = places.iter().filter_map(|place| candidates.get(*place));
        let subjects: Vec<Subject<'_>> = chosen.map(|one| one.subject(&tasks, &cards)).collect();
        let notice = notify::notice(status, &subjects);
        webhooks.send(&notice, ways);
        troubles.extend(deliver(&notice, ways, &place(setting)));
    }
    Ok(NotifyResult { again, troubles })
}

/// What there is to tell of runs of the loop.
pub fn run_turns(store: &Store, now: Ms) -> Result<Vec<(Agent, Event)>, store::Error> {
    let offset = Offset { seconds: host::clock::utc_offset_s(now) };
    let turn = |found: &FleetRun| {
        let denied = found.iterations.last().is_some_and(|last| !last.denied.is_empty());
        let seen = SeenRun { run: &found.run, alive: found.alive, denied, touched: found.touched() };
        run_turn::run_turn(&seen, now, offset)
    };
    Ok(store.fleet_runs()?.iter().filter_map(turn).collect())
}

/// Whether anybody is told anything beside the terminals.
pub fn is_on(setting: &PipelineSetup) -> bool {
    let mut policies = PolicyCache::new(setting.user_config.clone(), setting.state.clone());
    policies.of("/", &setting.home).policy.sections.notify.reaches_out()
}

fn candidates(
    store: &Store,
    policies: &mut PolicyCache,
    seen: (Vec<Agent>, &PipelineSetup),
) -> Result<Vec<Candidate>, store::Error> {
    let (turned, setting) = seen;
    let mut found = Vec::new();
    for agent in turned {
        let session = agent.session.as_deref().map(|id| store.session(id)).transpose()?.flatten();
        let folder = session.as_ref().and_then(|session| session.cwd.as_deref()).unwrap_or(&agent.project);
        let project_policy = policies.of(folder, &setting.home);
        if !project_policy.policy.sections.notify.reaches_out()
            || !project_policy.policy.sections.notify.tells(agent.status)
        {
            continue;
        }
        let cause = cause(store, &agent)?;
        found.push(Candidate { name: store.agent_name(&agent.id)?, agent, session, project_policy, cause });
    }
    Ok(found)
}

/// The event that made the status. Found by the session, for which events have an
/// index; by the agent or by the time it would be a look at all there ever were.
fn cause(store: &Store, agent: &Agent) -> Result<Option<Event>, store::Error> {
    let Some(session) = store.session_of_status(agent)? else { return Ok(None) };
    let last = EventFilter { session: Some(session), limit: LOOK_BACK, ..EventFilter::default() };
    let made = |event: &Event| {
        event.agent == agent.id && event.at == agent.since && made_status(event) == Some(agent.status.name())
    };
    Ok(store.events(&last)?.into_iter().find(made))
}

fn made_status(event: &Event) -> Option<&str> {
    event.detail.get("status")?.get("to")?.as_str()
}

impl Candidate {
    fn turned(&self) -> Turned<'_> {
        Turned {
            agent: &self.agent,
            notify: &self.project_policy.policy.sections.notify,
            cause: self.cause.as_ref(),
            watched: false,
        }
    }

    fn watched(&self) -> bool {
        self.session.as_ref().and_then(|session| session.pane.as_deref()).is_some_and(host::notify::watched)
    }

    fn subject<'a>(&'a self, tasks: &'a [(String, String)], cards: &'a [Card]) -> Subject<'a> {
        let of_session = |card: &&Card| self.agent.session.as_ref() == Some(&card.session);
        let card = cards.iter().find(of_session).filter(|_| self.agent.status == AgentStatus::Attention);
        let task = tasks.iter().find(|(agent, _)| *agent == self.agent.id).map(|(_, slug)| slug.as_str());
        Subject {
            agent: &self.agent,
            name: &self.name,
            cause: self.cause.as_ref(),
            task,
            card: card.map(|card| card.id.as_str()),
        }
    }
}

/// Where programs of the user's run.
pub fn place(setting: &PipelineSetup) -> NotifyPrograms {
    NotifyPrograms { home: setting.home.clone(), state: setting.state.clone(), limit: host::notify::LIMIT }
}

/// Tells it in every way that is on; one that fails keeps no other from it.
fn deliver(notice: &Notice, ways: &Notify, place: &NotifyPrograms) -> Vec<String> {
    let mut tried = Vec::new();
    if ways.desktop {
        tried.push(host::notify::desktop(&message(notice), place));
    }
    if !ways.command.is_empty() {
        tried.push(host::notify::program(&ways.command, &model::text::json(&notice.event), place));
    }
    tried.into_iter().filter_map(Result::err).map(|trouble| trouble.to_string()).collect()
}

pub fn message(notice: &Notice) -> Notification<'_> {
    let urgency = if notice.status == AgentStatus::Done { Urgency::Normal } else { Urgency::High };
    Notification { title: &notice.title, body: &notice.body, urgency }
}
