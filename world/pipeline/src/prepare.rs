//! Everything before the transaction: decode, ask, look, judge. What comes out
//! is enough to answer even when nothing can be stored.

use crate::file_rounds::FileRounds;
use crate::own_hooks::OwnHooksCache;
use crate::pipeline::PipelineSetup;
use crate::policy_cache::{PolicyCache, ProjectPolicy};
use crate::reading_cache::ReadingCache;
use crate::{judge_context, settings};
use agents::{Dialect, Unreadable};
use engine::undecided::{self, Undecided};
use engine::{EventContext, Ids, Places, Plan};
use grammar::AgentLine;
use model::fact::Facts;
use model::reply::{GateStop, Reply};
use model::{Answer, Call, Envelope, EventKind, Findings, Level, Loaded, Ms, Placed, Who, row, stop_code};
use policy::OnFailure;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

/// A call that has been read and judged, and not yet stored.
pub struct Prepared {
    pub call: Call,
    pub parsed_call: PreparedCall,
    pub begun: Instant,
    pub counts: CountedAt,
    /// A call that needs a checkpoint is not served here.
    pub hands_back: bool,
    /// How the agent is answered; nobody knows for one that nothing is known of.
    dialect: Option<&'static Dialect>,
    ids: [String; 2],
}

/// Where an event counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedAt {
    Here,
    /// The agent has hooks of ours in its own settings, and runs those in another agent's, of a plugin or of a project too:
    /// this call is judged, for its own hook may not work, and nothing else comes of it.
    OwnHook,
    /// The agent has hooks of ours in its user's settings and in the project's, and gives its calls no id: of two that
    /// are the same and come together the first counts. The second is answered as the first was, and judged all the
    /// same before it is let pass: it may be another call, for not every agent runs both.
    OneOfTwoHooks,
}

pub enum PreparedCall {
    Event(Box<PreparedEvent>),
    /// No event could be made of the payload.
    Unreadable {
        why: String,
        /// What it is stopped with, in case it was a call that a guard stands before.
        stop: Option<GateStop>,
    },
}

pub struct PreparedEvent {
    pub envelope: Envelope,
    /// As the agent sent it, where it turned out to be a helper's.
    pub as_sent: Option<Box<Envelope>>,
    pub who: Who,
    /// The plain `taut` line it is about, read once.
    pub line: Option<AgentLine>,
    pub facts: Facts,
    pub findings: Findings,
    /// What tells the call from every other, where something stands against it.
    pub digest: Option<String>,
    pub project_policy: Rc<ProjectPolicy>,
    pub places: Places,
    /// For questions that only come up once the stored rows are known.
    pub home: PathBuf,
    /// When it happened, where no hook has told of it.
    pub late: Option<Ms>,
}

impl PreparedEvent {
    /// One that was judged and answered before: nothing is asked of the world
    /// yet, and nothing is found.
    pub fn answered_before(
        envelope: Envelope,
        who: Who,
        call: &Call,
        setting: &PipelineSetup,
        policies: &mut PolicyCache,
    ) -> Self {
        let folder = engine::folder(&envelope, &call.cwd).to_string();
        let project_policy = policies.of(&folder, &setting.home);
        let facts = Facts { projects: vec![(folder, project_policy.project.clone())], ..Facts::default() };
        Self { who, facts, ..Self::unseen(envelope, call, setting, project_policy, Findings::default()) }
    }

    /// Folders that artifacts may lie in.
    pub fn roots(&self) -> [String; 2] {
        [self.places.tree.clone(), self.places.state.clone()]
    }

    /// What is decided on, as far as it is known.
    pub fn context<'a>(
        &'a self,
        call: &'a Call,
        ids: Ids<'a>,
        loaded: &'a Loaded,
        placed: &'a Placed,
    ) -> EventContext<'a> {
        EventContext {
            envelope: &self.envelope,
            who: &self.who,
            env: &call.env,
            line: self.line.as_ref(),
            policy: &self.project_policy.policy,
            places: &self.places,
            facts: &self.facts,
            findings: &self.findings,
            loaded,
            placed,
            now: call.at,
            ids,
            digest: self.digest.as_deref(),
            late: self.late,
        }
    }

    /// Asks the world what the rows that were read have raised, outside any
    /// transaction and in rounds: one answer may raise the next question.
    pub fn answer_raised(&mut self, call: &Call, ids: Ids<'_>, loaded: &Loaded) {
        for _ in 0..engine::MOST_ROUNDS {
            let needs = engine::needs(&self.context(call, ids, loaded, &Placed::default()));
            let asks = engine::raised(&self.context(call, ids, loaded, &needs.placed));
            if asks.is_empty() {
                return;
            }
            host::probe::add(&mut self.facts, &asks, &self.home);
        }
    }
}

