//! `taut mcp` in the agent's list of servers: put in by `init --mcp`, taken out by `uninstall`, looked at by `doctor`.

use crate::agent_settings::{as_cli_error, left_behind, misread};
use crate::error::CliError;
use agents::Dialect;
use agents::settings::ServerDialect;
use host::install::checks::Check;
use host::install::line::CommandLine;
use host::install::{ExistingHooks, InstallRequest, Proposal, UninstallRequest};
use host::paths::PathVariables;
use host::settings_file::{Backups, SettingsSnapshot, server_file};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the server may take to say who it is.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where the list is, and how it is edited.
fn list(dialect: &'static Dialect, places: &PathVariables) -> Option<(PathBuf, &'static ServerDialect)> {
    let servers = dialect.settings.server.as_ref()?;
    Some((server_file(places, dialect.profile, servers), servers))
}

pub fn propose(dialect: &'static Dialect, places: &PathVariables, program: &str) -> Result<Proposal, CliError> {
    let Some((path, servers)) = list(dialect, places) else {
        return Err(CliError::failed(format!("{} takes no server of tools", dialect.profile.name))
            .hint("leave `--mcp` out; agents that have a shell need no server"));
    };
    let file = SettingsSnapshot::read(&path).map_err(|error| as_cli_error(&error))?;
    let edited = (servers.edit)(file.text(), program).map_err(|error| misread(&path, &error))?;
    let found = match (servers.inspect)(file.text()) {
        Ok(Some(_)) => ExistingHooks::Ours,
        _ => ExistingHooks::NoneOfOurs,
    };
    Ok(Proposal::install(file, InstallRequest { text: edited.text, allow: Vec::new(), found }).private())
}

/// `None` where nothing of ours is in the list.
pub fn propose_removal(dialect: &'static Dialect, places: &PathVariables) -> Result<Option<Proposal>, CliError> {
    let Some((path, servers)) = list(dialect, places) else { return Ok(None) };
    let file = SettingsSnapshot::read(&path).map_err(|error| as_cli_error(&error))?;
    let edited = (servers.remove)(file.text()).map_err(|error| misread(&path, &error))?;
    if edited.text == file.text() {
        return Ok(None);
    }
    let record = Backups::of(&places.state(), &file.target).read_record();
    let left = left_behind(edited.leaves);
    Ok(Some(Proposal::uninstall(file, UninstallRequest { text: edited.text, left }, record.as_ref())))
}

/// Starts the server by the registered line and asks who it is; what is wrong where it does not say.
pub fn prove(dialect: &Dialect, program: &Path) -> Result<(), String> {
    let args = dialect.settings.server.as_ref().map(|servers| servers.args).unwrap_or_default();
    let who =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "taut", "version": "1"}});
    let line = CommandLine {
        program: program.to_path_buf(),
        args: args.iter().map(OsString::from).collect(),
        set: Vec::new(),
        unset: Vec::new(),
        cwd: "/".into(),
        stdin: format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": who})),
        limit: PATIENCE,
    };
    let ended = line.run().map_err(|error| error.to_string())?;
    let answer: Value = serde_json::from_str(ended.stdout.trim()).unwrap_or_default();
    if answer.pointer("/result/serverInfo/name").and_then(Value::as_str) == Some("taut") {
        return Ok(());
    }
    Err(format!("{} was started as a server and did not say who it is: `{}`", program.display(), ended.stderr.trim()))
}

pub fn check(dialect: &'static Dialect, places: &PathVariables) -> Option<Check> {
    let name = "mcp";
    let (path, servers) = list(dialect, places)?;
    let shown = path.display();
    let by_hand = format!("${{EDITOR:-vi}} {shown}");
    let file = match SettingsSnapshot::read(&path) {
        Ok(file) => file,
        Err(error) => return Some(Check::warn(name, error.to_string(), format!("ls -l {shown}"))),
    };
    Some(match (servers.inspect)(file.text()) {
        Err(error) => Check::warn(name, format!("{shown}:{}:{}: {}", error.line, error.column, error.why), by_hand),
        Ok(None) => Check::ok(name, "the tools are not registered; `taut init --mcp` does that"),
        Ok(Some(program)) => match prove(dialect, Path::new(&program)) {
            Ok(()) => Check::ok(name, format!("registered in {shown}, and {program} answers")),
            Err(why) => Check::bad(name, format!("registered in {shown}: {why}"), "taut init --mcp"),
        },
    })
}
