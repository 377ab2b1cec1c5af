//! PostToolUse: which directives lie on the way from the touched folder to the
//! root of the project. Each is announced once, by its full path.

use super::path::{normal, parent, within};
use super::{Memory, settings, subs};
use crate::context::Rank;
use crate::event_context::EventContext;
use model::effort::{Counters, Directive, Effort, MemoryWrite};
use model::fact::Probe;
use model::tool::{ToolCall, ToolKind};

/// A session that touched more folders than this has seen them all.
const MOST_FOLDERS: usize = 256;

pub fn step(event: &EventContext<'_>, current: Option<&Effort>, call: &ToolCall, memory: &mut Memory) {
    let Some(effort) = current else { return };
    if let Some(path) = call.read_file() {
        subs::loaded(event, current, &normal(path, event.cwd(), &event.places.home), memory);
    }
    let Some(folder) = folder(event, effort, call) else { return };
    let Some(found) = event.facts.directives(&folder) else { return };
    let required = event.skill(effort).directives.unwrap_or_default();
    let known = &event.rows().directives;
    let fresh: Vec<Directive> = found
        .iter()
        .filter(|path| !known.iter().any(|one| one.path == **path && one.effort == effort.id))
        .map(|path| Directive {
            effort: effort.id.clone(),
            path: path.clone(),
            required: required.iter().any(|name| is_named(path, name)),
            // What was just read need not be read again.
            read: call.read_file().is_some_and(|read| normal(read, event.cwd(), &event.places.home) == **path),
        })
        .collect();
    announce(event, &fresh, memory);
    memory.keeps.extend(fresh.into_iter().map(MemoryWrite::Directive));
    let mut counters = event.counters();
    if counters.folders.len() < MOST_FOLDERS {
        counters.folders.push(folder);
    }
    memory.keeps.push(MemoryWrite::Counters(Counters { ..counters }));
}

/// What to ask, where the call touched a folder that was not looked through yet.
pub fn probe(event: &EventContext<'_>, effort: &Effort, call: &ToolCall) -> Option<Probe> {
    let folder = folder(event, effort, call)?;
    Some(Probe::Directives {
        folder,
        root: event.places.tree.to_string(),
        names: settings::directive_names(event.policy),
    })
}

/// The folder a call touched, where its directives matter and are not known.
fn folder(event: &EventContext<'_>, effort: &Effort, call: &ToolCall) -> Option<String> {
    event.skill(effort).directives?;
    let full = |path: &str| normal(path, event.cwd(), &event.places.home);
    let folder = match call.kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Write => parent(&full(call.subject.paths.first()?)).to_string(),
        ToolKind::Search => full(call.subject.folder.as_deref()?),
        ToolKind::Shell => event.cwd().to_string(),
        _ => return None,
    };
    let fresh = !event.counters().folders.contains(&folder);
    (fresh && within(&folder, &event.places.tree)).then_some(folder)
}

fn is_named(path: &str, name: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default();
    file.trim_end_matches(".md").eq_ignore_ascii_case(name.trim_end_matches(".md"))
}

fn announce(event: &EventContext<'_>, fresh: &[Directive], memory: &mut Memory) {
    let list = |required: bool| {
        let paths: Vec<&str> =
            fresh.iter().filter(|one| one.required == required && !one.read).map(|one| one.path.as_str()).collect();
        (!paths.is_empty()).then(|| paths.join(", "))
    };
    if let Some(paths) = list(true) {
        let limit = event.policy.sections.directives.block;
        let label = settings::label(event.policy, "WARNING");
        let text = format!(
            "{label} This skill requires you to read {paths}. After {limit} more tool calls nothing else runs."
        );
        memory.texts.push((Rank::Warning, text));
    }
    if let Some(paths) = list(false) {
        let label = settings::label(event.policy, "INFO");
        memory
            .texts
            .push((Rank::Note, format!("{label} Directives for this folder, read them if they matter: {paths}")));
    }
}
