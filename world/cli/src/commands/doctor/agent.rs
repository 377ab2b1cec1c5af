//! What the doctor says of each agent: here, of which version, hooks on and whole, agreed to, seen, and what it cannot do.

use super::PATIENCE;
use super::settings::{self, SettingsChecks};
use crate::agent_choice::{self, is_untried};
use crate::agent_settings::{self, PROOF, SettingsOwner};
use crate::commands::ago;
use crate::mcp_registration;
use crate::waiting_line;
use agents::Dialect;
use agents::settings::KnownClient;
use host::install::checks::{Check, Health};
use host::paths::PathVariables;
use model::session::Session;
use std::path::PathBuf;
use store::{SessionFilter, Store};

/// The checks that say what an agent cannot do.
pub const LIMITS: &str = "limits";

pub struct AgentReport {
    pub dialect: &'static Dialect,
    pub checks: Vec<Check>,
    /// The programs that its settings call.
    pub programs: Vec<PathBuf>,
}

impl AgentReport {
    pub fn all(agents: &[&'static Dialect], places: &PathVariables) -> Vec<Self> {
        let clients = agent_settings::clients(agents);
        let found: Vec<_> = agents
            .iter()
            .zip(clients)
            .map(|(dialect, client)| (*dialect, client, settings::check(dialect, places, client)))
            .collect();
        let anywhere = found.iter().any(|(_, _, found)| !found.programs.is_empty() || found.plugin.is_some());
        let sessions = sessions(places);
        let look = |(dialect, client, found)| Self::of(Looked { dialect, client, found, anywhere }, places, &sessions);
        found.into_iter().map(look).collect()
    }

    fn of(looked: Looked, places: &PathVariables, sessions: &[Session]) -> Self {
        let Looked { dialect, client, found: SettingsChecks { checks: found, programs, plugin }, anywhere } = looked;
        let broken = found.iter().any(|check| check.health == Health::Bad);
        let unguarded = programs.is_empty() && plugin.is_none() && !broken;
        if unguarded && anywhere {
            return Self { dialect, checks: vec![without_hooks(dialect, client)], programs };
        }
        let mut checks = vec![settings::client(dialect, client)];
        checks.extend(found);
        if unguarded {
            let fix = settings::init(dialect, SettingsOwner::User);
            checks.push(Check::bad("settings", "Taut's hooks are in none of the settings files", fix));
        }
        checks.extend(mcp_registration::check(dialect, places));
        checks.extend(waiting_line::check(dialect, places, client));
        if !programs.is_empty() || plugin.is_some() {
            checks.push(seen(dialect, sessions));
        }
        checks.extend(dialect.limits.iter().map(|limit| Check::ok(LIMITS, told_of(dialect, limit))));
        Self { dialect, checks, programs }
    }
}

struct Looked {
    dialect: &'static Dialect,
    client: KnownClient,
    found: SettingsChecks,
    /// Some agent has our hooks.
    anywhere: bool,
}

/// A limit may begin with the agent's own name.
fn told_of(dialect: &Dialect, limit: &str) -> String {
    let name = dialect.profile.name;
    if limit.starts_with(name) { limit.to_owned() } else { format!("{name}: {limit}") }
}

/// An agent that works here beside a guarded one, without the guard.
fn without_hooks(dialect: &Dialect, client: KnownClient) -> Check {
    let version = match client {
        KnownClient::Known(version) => format!(" {version}"),
        KnownClient::Unknown => String::new(),
    };
    let (name, fix) = (dialect.profile.name, settings::init(dialect, SettingsOwner::User));
    if is_untried(dialect) {
        return Check::ok(
            "client",
            format!("{name}{version} is here, without our hooks; they are untried: `{fix} --experimental`"),
        );
    }
    if agent_choice::is_on_path(dialect) {
        return Check::warn(
            "client",
            format!("{name}{version} is here and unguarded: its settings hold no hooks of ours"),
            fix,
        );
    }
    Check::ok("client", format!("{name} has a folder here and no program; `{fix}` would install the hooks"))
}

/// That hooks stand in a file does not say that the agent calls them.
fn seen(dialect: &Dialect, sessions: &[Session]) -> Check {
    let of_it = |session: &&Session| {
        let proof = session.host_session.as_deref().is_some_and(|name| name.starts_with(PROOF));
        session.memo.dialect.as_deref() == Some(dialect.id()) && !proof
    };
    let name = dialect.profile.name;
    match sessions.iter().filter(of_it).map(|session| session.last_seen_at).max() {
        Some(at) => {
            Check::ok("seen", format!("the last event of {name} came {} ago", ago(host::clock::now().since(at))))
        }
        None => Check::ok("seen", format!("no event of {name} yet")),
    }
}

/// That the database does not open is said elsewhere.
fn sessions(places: &PathVariables) -> Vec<Session> {
    if !crate::commands::is_anything_kept(&places.state()) {
        return Vec::new();
    }
    let store = Store::open_and_migrate(&places.state(), PATIENCE);
    store.and_then(|store| store.sessions(&SessionFilter::default())).unwrap_or_default()
}
