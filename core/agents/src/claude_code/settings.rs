//! The settings file of Claude Code: its hooks, its permission rules and its list of servers.

mod client;
mod plugin;
mod proof;
mod registered;
mod rules;
mod server;
mod shared;
mod status_line;
mod waiting;

#[cfg(test)]
mod tests;

pub use crate::settings::{
    CommandForm, Edited, GuardFailure, Inspection, KnownClient, Registered, SettingsError, SettingsPlan, Version,
};
pub use registered::REGISTERED;

use crate::hook_file::{EntryShape, HOOK_WORDS, JsonHooks, command_line, plain_json_only};
use crate::settings::{ClientVersions, ProofDialect, SettingsDialect};
use model::EventKind;
use model::session::ResultsBy;
use serde_json::{Map, Value, json};

/// The arguments of our command; they stay the same across upgrades.
const ARGS: [&str; 3] = ["hook", "--agent", super::ID];

const HOOKS: JsonHooks = JsonHooks {
    holder: Some("hooks"),
    head: &[],
    shape: EntryShape::Group,
    words: HOOK_WORDS,
    registered: REGISTERED,
    handler,
    disabled: &[("disableAllHooks", "true")],
};

/// The files, and all that is done to them.
pub const SETTINGS: SettingsDialect = SettingsDialect {
    user_file: "settings.json",
    project_file: Some(".claude/settings.json"),
    local_file: Some(".claude/settings.local.json"),
    args: &ARGS,
    registered: REGISTERED,
    edit,
    remove,
    inspect,
    server: Some(server::SERVER),
    waiting: Some(waiting::WAITING),
    versions: ClientVersions {
        program: "claude",
        args: &["--version"],
        parse: KnownClient::parse,
        exec_form: Some(Version::EXEC_FORM),
        note: client::note,
        update: "claude update",
    },
    proof: ProofDialect { payload: proof::payload, farewell: proof::farewell, denial: proof::denial },
    status_line: Some(status_line::STATUS_LINE),
    review: None,
};

/// Puts our entries in, or brings those that are there up to date. The line that waits for answers is brought up to date
/// where it is, and never put in here.
pub fn edit(text: &str, plan: &SettingsPlan) -> Result<Edited, SettingsError> {
    // What becomes of an answer from elsewhere is told after its call.
    let answered = !waiting::LINES.inspect(text)?.entries.is_empty();
    let results = if answered { ResultsBy::Hooks } else { plan.results };
    let plan = &SettingsPlan { results, ..plan.clone() };
    let hooks = HOOKS.edit(text, plan)?;
    status_line::kept(rules::add(waiting::kept(hooks, plan)?, &plan.allow)?, plan)
}

/// Takes our entries out, and those of the given permission rules that are there.
pub fn remove(text: &str, allow: &[String]) -> Result<Edited, SettingsError> {
    // What was put in last goes first: only then is each step the inverse of one.
    let mut edited = status_line::without(text)?;
    while let Some(step) = rules::drop_last(&edited.text, allow)? {
        edited.take(step);
    }
    edited = waiting::without(edited)?;
    let hooks = HOOKS.remove(&edited.text, allow)?;
    let leaves = if hooks.events.is_empty() { edited.leaves } else { hooks.leaves };
    edited.events.extend(hooks.events);
    Ok(Edited { text: hooks.text, leaves, ..edited })
}

/// Says what the settings hold of ours.
pub fn inspect(text: &str) -> Result<Inspection, SettingsError> {
    let (waiting, plugin) = (waiting::LINES.inspect(text)?.entries, plugin::enabled(text)?);
    let found = Inspection { waiting, plugin, ..HOOKS.inspect(text)? };
    plain_json_only(text, super::PROFILE.name, found)
}

/// The handler a plan wants for an event.
fn handler(plan: &SettingsPlan, registered: &Registered) -> Value {
    let mut handler = Map::new();
    handler.insert("type".into(), json!("command"));
    match client::form(plan.client) {
        _ if plan.is_shared() => {
            handler.insert("command".into(), json!(shared::line(plan, registered)));
        }
        CommandForm::Exec => {
            handler.insert("command".into(), json!(plan.command));
            handler.insert("args".into(), json!(ARGS));
        }
        CommandForm::Shell => {
            handler.insert("command".into(), json!(command_line(plan, super::ID)));
        }
    }
    handler.insert("timeout".into(), json!(registered.timeout));
    // Only the guard may stop an agent by failing; whatever else fails is state.
    let closed = plan.on_failure == GuardFailure::Block && plan.client.has(Version::ON_FAILURE);
    if closed && registered.kind == EventKind::PreToolUse {
        handler.insert("onFailure".into(), json!("block"));
    }
    Value::Object(handler)
}
