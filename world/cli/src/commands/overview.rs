//! Bare `taut`: what is on here, what was stopped today, the next useful command.

use super::doctor::worst_first;
use super::installed_hooks::{InstalledHooks, installed};
use super::{ago, judge_here, stored};
use crate::agent_settings::{self, LackingEvents};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use daemon::Client;
use dash::view_model::{self, FleetSummary};
use host::paths::PathVariables;
use model::Ms;
use pipeline::ProjectPolicy;
use policy::Diagnostic;
use policy::PolicyMode;
use policy::config::CHANGED_SINCE_TRUSTED;
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use store::SessionFilter;

const PATIENCE: Duration = Duration::from_millis(500);

/// So many of the rules that stopped something are named.
const NAMED_RULES: usize = 5;

struct Overview {
    /// The project of this folder, where it is in one.
    project: Option<String>,
    installed: Vec<InstalledHooks>,
    /// What the configuration wants to be told and no settings register.
    lacking: Option<LackingEvents>,
    guard: String,
    daemon: Option<String>,
    /// What is told and how, where anything is.
    notify: Option<String>,
    memory: &'static str,
    /// What waits for the server that is shared, or is wrong with it.
    shared: Option<String>,
    sessions: usize,
    fleet: FleetSummary,
    stopped: Vec<(String, u64)>,
    /// What is wrong with the configuration: all of it, and in one line.
    config: Vec<Diagnostic>,
    /// What ought to be known of the record, each one sentence.
    warnings: Vec<String>,
}

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let overview = look()?;
    let next = next(&overview);
    if printer.json() {
        printer.object(&json!({
            "project": overview.project,
            "installed": levels(&overview.installed),
            "hooks": overview.installed.iter().map(|at| json!({"agent": at.dialect.id(), "settings": at.levels, "off": at.off})).collect::<Vec<_>>(),
            "lacking": overview.lacking.as_ref().map(|lacking| json!({"detail": lacking.detail, "fix": lacking.fix})),
            "guard": overview.guard,
            "daemon": overview.daemon,
            "notify": overview.notify,
            "memory": overview.memory,
            "shared": overview.shared,
            "config": overview.config.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "open_sessions": overview.sessions,
            "agents": overview.fleet.0.iter().map(|(status, count)| (status.name().to_string(), json!(count))).collect::<serde_json::Map<_, _>>(),
            "stopped_today": overview.stopped.iter().map(|(rule, count)| json!({"rule": rule, "count": count})).collect::<Vec<_>>(),
            "warnings": overview.warnings,
            "next": next,
        }));
        return Ok(Exit::Ok);
    }
    let row = |name: &str, text: String| printer.line(text!("{}  {}", printer.dim(format!("{name:<8}")), text));
    printer.line(text!("{} {}", printer.bold("taut"), env!("CARGO_PKG_VERSION")));
    row("project", overview.project.clone().unwrap_or_else(|| "none here".into()));
    row("hooks", hooks(&overview));
    if let Some(lacking) = &overview.lacking {
        row("", lacking.detail.clone());
    }
    row("guard", overview.guard.clone());
    row("daemon", overview.daemon.clone().unwrap_or_else(|| "not running (hooks work without it)".into()));
    if let Some(notify) = &overview.notify {
        row("notify", notify.clone());
    }
    row("memory", overview.memory.to_string());
    if let Some(shared) = &overview.shared {
        row("shared", shared.clone());
    }
    if !overview.config.is_empty() {
        row("config", worst_first(&overview.config));
    }
    row("sessions", format!("{} open{}", overview.sessions, fleet(&overview.fleet)));
    row("today", today(&overview));
    for warning in &overview.warnings {
        row("warning", warning.clone());
    }
    row("next", next.to_string());
    Ok(Exit::Ok)
}

fn look() -> Result<Overview, CliError> {
    let places = PathVariables::from_process();
    let judge = judge_here(None)?;
    let project_policy = judge.project_policy();
    let now = host::clock::now();
    let store = stored()?;
    let open = SessionFilter { only_open: true, ..SessionFilter::default() };
    let midnight = host::clock::day_begins(&host::clock::day_shown(now)).unwrap_or(now);
    let installed = installed(&places, Path::new(&project_policy.project.work_tree));
    let daemon = Client::new(&places.state(), PATIENCE).status().ok();
    Ok(Overview {
        project: agent_settings::project(&places).ok().map(|path| path.to_string_lossy().into_owned()),
        guard: guard(project_policy, &installed, now),
        lacking: installed.iter().find_map(|at| agent_settings::lacking(at.dialect, &places)),
        installed,
        daemon: daemon
            .map(|status| format!("running for {}, {} calls served", ago(now.since(status.started)), status.served)),
        notify: notify(project_policy),
        memory: memory(project_policy.policy.sections.memory.enabled),
        shared: store.as_ref().map_or(Ok(None), |store| super::shared::waiting_line(store, now))?,
        fleet: store.as_ref().map_or(Ok(FleetSummary::default()), |store| {
            store.fleet().map(|glance| FleetSummary::of(&view_model::rows(&glance, host::clock::now())))
        })?,
        sessions: store.as_ref().map_or(Ok(0), |store| store.sessions(&open).map(|all| all.len()))?,
        stopped: store.as_ref().map_or(Ok(Vec::new()), |store| store.denied_since(midnight))?,
        config: project_policy.diagnostics.clone(),
        warnings: match &store {
            Some(store) => view_model::record_warnings(store)?,
            None => store::warning(&places.state()).into_iter().collect(),
        },
    })
}

