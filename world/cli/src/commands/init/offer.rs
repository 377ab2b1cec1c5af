//! What is to be changed for one agent: shown, and carried out.

use super::{Setup, summary};
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
    /// What it does to the events, in words.
    pub edits: String,
    /// A plugin of ours that the file switches on.
    pub plugin: Option<String>,
    pub server: Option<Proposal>,
    /// Why the client will not read the file at all, hooks or not.
    pub ignored: Option<String>,
}

impl Offer {
    pub fn of(setup: &Setup<'_>, dialect: &'static Dialect, client: KnownClient) -> Result<Self, CliError> {
        let places = &setup.places;
        let path = agent_settings::file(&setup.level, places, dialect)?;
        let mut plan = agent_settings::plan(places, &setup.level, client, setup.command());
        let rules = setup.preset.map(|preset| preset.permissions_allow).unwrap_or_default();
        plan.allow = rules.iter().map(ToString::to_string).collect();
        let bar = setup.args.statusline.then_some(StatusBar { program: &setup.program.path, needed: !setup.many });
        let (hooks, edits, plugin) = propose(dialect, &path, &plan, bar)?;
        // Of several agents those that take a server get it; one that is asked for alone has to.
        let takes_server = setup.args.mcp && (!setup.many || dialect.settings.server.is_some());
        let server =
            takes_server.then(|| mcp_registration::propose(dialect, places, &setup.program.path)).transpose()?;
        let ignored = ignored_for(dialect, &hooks);
        Ok(Self { dialect, plan, hooks, edits, plugin, server, ignored })
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
        if let Some(plugin) = &self.plugin {
            printer.note(format!("{plugin} brings these hooks already; with both, each event still counts once"));
        }
        if let Some(why) = &self.ignored {
            printer.note(text!("{} {}", printer.yellow("warning:"), why.as_str()));
        }
        if printer.json() {
            return;
        }
        printer.line(printer.bold(self.title()));
        for limit in self.dialect.limits {
            printer.line(format!("  - {limit}"));
        }
        let shown = agent_settings::shown(self.path(), &setup.places);
        if self.hooks.changes_anything() {
            printer.line(format!("  {} in {shown}", self.edits));
        } else {
            printer.line(format!("  {shown} has Taut's hooks already; nothing to change there"));
        }
        if let Some(server) = &self.server {
            let path = agent_settings::shown(&server.file.path, &setup.places);
            printer.line(match server.changes_anything() {
                true => format!("  registers Taut's server in {path}"),
                false => format!("  {path} has Taut's server already; nothing to change there"),
            });
        }
        if setup.args.diff || setup.args.dry_run {
            printer.diff(&self.hooks.diff());
            self.server.iter().for_each(|server| printer.diff(&server.diff()));
        }
    }

    fn title(&self) -> String {
        let version = match self.plan.client {
            KnownClient::Known(version) => format!(" {version}"),
            KnownClient::Unknown => String::new(),
        };
        let untried = if is_untried(self.dialect) { " (untried: from its documentation alone)" } else { "" };
        format!("{}{version}{untried}", self.dialect.profile.name)
    }

    pub fn events(&self) -> usize {
        self.plan.events(self.dialect.settings.registered).len()
    }

    /// The change that was only looked at.
    pub fn object(&self, setup: &Setup<'_>, files: &[NewFile]) -> Value {
        json!({
            "agent": self.dialect.id(),
            "file": self.path(),
            "events": self.events(),
            "limits": self.dialect.limits,
            "untried": is_untried(self.dialect),
            "changes": self.hooks.changes_anything(),
            "summary": self.hooks.changes_anything().then(|| self.edits.clone()),
            "command": self.plan.command,
            "program": setup.program.path,
            "copy_of": setup.program.copy.as_ref().map(|copy| &copy.from),
            "diff": self.hooks.diff(),
            "mcp": self.server.as_ref().map(|server| json!({"file": server.file.path, "diff": server.diff()})),
            "files": files.iter().map(|file| &file.path).collect::<Vec<_>>(),
        })
    }
}

/// Our line in the agent's status bar.
#[derive(Clone, Copy)]
struct StatusBar<'a> {
    program: &'a str,
    /// Of several agents those that have such a bar get it; one that is asked for alone has to.
    needed: bool,
}

fn propose(
    dialect: &Dialect,
    path: &Path,
    plan: &SettingsPlan,
    bar: Option<StatusBar<'_>>,
) -> Result<(Proposal, String, Option<String>), CliError> {
    let file = SettingsSnapshot::read(path).map_err(|error| as_cli_error(&error))?;
    let ours = (dialect.settings.inspect)(file.text()).map_err(|error| misread(path, &error))?;
    let mut edited = (dialect.settings.edit)(file.text(), plan).map_err(|error| misread(path, &error))?;
    let mut puts_line = false;
    match (bar, &dialect.settings.status_line) {
        (Some(bar), Some(setting)) => {
            let with = (setting.edit)(&edited.text, bar.program).map_err(|error| misread(path, &error))?;
            puts_line = with.text != edited.text;
            edited.text = with.text;
        }
        (Some(StatusBar { needed: true, .. }), None) => {
            return Err(CliError::failed(format!("{} has no status bar for a line of ours", dialect.profile.name))
                .hint("leave `--statusline` out"));
        }
        _ => {}
    }
    let found = if ours.entries.is_empty() { ExistingHooks::NoneOfOurs } else { ExistingHooks::Ours };
    let after = (dialect.settings.inspect)(&edited.text).map_err(|error| misread(path, &error))?;
    let mut edits = summary::edits(&ours.entries, &after.entries, &edited);
    if puts_line {
        edits = format!("{edits}, puts Taut's line into the status bar, under one that is there,");
    }
    let request = InstallRequest { text: edited.text, allow: edited.allow, found };
    Ok((Proposal::install(file, request), edits, ours.plugin))
}

fn ignored_for(dialect: &Dialect, proposal: &Proposal) -> Option<String> {
    let SettingsFileChange::Text(text) = &proposal.after else {
        return None;
    };
    let error = (dialect.settings.inspect)(text).ok()?.ignored_for?;
    let place = format!("{}:{}:{}", proposal.file.path.display(), error.line, error.column);
    Some(format!("{place}: {}; until it is gone no hook runs, ours or others", error.why))
}