impl Prepared {
    pub fn ids(&self) -> Ids<'_> {
        let [event, session] = &self.ids;
        Ids { event, session, request: &self.call.request }
    }

    /// The answer in the dialect the event came in.
    pub fn encode(&self, envelope: &Envelope, reply: Reply) -> Answer {
        let reply = match self.counts {
            CountedAt::Here | CountedAt::OneOfTwoHooks => reply,
            CountedAt::OwnHook => reply.only_stops(),
        };
        self.dialect.map(|dialect| (dialect.encode)(envelope, &reply)).unwrap_or_default()
    }

    /// The answer to a payload that no event could be made of.
    pub fn stop_unread(&self, stop: &GateStop) -> Answer {
        self.dialect.map(|dialect| (dialect.stop_unread)(stop.clone())).unwrap_or_default()
    }

    /// A call in the name of an agent that nothing is known of: recorded, and answered with nothing.
    fn of_nobody(call: Call) -> Self {
        let why = agents::unknown(&model::text::line(&call.agent, LONGEST_AGENT));
        let parsed_call = PreparedCall::Unreadable { why, stop: None };
        let (ids, begun, counts) = (host::clock::uuids(call.at), Instant::now(), CountedAt::Here);
        Self { ids, call, parsed_call, begun, counts, hands_back: false, dialect: None }
    }

    /// Asks the world what the rows that were read have raised.
    pub fn answer_raised(&mut self, loaded: &Loaded) {
        let [event, session] = &self.ids;
        let ids = Ids { event, session, request: &self.call.request };
        if let PreparedCall::Event(event) = &mut self.parsed_call {
            event.answer_raised(&self.call, ids, loaded);
        }
    }

    /// A call that can only be decoded: no file is opened and no line is read for it.
    pub fn undecided(mut call: Call, setting: &PipelineSetup, why: &str, on_failure: OnFailure) -> Self {
        let Some(named) = setting.dialect(&call) else { return Self::of_nobody(call) };
        let decoded = catch_unwind(|| setting.dialects.read(named, &call.stdin));
        let (dialect, read) = decoded.unwrap_or_else(|_| (named, Err(Unreadable { why: why.to_string() })));
        call.agent = dialect.id().to_string();
        let undecided = Undecided { why, on_failure, answering: judge_context::answering(dialect.profile, &call) };
        let parsed_call = match read {
            Ok(envelope) => {
                let project_policy = Rc::new(ProjectPolicy::anywhere(engine::folder(&envelope, &call.cwd)));
                let findings = Findings(undecided.finding(&envelope).into_iter().collect());
                PreparedCall::Event(Box::new(PreparedEvent::unseen(envelope, &call, setting, project_policy, findings)))
            }
            Err(unreadable) => unread(dialect, &unreadable.why, &call, on_failure),
        };
        Self::of(dialect, call, parsed_call)
    }

    fn of(dialect: &'static Dialect, call: Call, parsed_call: PreparedCall) -> Self {
        let (ids, begun, counts) = (host::clock::uuids(call.at), Instant::now(), CountedAt::Here);
        Self { ids, call, parsed_call, begun, counts, hands_back: false, dialect: Some(dialect) }
    }

    /// A call that is judged by its words alone, under the user's own configuration: nothing of a project is opened.
    pub fn unseen(mut call: Call, setting: &PipelineSetup, why: &str) -> Self {
        let Some(named) = setting.dialect(&call) else { return Self::of_nobody(call) };
        let (dialect, read) = setting.dialects.read(named, &call.stdin);
        call.agent = dialect.id().to_string();
        let parsed_call = match read {
            Ok(envelope) => {
                let project_policy =
                    Rc::new(ProjectPolicy::of_user(&setting.user_config, engine::folder(&envelope, &call.cwd)));
                let plan = engine::plan(&envelope, &call, &judge_context::around(&call, setting));
                let circumstances = judge_context::circumstances(dialect.profile, &call, &project_policy);
                let mut findings = plan.judge(&project_policy.policy, &Facts::default(), &circumstances);
                let undecided =
                    Undecided { why, on_failure: project_policy.policy.on_failure, answering: circumstances.answer };
                findings.0.extend(undecided.finding(&envelope));
                PreparedCall::Event(Box::new(PreparedEvent::unseen(envelope, &call, setting, project_policy, findings)))
            }
            Err(unreadable) => {
                let project_policy = ProjectPolicy::of_user(&setting.user_config, &call.cwd);
                unread(dialect, &unreadable.why, &call, project_policy.policy.on_failure)
            }
        };
        Self::of(dialect, call, parsed_call)
    }
}

