//! What memory must ask of the world once the stored rows are known. Empty on
//! the ordinary way: only an effort, an account or an invoked skill asks.

use super::command::{self, AgentCommand};
use super::{Sight, begin, discover, path, plain, skill, start};
use model::effort::EffortRows;
use model::event::{Body, Envelope, EventKind};
use model::fact::Probe;
use model::session::Session;
use model::tool::ToolKind;

/// Bytes of a transcript's end that hold the words before a question.
const PREMISE_BYTES: u64 = 64 * 1024;

/// What can be asked before anything stored is looked at: a question to the
/// user is kept with the words before it.
pub fn early(envelope: &Envelope) -> Option<Probe> {
    let Body::ToolDone { call, .. } = &envelope.body else { return None };
    let path = envelope.transcript.clone().filter(|_| call.kind == ToolKind::Ask)?;
    Some(Probe::Transcript { path, last: PREMISE_BYTES })
}

/// Whether an event can raise any question at all.
pub fn may(envelope: &Envelope, known: &EffortRows) -> bool {
    match (envelope.kind, &envelope.body) {
        (EventKind::SessionStart, _) => known.account.is_some() || !known.efforts.is_empty(),
        (EventKind::UserPromptExpansion, _) => true,
        (EventKind::PreToolUse, Body::Tool(call)) => begin::invoked_skill(call).is_some() || plain(call).is_some(),
        (EventKind::PostToolUse, _) => !known.efforts.is_empty(),
        _ => false,
    }
}

pub fn probes(sight: &Sight<'_>) -> Vec<Probe> {
    let asked = match (sight.envelope.kind, &sight.envelope.body) {
        (EventKind::SessionStart, _) => at_start(sight),
        (EventKind::UserPromptExpansion, Body::Expansion { command, .. }) => {
            of_skill(sight, command.trim_start_matches('/'))
        }
        (EventKind::PreToolUse, Body::Tool(call)) => match begin::invoked_skill(call) {
            Some(name) => of_skill(sight, name),
            None => match plain(call).as_ref().and_then(command::parse) {
                Some(Ok(AgentCommand::Start(start))) => of_skill(sight, &start.skill),
                _ => Vec::new(),
            },
        },
        (EventKind::PostToolUse, Body::ToolDone { call, .. }) => {
            sight.current().and_then(|effort| discover::probe(sight, effort, call)).into_iter().collect()
        }
        _ => Vec::new(),
    };
    asked.into_iter().filter(|probe| !is_known(sight, probe)).collect()
}

fn of_skill(sight: &Sight<'_>, name: &str) -> Vec<Probe> {
    let mut probes = skill::probes(name, &sight.places());
    let own = skill::own(name, &sight.places(), sight.facts);
    if let Some(declared) = skill::Skill::declared(sight.policy, name, &own) {
        probes.extend(texts(sight, &declared.preload));
    }
    probes
}

fn at_start(sight: &Sight<'_>) -> Vec<Probe> {
    let mut probes = Vec::new();
    let Some(session) = sight.session else { return probes };
    if let Some(waiting) = waiting(sight, session) {
        probes.extend(texts(sight, waiting));
    }
    if let Some(effort) = sight.current() {
        probes.extend(texts(sight, &sight.skill(effort).preload));
        probes.push(Probe::Matches { folder: effort.folder.clone(), pattern: start::pattern(effort) });
        probes.extend(texts(sight, &[effort.artifact("LOG")]));
    }
    probes
}

fn waiting<'a>(sight: &Sight<'a>, session: &Session) -> Option<&'a [String]> {
    start::waiting(sight, session).map(|stored| stored.hand_over.required_files.as_slice())
}

/// Files of the project, of the user's own configuration, or of our own folder.
fn texts(sight: &Sight<'_>, files: &[String]) -> Vec<Probe> {
    let ground = sight.ground;
    let within = vec![ground.tree.to_string(), ground.agent_folder.to_string(), format!("{}/projects", ground.state)];
    let full = files.iter().map(|file| path::normal(file, ground.tree, ground.home));
    full.map(|path| Probe::Text { path, within: within.clone() }).collect()
}

fn is_known(sight: &Sight<'_>, probe: &Probe) -> bool {
    match probe {
        Probe::Text { path, .. } => sight.facts.text(path).is_some(),
        Probe::Matches { folder, pattern } => sight.facts.matches(folder, pattern).is_some(),
        Probe::Directives { folder, .. } => sight.facts.directives(folder).is_some(),
        _ => false,
    }
}
