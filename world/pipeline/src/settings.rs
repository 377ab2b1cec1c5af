//! Whether an agent's settings file still holds the hooks we put there.

use crate::pipeline::PipelineSetup;
use agents::settings::{Inspection, SettingsDialect};
use host::install::uninstall_intended;
use host::settings_file::Backups;
use model::Ms;
use model::event::{Body, Envelope};
use model::fact::SettingsFact;
use std::path::Path;
use sys::outside::{self, Rules};

/// A larger settings file is none that a client reads.
const LARGEST: u64 = 8 << 20;

/// Asked only where the file of a changed configuration is known.
pub fn fact(envelope: &Envelope, setting: &PipelineSetup, now: Ms) -> Option<SettingsFact> {
    let Body::ConfigChange { file: Some(file), .. } = &envelope.body else { return None };
    let (file, dialect) = (Path::new(file), setting.dialects.find(envelope.agent.id)?);
    let record = Backups::of(&setting.state, file).read_record()?;
    let text = outside::read_text(file, &Rules::up_to(LARGEST)).unwrap_or_default();
    Some(SettingsFact {
        installed: true,
        intact: holds_all(&dialect.settings, &text, &record.after),
        leaving: uninstall_intended(&setting.state, now),
    })
}

/// Every event that called us in what we wrote still does, and whether agents can be answered from elsewhere is as the
/// user has it. A file that cannot be read is one the client ignores whole.
fn holds_all(settings: &SettingsDialect, text: &str, ours: &str) -> bool {
    let (Ok(now), Ok(then)) = ((settings.inspect)(text), (settings.inspect)(ours)) else { return false };
    let called = |event: &str| now.entries.iter().any(|entry| entry.event == event && entry.matcher.is_none());
    let waits = |found: &Inspection| -> Vec<(String, Option<String>)> {
        found.waiting.iter().map(|entry| (entry.program.clone(), entry.matcher.clone())).collect()
    };
    !now.hooks_disabled && then.entries.iter().all(|entry| called(&entry.event)) && waits(&now) == waits(&then)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agents::settings::{GuardFailure, KnownClient, SettingsPlan};

    #[test]
    fn g8_the_line_that_waits_for_answers_is_neither_removed_nor_added_nor_narrowed_behind_the_user() {
        let settings = &agents::DEFAULT.settings;
        let plan = |command: &str| SettingsPlan {
            command: command.into(),
            client: KnownClient::Unknown,
            on_failure: GuardFailure::Continue,
            allow: Vec::new(),
            results: model::session::ResultsBy::Hooks,
        };
        let off = (settings.edit)("{}", &plan("/b/taut")).unwrap().text;
        let put = |plan: &SettingsPlan| (settings.waiting.as_ref().unwrap().edit)(&off, plan).unwrap().text;
        let on = put(&plan("/b/taut"));
        assert!(holds_all(settings, &off, &off) && holds_all(settings, &on, &on));
        assert!(!holds_all(settings, &off, &on), "removed");
        assert!(!holds_all(settings, &on, &off), "added");
        assert!(!holds_all(settings, &put(&plan("/tmp/taut")), &on), "another program");
        let (before, line) = on.split_once(r#""answer", "wait""#).unwrap();
        let (before, group) = before.rsplit_once(r#"{ "hooks""#).unwrap();
        let narrowed = format!(r#"{before}{{ "matcher": "Bash", "hooks"{group}"answer", "wait"{line}"#);
        assert!(!holds_all(settings, &narrowed, &on), "narrowed: {narrowed}");
    }
}