impl PreparedEvent {
    /// An event that nothing was looked up for.
    fn unseen(
        envelope: Envelope,
        call: &Call,
        setting: &PipelineSetup,
        project_policy: Rc<ProjectPolicy>,
        findings: Findings,
    ) -> Self {
        let facts = Facts::default();
        let who = engine::who(&envelope, call, &facts);
        let (places, home) = (places(call, &project_policy, setting), setting.home.clone());
        let line = AgentLine::of(&envelope);
        let as_sent = None;
        let mut event = Self {
            line,
            envelope,
            as_sent,
            who,
            facts,
            findings,
            digest: None,
            project_policy,
            places,
            home,
            late: None,
        };
        event.set_digest(call);
        event
    }

    /// For what was found. Where nothing was, it costs nothing.
    pub fn set_digest(&mut self, call: &Call) {
        let folder = engine::folder(&self.envelope, &call.cwd);
        let identity = engine::stops::identity(&self.envelope, &self.who, folder, &self.findings);
        self.digest = identity.map(|text| {
            // Where a link leads is part of what a person agrees to.
            let led = self.facts.paths.iter().filter(|(path, fact)| *path != fact.real);
            let led: Vec<&str> = led.map(|(_, fact)| fact.real.as_str()).collect();
            stop_code::letters(Sha256::digest(format!("{text}{led:?}").as_bytes()).as_slice())
        });
    }
}

/// The folders around a call, and until when the user wants only to be told.
pub fn places(call: &Call, project_policy: &ProjectPolicy, setting: &PipelineSetup) -> Places {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    let home = shown(&setting.home);
    Places {
        state: shown(&setting.state),
        config: setting.user_config.parent().map(shown).unwrap_or_default(),
        agent_folder: judge_context::agent_folder(call, setting),
        home,
        tree: project_policy.project.work_tree.clone(),
        paused_until: project_policy.standing.paused_until,
        blind: false,
    }
}

/// A payload that no event could be made of.
fn unread(dialect: &Dialect, why: &str, call: &Call, on_failure: OnFailure) -> PreparedCall {
    let undecided = Undecided { why, on_failure, answering: judge_context::answering(dialect.profile, call) };
    PreparedCall::Unreadable { why: why.to_string(), stop: undecided.stop() }
}

/// What is kept between calls.
pub struct Caches {
    pub policies: PolicyCache,
    pub readings: ReadingCache,
    pub own_hooks: OwnHooksCache,
}

pub fn prepare(mut call: Call, setting: &PipelineSetup, caches: &mut Caches) -> Prepared {
    let Some(named) = setting.dialect(&call) else { return Prepared::of_nobody(call) };
    let begun = Instant::now();
    let ids = host::clock::uuids(call.at);
    let (dialect, read) = setting.dialects.read(named, &call.stdin);
    let (_, line) = agents::line_place(&call.agent);
    // Whoever sent it is who called, whatever stands on the line.
    call.agent = dialect.id().to_string();
    let mut counts = CountedAt::Here;
    let parsed_call = match read {
        Ok(envelope) => {
            let seen = look(envelope, &call, &ids, setting, caches);
            let elsewhere = dialect.id() != named.id() && caches.own_hooks.run(dialect, &seen, setting);
            if elsewhere || caches.own_hooks.run_beside(dialect, &seen, line, setting) {
                counts = CountedAt::OwnHook;
            } else if engine::key_without_id(&seen.envelope).is_some()
                && caches.own_hooks.run_twice(dialect, &seen, setting)
            {
                counts = CountedAt::OneOfTwoHooks;
            }
            PreparedCall::Event(Box::new(seen))
        }
        // Where nothing was sent there was no call.
        Err(unreadable) if call.stdin.is_empty() => PreparedCall::Unreadable { why: unreadable.why, stop: None },
        Err(unreadable) => {
            let on_failure = caches.policies.of(&call.cwd, &setting.home).policy.on_failure;
            unread(dialect, &unreadable.why, &call, on_failure)
        }
    };
    Prepared { call, parsed_call, begun, counts, hands_back: false, dialect: Some(dialect), ids }
}

