//! What is to be changed for one agent: shown, and carried out.

use super::Setup;
use crate::agent_choice::is_untried;
use crate::agent_settings::{self, as_cli_error, misread};
use crate::error::CliError;
use crate::mcp_registration;
use crate::printer::text;
use agents::Dialect;
use agents::settings::{KnownClient, SettingsPlan};
use host::install::preset::NewFile;
use host::install::{ExistingHooks, InstallRequest, Installed, Proposal};
use host::paths::PathVariables;
use host::settings_file::{SettingsFileChange, SettingsFileError, SettingsSnapshot};
use serde_json::{Value, json};
use std::path::Path;

pub struct Offer {
    pub dialect: &'static Dialect,
    pub plan: SettingsPlan,
    pub hooks: Proposal,
    pub server: Option<Proposal>,
    /// Why the client will not read the file at all, hooks or not.
    pub ignored: Option<String>,
}

impl Offer {
    pub fn of(setup: &Setup<'_>, dialect: &'static Dialect, client: KnownClient) -> Result<Self, CliError> {
        let places = &setup.places;
        let path = agent_settings::file(&setup.level, places, dialect)?;
        let mut plan = agent_settings::plan(places, &setup.level, client, setup.command.clone());
        let rules = setup.preset.map(|preset| preset.permissions_allow).unwrap_or_default();
        plan.allow = rules.iter().map(ToString::to_string).collect();
        let hooks = propose(dialect, &path, &plan)?;
        // Of several agents those that take a server get it; one that is asked for alone has to.
        let takes_server = setup.args.mcp && (!setup.many || dialect.settings.server.is_some());
        let server = takes_server.then(|| mcp_registration::propose(dialect, places, &plan.command)).transpose()?;
        let ignored = ignored_for(dialect, &hooks);
        Ok(Self { dialect, plan, hooks, server, ignored })
    }

    pub fn path(&self) -> &Path {
        &self.hooks.file.path
    }

    pub fn changes_anything(&self) -> bool {
        self.hooks.changes_anything() || self.server.as_ref().is_some_and(Proposal::changes_anything)
    }

    /// The list of servers first: the client writes that file often, and then all of this is looked at again.
    pub fn apply(&self, places: &PathVariables) -> Result<Installed, SettingsFileError> {
        if let Some(server) = &self.server {
            server.apply(&places.state(), host::clock::now())?;
        }
        self.hooks.apply(&places.state(), host::clock::now())
    }

    pub fn show(&self, setup: &Setup<'_>) {
        let printer = setup.printer;
        if let Some(note) = (self.dialect.settings.versions.note)(self.plan.client) {
            printer.note(note);
        }
        if let Some(why) = &self.ignored {
            printer.note(text!("{} {}", printer.yellow("warning:"), why.as_str()));
        }
        if printer.json() {
            return;
        }
        if setup.many || self.dialect.id() != agents::DEFAULT.id() {
            printer.line(printer.bold(self.summary()));
        }
        for limit in self.dialect.limits {
            printer.line(format!("  - {limit}"));
        }
        if !self.hooks.changes_anything() {
            printer.line(format!("{} has Taut's hooks already; nothing to change there", self.path().display()));
        }
        printer.diff(&self.hooks.diff());
        if let Some(server) = &self.server {
            if !server.changes_anything() {
                let path = server.file.path.display();
                printer.line(format!("{path} has Taut's server already; nothing to change there"));
            }
            printer.diff(&server.diff());
        }
    }

    fn summary(&self) -> String {
        let version = match self.plan.client {
            KnownClient::Known(version) => format!(" {version}"),
            KnownClient::Unknown => String::new(),
        };
        let untried = if is_untried(self.dialect) { " (untried: from its documentation alone)" } else { "" };
        let (name, events, path) = (self.dialect.profile.name, self.events(), self.path().display());
        format!("{name}{version}{untried}: {events} events in {path}")
    }

    pub fn events(&self) -> usize {
        self.dialect.settings.registered.iter().filter(|event| self.plan.client.has(event.since)).count()
    }

    /// The change that was only looked at.
    pub fn object(&self, files: &[NewFile]) -> Value {
        json!({
            "agent": self.dialect.id(),
            "file": self.path(),
            "events": self.events(),
            "limits": self.dialect.limits,
            "untried": is_untried(self.dialect),
            "changes": self.hooks.changes_anything(),
            "diff": self.hooks.diff(),
            "mcp": self.server.as_ref().map(|server| json!({"file": server.file.path, "diff": server.diff()})),
            "files": files.iter().map(|file| &file.path).collect::<Vec<_>>(),
        })
    }
}

fn propose(dialect: &Dialect, path: &Path, plan: &SettingsPlan) -> Result<Proposal, CliError> {
    let file = SettingsSnapshot::read(path).map_err(|error| as_cli_error(&error))?;
    let ours = (dialect.settings.inspect)(file.text()).map_err(|error| misread(path, &error))?;
    let edited = (dialect.settings.edit)(file.text(), plan).map_err(|error| misread(path, &error))?;
    let found = if ours.entries.is_empty() { ExistingHooks::NoneOfOurs } else { ExistingHooks::Ours };
    Ok(Proposal::install(file, InstallRequest { text: edited.text, allow: edited.allow, found }))
}

fn ignored_for(dialect: &Dialect, proposal: &Proposal) -> Option<String> {
    let SettingsFileChange::Text(text) = &proposal.after else {
        return None;
    };
    let error = (dialect.settings.inspect)(text).ok()?.ignored_for?;
    let place = format!("{}:{}:{}", proposal.file.path.display(), error.line, error.column);
    Some(format!("{place}: {}; until it is gone no hook runs, ours or others", error.why))
}
