//! Which agents' settings hold our hooks, and whether those hooks guard: the agent runs them, and their program is there.

use agents::Dialect;
use agents::settings::{HookEntry, Inspection};
use host::install::program;
use host::paths::PathVariables;
use host::settings_file::SettingsLevel;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules};

/// A larger settings file is none that a client reads.
const LARGEST_SETTINGS: u64 = 8 << 20;

/// An agent whose settings hold our hooks, and which of them do.
pub struct InstalledHooks {
    pub dialect: &'static Dialect,
    pub levels: Vec<&'static str>,
    /// Why they guard nothing, where that is so.
    pub off: Option<String>,
}

/// The settings that hold our hooks, by agent.
pub fn installed(places: &PathVariables, project: &Path) -> Vec<InstalledHooks> {
    agents::ALL.0.iter().copied().filter_map(|dialect| of(dialect, places, project)).collect()
}

/// One settings file of an agent.
struct Looked {
    level: &'static str,
    path: PathBuf,
    found: Inspection,
}

fn of(dialect: &'static Dialect, places: &PathVariables, project: &Path) -> Option<InstalledHooks> {
    let all = [
        ("user", SettingsLevel::User),
        ("project", SettingsLevel::Project(project.to_path_buf())),
        ("local", SettingsLevel::Local(project.to_path_buf())),
    ];
    let mut looked: Vec<Looked> = Vec::new();
    for (level, settings) in all {
        let Some(path) = settings.path(places, dialect) else { continue };
        // In the home folder, a project's file is the user's own.
        if looked.iter().any(|other| other.path == path) {
            continue;
        }
        let text = outside::read_text(&path, &Rules::up_to(LARGEST_SETTINGS)).unwrap_or_default();
        if let Ok(found) = (dialect.settings.inspect)(&text) {
            looked.push(Looked { level, path, found });
        }
    }
    let with: Vec<&Looked> = looked.iter().filter(|one| !one.found.entries.is_empty()).collect();
    let levels: Vec<_> = with.iter().map(|one| one.level).collect();
    (!levels.is_empty()).then(|| InstalledHooks { dialect, levels, off: off(dialect, &looked, &with) })
}

/// Why no hook of ours is asked before a tool of this agent runs.
fn off(dialect: &Dialect, looked: &[Looked], with: &[&Looked]) -> Option<String> {
    let name = dialect.profile.name;
    if let Some(one) = looked.iter().find(|one| one.found.hooks_disabled) {
        return Some(format!("{name} runs no hooks: {} switches them off", one.path.display()));
    }
    // One file that guards is enough; of those that do not, the first is named.
    let mut why = with.iter().map(|one| off_in(dialect, one));
    if why.clone().any(|why| why.is_none()) { None } else { why.next().flatten() }
}

fn off_in(dialect: &Dialect, one: &Looked) -> Option<String> {
    let (name, shown, gate) = (dialect.profile.name, one.path.display(), dialect.gate_event);
    if one.found.ignored_for.is_some() {
        return Some(format!("{name} ignores {shown}, which it cannot read"));
    }
    let gates: Vec<&HookEntry> = one.found.entries.iter().filter(|entry| entry.event == gate).collect();
    match gates.first() {
        None => Some(format!("{shown} has no {gate} hook of ours")),
        Some(_) if gates.iter().any(|entry| starts(&entry.program)) => None,
        Some(entry) => Some(format!("{shown} calls {}, which is not there", entry.program)),
    }
}

/// Whether a hook line's program can be started. One that a variable or a shell completes cannot be told from here.
fn starts(named: &str) -> bool {
    if named.contains(['$', '~', '`']) {
        return true;
    }
    match (named.contains('/'), Path::new(named)) {
        (true, path) if path.is_absolute() => program::runs(path),
        (true, _) => true,
        (false, _) => {
            let places = PathVariables::from_process();
            program::runs(&crate::agent_settings::started_by(named, &places))
                || program::is_on_search_path(named, &std::env::var_os("PATH").unwrap_or_default())
        }
    }
}
