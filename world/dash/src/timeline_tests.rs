//! Events as they are stored, and the entries that a person reads.

use super::*;
use serde_json::json;

fn event(name: &str, at: i64, detail: Value) -> Event {
    Event {
        id: format!("e{at}"),
        at: Ms(at),
        key: format!("h/{name}/{at}"),
        agent: "a".into(),
        session: Some("s".into()),
        host_session: Some("h".into()),
        sub_agent: None,
        event: name.into(),
        tool: detail.get("input").map(|_| "Bash".into()),
        verdict: Level::Pass,
        rules: Vec::new(),
        reason: None,
        detail,
        micros: 1500,
        answer: Answer::default(),
    }
}

fn call(id: &str) -> Value {
    json!({"input": {"command": "make"}, "call": id})
}

#[test]
fn f4_a_call_is_one_entry_from_its_permission_to_its_result() {
    let mut result = event("PostToolUse", 4000, call("c1"));
    result.answer.stdout = json!({"hookSpecificOutput": {"additionalContext": "read AGENTS.md"}}).to_string();
    let events = [event("PreToolUse", 1000, call("c1")), event("PreToolUse", 2000, call("c2")), result];
    let told = entries(&events, &["c2".to_owned()]);
    assert_eq!(told.len(), 2);
    assert_eq!((told[0].outcome, told[0].duration_ms), (Some("running"), None), "the newest first");
    assert_eq!((told[1].outcome, told[1].duration_ms), (Some("done"), Some(3000)));
    assert_eq!(told[1].told, [AnswerPart { to: "model", as_what: "context", text: "read AGENTS.md".into() }]);
}

#[test]
fn f4_the_clients_own_time_of_a_call_is_believed_and_a_failure_says_what() {
    let mut detail = call("c");
    detail["duration_ms"] = json!(7);
    let told = entries(&[event("PreToolUse", 0, call("c")), event("PostToolUse", 900, detail)], &[]);
    assert_eq!(told[0].duration_ms, Some(7));
    let mut detail = call("c");
    detail["error"] = json!("exit 1");
    let told = entries(&[event("PreToolUse", 0, call("c")), event("PostToolUseFailure", 900, detail)], &[]);
    assert_eq!((told[0].outcome, told[0].error.as_deref()), (Some("failed"), Some("exit 1")));
}

#[test]
fn f4_a_result_whose_permission_is_on_another_page_stands_alone() {
    let told = entries(&[event("PostToolUse", 900, call("c"))], &[]);
    assert_eq!((told[0].kind, told[0].outcome), (TimelineKind::Tool, Some("done")));
}

#[test]
fn f4_a_call_that_nobody_waits_for_is_not_running() {
    assert_eq!(entries(&[event("PreToolUse", 0, call("c"))], &[])[0].outcome, None);
}

#[test]
fn f4_a_denial_is_told_with_the_words_the_model_got() {
    let mut denied = event("PreToolUse", 0, call("c"));
    denied.verdict = Level::Deny;
    denied.rules = vec!["git-force-push".into()];
    let reason = "because";
    denied.answer.stdout =
        json!({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": reason}}).to_string();
    let told = entries(&[denied], &[]);
    assert_eq!((told[0].outcome, told[0].verdict), (Some("denied"), "deny"));
    assert_eq!(told[0].told, [AnswerPart { to: "model", as_what: "reason", text: reason.into() }]);
}

#[test]
fn f1_f4_what_a_client_said_of_itself_is_told_in_words() {
    let turned = |name: &str, from: &str, to: &str| {
        let detail = json!({"doing": "busy", "status": {"from": from, "to": to}});
        let told = entries(&[event(name, 0, detail)], &[]).remove(0);
        assert_eq!(told.kind, TimelineKind::Session);
        told.about
    };
    assert_eq!(turned("ClientState", "attention", "working"), "attention → working, by its client's own word");
    assert_eq!(turned("ClientGone", "working", "error"), "working → error, its client is gone");
    assert_eq!(turned("ClientGone", "done", "done"), "its client is gone");
}

#[test]
fn f1_f4_what_a_person_answered_or_said_is_told_with_who_and_where() {
    let mut answered = event("Answer", 0, json!({"say": "denied", "input": {"command": "make"}}));
    answered.tool = Some("Bash".into());
    answered.reason = Some("ada denied Bash at a terminal: use just".into());
    let mut said = event("PersonAct", 1, json!({"text": "rebase", "way": "typed", "by": "ada", "at": "page"}));
    said.tool = Some("say".into());
    let told = entries(&[answered, said], &[]);
    let told: Vec<(String, &str)> = told.iter().map(|entry| (entry.what(), entry.about.as_str())).collect();
    assert_eq!(
        told,
        [
            ("say".to_owned(), "ada (page): rebase"),
            ("Bash answered".to_owned(), "ada denied Bash at a terminal: use just")
        ]
    );
}

#[test]
fn f4_a_batch_that_says_nothing_is_not_told() {
    assert!(entries(&[event("PostToolBatch", 0, json!({"calls": 2}))], &[]).is_empty());
}

#[test]
fn f4_a_cursor_leads_back_to_its_key_and_nonsense_leads_nowhere() {
    for key in ["h/PreToolUse/1/ab", "ü\u{202e}\"'<", ""] {
        assert_eq!(key_of(&cursor(key)).as_deref(), Some(key));
    }
    for nonsense in ["zz", "f", "ff", "-1", "+1"] {
        assert_eq!(key_of(nonsense).filter(|key| cursor(key) == nonsense), None, "{nonsense}");
    }
}
