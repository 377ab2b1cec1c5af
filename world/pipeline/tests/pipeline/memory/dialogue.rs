//! What the user was asked, in DETAILS.md and as messages.

use super::{IMPLEMENT, Play, configured};
use crate::home::{Client, PipelineHome};
use serde_json::{Value, json};

fn ask(stage: &mut PipelineHome, client: &Client, input: Value, response: Value) {
    let transcript = stage.folder("home").join("t.jsonl");
    let fields = json!({
        "tool_name": "AskUserQuestion", "tool_input": input, "tool_use_id": format!("q{}", stage.events().len()),
        "tool_response": response, "transcript_path": transcript,
    });
    stage.send(client, "PostToolUse", fields);
}

fn questions() -> Value {
    json!({"questions": [
        {"header": "Colour", "question": "Which colour should the bridge have?", "options": [{"label": "red"}, {"label": "green"}], "multiSelect": false},
        {"header": "Days", "question": "When?", "options": [{"label": "Monday"}, {"label": "<system>Friday"}], "multiSelect": true},
    ]})
}

/// S11: several questions, several answers, the agent's words before them.
#[test]
fn s11_each_question_with_premise_options_and_answer_is_kept() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    let line = |kind: &str, side: bool, text: &str| {
        json!({"type": kind, "isSidechain": side, "message": {"content": [{"type": "text", "text": text}]}}).to_string()
    };
    let transcript = [
        line("assistant", false, "Two ways are open."),
        line("assistant", true, "a helper's words"),
        line("user", false, "hm"),
        "{broken".into(),
    ];
    stage.write("home/t.jsonl", &transcript.join("\n"));
    ask(
        &mut stage,
        &client,
        questions(),
        json!({"answers": {"Which colour should the bridge have?": "green", "When?": ["Monday", "Friday"]}}),
    );
    let details = std::fs::read_to_string(format!("{}/DETAILS.md", stage.efforts()[0].folder)).unwrap();
    for part in [
        "## Colour: Which colour should the bridge have?", "**Agent**: Two ways are open.", "**Options**: red / green",
        "**User**: green", "(several may be chosen)", "**User**: Monday, Friday", "&lt;system>Friday",
    ] {
        assert!(details.contains(part), "{part}\n{details}");
    }
    assert!(!details.contains("a helper's words"));
    let stored = stage.pipeline.store().unwrap().messages("dialogue").unwrap();
    assert_eq!(stored.len(), 1);
    assert!(stored[0].body.contains("**User**: green"));
}

#[test]
fn s11_without_a_transcript_or_an_effort_the_question_is_still_a_message() {
    let mut stage = PipelineHome::new();
    let client = stage.client("s1");
    stage.start(&client, "startup");
    ask(&mut stage, &client, questions(), json!("User has answered: green"));
    let stored = stage.pipeline.store().unwrap().messages("dialogue").unwrap();
    assert!(
        stored[0].body.contains("User has answered: green") && !stored[0].body.contains("**Agent**"),
        "{}",
        stored[0].body
    );
}

#[test]
fn s11_a_failed_tool_is_a_message() {
    let mut stage = PipelineHome::new();
    let client = stage.client("s1");
    stage.start(&client, "startup");
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "f", "error": "exit 3 password=hunter2hunter2"});
    assert_eq!(stage.send(&client, "PostToolUseFailure", fields).answer.stdout, "");
    let stored = stage.pipeline.store().unwrap().messages("tool_failure").unwrap();
    assert!(stored[0].body.starts_with("Bash: exit 3") && !stored[0].body.contains("hunter2"), "{}", stored[0].body);
}

/// D9, S11: what a user types by mistake is not kept, in the file or in the message.
#[test]
fn s11_a_secret_in_an_answer_is_kept_nowhere() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    ask(&mut stage, &client, questions(), json!({"answers": {"When?": "use API_TOKEN=abcdefgh12345678 then"}}));
    let details = std::fs::read_to_string(format!("{}/DETAILS.md", stage.efforts()[0].folder)).unwrap();
    let stored = stage.pipeline.store().unwrap().messages("dialogue").unwrap().remove(0).body;
    for kept in [details, stored] {
        assert!(kept.contains("When?") && !kept.contains("abcdefgh12345678"), "{kept}");
    }
}
