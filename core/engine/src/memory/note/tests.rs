use super::render::{NoteView, fitted};
use super::{compose, test_runs};
use model::Ms;
use model::effort::HandOver;
use model::session_work::{PastEvent, SessionHistory, SessionWork, TestOutcome};
use proptest::prelude::*;
use serde_json::{Value, json};

fn event(at: i64, name: &str, tool: &str, detail: Value) -> PastEvent {
    PastEvent { at: Ms(at), event: name.into(), tool: Some(tool.into()), by_sub_agent: false, detail }
}

fn said(at: i64, text: &str) -> PastEvent {
    event(at, "UserPromptSubmit", "", json!({"prompt": text}))
}

/// The oldest first, as they happened.
fn work(events: Vec<PastEvent>, earlier: Option<&SessionWork>) -> Option<SessionWork> {
    let events = events.into_iter().rev().collect();
    compose(&SessionHistory { session: "s".into(), first_prompts: Vec::new(), events }, "/p", earlier)
}

#[test]
fn m2_what_runs_tests_is_recognised_and_what_only_names_them_is_not() {
    for line in [
        "cargo test", "cargo nextest run -p a", "RUST_LOG=1 cargo test --workspace", "npm test", "npm run test:unit",
        "pnpm -r test", "yarn jest --watch=false", "npx vitest run", "pytest -q", "python -m pytest tests/a.py",
        "uv run pytest", "python3 -m unittest", "python manage.py test shop", "go test ./...", "make test",
        "make -j4 test-unit", "just test", "mvn -q test", "./gradlew :app:test", "dotnet test", "mix test",
        "bundle exec rspec", "ctest --output-on-failure", "cd sub && cargo test", "time bazel test //...",
        "./scripts/test.sh", "docker compose exec app pytest",
    ] {
        assert!(test_runs::seen(line, TestOutcome::Passed, Ms(1)).is_some(), "{line}");
    }
    for line in [
        "cargo build", "git commit -m 'mend the test'", "grep -rn pytest .", "cat test.log", "pip install pytest",
        "npm install jest", "ls tests", "cargo add nextest", "echo cargo test", "vim tests/a.py",
        "taut log cargo test ran",
    ] {
        assert!(test_runs::seen(line, TestOutcome::Passed, Ms(1)).is_none(), "{line}");
    }
}

#[test]
fn m2_of_a_line_that_goes_on_behind_the_tests_only_what_is_certain_is_said() {
    for (line, seen, expected) in [
        ("cargo test", TestOutcome::Failed, TestOutcome::Failed),
        ("cargo test 2>&1", TestOutcome::Failed, TestOutcome::Failed),
        ("cargo test 2>&1 | tail -20", TestOutcome::Passed, TestOutcome::Unknown),
        ("cargo test || true", TestOutcome::Passed, TestOutcome::Unknown),
        ("cargo test; echo done", TestOutcome::Passed, TestOutcome::Unknown),
        ("cargo test && git push", TestOutcome::Passed, TestOutcome::Passed),
        ("cargo test && git push", TestOutcome::Failed, TestOutcome::Unknown),
        ("cargo fmt && cargo test", TestOutcome::Failed, TestOutcome::Failed),
    ] {
        assert_eq!(test_runs::seen(line, seen, Ms(1)).unwrap().outcome, expected, "{line}");
    }
}

#[test]
fn m2_a_command_that_failed_and_then_worked_is_no_failure_any_more() {
    let failed =
        |line: &str| event(2, "PostToolUseFailure", "Bash", json!({"input": {"command": line}, "error": "no"}));
    let worked = |line: &str| event(3, "PostToolUse", "Bash", json!({"input": {"command": line}}));
    let first = work(vec![said(1, "go"), failed("make"), failed("make docs"), worked("make")], None).unwrap();
    let left: Vec<&str> = first.failures.iter().map(|failure| failure.command.as_str()).collect();
    assert_eq!(left, ["make docs"]);
    let next = work(vec![said(4, "and now?"), worked("make docs")], Some(&first)).unwrap();
    assert!(next.failures.is_empty(), "in the session after it too");
}

