//! How an effort begins by itself: a skill that declares itself to Taut is
//! invoked. Where it belongs: to the agent's active task, else to a task of its
//! own that only has a folder.

use super::skill::{self, Skill};
use super::{Memory, execute, path};
use crate::context::Rank;
use crate::event_context::EventContext;
use crate::{identity, queue};
use grammar::{AgentCommand, Start};
use model::Loaded;
use model::event::{Body, Envelope, EventKind};
use model::tool::ToolCall;

/// A task, its folder, and the number a new effort of it gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffortSlot {
    pub task: String,
    pub folder: String,
    pub ordinal: i64,
}

impl EffortSlot {
    pub fn of(start: &Start, event: &EventContext<'_>) -> Self {
        let task = task(start, event);
        let named = start.folder.as_deref().map(|folder| path::normal(folder, event.cwd(), &event.places.home));
        let folder = named
            .or_else(|| event.rows().task_folder.clone())
            .unwrap_or_else(|| folder(&event.places.state, event.project(), &task));
        Self { task, folder, ordinal: event.rows().next_ordinal }
    }
}

/// The effort that the event may begin.
pub fn begins(event: &EventContext<'_>) -> Option<Start> {
    if let Some(AgentCommand::Start(start)) = event.command() {
        return Some(start.clone());
    }
    let skill = match (event.envelope.kind, &event.envelope.body) {
        (_, Body::Expansion { command, .. }) => command.trim_start_matches('/'),
        (EventKind::PreToolUse, Body::Tool(call)) => invoked_skill(call)?,
        (EventKind::UserPromptSubmit, Body::Prompt { text }) => prompted_skill(event.envelope, text)?,
        _ => return None,
    };
    Some(Start { skill: skill.to_string(), ..Start::default() })
}

/// The skill a call invokes.
pub fn invoked_skill(call: &ToolCall) -> Option<&str> {
    call.subject.skill.as_deref().filter(|name| !name.is_empty()).map(|name| name.trim_start_matches('/'))
}

/// The skill that a prompt invokes: `/implement the bridge`. The client tells of the prompt before it tells
/// which command that is, and who calls a hook as a method tells nothing more: so the effort begins here, and
/// the expansion finds it begun.
pub fn prompted_skill<'e>(envelope: &Envelope, text: &'e str) -> Option<&'e str> {
    let line = text.trim_start().strip_prefix('/').filter(|_| envelope.sub_agent.is_none())?;
    line.split(char::is_whitespace).next().filter(|name| !name.is_empty())
}

/// The task named, the one the folder names, the one the agent holds, or one of its own.
pub fn task(start: &Start, event: &EventContext<'_>) -> String {
    let by_folder = || start.folder.as_deref().map(|folder| folder.trim_matches(['.', '/']).to_string());
    start.task.clone().or_else(by_folder).or_else(|| held_task(event)).unwrap_or_else(|| {
        let day = event.now.rfc3339();
        format!("taut/{}-{}", day.get(..10).unwrap_or_default(), start.skill)
    })
}

/// A process speaks for all that its agent holds.
fn held_task(event: &EventContext<'_>) -> Option<String> {
    let Loaded { held, open, .. } = event.loaded;
    if event.is_process() {
        return held.first().map(|task| task.slug.clone());
    }
    let session = event.own_session().or(open.first())?;
    queue::held(held, session).first().map(|held| held.task.slug.clone())
}

/// Where a task without a folder of its own keeps its artifacts.
fn folder(state: &str, project: &str, task: &str) -> String {
    let name: String =
        task.chars().map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' }).collect();
    format!("{state}/projects/{}/{}", identity::project_mark(project), name.trim_matches('.'))
}

/// A skill was invoked, by the user or by the model.
pub fn invoked(event: &EventContext<'_>, name: &str, memory: &mut Memory) {
    let name = name.trim_start_matches('/');
    let own = skill::own(name, &event.skill_folders(), event.facts);
    let Some(declared) = Skill::declared(event.policy, name, &own) else { return };
    let start = Start { skill: name.to_string(), ..Start::default() };
    let Ok(done) = execute::begin(start, event) else { return };
    let Some(effort) = done.effort.clone() else { return };
    let said = done.output.clone();
    memory.take(done);
    memory.texts.push((Rank::Effort, format!("{} effort {said}", super::settings::label(event.policy, "INFO"))));
    preload(event, &declared, memory);
    memory.report.effort = Some(effort);
}

/// The files the skill wants read, shown where they fit.
pub fn preload(event: &EventContext<'_>, skill: &Skill, memory: &mut Memory) {
    for file in &skill.preload {
        let path = path::normal(file, &event.places.tree, &event.places.home);
        memory.report.pending_preloads.push(path.clone());
        memory.show(event, Rank::Effort, &path, file);
    }
}
