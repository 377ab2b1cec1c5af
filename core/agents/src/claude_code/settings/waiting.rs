//! The line that waits for a person's answer from elsewhere: a second one on the event of a permission, put in and taken
//! out by itself. The first line stays what it was: verdicts and the bell do not wait.

use super::{Edited, Registered, SettingsError, SettingsPlan, Version};
use crate::hook_file::JsonHooks;
use crate::settings::WaitingLine;
use model::EventKind;
use serde_json::{Value, json};

pub(super) const WAITING: WaitingLine = WaitingLine {
    args: &ARGS,
    // Without a shell in between the client's signal reaches us, and only such clients keep a file on what they do.
    since: Version::EXEC_FORM,
    edit: |text, plan| LINES.edit(text, plan),
    remove: |text| LINES.remove(text, &[]),
    watch,
};

const ARGS: [&str; 4] = ["answer", "wait", "--agent", crate::claude_code::ID];

pub(super) const LINES: JsonHooks =
    JsonHooks { words: &["answer", "wait"], registered: &[LINE, BEGIN, BELL], handler, ..super::HOOKS };

const LINE: Registered = Registered {
    kind: EventKind::PermissionRequest,
    name: EventKind::PermissionRequest.name(),
    since: Version::EXEC_FORM,
    // A day. When it is over the dialog stands as before; ours ends before.
    timeout: 86_400,
    reason: "waits for an answer from elsewhere",
    after_calls: false,
};

/// Says which file is the session's bell.
const BEGIN: Registered = Registered {
    kind: EventKind::SessionStart,
    name: EventKind::SessionStart.name(),
    since: Version::EXEC_FORM,
    timeout: 10,
    reason: "names the file that wakes the session",
    after_calls: false,
};

/// A client at rest is woken by what this line says when the file has changed.
const BELL: Registered = Registered {
    kind: EventKind::FileChanged,
    name: EventKind::FileChanged.name(),
    since: Version::EXEC_FORM,
    timeout: 10,
    reason: "wakes the session for messages",
    after_calls: false,
};

fn watch(path: &str) -> String {
    let name = EventKind::SessionStart.name();
    json!({"hookSpecificOutput": {"hookEventName": name, "watchPaths": [path]}}).to_string()
}

/// No `onFailure`: it would make a denial of a wait that has run out. No `async`: such a line cannot answer.
fn handler(plan: &SettingsPlan, registered: &Registered) -> Value {
    let (command, timeout) = (&plan.command, registered.timeout);
    if registered.kind == EventKind::FileChanged {
        return json!({"type": "command", "command": command, "args": ARGS, "timeout": timeout, "asyncRewake": true});
    }
    json!({"type": "command", "command": command, "args": ARGS, "timeout": timeout})
}

/// Brings the line up to date where it is.
pub(super) fn kept(mut edited: Edited, plan: &SettingsPlan) -> Result<Edited, SettingsError> {
    if !LINES.inspect(&edited.text)?.entries.is_empty() {
        let change = LINES.edit(&edited.text, plan)?;
        add(&mut edited, change);
    }
    Ok(edited)
}

pub(super) fn without(mut edited: Edited) -> Result<Edited, SettingsError> {
    let removed = LINES.remove(&edited.text, &[])?;
    add(&mut edited, removed);
    Ok(edited)
}

fn add(edited: &mut Edited, change: Edited) {
    if !change.events.is_empty() {
        edited.leaves = change.leaves;
        edited.text = change.text;
        edited.events.extend(change.events);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::super::{GuardFailure, KnownClient, edit, inspect, remove};
    use super::*;

    const ENTRY: &str = concat!(
        r#"{ "hooks": [{ "type": "command", "command": "/opt/tools/taut", "#,
        r#""args": ["answer", "wait", "--agent", "claude-code"], "timeout": 86400 }] }"#
    );

    fn switched_on(text: &str, plan: &SettingsPlan) -> String {
        (WAITING.edit)(text, plan).unwrap().text
    }

    #[test]
    fn f4_the_line_is_put_in_beside_the_hook_and_taken_out_byte_for_byte() {
        for text in [
            "",
            "{}\n",
            "{\r\n\t\"model\": \"opus\"\r\n}",
            "{\"hooks\":{\"PermissionRequest\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"say\"}]}]}}",
            "{\n  \"hooks\": {\n    \"PermissionRequest\": [\n    ] // mine\n  }\n}\n",
        ] {
            let hooks = edit(text, &plan()).unwrap().text;
            assert_eq!(inspect(&hooks).unwrap().waiting, [], "nothing of it is there unless it was asked for");
            let on = switched_on(&hooks, &plan());
            let found = inspect(&on).unwrap();
            let mut events: Vec<&str> = found.waiting.iter().map(|entry| entry.event.as_str()).collect();
            events.sort_unstable();
            assert_eq!(events, ["FileChanged", "PermissionRequest", "SessionStart"], "{on}");
            assert_eq!(on.matches(r#""timeout": 10, "asyncRewake": true"#).count(), 1, "{on}");
            assert_eq!(found.entries.len(), super::super::REGISTERED.len(), "the hooks stay");
            assert!(on.contains(ENTRY) && !on.contains("onFailure"), "{on}");
            assert_eq!(switched_on(&on, &plan()), on, "twice is once");
            assert_eq!(edit(&on, &plan()).unwrap().text, on, "an installation keeps it");
            assert_eq!((WAITING.remove)(&on).unwrap().text, hooks, "from:\n{on}");
            assert_eq!(remove(&on, &[]).unwrap().text, text, "an uninstallation takes it with it, from:\n{on}");
        }
    }

    #[test]
    fn f4_an_installation_brings_the_line_up_to_date_and_never_puts_it_in() {
        let old = SettingsPlan { command: "/old/taut".into(), ..plan() };
        let on = switched_on(&edit("{}", &old).unwrap().text, &old);
        let closed = SettingsPlan { on_failure: GuardFailure::Block, ..plan() };
        let renewed = edit(&on, &closed).unwrap();
        assert!(renewed.text.contains(ENTRY) && !renewed.text.contains("/old/taut"), "{}", renewed.text);
        assert_eq!(renewed.events.iter().filter(|event| *event == "PermissionRequest").count(), 2);
        let double = renewed.text.replace(ENTRY, &format!("{ENTRY}, {ENTRY}"));
        assert_eq!(edit(&double, &closed).unwrap().text, renewed.text);
        let before = SettingsPlan { client: KnownClient::Known(Version(2, 1, 138)), ..plan() };
        assert_eq!(switched_on("{}", &before), "{}", "a client that cannot be signalled gets none");
    }

    #[test]
    fn f4_what_is_no_hook_of_ours_is_no_line_that_waits_either() {
        for args in [r#"["hook"]"#, r#"["answer"]"#, r#"["answer", "on"]"#, r#"["wait", "answer"]"#] {
            let text =
                format!(r#"{{"hooks":{{"PermissionRequest":[{{"hooks":[{{"command":"/a/taut","args":{args}}}]}}]}}}}"#);
            assert_eq!(inspect(&text).unwrap().waiting, [], "{args}");
            assert_eq!((WAITING.remove)(&text).unwrap().text, text);
        }
    }
}
