//! Everything before the transaction: decode, ask, look, judge. What comes out
//! is enough to answer even when nothing can be stored.

use crate::memory::Places;
use crate::pipeline::PipelineSetup;
use crate::policy_cache::{PolicyCache, ProjectPolicy};
use crate::{judge_context, settings};
use agents::Dialect;
use engine::context::{self, Ground};
use engine::undecided::{self, Undecided};
use engine::{Ids, Inherited};
use model::fact::{Facts, Probe};
use model::reply::{GateStop, Reply};
use model::{Answer, Call, Envelope, Environment, EventKind, Findings, Level, Who, row};
use policy::OnFailure;
use serde_json::Value;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

/// A call that has been read and judged, and not yet stored.
pub struct Prepared {
    pub call: Call,
    pub parsed_call: PreparedCall,
    pub begun: Instant,
    /// How the agent is answered; nobody knows for one that nothing is known of.
    dialect: Option<&'static Dialect>,
    ids: [String; 2],
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
    pub who: Who,
    pub facts: Facts,
    pub findings: Findings,
    pub project_policy: Rc<ProjectPolicy>,
    /// For questions that only come up once the stored rows are known.
    pub home: PathBuf,
    pub places: Places,
    /// The folder of the user's own configuration.
    config: PathBuf,
    /// It was looked for the files of what the session inherits.
    pub inherited: bool,
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
        let places = Places::of(envelope.agent, call, &project_policy, setting);
        let config = setting.user_config.parent().map(Path::to_path_buf).unwrap_or_default();
        let (findings, home) = (Findings::default(), setting.home.clone());
        Self { envelope, who, facts, findings, project_policy, home, places, config, inherited: true }
    }
}

impl Prepared {
    pub fn ids(&self) -> Ids<'_> {
        let [event, session] = &self.ids;
        Ids { event, session, request: &self.call.request }
    }

    /// The answer in the dialect the event came in.
    pub fn encode(&self, envelope: &Envelope, reply: &Reply) -> Answer {
        self.dialect.map(|dialect| (dialect.encode)(envelope, reply)).unwrap_or_default()
    }

    /// The answer to a payload that no event could be made of.
    pub fn stop_unread(&self, stop: &GateStop) -> Answer {
        self.dialect.map(|dialect| (dialect.stop_unread)(stop.clone())).unwrap_or_default()
    }

    /// A call in the name of an agent that nothing is known of: recorded, and answered with nothing.
    fn of_nobody(call: Call) -> Self {
        let parsed_call = PreparedCall::Unreadable {
            why: agents::unknown(&model::text::line(&call.agent, LONGEST_AGENT)),
            stop: None,
        };
        Self { ids: host::clock::uuids(call.at), call, parsed_call, begun: Instant::now(), dialect: None }
    }

    /// Answers a question the stored rows raised.
    pub fn ask(&mut self, probes: &[Probe]) {
        if let PreparedCall::Event(event) = &mut self.parsed_call {
            host::probe::add(&mut event.facts, probes, &event.home);
        }
    }

    /// Looks for the files of the role and mode that the session takes over.
    pub fn inherit(&mut self, taken: &Inherited) {
        let PreparedCall::Event(event) = &mut self.parsed_call else { return };
        event.inherited = true;
        let mut env = self.call.env.clone();
        let names = &event.envelope.agent.variables;
        let told = [(names.role.first(), &taken.role), (names.mode.first(), &taken.mode)];
        env.0.extend(told.into_iter().filter_map(|(name, value)| Some((name?.to_string(), value.clone()?))));
        let around = Around {
            envelope: &event.envelope,
            env: &env,
            project_policy: &event.project_policy,
            home: &event.home,
            config: &event.config,
        };
        look_around(&mut event.facts, &around);
    }

    /// A call that can only be decoded: no file is opened and no line is read for it.
    pub fn undecided(call: Call, setting: &PipelineSetup, why: &str, on_failure: OnFailure) -> Self {
        let Some(dialect) = setting.dialect(&call) else { return Self::of_nobody(call) };
        let undecided = Undecided { why, on_failure, answering: judge_context::answering(dialect.profile, &call) };
        let decoded = catch_unwind(|| dialect.read(&call.stdin));
        let parsed_call = match decoded {
            Ok(Ok(envelope)) => {
                let project_policy = Rc::new(ProjectPolicy::anywhere(engine::folder(&envelope, &call.cwd)));
                let findings = Findings(undecided.finding(&envelope).into_iter().collect());
                PreparedCall::Event(Box::new(PreparedEvent::unseen(envelope, &call, setting, project_policy, findings)))
            }
            Ok(Err(unreadable)) => unread(dialect, &unreadable.why, &call, on_failure),
            Err(_) => unread(dialect, why, &call, on_failure),
        };
        Self { ids: host::clock::uuids(call.at), call, parsed_call, begun: Instant::now(), dialect: Some(dialect) }
    }

    /// A call that is judged by its words alone, under the user's own configuration: nothing of a project is opened.
    pub fn unseen(call: Call, setting: &PipelineSetup, why: &str) -> Self {
        let Some(dialect) = setting.dialect(&call) else { return Self::of_nobody(call) };
        let ids = host::clock::uuids(call.at);
        let begun = Instant::now();
        let parsed_call = match dialect.read(&call.stdin) {
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
        Self { ids, call, parsed_call, begun, dialect: Some(dialect) }
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
        let places = Places::of(envelope.agent, call, &project_policy, setting);
        let config = setting.user_config.parent().map(Path::to_path_buf).unwrap_or_default();
        let home = setting.home.clone();
        Self { envelope, who, facts, findings, project_policy, home, places, config, inherited: true }
    }
}

