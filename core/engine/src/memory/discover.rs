//! PostToolUse: which directives lie on the way from the touched folder to the
//! root of the project. Each is announced once in a context, by its full path.

use super::path::{normal, parent, within};
use super::{Memory, settings, subs};
use crate::context::Rank;
use crate::event_context::EventContext;
use crate::gates::directives;
use model::effort::{Counters, Directive, Effort, MemoryWrite};
use model::event::{Body, EventKind, StartSource};
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
    let mut counters = event.counters();
    let known = |path: &str| event.rows().directives.iter().find(|one| one.path == path && one.effort == effort.id);
    let own = found.iter().filter(|path| is_own(path, &event.places.tree));
    let fresh: Vec<&String> = own.filter(|path| known(path).is_none() || !is_seen(&counters, path)).collect();
    if !fresh.is_empty() {
        // What was just read need not be read again.
        let shown = directives::shown(event, call).paths;
        let fresh = fresh.into_iter().map(|path| Directive {
            effort: effort.id.clone(),
            path: path.clone(),
            required: required.iter().any(|name| is_named(path, name)),
            read: shown.contains(path) || known(path).is_some_and(|known| known.read),
        });
        let fresh: Vec<Directive> = fresh.collect();
        announce(event, &fresh, memory);
        memory.keeps.extend(fresh.into_iter().map(MemoryWrite::Directive));
    }
    if counters.folders.len() < MOST_FOLDERS {
        counters.folders.push(folder);
    }
    memory.keeps.push(MemoryWrite::Counters(counters));
}

/// A context that begins anew has read nothing, whatever the one before it had.
pub fn forget(event: &EventContext<'_>, current: Option<&Effort>, memory: &mut Memory) {
    let begins = match &event.envelope.body {
        Body::SessionStart(start) => {
            event.placed.opened && !matches!(start.source, StartSource::Resume | StartSource::Fork)
        }
        Body::Compact { .. } => event.envelope.kind == EventKind::PostCompact,
        _ => false,
    };
    let Some(effort) = current.filter(|_| begins && event.envelope.sub_agent.is_none()) else { return };
    memory.keeps.push(MemoryWrite::DirectivesUnread { effort: effort.id.clone() });
    let counters = event.counters();
    if !counters.folders.is_empty() {
        memory.keeps.push(MemoryWrite::Counters(Counters { folders: Vec::new(), unread_calls: 0, ..counters }));
    }
}

/// Whether a folder that was looked through in this context had it on its way up.
fn is_seen(counters: &Counters, path: &str) -> bool {
    let folder = parent(path);
    let folder = folder.strip_suffix("/.directives").unwrap_or(folder);
    counters.folders.len() >= MOST_FOLDERS || counters.folders.iter().any(|seen| within(seen, folder))
}

/// Folders that others fill: what stands there says nothing of how to work here.
const FOREIGN: &[&str] = &[
    "node_modules", "bower_components", "jspm_packages", "vendor", "target", "dist", "site-packages", "dist-packages",
    ".venv", "venv", ".tox", ".nox", "__pycache__", ".eggs", ".git", ".hg", ".svn", ".jj", ".cargo", ".gradle", "Pods",
    "Carthage", ".next", ".nuxt", ".svelte-kit", ".terraform", ".cache", ".yarn", ".pnpm-store", "elm-stuff", "_build",
    ".dart_tool", ".bundle",
];

fn is_own(path: &str, tree: &str) -> bool {
    let below = path.strip_prefix(tree.trim_end_matches('/')).unwrap_or(path);
    !below.split('/').any(|part| FOREIGN.contains(&part))
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
