//! The line that waits for answers in the user's own settings of each agent that can be answered from elsewhere: read by
//! `taut answer`, looked at by `taut doctor`.

use crate::agent_settings::{as_cli_error, misread};
use crate::error::CliError;
use agents::Dialect;
use agents::settings::{Inspection, KnownClient, WaitingLine};
use host::install::checks::Check;
use host::paths::PathVariables;
use host::settings_file::{SettingsLevel, SettingsSnapshot};
use std::path::Path;

/// The user's settings of one such agent.
pub struct WaitingFile {
    pub dialect: &'static Dialect,
    pub line: &'static WaitingLine,
    pub snapshot: SettingsSnapshot,
    pub found: Inspection,
}

/// The agents that can be answered from elsewhere.
pub fn dialects() -> impl Iterator<Item = &'static Dialect> {
    agents::ALL.0.iter().copied().filter(|dialect| dialect.settings.waiting.is_some())
}

impl WaitingFile {
    pub fn all(places: &PathVariables) -> Result<Vec<Self>, CliError> {
        Self::each(places).map(|(_, read)| read).collect()
    }

    /// One that cannot be read keeps nobody from the others.
    pub fn each(places: &PathVariables) -> impl Iterator<Item = (&'static Dialect, Result<Self, CliError>)> {
        dialects().filter_map(|dialect| Some((dialect, Self::of(dialect, places).transpose()?)))
    }

    fn of(dialect: &'static Dialect, places: &PathVariables) -> Result<Option<Self>, CliError> {
        let (Some(line), Some(path)) = (&dialect.settings.waiting, SettingsLevel::User.path(places, dialect)) else {
            return Ok(None);
        };
        let snapshot = SettingsSnapshot::read(&path).map_err(|error| as_cli_error(&error))?;
        let found = (dialect.settings.inspect)(snapshot.text()).map_err(|error| misread(&path, &error))?;
        Ok(Some(Self { dialect, line, snapshot, found }))
    }

    pub fn is_on(&self) -> bool {
        !self.found.waiting.is_empty()
    }
}

/// Whether the user's own settings have the line: one that a project brings switches nothing on.
pub fn is_switched_on(agent: &str, places: &PathVariables) -> bool {
    let file = agents::ALL.find(agent).and_then(|dialect| WaitingFile::of(dialect, places).ok().flatten());
    file.is_some_and(|file| file.is_on())
}

/// Nothing where it is off, as it is unless somebody asked for it. What cannot be read is said of the settings.
pub fn check(dialect: &'static Dialect, places: &PathVariables, client: KnownClient) -> Option<Check> {
    const NAME: &str = "answer";
    let file = WaitingFile::of(dialect, places).ok().flatten().filter(WaitingFile::is_on)?;
    let (path, name) = (file.snapshot.path.display(), dialect.profile.name);
    let entry = file.found.waiting.first()?;
    let edit = format!("${{EDITOR:-vi}} {path}");
    if file.found.hooks_disabled {
        return Some(Check::bad(
            NAME,
            format!("{path} switches hooks off: {name} cannot be answered from elsewhere"),
            edit,
        ));
    }
    if let Some(error) = &file.found.ignored_for {
        let place = format!("{path}:{}:{}", error.line, error.column);
        let detail = format!("{place}: {}; {name} runs no hook then and cannot be answered from elsewhere", error.why);
        return Some(Check::bad(NAME, detail, edit));
    }
    if !Path::new(&entry.program).is_file() {
        let detail = format!("{path}:{} waits for answers with {}, which is not there", entry.line, entry.program);
        return Some(Check::bad(NAME, detail, "taut init"));
    }
    if !client.has(file.line.since) {
        let detail = format!("{name} is too old to be answered from elsewhere: {} is needed", file.line.since);
        return Some(Check::warn(NAME, detail, dialect.settings.versions.update));
    }
    if let Some(matcher) = entry.matcher.as_deref().filter(|matcher| !matches!(*matcher, "" | "*")) {
        let detail = format!("{path}:{} waits for answers to `{matcher}` only", entry.line);
        return Some(Check::warn(NAME, detail, edit));
    }
    Some(Check::ok(NAME, format!("{name} can be answered from elsewhere: {path}:{}", entry.line)))
}
