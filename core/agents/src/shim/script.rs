//! The plugin's file: what it is told of this machine, the shared core, and the agent's own top.

use crate::settings::{GuardFailure, SettingsPlan};
use model::Environment;
use model::agent::AgentProfile;
use serde_json::json;

const CORE: &str = include_str!("shim.js");

/// Variables of the user's that a hook, and the daemon it may start, need beside those it is told.
const OF_THE_USER: &[&str] = &[
    "HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
];

/// What an agent adds to the shared core.
#[derive(Debug)]
pub struct ShimTop {
    pub agent: &'static AgentProfile,
    /// The variables that the agent gives to all that it starts, as an object in JavaScript.
    pub own_variables: &'static str,
    pub text: &'static str,
}

/// The whole file.
pub fn script(plan: &SettingsPlan, top: &ShimTop) -> String {
    let variables = &top.agent.variables;
    let allowed: Vec<&str> = Environment::ALLOWED.iter().chain(variables.started_with).copied().collect();
    let marks: Vec<&str> = crate::ALL.0.iter().flat_map(|dialect| dialect.profile.variables.marks).copied().collect();
    let on_failure = match plan.on_failure {
        GuardFailure::Block => "block",
        GuardFailure::Continue => "continue",
    };
    // The imports stand first wherever they are written.
    format!(
        "const TAUT = {}\nconst AGENT = {}\nconst ON_FAILURE = {}\nconst ALLOWED = {}\nconst OF_THE_USER = {}\n\
         const MARKS = {}\nconst OWN_VARIABLES = {}\n\n{CORE}{}",
        json!(plan.command),
        json!(top.agent.id),
        json!(on_failure),
        json!(allowed),
        json!(OF_THE_USER),
        json!(marks),
        top.own_variables,
        top.text,
    )
}
