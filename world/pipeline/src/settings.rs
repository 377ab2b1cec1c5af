//! Whether an agent's settings file still holds the hooks we put there.

use crate::pipeline::PipelineSetup;
use agents::settings::SettingsDialect;
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

/// Every event that called us in what we wrote still does. A file that cannot
/// be read is one the client ignores whole.
fn holds_all(settings: &SettingsDialect, text: &str, ours: &str) -> bool {
    let (Ok(now), Ok(then)) = ((settings.inspect)(text), (settings.inspect)(ours)) else { return false };
    let called = |event: &str| now.entries.iter().any(|entry| entry.event == event && entry.matcher.is_none());
    !now.hooks_disabled && then.entries.iter().all(|entry| called(&entry.event))
}