fn look(
    envelope: Envelope,
    call: &Call,
    [event, session]: &[String; 2],
    setting: &PipelineSetup,
    caches: &mut Caches,
) -> PreparedEvent {
    let folder = engine::folder(&envelope, &call.cwd);
    let here = caches.policies.of(folder, &setting.home);
    let mut facts = Facts { projects: vec![(folder.to_string(), here.project.clone())], ..Facts::default() };
    let around = judge_context::around(call, setting);
    let plan = match caches.readings.of(&envelope, &around, &mut facts) {
        Some(parsed_call) => engine::plan_with(&envelope, call, Some(parsed_call)),
        None => {
            let plan = read_files(engine::plan(&envelope, call, &around), &mut facts, &setting.home);
            if let Some(parsed_call) = plan.parsed_call().filter(|_| !facts.files.is_empty()) {
                caches.readings.keep(parsed_call, &facts.files, call.at);
            }
            plan
        }
    };
    host::probe::add(&mut facts, &plan.probes, &setting.home);
    facts.settings = settings::fact(&envelope, setting, call.at);
    facts.screen = judge_context::screen(envelope.agent, call, &here);
    let who = engine::who(&envelope, call, &facts);
    let mut seen = PreparedEvent {
        line: AgentLine::of(&envelope),
        envelope,
        as_sent: None,
        who,
        facts,
        findings: Findings::default(),
        digest: None,
        places: places(call, &here, setting),
        project_policy: here,
        home: setting.home.clone(),
        late: None,
    };
    look_around(&mut seen, call, Ids { event, session, request: &call.request });
    seen.findings = judged(&plan, &seen, call, setting, &mut caches.policies);
    seen.set_digest(call);
    seen
}

/// Reads the files that the call runs, in rounds: a script may run a script.
pub(crate) fn read_files(mut plan: Plan, facts: &mut Facts, home: &Path) -> Plan {
    let mut rounds = FileRounds::default();
    for _ in 0..engine::MOST_FILE_ROUNDS {
        let asks = plan.files(facts);
        if asks.is_empty() {
            break;
        }
        rounds.answer(facts, &asks, home);
        plan.read_again(facts);
    }
    plan
}

/// Asks in rounds for what is to be told: one answer may raise the next question.
fn look_around(seen: &mut PreparedEvent, call: &Call, ids: Ids<'_>) {
    for _ in 0..engine::MOST_ROUNDS {
        let asks = engine::further(&seen.context(call, ids, &Loaded::default(), &Placed::default()));
        if asks.is_empty() {
            return;
        }
        host::probe::add(&mut seen.facts, &asks, &seen.home);
    }
}

fn judged(
    plan: &Plan,
    seen: &PreparedEvent,
    call: &Call,
    setting: &PipelineSetup,
    policies: &mut PolicyCache,
) -> Findings {
    let agent = seen.envelope.agent;
    let judge =
        |here: &ProjectPolicy| plan.judge(&here.policy, &seen.facts, &judge_context::circumstances(agent, call, here));
    let mut findings = judge(&seen.project_policy);
    if let Some(session) = judge_context::session_policy(agent, call, &seen.project_policy, policies, &setting.home) {
        judge_context::join(&mut findings, judge(&session));
    }
    findings
}

/// In characters.
const LONGEST_AGENT: usize = 60;

/// The row of a payload no event could be made of.
pub fn unreadable_row(prepared: &Prepared, why: &str, stop: Option<&GateStop>) -> row::Event {
    let call = &prepared.call;
    // The name is whatever stood on the line.
    let agent = model::text::line(&call.agent, LONGEST_AGENT);
    let mut row = engine::unreadable(&agent, why, call.stdin.len(), call.at, prepared.ids());
    if prepared.dialect.is_none() {
        row.event = EventKind::Unknown.name().to_string();
        row.detail["unknown_agent"] = Value::from(row.agent.as_str());
    }
    (row.verdict, row.reason) = match stop {
        Some(GateStop::Ask { reason }) => (Level::Ask, Some(reason.clone())),
        Some(GateStop::Deny { reason, .. }) => (Level::Deny, Some(reason.clone())),
        None => (row.verdict, row.reason),
    };
    row.rules.extend(stop.map(|_| undecided::RULE.to_string()));
    row
}
