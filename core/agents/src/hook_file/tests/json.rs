//! Forms of JSON other than Claude Code's own, whose tests are beside it.

use super::*;
use crate::hook_file::plain_json_only;
use crate::settings::Leaves;
use proptest::prelude::*;

const LINE: &str = "/opt/tools/taut hook --agent example";

#[test]
fn i1_events_at_the_root_come_and_go_byte_for_byte() {
    let fresh = there_and_back(&AT_ROOT, "");
    let first = format!(
        "{{\n  \"PreToolUse\": [ {{ \"hooks\": [{{ \"type\": \"command\", \"command\": \"{LINE}\", \"timeout\": 10 }}] }} ],\n"
    );
    assert!(fresh.starts_with(&first), "{fresh}");
    assert_eq!(AT_ROOT.remove(&fresh, &[]).unwrap().leaves, Leaves::Nothing);
    for text in [
        "{}",
        "{ }\n",
        "{\n}\n",
        "{\"Stop\":[]}",
        "{\"Stop\": [ ], \"New\": [{\"hooks\": [{\"command\": \"say\"}]}]}",
        "{\r\n\t\"Stop\": [\r\n\t\t{\"hooks\": [{\"command\": \"say\"}]} // mine\r\n\t],\r\n}\r\n",
    ] {
        there_and_back(&AT_ROOT, text);
    }
}

#[test]
fn i1_plain_entries_come_with_the_head_of_their_file_and_go_with_it() {
    let fresh = there_and_back(&HEADED, "");
    assert!(
        fresh.starts_with("{\n  \"hooks\": {\n    \"PreToolUse\": [ { \"type\": \"command\", \"bash\": \""),
        "{fresh}"
    );
    assert!(fresh.ends_with(" ]\n  }, \"version\": 1\n}\n"), "{fresh}");
    assert_eq!(serde_json::from_str::<Value>(&fresh).unwrap()["version"], 1);
    assert_eq!(HEADED.remove(&fresh, &[]).unwrap().leaves, Leaves::Nothing);
    for (text, adds_head) in [
        ("{}", true),
        ("{\"version\": 1}", false),
        ("{\"version\":1}", false),
        ("{\n  \"version\": 1\n}\n", false),
        ("{\n  \"version\": 1,\n  \"hooks\": {}\n}\n", false),
        ("{\"a\": 1, \"version\": 1,}", false),
        ("{\"a\": 1,}", true),
        ("{\"hooks\": {\"Stop\": [{\"command\": \"say\"}]}, \"version\": 1}", false),
        ("{\n  \"hooks\": {\n    \"Stop\": [ {\"bash\": \"say\"} ]\n  }\n}", false),
    ] {
        let after = there_and_back(&HEADED, text);
        assert_eq!(
            after.matches("version").count(),
            text.matches("version").count() + usize::from(adds_head),
            "{after}"
        );
    }
}

#[test]
fn i1_a_head_that_the_user_wrote_behind_their_own_hooks_stays() {
    let text = "{ \"hooks\": { \"Stop\": [ { \"bash\": \"taut hook\" } ] },\n  \"version\": 1 }";
    assert_eq!(HEADED.remove(text, &[]).unwrap().text, "{\n  \"version\": 1 }");
}

