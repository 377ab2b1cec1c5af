//! Whether an agent that came through another agent's settings runs hooks of ours from its own as well: then its events
//! count there. The same for a call by a plugin of ours, or by the line that a project shares. And whether one that gives
//! its calls no id has them in two files of its own: then each comes twice.
//! Looked up for such calls alone, and kept while the files are the same.

use crate::pipeline::PipelineSetup;
use crate::prepare::PreparedEvent;
use crate::stamp::Stamp;
use agents::settings::HookEntry;
use agents::{Dialect, LinePlace};
use host::settings_file::Backups;
use model::EventKind;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules};

/// Settings are small; a larger file is not looked into.
const LARGEST: u64 = 256 << 10;

/// More agents and projects than this are not remembered between events.
const MOST_KNOWN: usize = 16;

/// What was found in files that have not changed since.
#[derive(Default)]
pub struct OwnHooksCache {
    known: Vec<KnownHooks>,
}

struct KnownHooks {
    agent: &'static str,
    files: Vec<(PathBuf, Stamp)>,
    hooks: FoundHooks,
}

#[derive(Default)]
struct FoundHooks {
    /// What the agent calls the events that it calls us for.
    events: Vec<String>,
    /// The same for the user's own file alone.
    of_user: Vec<String>,
    /// The same for every file that calls us, whoever put it there.
    by_file: Vec<Vec<String>>,
}

impl OwnHooksCache {
    /// Whether the agent's own settings call us for this event.
    pub fn run(&mut self, dialect: &'static Dialect, event: &PreparedEvent, setting: &PipelineSetup) -> bool {
        self.found(dialect, event, setting).is_some_and(|hooks| calls_for(dialect, event, &hooks.events))
    }

    /// Whether this call came by a line beside which the settings call us for the event as well: a plugin's, or the one
    /// that a project shares beside the user's own.
    pub fn run_beside(
        &mut self,
        dialect: &'static Dialect,
        event: &PreparedEvent,
        line: Option<LinePlace>,
        setting: &PipelineSetup,
    ) -> bool {
        let Some(line) = line else { return false };
        let hooks = self.found(dialect, event, setting);
        hooks.is_some_and(|hooks| match line {
            LinePlace::Plugin => calls_for(dialect, event, &hooks.events),
            LinePlace::Project => calls_for(dialect, event, &hooks.of_user),
        })
    }

    /// Whether two of its files, the user's and the project's, call us for this event. That both are run is not known.
    pub fn run_twice(&mut self, dialect: &'static Dialect, event: &PreparedEvent, setting: &PipelineSetup) -> bool {
        let calls = |events: &&Vec<String>| calls_for(dialect, event, events);
        self.found(dialect, event, setting).is_some_and(|hooks| hooks.by_file.iter().filter(calls).count() > 1)
    }

    fn found(
        &mut self,
        dialect: &'static Dialect,
        event: &PreparedEvent,
        setting: &PipelineSetup,
    ) -> Option<&FoundHooks> {
        let folder = Path::new(&event.places.agent_folder);
        let files = files(dialect, folder, Path::new(&event.places.tree));
        let files: Vec<_> =
            files.into_iter().map(|file| (Stamp::of(&file), file)).map(|(of, file)| (file, of)).collect();
        let known = self.known.iter().position(|one| one.agent == dialect.id() && one.files == files);
        let at = known.unwrap_or_else(|| {
            if self.known.len() >= MOST_KNOWN {
                self.known.remove(0);
            }
            let hooks = found(dialect, folder, &files, &setting.state);
            self.known.push(KnownHooks { agent: dialect.id(), files, hooks });
            self.known.len() - 1
        });
        self.known.get(at).map(|one| &one.hooks)
    }
}

fn calls_for(dialect: &Dialect, event: &PreparedEvent, events: &[String]) -> bool {
    let (kind, name) = (event.envelope.kind, event.envelope.name.as_str());
    events.iter().any(|found| {
        let registered = dialect.settings.registered.iter().find(|one| one.name == found);
        // An event that nothing follows from may be told under any name.
        kind == EventKind::Unknown || found == name || registered.is_some_and(|one| one.kind == kind)
    })
}

/// The SHA-256 of a text, in hexadecimal digits.
pub fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The user's own file first, then those of the project, then the one that says what the user has agreed to.
fn files(dialect: &Dialect, folder: &Path, tree: &Path) -> Vec<PathBuf> {
    let settings = &dialect.settings;
    let of_project = [settings.project_file, settings.local_file].into_iter().flatten();
    let review = settings.review.as_ref().map(|review| folder.join(review.file));
    let mut files = vec![folder.join(settings.user_file)];
    files.extend(of_project.map(|file| tree.join(file)));
    files.extend(review);
    files
}

fn found(dialect: &Dialect, folder: &Path, files: &[(PathBuf, Stamp)], state: &Path) -> FoundHooks {
    let read = |file: &Path| outside::read_text(file, &Rules::up_to(LARGEST)).unwrap_or_default();
    let (settings, user) = (&dialect.settings, folder.join(dialect.settings.user_file));
    let waiting = settings.review.as_ref().map(|review| {
        (review.waiting)(&read(&folder.join(review.file)), &read(&user), &user.to_string_lossy(), sha256)
    });
    let waiting = waiting.unwrap_or_default();
    let mut hooks = FoundHooks::default();
    for (nth, (file, stamp)) in files.iter().enumerate() {
        // In a home that is a project as well both are one file.
        if !stamp.is_there() || files.iter().take(nth).any(|(_, before)| before == stamp) {
            continue;
        }
        let entries = match (settings.inspect)(&read(file)) {
            Ok(found) if !found.hooks_disabled && found.ignored_for.is_none() => found.entries,
            _ => Vec::new(),
        };
        let runs = |entry: &HookEntry| entry.matcher.is_none() && !(*file == user && waiting.contains(&entry.event));
        let events: Vec<String> = entries.into_iter().filter(runs).map(|entry| entry.event).collect();
        // A repository's own word that its events count elsewhere is none: `taut init` was run for it here.
        if *file == user || Backups::of(state, file).read_record().is_some() {
            hooks.events.extend_from_slice(&events);
        }
        if *file == user {
            hooks.of_user.extend_from_slice(&events);
        }
        hooks.by_file.push(events);
    }
    hooks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With this hash in its `config.toml` the real Codex, 0.166.0, ran this hook, and without it did not.
    #[test]
    fn i2_a_hook_that_was_agreed_to_is_known_by_the_hash_that_its_agent_makes() {
        let hook = r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"/opt/taut hook --agent codex","timeout":10,"type":"command"}]}"#;
        assert_eq!(sha256(hook), "e4f3f3b6a606157e5896265c4987504d04716bca7c4ffb68538ed6024fd095ff");
    }
}
