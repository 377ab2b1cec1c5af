//! What an installation does, in words: to the settings, for the user, and what it leaves alone.

use super::Setup;
use crate::agent_settings::shown;
use agents::settings::{Edited, HookEntry};
use host::settings_file::SettingsLevel;
use std::path::Path;

/// "adds one line to 26 events".
pub fn edits(before: &[HookEntry], after: &[HookEntry], edited: &Edited) -> String {
    let has = |entries: &[HookEntry], event: &str| entries.iter().any(|entry| entry.event == event);
    let added = after.iter().filter(|entry| !has(before, &entry.event)).count();
    let removed = before.iter().filter(|entry| !has(after, &entry.event)).count();
    let is_kept = |event: &&String| has(before, event) && has(after, event);
    let changed = edited.events.iter().filter(is_kept).count();
    let count = |count: usize| if count == 1 { "1 event".to_owned() } else { format!("{count} events") };
    let mut parts = Vec::new();
    parts.extend((added > 0).then(|| format!("adds one line to {}", count(added))));
    parts.extend((changed > 0).then(|| format!("renews the line of {}", count(changed))));
    parts.extend((removed > 0).then(|| format!("takes the line of {} out", count(removed))));
    parts.extend((!edited.allow.is_empty()).then(|| format!("allows {}", edited.allow.join(", "))));
    if parts.is_empty() { "leaves the hooks as they are".to_owned() } else { parts.join(", ") }
}

/// What follows from it for the user.
pub fn print(setup: &Setup<'_>) {
    let (printer, places) = (setup.printer, &setup.places);
    let state = shown(&places.state(), places);
    let scope = match &setup.level {
        SettingsLevel::User => "in all your projects".to_owned(),
        SettingsLevel::Project(project) => format!("in {}, for everyone who works on it", shown(project, places)),
        SettingsLevel::Local(project) => format!("in {}, for you alone", shown(project, places)),
    };
    printer.line("");
    printer.line(printer.bold("What changes for you"));
    printer.line(format!("  Commands that destroy are stopped before they run, {scope}."));
    printer.line(format!("  What agents do is recorded on this machine, in {state}."));
    if let Some(copy) = &setup.program.copy {
        let (from, to) = (shown(&copy.from, places), shown(Path::new(&setup.program.path), places));
        printer.line(format!("  The hooks call {to}, a copy of this program: {from} lies in {}.", copy.lies_in));
        printer.line("  After an upgrade, `taut init` renews the copy.");
    }
    if matches!(setup.level, SettingsLevel::Project(_)) {
        printer
            .line("  The line names no path of this machine. Where Taut is not installed, sessions go on and say so.");
    }
    printer.line(printer.bold("What does not"));
    printer
        .line("  Your other hooks, settings and permission prompts. Nothing leaves this machine, and nothing else is");
    printer.line("  said to an agent. `taut uninstall` takes the lines out again, byte for byte.");
    if !(setup.args.diff || setup.args.dry_run) {
        printer.line(printer.dim("  `taut init --diff` shows the change line by line."));
    }
    printer.line("");
}

#[cfg(test)]
mod tests {
    use super::*;
    use agents::settings::{GuardFailure, KnownClient, SettingsPlan};

    fn said(before: &str, command: &str) -> String {
        let settings = &agents::DEFAULT.settings;
        let plan = SettingsPlan {
            command: command.into(),
            client: KnownClient::Unknown,
            on_failure: GuardFailure::Continue,
            allow: Vec::new(),
            results: model::session::ResultsBy::Hooks,
        };
        let edited = (settings.edit)(before, &plan).unwrap();
        let entries = |text: &str| (settings.inspect)(text).unwrap().entries;
        edits(&entries(before), &entries(&edited.text), &edited)
    }

    #[test]
    fn i1_a_change_is_counted_in_words() {
        let all = agents::DEFAULT.settings.registered.len();
        assert_eq!(said("{}", "/a/taut"), format!("adds one line to {all} events"));
        let settings = (agents::DEFAULT.settings.edit)(
            "{}",
            &SettingsPlan {
                command: "/a/taut".into(),
                client: KnownClient::Unknown,
                on_failure: GuardFailure::Continue,
                allow: Vec::new(),
                results: model::session::ResultsBy::Hooks,
            },
        );
        let installed = settings.unwrap().text;
        assert_eq!(said(&installed, "/b/taut"), format!("renews the line of {all} events"));
        let stale = installed.replace("\"Stop\"", "\"Gone\"");
        assert_eq!(said(&stale, "/a/taut"), "adds one line to 1 event, takes the line of 1 event out");
    }
}
