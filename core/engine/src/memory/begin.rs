//! How an effort begins by itself: a skill that declares itself to Taut is
//! invoked. Where it belongs: to the agent's active task, else to a task of its
//! own that only has a folder.

use super::skill::{self, Skill};
use super::{Memory, execute, path};
use crate::context::Rank;
use crate::event_context::EventContext;
use crate::fleet::text::line;
use crate::{identity, queue, redact};
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
        let named = start.folder.as_deref().map(|folder| path::normal(folder, event.cwd(), &event.places.home));
        let state = &event.places.state;
        let Some(task) = task(start, event) else {
            // Nobody else's: each effort has a folder of its own.
            let task = own_task(start, event);
            return Self { folder: folder(state, event.project(), &task), task, ordinal: 1 };
        };
        let folder =
            named.or_else(|| event.rows().task_folder.clone()).unwrap_or_else(|| folder(state, event.project(), &task));
        Self { task, folder, ordinal: event.rows().next_ordinal.max(1) }
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

/// The task named, the one the folder names, or the one the agent holds.
pub fn task(start: &Start, event: &EventContext<'_>) -> Option<String> {
    let by_folder = || start.folder.as_deref().map(|folder| folder.trim_matches(['.', '/']).to_string());
    start.task.clone().or_else(by_folder).or_else(|| held_task(event))
}

/// A task that only this effort has: the day, the skill, what it is about, and the end of its id.
fn own_task(start: &Start, event: &EventContext<'_>) -> String {
    let day = event.now.rfc3339();
    let about = title(start, event).map(|title| slug(&title)).filter(|slug| !slug.is_empty());
    let about = about.map(|slug| format!("-{slug}")).unwrap_or_default();
    let id = event.ids.event;
    let mark = id.get(id.len().saturating_sub(OWN_MARK)..).unwrap_or(id);
    format!("taut/{}-{}{about}-{mark}", day.get(..10).unwrap_or_default(), start.skill)
}

/// Letters of an effort's id in the name of its task.
const OWN_MARK: usize = 6;

/// Characters of a title, and of what a folder is called after it.
const MOST_TITLE: usize = 80;
const MOST_SLUG: usize = 32;

/// What an effort is about: the words its skill was invoked with, else the last prompt.
pub fn title(start: &Start, event: &EventContext<'_>) -> Option<String> {
    if event.memory_off() {
        return None;
    }
    let asked = match (event.envelope.kind, &event.envelope.body) {
        (_, Body::Expansion { args, .. }) => Some(args.as_str()),
        (_, Body::Prompt { text }) => Some(text.as_str()),
        (EventKind::PreToolUse, Body::Tool(call)) if invoked_skill(call).is_some() => {
            call.input.get("args").and_then(serde_json::Value::as_str)
        }
        _ => None,
    };
    let told = event.rows().last_prompt.as_deref();
    // A prompt that invokes the skill says it in front of what it is about.
    let plain = |text: &str| {
        let text = text.trim();
        let rest = text.strip_prefix('/').and_then(|text| text.strip_prefix(start.skill.as_str()));
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        let words = line(redact::text_without_secrets(rest.unwrap_or(text)).trim(), MOST_TITLE);
        Some(words).filter(|words| !words.is_empty())
    };
    asked.and_then(plain).or_else(|| told.and_then(plain))
}

fn slug(title: &str) -> String {
    let mut slug = String::new();
    for word in title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if slug.len() + word.len() > MOST_SLUG {
            break;
        }
        slug.push_str(if slug.is_empty() { "" } else { "-" });
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug
}

/// A process speaks for all that its agent holds.
fn held_task(event: &EventContext<'_>) -> Option<String> {
    let Loaded { held, open, .. } = event.loaded;
    if event.is_process() {
        return held.first().map(|task| task.slug.clone());
    }
    let session = event.own_session().or_else(|| open.iter().find(|session| event.who.speaks_as(session)))?;
    queue::held(held, session).first().map(|held| held.task.slug.clone())
}

/// Characters of a task's name that its folder is called by.
const MOST_FOLDER: usize = 100;

/// Where a task without a folder of its own keeps its artifacts. A name that had to be changed, or that the project
/// keeps for itself, is told from every other by a mark: two tasks never share a folder.
fn folder(state: &str, project: &str, task: &str) -> String {
    let project = identity::project_mark(project);
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = task.chars().map(plain).take(MOST_FOLDER).collect();
    let name = name.trim_matches('.');
    // Tasks of their own are called `taut/…` and end in a mark already.
    let own = task.strip_prefix("taut/").is_some_and(|rest| Some(rest) == name.strip_prefix("taut-"));
    let same = (name == task && !is_kept(name)) || own;
    let mark = if same { String::new() } else { format!("-{}", identity::mark(task)) };
    format!("{state}/projects/{project}/{name}{mark}")
}

/// What lies beside the folders of tasks, and how those of `taut/…` are called.
fn is_kept(name: &str) -> bool {
    name.is_empty() || name.starts_with("taut-") || name.to_ascii_lowercase().starts_with("memory.md")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m6_two_tasks_never_share_a_folder_and_none_has_the_projects_own_files() {
        let of = |task: &str| folder("/state", "/src/acme", task);
        let root = format!("/state/projects/{}", identity::project_mark("/src/acme"));
        assert_eq!(of("bridge"), format!("{root}/bridge"));
        assert_eq!(of("taut/2026-11-16-implement-3f2a91"), format!("{root}/taut-2026-11-16-implement-3f2a91"));
        let tasks =
            ["web/login", "web-login", "web login", "taut/a/b", "taut-a-b", "taut/a-b", "..", ".", "", "memory.md"];
        let mut folders: Vec<String> = tasks.iter().map(|task| of(task)).collect();
        for folder in &folders {
            let name = folder.strip_prefix(&format!("{root}/")).unwrap();
            assert!(
                !name.is_empty() && !name.contains('/') && !name.starts_with('.') && name != "memory.md",
                "{folder}"
            );
        }
        folders.sort();
        folders.dedup();
        assert_eq!(folders.len(), tasks.len(), "{folders:?}");
        assert!(of(&"x".repeat(300)).len() < 200, "a name that a file system takes");
        assert_ne!(of(&"x".repeat(300)), of(&"x".repeat(301)));
    }
}