/// Whether sessions remember, in a word.
pub(super) fn memory(enabled: Option<bool>) -> &'static str {
    if enabled == Some(true) { "on" } else { "off" }
}

/// The levels that hold hooks of any agent, each once.
fn levels(installed: &[InstalledHooks]) -> Vec<&'static str> {
    let mut levels = Vec::new();
    for level in installed.iter().flat_map(|at| &at.levels) {
        if !levels.contains(level) {
            levels.push(*level);
        }
    }
    levels
}

/// How the guard stands, and whether any agent asks it at all.
fn guard(project_policy: &ProjectPolicy, installed: &[InstalledHooks], now: Ms) -> String {
    let off: Vec<&str> = installed.iter().filter_map(|at| at.off.as_deref()).collect();
    if installed.is_empty() {
        return "off: no agent's settings have its hooks".into();
    }
    if off.len() == installed.len() {
        return format!("off: {}", off.join("; "));
    }
    let stands = match project_policy.standing.paused_until.filter(|until| now < *until) {
        Some(until) => format!("paused, {}; only the floor is stopped", host::clock::left(until, now)),
        None if project_policy.policy.mode == PolicyMode::Observe => "observing; only the floor is stopped".into(),
        None => {
            let rules = policy::rules::ALL.iter().filter(|rule| project_policy.policy.kind(rule).is_some()).count();
            format!("on, {rules} rules")
        }
    };
    if off.is_empty() { stands } else { format!("{stands}; off: {}", off.join("; ")) }
}

fn notify(project_policy: &ProjectPolicy) -> Option<String> {
    let notify = &project_policy.policy.sections.notify;
    if !notify.rings() && !notify.reaches_out() {
        return None;
    }
    let on = [("terminal", notify.terminal), ("desktop", notify.desktop), ("command", !notify.command.is_empty())];
    let ways: Vec<&str> = on.into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect();
    let kinds: Vec<&str> = notify.on.iter().map(|kind| kind.name()).collect();
    Some(format!("{} by {}", kinds.join(", "), ways.join(" and ")))
}

/// Who needs the user, and how many others there are.
fn fleet(summary: &FleetSummary) -> String {
    let counts: Vec<String> = summary.0.iter().map(|(status, count)| format!("{count} {}", status.name())).collect();
    if counts.is_empty() { String::new() } else { format!("; agents: {}", counts.join(", ")) }
}

fn hooks(overview: &Overview) -> String {
    if overview.installed.is_empty() {
        return "not installed".into();
    }
    // Agents whose hooks are in the same settings are named together.
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for at in &overview.installed {
        let (levels, name) = (at.levels.join(" and "), at.dialect.profile.name);
        match groups.iter_mut().find(|(known, _)| *known == levels) {
            Some((_, names)) => names.push(name),
            None => groups.push((levels, vec![name])),
        }
    }
    let parts = groups.iter().map(|(levels, names)| format!("the {levels} settings of {}", names.join(", ")));
    format!("installed in {}", parts.collect::<Vec<_>>().join("; "))
}

fn today(overview: &Overview) -> String {
    if overview.stopped.is_empty() {
        return "nothing was stopped".into();
    }
    let named = overview.stopped.iter().take(NAMED_RULES).map(|(rule, count)| format!("{rule} {count}×"));
    let shown = named.collect::<Vec<_>>().join(", ");
    match overview.stopped.len().saturating_sub(NAMED_RULES) {
        0 => format!("stopped {shown}"),
        more => format!("stopped {shown}, and {more} more"),
    }
}

fn next(overview: &Overview) -> &'static str {
    if !overview.warnings.is_empty() {
        "taut db check        (the record is not whole)"
    } else if overview.config.iter().any(Diagnostic::is_mistake) {
        "taut policy check    (the configuration has mistakes)"
    } else if overview.config.iter().any(|found| found.message == CHANGED_SINCE_TRUSTED) {
        "taut trust           (shows what changed since it was trusted)"
    } else if !overview.config.is_empty() {
        "taut policy check    (some of the configuration is ignored)"
    } else if overview.installed.is_empty() {
        "taut init            (installs the hooks, after showing the change)"
    } else if overview.installed.iter().any(|at| at.off.is_some()) {
        "taut doctor          (says why the guard is off, and what helps)"
    } else if let Some(lacking) = &overview.lacking {
        match lacking.fix {
            "taut init" => "taut init            (registers the events that the configuration needs)",
            _ => "taut init --local    (registers the events that this project needs)",
        }
    } else if !overview.stopped.is_empty() {
        "taut events --denied (what was stopped, and why)"
    } else {
        "taut explain 'rm -rf build'    (what the guard makes of a command)"
    }
}
