//! Install and uninstall over texts as people write them, and over generated ones.

mod properties;

use super::*;
use crate::hook_file::jsonc::Document;
use crate::settings::Leaves;

pub(super) fn plan() -> SettingsPlan {
    SettingsPlan {
        command: "/opt/tools/taut".into(),
        client: KnownClient::Known(Version(2, 1, 325)),
        on_failure: GuardFailure::Continue,
        allow: Vec::new(),
        results: model::session::ResultsBy::Hooks,
    }
}

fn installed(text: &str) -> String {
    edit(text, &plan()).unwrap().text
}

/// Installs, checks what must always hold, and gives the installed text.
#[track_caller]
fn there_and_back(text: &str) -> String {
    let once = installed(text);
    assert_eq!(installed(&once), once, "twice is once");
    assert_eq!(inspect(&once).unwrap().entries.len(), REGISTERED.len());
    assert_eq!(remove(&once, &[]).unwrap().text, text, "uninstall restores, from:\n{once}");
    once
}

#[test]
fn i1_a_missing_file_gets_a_line_for_each_event_and_vanishes_again() {
    let text = there_and_back("");
    assert!(text.starts_with("{\n  \"hooks\": {\n    \"Setup\": [ { \"hooks\": [{ \"type\": \"command\", "), "{text}");
    assert!(text.ends_with(" }] } ]\n  }\n}\n"), "{text}");
    assert_eq!(remove(&text, &[]).unwrap().leaves, Leaves::Nothing);
}

#[test]
fn i1_the_entry_is_in_exec_form_with_a_timeout() {
    let text = installed("{}");
    let line = text.lines().find(|line| line.contains("\"SessionEnd\"")).unwrap();
    let handler = r#"{ "type": "command", "command": "/opt/tools/taut", "args": ["hook", "--agent", "claude-code"], "timeout": 5 }"#;
    let entry = format!("\"SessionEnd\": [ {{ \"hooks\": [{handler}] }} ]");
    assert_eq!(line.trim().trim_end_matches('}'), entry);
    assert!(!text.contains("onFailure"));
}

