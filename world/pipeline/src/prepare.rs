//! Everything before the transaction: decode, ask, look, judge. What comes out
//! is enough to answer even when nothing can be stored.

use crate::law::{Law, Laws};
use crate::memory::Places;
use crate::{scene, settings};
use crate::way::Setting;
use engine::Ids;
use engine::context::{self, Ground};
use model::fact::{Facts, Probe};
use model::{Call, Envelope, Findings, Who, row};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

/// A call that has been read and judged, and not yet stored.
pub struct Prepared {
    pub call: Call,
    pub matter: Matter,
    pub begun: Instant,
    ids: [String; 2],
}

pub enum Matter {
    Event(Box<Event>),
    /// No event could be made of the payload.
    Unreadable {
        why: String,
        /// The user wants such calls stopped.
        closed: bool,
    },
}

pub struct Event {
    pub envelope: Envelope,
    pub who: Who,
    pub facts: Facts,
    pub findings: Findings,
    pub law: Rc<Law>,
    /// For questions that only come up once the stored rows are known.
    pub home: PathBuf,
    pub places: Places,
}

impl Prepared {
    pub fn ids(&self) -> Ids<'_> {
        let [event, session] = &self.ids;
        Ids { event, session, request: &self.call.request }
    }

    /// Answers a question the stored rows raised.
    pub fn ask(&mut self, probes: &[Probe]) {
        if let Matter::Event(event) = &mut self.matter {
            host::probe::add(&mut event.facts, probes, &event.home);
        }
    }

    pub fn broken(call: Call, why: &str) -> Self {
        let matter = Matter::Unreadable { why: why.to_string(), closed: false };
        Self { ids: host::clock::uuids(call.at), call, matter, begun: Instant::now() }
    }
}

pub fn prepare(call: Call, setting: &Setting, laws: &mut Laws) -> Prepared {
    let begun = Instant::now();
    let ids = host::clock::uuids(call.at);
    let matter = match agents::decode(&call.agent, &call.stdin) {
        Ok(envelope) => Matter::Event(Box::new(look(envelope, &call, setting, laws))),
        Err(unreadable) => {
            let closed = laws.of(&call.cwd, &setting.home).policy.on_failure == policy::OnFailure::Closed;
            Matter::Unreadable { why: unreadable.why, closed }
        }
    };
    Prepared { call, matter, begun, ids }
}

fn look(envelope: Envelope, call: &Call, setting: &Setting, laws: &mut Laws) -> Event {
    let folder = engine::folder(&envelope, &call.cwd);
    let here = laws.of(folder, &setting.home);
    let plan = engine::plan(&envelope, call, &scene::around(call, setting));
    let mut facts = Facts { projects: vec![(folder.to_string(), here.project.clone())], ..Facts::default() };
    host::probe::add(&mut facts, &plan.probes, &setting.home);
    facts.settings = settings::fact(&envelope, setting, call.at);
    look_around(&mut facts, &envelope, call, &here, setting);
    let mut findings = plan.judge(&here.policy, &facts, &scene::circumstances(call, &here));
    if let Some(session) = scene::session_law(call, &here, laws, &setting.home) {
        scene::join(&mut findings, plan.judge(&session.policy, &facts, &scene::circumstances(call, &session)));
    }
    let who = engine::who(&envelope, call, &facts);
    let places = Places::of(call, &here, setting);
    Event { who, envelope, facts, findings, law: here, home: setting.home.clone(), places }
}

/// Asks in rounds for what is to be told: one answer may raise the next question.
fn look_around(facts: &mut Facts, envelope: &Envelope, call: &Call, here: &Law, setting: &Setting) {
    let home = setting.home.to_string_lossy();
    let config = setting.user_config.parent().map(|folder| folder.to_string_lossy()).unwrap_or_default();
    for _ in 0..context::MOST_ROUNDS {
        let (env, policy, project) = (&call.env, &here.policy, &here.project.work_tree);
        let ground = Ground { envelope, env, policy, facts, project, home: &home, config: &config };
        let asks = context::further(&ground);
        if asks.is_empty() {
            facts.context = context::gathered(&ground);
            return;
        }
        host::probe::add(facts, &asks, &setting.home);
    }
}

/// The row of a payload no event could be made of.
pub fn unreadable_row(prepared: &Prepared, why: &str) -> row::Event {
    let call = &prepared.call;
    engine::unreadable(&call.agent, why, call.stdin.len(), call.at, prepared.ids())
}
