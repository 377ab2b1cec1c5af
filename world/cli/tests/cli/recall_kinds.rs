//! What a client really sends, from its first prompt to its end, and each kind of it found again by `taut recall` (M3).

use serde_json::{Value, json};
use testkit::stage::{DAEMON, IN_PROCESS, Stage};

/// A day of one agent, as its hooks tell it. Every thing that happens has a tree of its own.
fn a_day(stage: &Stage, env: &[(&str, &str)]) {
    let file = stage.sandbox.project().join("src/ebony_tree.rs");
    let asked = json!({"questions": [{"header": "Tree", "question": "Which hazel?", "multiSelect": false,
        "options": [{"label": "juniper"}, {"label": "larch"}]}]});
    let mut told = json!({"tool_name": "AskUserQuestion", "tool_input": asked, "tool_use_id": "t5"});
    told["tool_response"] = json!({"questions": asked["questions"], "answers": {"Which hazel?": "juniper"}});
    let make = json!({"command": "make cedar", "description": "Plant it"});
    let edit = json!({"file_path": file, "old_string": "a", "new_string": "b"});
    let call = |tool: &str, id: &str, input: &Value| json!({"tool_name": tool, "tool_use_id": id, "tool_input": input});
    let with = |mut fields: Value, name: &str, value: Value| {
        fields[name] = value;
        fields
    };
    for (event, fields) in [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "plant the alder by the gate"})),
        ("PreToolUse", call("Bash", "t1", &make)),
        ("PostToolUseFailure", with(call("Bash", "t1", &make), "error", json!("Exit code 2\nno rule for cypress"))),
        ("PreToolUse", call("Edit", "t2", &edit)),
        ("PostToolUse", with(call("Edit", "t2", &edit), "tool_response", json!({}))),
        ("PreToolUse", call("Bash", "t3", &json!({"command": "taut log 'the fir has taken root'"}))),
        ("PreToolUse", call("AskUserQuestion", "t5", &asked)),
        ("PostToolUse", told),
        ("Stop", json!({"stop_hook_active": false, "last_assistant_message": "the beech is planted as well"})),
        ("PreCompact", json!({"trigger": "auto", "custom_instructions": ""})),
        ("PostCompact", json!({"trigger": "auto", "compact_summary": "So far: a birch was felled."})),
        ("SessionStart", json!({"source": "compact"})),
        ("StopFailure", json!({"error": "rate_limit", "error_details": "too many willows"})),
        ("SessionEnd", json!({"reason": "prompt_input_exit"})),
    ] {
        let payload = stage.payload(&with(fields, "hook_event_name", json!(event)));
        let done = stage.hook(&payload, env);
        assert!(done.success(), "{event}: {}", done.stderr_text());
    }
}

/// The day, and who looks back at it: a person, by their own terminal.
fn after_a_day(how: &[(&str, &str)], configuration: &str) -> Stage {
    let stage = if how == DAEMON { Stage::with_daemon() } else { Stage::new() };
    stage.configure(configuration);
    let own = std::process::id().to_string();
    a_day(&stage, &[how, &[("TAUT_AGENT_ID", "ann"), ("CLAUDE_PID", own.as_str())]].concat());
    stage.sandbox.forget_clients().unwrap();
    stage
}

fn texts(listed: &[Value]) -> Vec<&str> {
    listed.iter().map(|hit| hit["text"].as_str().unwrap()).collect()
}

#[test]
fn m3_every_kind_of_thing_that_a_client_tells_is_found_after_the_session() {
    for how in [IN_PROCESS, DAEMON] {
        let stage = after_a_day(how, "");
        for (words, kind, text) in [
            ("alder gate", "prompt", "plant the alder by the gate"),
            ("cedar", "command", "make cedar  # Plant it"),
            ("cypress", "failure", "make cedar: Exit code 2"),
            ("ebonyTree", "file", "src/ebony_tree.rs"),
            ("fir root", "log", "the fir has taken root"),
            ("hazel", "dialogue", "**User**: juniper"),
            ("beech", "answer", "the beech is planted as well"),
            ("birch felled", "note", "a birch was felled"),
            ("willow", "failure", "rate_limit: too many willows"),
        ] {
            let listed = stage.list(&["recall", words, "--json"]);
            let of_kind: Vec<Value> = listed.iter().filter(|hit| hit["kind"] == kind).cloned().collect();
            let [found] = &of_kind[..] else { panic!("{words}: {listed:?}") };
            assert!(found["text"].as_str().unwrap().contains(text), "{words}: {found}");
            assert_eq!(found["agent"], "ann", "{words}: {found}");
            assert_eq!(found["project"].as_str(), stage.sandbox.project().to_str(), "{words}: {found}");
        }
    }
}

/// Where memory is on, the session's own note holds what it was about.
#[test]
fn m3_the_note_that_is_written_at_the_end_is_found() {
    let stage = after_a_day(IN_PROCESS, "[memory]\nenabled = true\n");
    let notes = stage.list(&["recall", "alder", "--kind", "note", "--json"]);
    assert!(texts(&notes).iter().any(|note| note.contains("plant the alder by the gate")), "{notes:?}");
}