/// A payload that no event could be made of.
fn unread(dialect: &Dialect, why: &str, call: &Call, on_failure: OnFailure) -> PreparedCall {
    let undecided = Undecided { why, on_failure, answering: judge_context::answering(dialect.profile, call) };
    PreparedCall::Unreadable { why: why.to_string(), stop: undecided.stop() }
}

pub fn prepare(call: Call, setting: &PipelineSetup, policies: &mut PolicyCache) -> Prepared {
    let Some(dialect) = setting.dialect(&call) else { return Prepared::of_nobody(call) };
    let begun = Instant::now();
    let ids = host::clock::uuids(call.at);
    let parsed_call = match dialect.read(&call.stdin) {
        Ok(envelope) => PreparedCall::Event(Box::new(look(envelope, &call, setting, policies))),
        // Where nothing was sent there was no call.
        Err(unreadable) if call.stdin.is_empty() => PreparedCall::Unreadable { why: unreadable.why, stop: None },
        Err(unreadable) => {
            let on_failure = policies.of(&call.cwd, &setting.home).policy.on_failure;
            unread(dialect, &unreadable.why, &call, on_failure)
        }
    };
    Prepared { call, parsed_call, begun, dialect: Some(dialect), ids }
}

fn look(envelope: Envelope, call: &Call, setting: &PipelineSetup, policies: &mut PolicyCache) -> PreparedEvent {
    let (agent, folder) = (envelope.agent, engine::folder(&envelope, &call.cwd));
    let here = policies.of(folder, &setting.home);
    let plan = engine::plan(&envelope, call, &judge_context::around(call, setting));
    let mut facts = Facts { projects: vec![(folder.to_string(), here.project.clone())], ..Facts::default() };
    host::probe::add(&mut facts, &plan.probes, &setting.home);
    facts.settings = settings::fact(&envelope, setting, call.at);
    facts.screen = judge_context::screen(agent, call, &here);
    let config = setting.user_config.parent().map(Path::to_path_buf).unwrap_or_default();
    let around =
        Around { envelope: &envelope, env: &call.env, project_policy: &here, home: &setting.home, config: &config };
    look_around(&mut facts, &around);
    let mut findings = plan.judge(&here.policy, &facts, &judge_context::circumstances(agent, call, &here));
    if let Some(session) = judge_context::session_law(agent, call, &here, policies, &setting.home) {
        judge_context::join(
            &mut findings,
            plan.judge(&session.policy, &facts, &judge_context::circumstances(agent, call, &session)),
        );
    }
    let who = engine::who(&envelope, call, &facts);
    let places = Places::of(agent, call, &here, setting);
    let home = setting.home.clone();
    PreparedEvent { who, envelope, facts, findings, project_policy: here, home, places, config, inherited: false }
}

/// What surrounds a session that is to be told something.
struct Around<'a> {
    envelope: &'a Envelope,
    env: &'a Environment,
    project_policy: &'a ProjectPolicy,
    home: &'a Path,
    config: &'a Path,
}

/// Asks in rounds for what is to be told: one answer may raise the next question.
fn look_around(facts: &mut Facts, around: &Around<'_>) {
    let Around { envelope, env, project_policy, .. } = *around;
    let (home, config) = (around.home.to_string_lossy(), around.config.to_string_lossy());
    for _ in 0..context::MOST_ROUNDS {
        let (policy, project) = (&project_policy.policy, &project_policy.project.work_tree);
        let ground = Ground { envelope, env, policy, facts, project, home: &home, config: &config };
        let asks = context::further(&ground);
        if asks.is_empty() {
            facts.context = context::gathered(&ground);
            return;
        }
        host::probe::add(facts, &asks, around.home);
    }
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
