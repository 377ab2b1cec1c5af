//! How an effort begins by itself: a skill that declares itself to Taut is
//! invoked. Where it belongs: to the agent's active task, else to a task of its
//! own that only has a folder.

use super::command::{AgentCommand, Start};
use super::execute::{self, EffortSlot, Mail, Scene};
use super::skill::{self, Skill};
use super::{Memory, Sight, command, path, plain};
use crate::context::Rank;
use crate::identity;
use crate::queue;
use model::Ms;
use model::effort::Effort;
use model::event::{Body, Envelope, EventKind};
use model::tool::ToolCall;
use model::{Loaded, Who};

/// What an event that may begin or name an effort needs from the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The task a new effort would belong to.
    pub task: Option<String>,
    /// The effort that is asked for by name: its task, or its id.
    pub named: Option<String>,
    /// Whom a message is for.
    pub addressee: Option<String>,
}

/// Which rows must be looked up besides the agent's own, if any.
pub fn wanted(envelope: &Envelope, who: &Who, loaded: &Loaded, now: Ms) -> Wanted {
    let start = |skill: &str| Start { skill: skill.to_string(), ..Start::default() };
    let start = match (&envelope.body, envelope.kind) {
        (Body::Expansion { command, .. }, _) => start(command.trim_start_matches('/')),
        (Body::Tool(call), EventKind::PreToolUse) => match invoked_skill(call) {
            Some(skill) => start(skill),
            None => match plain(call).as_ref().and_then(command::parse) {
                Some(Ok(AgentCommand::Start(start))) => start,
                Some(Ok(AgentCommand::Continue { what, .. })) => return Wanted { named: what, ..Wanted::default() },
                Some(Ok(AgentCommand::Send { to, .. })) => return Wanted { addressee: Some(to), ..Wanted::default() },
                _ => return Wanted::default(),
            },
        },
        _ => return Wanted::default(),
    };
    Wanted { task: Some(task(&start, who, loaded, now)), ..Wanted::default() }
}

/// The skill a call invokes.
pub fn invoked_skill(call: &ToolCall) -> Option<&str> {
    call.subject.skill.as_deref().filter(|name| !name.is_empty()).map(|name| name.trim_start_matches('/'))
}

/// The task named, the one the folder names, the one the agent holds, or one of its own.
pub fn task(start: &Start, who: &Who, loaded: &Loaded, now: Ms) -> String {
    let ours = loaded.open.iter().find(|session| session.logical_id == who.logical_id).or(loaded.open.first());
    let held = ours.and_then(|session| queue::held(&loaded.held, session).first().map(|held| held.task.slug.clone()));
    task_name(start, held, now)
}

pub fn task_name(start: &Start, held: Option<String>, now: Ms) -> String {
    let by_folder = || start.folder.as_deref().map(|folder| folder.trim_matches(['.', '/']).to_string());
    start.task.clone().or_else(by_folder).or(held).unwrap_or_else(|| {
        let day = now.rfc3339();
        format!("taut/{}-{}", day.get(..10).unwrap_or_default(), start.skill)
    })
}

/// Where a task without a folder of its own keeps its artifacts.
pub fn folder(state: &str, project: &str, task: &str) -> String {
    let name: String =
        task.chars().map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' }).collect();
    format!("{state}/projects/{}/{}", identity::project_mark(project), name.trim_matches('.'))
}

/// A skill was invoked, by the user or by the model.
pub fn invoked(sight: &Sight<'_>, current: Option<&Effort>, name: &str, memory: &mut Memory) {
    let name = name.trim_start_matches('/');
    let own = skill::own(name, &sight.places(), sight.facts);
    let Some(declared) = Skill::declared(sight.policy, name, &own) else { return };
    let start = Start { skill: name.to_string(), ..Start::default() };
    let scene = scene(sight, current, Some(&start));
    let Ok(done) = execute::begin(start, &scene) else { return };
    let Some(effort) = done.effort.clone() else { return };
    let said = done.said.clone();
    memory.take(done);
    memory.texts.push((Rank::Effort, format!("{} effort {said}", super::settings::label(sight.policy, "INFO"))));
    preload(sight, &declared, memory);
    memory.report.effort = Some(effort);
}

/// The files the skill wants read, shown where they fit.
pub fn preload(sight: &Sight<'_>, skill: &Skill, memory: &mut Memory) {
    for file in &skill.preload {
        let path = path::normal(file, sight.ground.tree, sight.ground.home);
        memory.report.pending_preloads.push(path.clone());
        memory.show(sight, Rank::Effort, &path, file);
    }
}

/// What a command is carried out with.
pub fn scene<'a>(sight: &Sight<'a>, current: Option<&'a Effort>, start: Option<&Start>) -> Scene<'a> {
    let known = sight.known();
    let session = sight.session;
    let project = session.map_or(sight.who.project.as_str(), |session| session.project.as_str());
    let task = start.map(|start| task(start, sight.who, sight.loaded, sight.now)).unwrap_or_default();
    let named_folder = start
        .and_then(|start| start.folder.as_deref())
        .map(|folder| path::normal(folder, sight.cwd(), sight.ground.home));
    let folder = named_folder
        .or_else(|| known.task_folder.clone())
        .unwrap_or_else(|| folder(sight.ground.state, project, &task));
    Scene {
        agent: session.map_or(sight.who.agent.as_str(), |session| session.agent.as_str()),
        project,
        session,
        sub_agent: sight.sub_agent(),
        effort: current,
        named: known.named.as_ref(),
        named_busy: known.named_busy,
        counters: sight.counters(),
        room: EffortSlot { task, folder, ordinal: known.next_ordinal },
        policy: sight.policy,
        own: start.map(|start| skill::own(&start.skill, &sight.places(), sight.facts)).unwrap_or_default(),
        now: sight.now,
        id: sight.id,
        roots: [sight.ground.tree, sight.ground.state],
        mail: Mail {
            addressee: known.addressee.as_ref(),
            names: &known.names,
            starters: &known.starters,
            inbox: &known.inbox,
            from: Some(session.map_or(sight.who.agent.as_str(), |session| session.agent.as_str())),
            reports_to: session
                .and_then(|session| session.memo.reports_to.as_deref())
                .or(known.reports_to.as_deref().filter(|told| session.is_none_or(|own| own.conversation != *told))),
        },
    }
}