#[test]
fn a_member_that_switches_hooks_off_is_seen_wherever_it_stands() {
    let off = |text: &str| GROUPED.inspect(text).unwrap().hooks_disabled;
    assert!(off(r#"{"hooksConfig": {"enabled": false}}"#));
    assert!(off(r#"{"hooksConfig": {"enabled": true, "enabled": false}}"#));
    for text in
        [r#"{"hooksConfig": {"enabled": true}}"#, r#"{"hooksConfig": false}"#, r#"{"enabled": false}"#, "{}", ""]
    {
        assert!(!off(text), "{text}");
    }
}

#[test]
fn comments_matter_only_where_an_agent_ignores_the_file_for_them() {
    let text = "{ // note\n}";
    let found = GROUPED.inspect(text).unwrap();
    assert_eq!(found.ignored_for, None);
    let why = plain_json_only(text, "Example", found).unwrap().ignored_for.unwrap();
    assert_eq!((why.line, why.column), (1, 3));
    assert!(why.why.starts_with("Example reads plain JSON only"), "{why}");
}

#[test]
fn i2_an_agent_that_ignores_a_file_for_what_others_read_is_known_to() {
    let ignored = |id: &str, text: &str| {
        let found = (crate::ALL.find(id).unwrap().settings.inspect)(text).unwrap().ignored_for;
        found.map(|error| (error.line, error.column, error.why))
    };
    let (mark, comment, comma) = ("\u{feff}{ \"a\": 1 }", "{ // note\n}", "{\n\"a\": {},}");
    for id in ["codex", "droid"] {
        let (line, column, why) = ignored(id, mark).unwrap();
        assert!((line, column) == (1, 1) && why.contains("byte order mark"), "{id}: {why}");
        let (line, column, why) = ignored(id, comma).unwrap();
        assert!((line, column) == (2, 8) && why.contains("trailing comma"), "{id}: {why}");
        assert_eq!(ignored(id, "{ \"a\": 1 }"), None);
    }
    assert!(ignored("codex", comment).is_some());
    assert_eq!(ignored("droid", comment), None, "it reads comments");
    assert_eq!(ignored("claude-code", mark), None, "it reads a byte order mark");
}

#[test]
fn i1_a_control_character_that_is_not_written_as_an_escape_is_no_json() {
    for broken in ["{\"a\": \"x\ty\"}", "{\"a\ty\": 1}", "{\"a\": \"\u{1b}[0m\"}", "{\"a\": \"\u{0}\"}"] {
        let error = GROUPED.inspect(broken).unwrap_err();
        assert!(error.why.contains("control character"), "{broken:?}: {error}");
        assert!(GROUPED.edit(broken, &plan()).is_err() && serde_json::from_str::<Value>(broken).is_err());
    }
    for whole in ["{\"a\": \"x\\ty\"}", "{\t\"a\":\t\"\u{7f}\"}"] {
        assert!(GROUPED.inspect(whole).is_ok() && serde_json::from_str::<Value>(whole).is_ok(), "{whole:?}");
    }
}

#[test]
fn i1_an_upgrade_replaces_our_handlers_and_nothing_beside_them() {
    let text = "{\"hooks\": {\"Stop\": [{\"bash\": \"say\"}, {\"bash\": \"/old/taut hook --agent example\"}, {\"bash\": \"end\"}]}}";
    let after = HEADED.edit(text, &plan()).unwrap().text;
    let ours = format!("{{ \"type\": \"command\", \"bash\": \"{LINE}\", \"timeoutSec\": 10 }}");
    assert!(
        after
            .starts_with(&format!("{{\"hooks\": {{\"Stop\": [{{\"bash\": \"say\"}}, {ours}, {{\"bash\": \"end\"}}], ")),
        "{after}"
    );
}

#[test]
fn settings_of_another_form_are_refused_with_the_place() {
    for (hooks, text, why) in [
        (&AT_ROOT, "[]", "the settings have to be an object, but this is a list"),
        (&AT_ROOT, "{\"Stop\": {}}", "`Stop` has to be a list, but this is an object"),
        (&HEADED, "{\"hooks\": 1}", "`hooks` has to be an object, but this is a plain value"),
        (&HEADED, "{\"hooks\": {\"Stop\": 1}}", "`hooks.Stop` has to be a list, but this is a plain value"),
    ] {
        assert_eq!(hooks.edit(text, &plan()).unwrap_err().why, why);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i1_events_below_a_member_are_put_in_once_and_taken_out_byte_for_byte(text in text::file(EntryShape::Group)) {
        there_and_back(&GROUPED, &text);
    }

    #[test]
    fn i1_events_at_the_root_are_put_in_once_and_taken_out_byte_for_byte(text in text::keyed_by_event(EntryShape::Group)) {
        there_and_back(&AT_ROOT, &text);
    }

    #[test]
    fn i1_plain_entries_and_a_head_are_put_in_once_and_taken_out_byte_for_byte(text in text::file(EntryShape::Plain)) {
        there_and_back(&HEADED, &text);
    }

    #[test]
    fn i1_hooks_of_others_stay_where_they_are(text in text::file(EntryShape::Plain)) {
        let mut bytes = HEADED.edit(&text, &plan()).unwrap().text.into_bytes().into_iter();
        prop_assert!(text.bytes().all(|byte| bytes.any(|found| found == byte)));
    }
}