#[test]
fn m2_a_list_is_taken_as_it_last_stood_however_it_is_kept() {
    let todo = |work: SessionWork| work.todo.into_iter().map(|item| (item.text, item.status)).collect::<Vec<_>>();
    let created = |id: &str, subject: &str| event(2, "TaskCreated", "", json!({"id": id, "subject": subject}));
    let updated = |id: &str, status: &str| {
        event(3, "PostToolUse", "TaskUpdate", json!({"input": {"taskId": id, "status": status}}))
    };
    let create = |subject: &str| {
        event(2, "PostToolUse", "TaskCreate", json!({"input": {"subject": subject, "description": "d"}}))
    };
    let expected = [("lay".to_string(), "completed".to_string()), ("paint".into(), "in_progress".into())];
    let told = vec![
        said(1, "go"),
        create("lay"),
        created("1", "lay"),
        create("paint"),
        created("2", "paint"),
        updated("1", "completed"),
        updated("2", "in_progress"),
    ];
    assert_eq!(todo(work(told, None).unwrap()), expected);
    let untold =
        vec![said(1, "go"), create("lay"), create("paint"), updated("1", "completed"), updated("2", "in_progress")];
    assert_eq!(todo(work(untold, None).unwrap()), expected);
    let plan = json!({"input": {"plan": [{"step": "lay", "status": "completed"}, {"step": "paint", "status": "in_progress"}]}});
    assert_eq!(todo(work(vec![said(1, "go"), event(2, "PostToolUse", "update_plan", plan)], None).unwrap()), expected);
}

#[test]
fn m2_a_question_is_open_until_it_is_answered_or_somebody_speaks() {
    let ask = |id: &str| {
        event(
            2,
            "PreToolUse",
            "AskUserQuestion",
            json!({"asks": "question", "call": id, "input": {"questions": [{"question": "Wide?"}]}}),
        )
    };
    let stop = |text: &str| event(3, "Stop", "", json!({"last_message": text}));
    let open = |events| work(events, None).unwrap().questions;
    assert_eq!(open(vec![said(1, "go"), ask("1")]), ["Wide?"]);
    assert_eq!(open(vec![said(1, "go"), stop("Built.\n**Shall I paint it?**")]), ["**Shall I paint it?**"]);
    assert!(open(vec![said(1, "go"), ask("1"), said(5, "as you like")]).is_empty());
    assert!(open(vec![said(1, "go"), stop("Shall I?"), said(5, "yes")]).is_empty());
    let answered = event(
        4,
        "PostToolUse",
        "AskUserQuestion",
        json!({"call": "1", "input": {"questions": [{"question": "Wide?"}], "answers": {"Wide?": ["yes", "very"]}}}),
    );
    let done = work(vec![said(1, "go"), ask("1"), answered], None).unwrap();
    assert!(done.questions.is_empty() && done.answers[0].answer == "yes, very", "{done:?}");
}

#[test]
fn m2_nobody_s_words_are_no_prompt() {
    for text in ["", "  \n", "<task-notification>done</task-notification>"] {
        assert_eq!(work(vec![said(1, text)], None), None, "{text}");
    }
    let helper = PastEvent { by_sub_agent: true, ..said(1, "look into it") };
    assert_eq!(work(vec![helper], None), None);
}

proptest! {
    #[test]
    fn m2_a_note_never_takes_more_room_than_there_is(
        room in 0_usize..4_000,
        prompts in prop::collection::vec(".{0,3000}", 0..6),
        paths in prop::collection::vec(".{0,300}", 0..40),
    ) {
        let mut events: Vec<PastEvent> = prompts.iter().map(|text| said(1, text)).collect();
        events.push(event(2, "PostToolUse", "Write", json!({"wrote": paths})));
        events.push(event(3, "Stop", "", json!({"last_message": prompts.concat()})));
        let note = HandOver { work: work(events, None).unwrap_or_default(), mini: true, ..HandOver::default() };
        let view = NoteView { at: Ms(1), now: Ms(2), room, with_compact_summary: true };
        prop_assert!(crate::context::size(&fitted(&note, view)) <= room);
    }
}
