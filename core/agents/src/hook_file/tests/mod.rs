//! Every form of a file of hooks, over texts as people write them and over generated ones.

mod declared;
mod json;
mod script;
pub(crate) mod text;
mod toml;

use super::{EntryShape, JsonHooks, ScriptFile, TableValue, TomlHooks, command_line};
use crate::settings::{
    Edited, GuardFailure, Inspection, KnownClient, Registered, SettingsError, SettingsPlan, Version,
};
use model::EventKind;
use serde_json::{Value, json};

const fn on(kind: EventKind, name: &'static str) -> Registered {
    Registered { kind, name, since: Version(0, 0, 0), timeout: 10, reason: "a test", after_calls: false }
}

const REGISTERED: &[Registered] = &[
    on(EventKind::PreToolUse, "PreToolUse"),
    on(EventKind::Stop, "Stop"),
    Registered { since: Version(2, 0, 0), ..on(EventKind::SessionEnd, "SessionEnd") },
];

fn handler(plan: &SettingsPlan, event: &Registered) -> Value {
    json!({"type": "command", "command": command_line(plan, "example"), "timeout": event.timeout})
}

fn bash_handler(plan: &SettingsPlan, event: &Registered) -> Value {
    json!({"type": "command", "bash": command_line(plan, "example"), "timeoutSec": event.timeout})
}

/// Events below `hooks`, as most agents have them.
const GROUPED: JsonHooks = JsonHooks {
    holder: Some("hooks"),
    head: &[],
    shape: EntryShape::Group,
    words: crate::hook_file::HOOK_WORDS,
    registered: REGISTERED,
    handler,
    disabled: &[("hooksConfig.enabled", "false")],
};

/// Events at the root.
const AT_ROOT: JsonHooks = JsonHooks { holder: None, head: &[], disabled: &[], ..GROUPED };

/// Handlers without a group, in a file that has to say its version.
const HEADED: JsonHooks =
    JsonHooks { head: &[("version", 1)], shape: EntryShape::Plain, handler: bash_handler, ..GROUPED };

const TABLES: TomlHooks = TomlHooks {
    array: "hooks",
    registered: REGISTERED,
    table: |plan, event| {
        vec![
            ("event", event.name.into()),
            ("command", command_line(plan, "example").into()),
            ("timeout", event.timeout.into()),
            ("strict", TableValue::Flag(false)),
        ]
    },
};

const SCRIPT: ScriptFile = ScriptFile {
    registered: REGISTERED,
    text: |plan| format!("export const taut = {};\n", serde_json::Value::from(plan.command.as_str())),
};

fn plan() -> SettingsPlan {
    SettingsPlan {
        command: "/opt/tools/taut".into(),
        client: KnownClient::Unknown,
        on_failure: GuardFailure::Continue,
        allow: Vec::new(),
        results: model::session::ResultsBy::Hooks,
    }
}

/// Somewhere else, and for a client that knows fewer events.
fn old_plan() -> SettingsPlan {
    SettingsPlan { command: "/old place/taut".into(), client: KnownClient::Known(Version(1, 0, 0)), ..plan() }
}

/// What every form can do, so that one property holds for all.
trait HookForm {
    fn edit(&self, text: &str, plan: &SettingsPlan) -> Result<Edited, SettingsError>;
    fn remove(&self, text: &str) -> Result<Edited, SettingsError>;
    fn inspect(&self, text: &str) -> Result<Inspection, SettingsError>;
}

macro_rules! form {
    ($form:ty) => {
        impl HookForm for $form {
            fn edit(&self, text: &str, plan: &SettingsPlan) -> Result<Edited, SettingsError> {
                self.edit(text, plan)
            }
            fn remove(&self, text: &str) -> Result<Edited, SettingsError> {
                self.remove(text, &[])
            }
            fn inspect(&self, text: &str) -> Result<Inspection, SettingsError> {
                self.inspect(text)
            }
        }
    };
}

form!(JsonHooks);
form!(TomlHooks);
form!(ScriptFile);

/// What holds for every text that is accepted; gives the text with our hooks in it.
#[track_caller]
fn there_and_back(form: &dyn HookForm, text: &str) -> String {
    let once = form.edit(text, &plan()).unwrap();
    let twice = form.edit(&once.text, &plan()).unwrap();
    assert_eq!(twice.text, once.text, "twice is once");
    assert!(twice.events.is_empty(), "{:?}", twice.events);
    let entries = form.inspect(&once.text).unwrap().entries;
    let events: Vec<_> = entries.iter().map(|entry| entry.event.as_str()).collect();
    assert!(REGISTERED.iter().all(|event| events.contains(&event.name)), "{events:?} in\n{}", once.text);
    assert_eq!(events.len(), REGISTERED.len());
    assert!(entries.iter().all(|entry| entry.program == plan().command));
    assert_eq!(form.remove(&once.text).unwrap().text, text, "uninstall restores, from:\n{}", once.text);
    assert_eq!(form.remove(text).unwrap().text, text, "what was never put in is not taken out");
    let old = form.edit(text, &old_plan()).unwrap().text;
    let new = form.edit(&old, &plan()).unwrap().text;
    assert!(old.contains("/old place/taut") && !new.contains("/old place"), "{new}");
    assert_eq!(
        form.remove(&new).unwrap().text,
        text,
        "an upgrade in between leaves nothing behind either, from:\n{new}"
    );
    once.text
}