#[test]
fn i1_a_closed_guard_blocks_on_failure_at_the_gate_only() {
    let closed = SettingsPlan { on_failure: GuardFailure::Block, ..plan() };
    let text = edit("{}", &closed).unwrap().text;
    assert_eq!(text.matches(r#""onFailure": "block""#).count(), 1);
    assert!(text.lines().any(|line| line.contains("\"PreToolUse\"") && line.contains("onFailure")));
    let old = SettingsPlan { client: KnownClient::Known(Version(2, 1, 294)), ..closed };
    assert!(!edit("{}", &old).unwrap().text.contains("onFailure"));
}

#[test]
fn i1_an_old_client_gets_a_quoted_shell_line_and_no_events_it_does_not_know() {
    let old =
        SettingsPlan { command: "/my tools/taut".into(), client: KnownClient::Known(Version(2, 0, 46)), ..plan() };
    let text = edit("{}\n", &old).unwrap().text;
    assert!(text.contains(r#""command": "'/my tools/taut' hook --agent claude-code""#), "{text}");
    assert!(text.contains("PreToolUse") && !text.contains("PostToolBatch") && !text.contains("args"));
    assert_eq!(remove(&text, &[]).unwrap().text, "{}\n");
    assert_eq!(edit(&text, &plan()).unwrap().events.len(), REGISTERED.len());
}

#[test]
fn i1_events_that_change_the_client_by_being_registered_are_not() {
    let names: Vec<_> = REGISTERED.iter().map(|event| event.kind.name()).collect();
    for event in [
        "WorktreeCreate", "WorktreeRemove", "PreModelSwitch", "MessageDisplay", "FileChanged", "Elicitation",
        "ElicitationResult",
    ] {
        assert!(!names.contains(&event), "{event}");
    }
    assert_eq!(names.len() + 7, model::EventKind::ALL.len());
}

#[test]
fn i1_texts_as_people_write_them_come_back_byte_for_byte() {
    for text in [
        "",
        "{}",
        "{}\n",
        "{ }",
        "{\n}\n",
        "\u{feff}{\r\n\t\"model\": \"opus\"\r\n}",
        "\u{feff}",
        "   ",
        "\r",
        "\r\n",
        "// all commented out",
        "// all commented out\n",
        "/* nothing */",
        "{\"model\":\"opus\"}",
        "{\n  \"model\": \"opus\" // the big one\n}\n",
        "{\n  \"model\": \"opus\", // the big one\n  // \"theme\": \"dark\",\n}\n",
        "{ // note\n}",
        "{\"hooks\":{}}",
        "{\"hooks\": { }, }",
        "{\n  \"hooks\": {\n  },\n  \"model\": \"opus\"\n}",
        "{\"hooks\":{\"PreToolUse\":[]}}",
        "{\"hooks\":{\"PreToolUse\":[ ],\"Stop\":[\n]}}",
        "{\"hooks\":{\"PreToolUse\":[/* none */]}}",
        "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[]}]}}",
        "{\n\"hooks\": {\n\"Stop\": [\n{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}, // mine\n],\n},\n}\n",
    ] {
        there_and_back(text);
    }
}

/// ORIGINS §1.6 no. 9: an installer that replaced the user's own lists.
#[test]
fn i1_foreign_hooks_of_the_same_event_stay_in_front_of_ours() {
    let text = r#"{
    "hooks": {
        "PreCompact": [
            {
                "matcher": "auto",
                "hooks": [ {"type": "command", "command": "~/save.sh"} ]
            }
        ]
    }
}
"#;
    let installed = there_and_back(text);
    assert!(installed.starts_with(text.split("\n        ]").next().unwrap()));
    assert!(installed.contains("            },\n            { \"hooks\": [{"), "{installed}");
}

#[test]
fn i1_edits_made_since_are_kept() {
    let installed = installed("{\n  \"model\": \"opus\"\n}\n");
    let edited = installed
        .replace("\"opus\"", "\"sonnet\" /* cheaper */")
        .replace("\"Stop\": [ {", "\"Stop\": [ { \"hooks\": [{ \"type\": \"command\", \"command\": \"say\" }] }, {")
        .replace("    \"SessionEnd\"", "    // the end\n    \"SessionEnd\"");
    let text = remove(&edited, &[]).unwrap().text;
    assert_eq!(
        text,
        "{\n  \"model\": \"sonnet\" /* cheaper */,\n  \"hooks\": {\n\
         \x20   \"Stop\": [ { \"hooks\": [{ \"type\": \"command\", \"command\": \"say\" }] } ]\n    // the end\n  }\n}\n"
    );
}

#[test]
fn i1_a_hook_someone_put_into_our_group_keeps_the_group() {
    let text = r#"{"hooks":{"Stop":[{"hooks":[{"command":"/a/taut","args":["hook"]}, {"command":"say"}]}]}}"#;
    assert_eq!(remove(text, &[]).unwrap().text, r#"{"hooks":{"Stop":[{"hooks":[ {"command":"say"}]}]}}"#);
    let text = r#"{"hooks":{"Stop":[{"note":"mine","hooks":[{"command":"/a/taut","args":["hook"]}]}]}}"#;
    assert_eq!(remove(text, &[]).unwrap().text, r#"{"hooks":{"Stop":[{"note":"mine","hooks":[]}]}}"#);
}

#[test]
fn removal_never_lets_a_comment_swallow_what_follows() {
    let text = "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"a\"}]}, // mine\n\
                \x20{\"hooks\":[{\"command\":\"taut hook\"}]}, {\"hooks\":[{\"command\":\"b\"}]}]}}";
    let removed = remove(text, &[]).unwrap().text;
    assert!(removed.contains("// mine\n") && removed.contains("\"b\""), "{removed}");
    Document::read(&removed).unwrap();
    assert!(Document::read(&removed).unwrap().text.ends_with("}]}]}}"));
}

#[test]
fn i1_old_entries_are_replaced_where_they_stand_and_doubles_go() {
    let text = r#"{"hooks":{
  "Stop":[ {"hooks":[{"type":"command","command":"/old/taut hook --agent claude-code"}]}, {"hooks":[{"command":"say"}]} ],
  "PreToolUse":[{"hooks":[{"command":"/old/taut","args":["hook"]}]},{"hooks":[{"command":"/older/taut","args":["hook"]}]}],
  "WorktreeCreate":[ {"hooks":[{"command":"/old/taut","args":["hook"]}]} ]
}}"#;
    let text = installed(text);
    assert!(!text.contains("/old") && !text.contains("WorktreeCreate"), "{text}");
    let entries = inspect(&text).unwrap().entries;
    assert_eq!(entries.len(), REGISTERED.len());
    assert_eq!((entries[0].event.as_str(), entries[0].line), ("Stop", 2));
    assert!(text.contains(r#""timeout": 10 }]}, {"hooks":[{"command":"say"}]} ]"#), "{text}");
}

#[test]
fn settings_that_cannot_be_understood_are_refused_with_the_place() {
    for (text, line, column, why) in [
        ("[]", 1, 1, "the settings have to be an object, but this is a list"),
        ("{\n  \"hooks\": []\n}", 2, 12, "`hooks` has to be an object, but this is a list"),
        ("{\"hooks\": {\"Stop\": {}}}", 1, 20, "`hooks.Stop` has to be a list, but this is an object"),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3, "`,` or `}` is expected here"),
        ("{\"a\": nope}", 1, 7, "this is no JSON value"),
        ("{\"a\": \"x\n\"}", 1, 7, "a text begins here and its closing quote is missing on this line"),
        ("{\"ü\": 1", 1, 8, "the text ends before its `}`"),
        ("{} {}", 1, 4, "there is more text after the settings have ended"),
        ("{ /* }", 1, 3, "a comment begins here and never ends"),
        ("{a: 1}", 1, 2, "a name in double quotes is expected here"),
        ("<<<<<<< HEAD\n{}", 1, 1, "this is no JSON value"),
    ] {
        let error = edit(text, &plan()).unwrap_err();
        assert_eq!((error.line, error.column, error.why.as_str()), (line, column, why), "{text}");
    }
    assert!(edit(&"[".repeat(100_000), &plan()).is_err());
}

#[test]
fn permission_rules_come_and_go_with_a_preset_and_the_users_own_stay() {
    let rules = vec!["Bash(taut log *)".to_owned(), "Bash(taut status *)".to_owned()];
    let plan = SettingsPlan { allow: rules, ..plan() };
    for (text, added) in [
        ("{}", 2),
        ("", 2),
        ("{\"permissions\": {\"deny\": []}}", 2),
        ("{\n  \"permissions\": {\n    \"allow\": []\n  }\n}\n", 2),
        ("{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(taut log *)\",\n      \"Read\"\n    ]\n  }\n}\n", 1),
    ] {
        let edited = edit(text, &plan).unwrap();
        assert_eq!(edited.allow.len(), added, "{}", edited.text);
        assert_eq!(edit(&edited.text, &plan).unwrap().text, edited.text);
        assert_eq!(remove(&edited.text, &edited.allow).unwrap().text, text);
    }
}

/// Seen on the real client: one comment, and no hook of the file runs.
#[test]
fn what_makes_the_client_ignore_the_file_is_found() {
    let found = |text: &str| inspect(text).unwrap().ignored_for.map(|error| (error.line, error.column));
    assert_eq!(found("{\n  \"a\": [1, 2], // note\n  \"b\": {},\n}"), Some((2, 16)));
    assert_eq!(found("{\n  \"a\": [1, 2,],\n  /* b */\n}"), Some((2, 13)));
    assert_eq!(found("{\"a\": 1,}"), Some((1, 8)));
    assert_eq!(found("\u{feff}{\"a\": \"// text,\", \"a\": [[], {}]}\r\n"), None);
    assert_eq!(found(&installed("{}")), None);
}

#[test]
fn inspection_sees_narrowed_entries_and_disabled_hooks() {
    let text =
        r#"{"disableAllHooks": true, "hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"command":"taut hook"}]}]}}"#;
    let inspection = inspect(text).unwrap();
    assert!(inspection.hooks_disabled);
    assert_eq!(inspection.entries[0].matcher.as_deref(), Some("Bash"));
    assert_eq!(inspection.entries[0].form, CommandForm::Shell);
}
