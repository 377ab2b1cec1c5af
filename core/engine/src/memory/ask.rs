//! What memory must ask of the world. Empty on the ordinary way: only an effort,
//! a hand-over note or an invoked skill asks.

use super::{begin, discover, facts, path, skill, start};
use crate::event_context::{EventContext, Places};
use crate::gates::workflow;
use grammar::Start;
use model::event::{Body, Envelope, EventKind};
use model::fact::Probe;
use model::session::Session;
use model::tool::{ToolCall, ToolKind};

/// Bytes of a transcript's end that hold the words before a question.
const PREMISE_BYTES: u64 = 64 * 1024;

/// What can be asked before anything stored is looked at: a question to the
/// user is kept with the words before it.
pub fn early(envelope: &Envelope) -> Option<Probe> {
    let Body::ToolDone { call, .. } = &envelope.body else { return None };
    let path = envelope.transcript.clone().filter(|_| call.kind == ToolKind::Ask)?;
    Some(Probe::Transcript { path, last: PREMISE_BYTES })
}

/// What the skill's own file and what it wants read say, where one is invoked.
pub fn of_skill(event: &EventContext<'_>) -> Vec<Probe> {
    let Some(Start { skill: name, .. }) = begin::begins(event) else { return Vec::new() };
    let mut probes = skill::probes(&name, &event.skill_folders());
    let own = skill::own(&name, &event.skill_folders(), event.facts);
    if let Some(declared) = skill::Skill::declared(event.policy, &name, &own) {
        probes.extend(texts(event, &declared.preload));
    }
    unknown(event, probes)
}

/// The files of lasting facts, where the event is about them.
pub fn of_facts(event: &EventContext<'_>) -> Vec<Probe> {
    unknown(event, facts::asks(event))
}

/// What an effort or a hand-over note that is stored makes worth asking.
pub fn raised(event: &EventContext<'_>) -> Vec<Probe> {
    let mut asked = match (event.envelope.kind, &event.envelope.body) {
        (EventKind::SessionStart, _) => at_start(event),
        (EventKind::PostToolUse, Body::ToolDone { call, .. }) => {
            event.effort().and_then(|effort| discover::probe(event, effort, call)).into_iter().collect()
        }
        (EventKind::PreToolUse, Body::Tool(call)) => preloads(event, call),
        _ => Vec::new(),
    };
    // The facts of the session's own project, wherever a `cd` has led it.
    asked.extend(facts::asks(event));
    unknown(event, asked)
}

/// A rule may be an untrusted project's: it shows what is the project's own.
fn preloads(event: &EventContext<'_>, call: &ToolCall) -> Vec<Probe> {
    let within = vec![event.places.tree.clone()];
    workflow::preloads(event, call).into_iter().map(|path| Probe::Text { path, within: within.clone() }).collect()
}

fn at_start(event: &EventContext<'_>) -> Vec<Probe> {
    let mut probes = Vec::new();
    let Some(session) = event.session() else { return probes };
    if let Some(waiting) = waiting(event, session) {
        probes.extend(texts(event, waiting));
    }
    if let Some(effort) = event.effort() {
        probes.extend(texts(event, &event.skill(effort).preload));
        probes.push(Probe::Matches { folder: effort.folder.clone(), pattern: start::pattern(effort) });
        probes.extend(texts(event, &[effort.artifact("LOG")]));
    }
    probes
}

fn waiting<'a>(event: &EventContext<'a>, session: &Session) -> Option<&'a [String]> {
    start::waiting(event, session).map(|stored| stored.hand_over.required_files.as_slice())
}

/// Files of the project, of the user's own configuration, or of our own folder.
fn texts(event: &EventContext<'_>, files: &[String]) -> Vec<Probe> {
    let Places { tree, agent_folder, state, home, .. } = event.places;
    let within = vec![tree.clone(), agent_folder.clone(), format!("{state}/projects")];
    let full = files.iter().map(|file| path::normal(file, tree, home));
    full.map(|path| Probe::Text { path, within: within.clone() }).collect()
}

fn unknown(event: &EventContext<'_>, probes: Vec<Probe>) -> Vec<Probe> {
    let facts = event.facts;
    let known = |probe: &Probe| match probe {
        Probe::Text { path, .. } => facts.text(path).is_some(),
        Probe::Matches { folder, pattern } => facts.matches(folder, pattern).is_some(),
        Probe::Directives { folder, .. } => facts.directives(folder).is_some(),
        _ => false,
    };
    probes.into_iter().filter(|probe| !known(probe)).collect()
}
