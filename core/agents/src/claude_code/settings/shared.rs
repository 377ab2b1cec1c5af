//! Our line in a project's settings, which others have on machines of their own: where Taut is not installed, their
//! sessions go on, and each is told at its beginning that nothing is guarded.

use super::{GuardFailure, Registered, SettingsPlan};
use crate::hook_file::shared_line;
use model::EventKind;
use serde_json::json;

/// Without quotes of a shell in it.
const ABSENT: &str = "This project uses Taut, and Taut is not installed here: nothing is guarded. Install Taut and run \
                      `taut init`, or take the hooks out with `taut uninstall --project`.";

pub(super) fn line(plan: &SettingsPlan, registered: &Registered) -> String {
    let absent = match registered.kind {
        EventKind::SessionStart => format!("{{ echo '{}'; exit 0; }}", json!({"systemMessage": ABSENT})),
        // The project wants nothing done without the guard.
        EventKind::PreToolUse if plan.on_failure == GuardFailure::Block => {
            format!("{{ echo '{ABSENT}' >&2; exit 2; }}")
        }
        _ => "exit 0".to_owned(),
    };
    shared_line(crate::claude_code::ID, &absent)
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::super::{edit, inspect, remove};
    use super::*;
    use crate::settings::SHARED_PROGRAM;

    #[test]
    fn i1_the_projects_settings_name_no_machine_and_are_taken_out_byte_for_byte() {
        let shared = SettingsPlan { command: SHARED_PROGRAM.into(), ..plan() };
        for text in ["", "{}\n", "{\n  \"model\": \"opus\"\n}\n"] {
            let edited = edit(text, &shared).unwrap();
            assert!(!edited.text.contains("/opt/tools"), "{}", edited.text);
            assert_eq!(edited.text.matches("systemMessage").count(), 1, "said once a session: {}", edited.text);
            let found = inspect(&edited.text).unwrap();
            assert_eq!(found.entries.len(), super::super::REGISTERED.len());
            assert!(found.entries.iter().all(|entry| entry.program == SHARED_PROGRAM));
            assert!(found.ignored_for.is_none());
            assert_eq!(edit(&edited.text, &shared).unwrap().text, edited.text, "twice is once");
            assert_eq!(remove(&edited.text, &[]).unwrap().text, text);
            let own = edit(&edited.text, &plan()).unwrap().text;
            assert_eq!(own, edit(text, &plan()).unwrap().text, "what was shared becomes one machine's");
        }
    }

    #[test]
    fn i1_a_project_that_fails_closed_stops_calls_where_there_is_no_guard() {
        let closed = SettingsPlan { command: SHARED_PROGRAM.into(), on_failure: GuardFailure::Block, ..plan() };
        let text = edit("", &closed).unwrap().text;
        assert_eq!(text.matches("exit 2").count(), 1, "{text}");
    }
}
