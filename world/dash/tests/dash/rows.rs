//! Rows: what is stored, as it is shown, with nothing that a terminal or a page would obey.

use dash::view_model::{FleetSummary, clean, is_mixed, one_line, row, rows, verdict};
use model::row::{Agent, AgentStatus, Event};
use model::session::{Session, SessionState};
use model::session_facts::{DiffSize, SessionFacts};
use model::{Answer, Level, Ms};
use proptest::prelude::*;
use serde_json::{Value, json};
use store::{Fleet, FleetRow, RunningTool};

fn event(tool: &str, detail: Value) -> Event {
    Event {
        id: "e-1".into(),
        at: Ms(1_000),
        key: "k".into(),
        agent: "alpha".into(),
        session: Some("s-1".into()),
        host_session: None,
        sub_agent: None,
        event: "PreToolUse".into(),
        tool: Some(tool.into()),
        verdict: Level::Deny,
        rules: vec!["rm-root".into()],
        reason: Some("no\u{1b}[2J".into()),
        detail,
        micros: 1,
        answer: Answer::default(),
    }
}

fn member(id: &str, status: AgentStatus) -> FleetRow {
    let agent = Agent {
        id: id.into(),
        named: true,
        status,
        dialect: None,
        session: Some("s-1".into()),
        project: "/p".into(),
        since: Ms(0),
    };
    FleetRow {
        name: id.into(),
        agent,
        session: None,
        died_in: None,
        running: None,
        task: None,
        effort: None,
        cause: None,
        verdict: None,
        sub_agents: 0,
        messages: 0,
        cards: Vec::new(),
        facts: SessionFacts::default(),
    }
}

fn session(tokens: Option<u64>) -> Session {
    Session {
        id: "s-1".into(),
        logical_id: "s-1".into(),
        agent: "alpha".into(),
        conversation: "c".into(),
        project: "/p".into(),
        state: SessionState::ToolActive,
        source: "startup".into(),
        context_tokens: tokens,
        context_window: Some(200_000),
        context_limit: Some(150_000),
        ..Session::default()
    }
}

#[test]
fn f4_a_row_shows_the_first_of_the_last_words_the_branch_the_change_and_the_cost() {
    let facts = SessionFacts {
        last_words: Some("\u{1b}[2JAll done.\nMore of it.".into()),
        branch: Some("side\u{202e}way".into()),
        diff: Some(DiffSize { files: 2, added: 30, removed: 4 }),
        diff_note: Some("1 file without lines".into()),
        model: Some("claude-opus-5-5".into()),
        cost_usd: Some(0.5),
        cost_estimated: true,
        tokens_in: Some(70),
        tokens_out: Some(7),
        tokens_cached: Some(5_000),
        ..SessionFacts::default()
    };
    let shown = row(&FleetRow { facts, ..member("alpha", AgentStatus::Done) }).object();
    let words = shown["last_words"].as_str().unwrap();
    assert!(words.contains("All done.") && words.ends_with('…') && !words.contains('\u{1b}'), "{words}");
    assert!(!shown["branch"].as_str().unwrap().contains('\u{202e}'), "{shown}");
    assert_eq!(shown["diff"], json!({"files": 2, "added": 30, "removed": 4}));
    assert_eq!((&shown["diff_note"], &shown["model"]), (&json!("1 file without lines"), &json!("claude-opus-5-5")));
    assert_eq!(
        (&shown["cost_usd"], &shown["cost_estimated"], &shown["tokens"]),
        (&json!(0.5), &json!(true), &json!(77))
    );
}

#[test]
fn f4_an_idle_agent_has_only_the_fields_scripts_rely_on() {
    let object = row(&member("alpha", AgentStatus::Done)).object();
    let wanted = json!({"id": "alpha", "name": "alpha", "status": "done", "session": "s-1", "project": "/p",
        "since": Ms(0).rfc3339()});
    assert_eq!(object, wanted);
}

#[test]
fn a4_a_row_says_which_agent_it_is_and_many_of_one_kind_are_not_mixed() {
    let of = |id: &str, dialect: Option<&str>| {
        let mut member = member(id, AgentStatus::Working);
        member.agent.dialect = dialect.map(str::to_string);
        row(&member)
    };
    assert_eq!(of("alpha", Some("codex")).object()["client"], "codex");
    assert!(of("alpha", None).object().get("client").is_none(), "one from before it was noted");
    let (one, two, old) = (of("a", Some("codex")), of("b", Some("gemini")), of("c", None));
    assert!(!is_mixed(&[one.clone(), one.clone(), old.clone()]));
    assert!(is_mixed(&[one, old, two]));
}

#[test]
fn f4_a_busy_agent_shows_its_tool_since_when_and_how_full_its_context_is() {
    let event = event("Bash", json!({"input": {"command": "\n  cargo test\n  -p dash"}}));
    let running = RunningTool { tool: "Bash".into(), since: Ms(1_000), beside: 2, event };
    let busy = FleetRow {
        session: Some(session(Some(100_050))),
        running: Some(running),
        ..member("alpha", AgentStatus::Working)
    };
    let object = row(&busy).object();
    let tool = json!({"name": "Bash", "about": "cargo test…", "since": Ms(1_000).rfc3339(), "beside": 2});
    assert_eq!(
        (&object["tool"], &object["context_percent"], &object["state"]),
        (&tool, &json!(66.7), &json!("tool_active"))
    );
    let unknown = FleetRow { session: Some(session(None)), ..member("alpha", AgentStatus::Working) };
    assert!(row(&unknown).object().get("context_percent").is_none(), "unknown is unknown, not zero");
}

#[test]
fn f4_a_row_that_needs_somebody_says_why() {
    let table = [
        ("PermissionRequest", "Bash", json!({"input": {"command": "git push"}}), "permission for Bash (git push)"),
        (
            "PreToolUse",
            "AskUserQuestion",
            json!({"asks": "question", "input": {"questions": [{"question": "Which?"}]}}),
            "it asks “Which?”",
        ),
        ("PostToolUseFailure", "Bash", json!({"input": {"command": "make"}, "error": "2"}), "Bash (make): 2"),
        (
            "StopFailure",
            "",
            json!({"error": "rate_limit", "last_message": "API Error: slow down"}),
            "rate limit: “API Error: slow down”",
        ),
        ("ClientGone", "", json!({}), "its client is gone"),
        ("Notification", "", json!({"kind": "agent_needs_input", "message": "look\u{7}"}), "look␇"),
    ];
    for (name, tool, detail, wanted) in table {
        let cause = Event { event: name.into(), ..event(tool, detail) };
        let shown = row(&FleetRow { cause: Some(cause), ..member("alpha", AgentStatus::Attention) });
        assert_eq!(shown.object()["why"], wanted);
    }
}

#[test]
fn f1_many_are_shown_as_the_most_urgent_of_them() {
    let of = |statuses: &[AgentStatus]| {
        let members = statuses.iter().map(|status| member("alpha", *status)).collect();
        FleetSummary::of(&rows(&Fleet { members, ..Fleet::default() }, Ms(0)))
    };
    let summary = of(&[AgentStatus::Done, AgentStatus::Working, AgentStatus::Attention, AgentStatus::Working]);
    assert_eq!((summary.worst(), summary.count(AgentStatus::Working)), (Some(AgentStatus::Attention), 2));
    assert_eq!(of(&[]).worst(), None);
    // error > attention > working > checked > done
    for (more, less) in AgentStatus::ALL.iter().zip(&AgentStatus::ALL[1..]) {
        assert_eq!(of(&[*less, *more]).worst(), Some(*more));
    }
}

#[test]
fn f1_within_a_status_who_waits_longest_stands_first() {
    let of = |id: &str, status, since| {
        let mut one = member(id, status);
        one.agent.since = Ms(since);
        one
    };
    let members = vec![
        of("done-early", AgentStatus::Done, 1),
        of("done-late", AgentStatus::Done, 2),
        of("ask-late", AgentStatus::Attention, 9),
        of("ask-early", AgentStatus::Attention, 3),
        of("seen-late", AgentStatus::Checked, 8),
        of("seen-early", AgentStatus::Checked, 4),
        of("work-b", AgentStatus::Working, 1),
        of("work-a", AgentStatus::Working, 5),
        of("error", AgentStatus::Error, 7),
    ];
    let shown = rows(&Fleet { members, ..Fleet::default() }, Ms(10));
    let ids: Vec<&str> = shown.iter().map(|row| row.id.as_str()).collect();
    let wanted =
        ["error", "ask-early", "ask-late", "work-a", "work-b", "seen-early", "seen-late", "done-late", "done-early"];
    assert_eq!(ids, wanted);
}

#[test]
fn f4_a_row_whose_client_died_opens_the_session_it_died_in() {
    let mut crashed = FleetRow { died_in: Some("s-9".into()), ..member("alpha", AgentStatus::Error) };
    crashed.agent.session = None;
    assert_eq!(row(&crashed).object()["session"], "s-9");
}

#[test]
fn f4_hostile_text_is_shown_and_not_obeyed() {
    let shown = verdict(
        &event("Ba\u{7}sh", json!({"input": {"command": "echo \u{1b}]0;owned\u{7} \u{202e}txt.exe"}})),
        "alpha",
    );
    assert_eq!(shown.about, "echo ␛]0;owned␇ \\u{202e}txt.exe");
    assert_eq!((shown.tool.as_deref(), shown.reason.as_deref()), (Some("Ba␇sh"), Some("no␛[2J")));
}

proptest! {
    #[test]
    fn f4_no_text_whatever_puts_a_control_character_on_a_screen(text in any::<String>()) {
        prop_assert!(!clean(&text).chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        let line = one_line(&text);
        let broken = line.contains(['\n', '\t', '\u{2028}']);
        prop_assert!(!broken && line.chars().count() <= 201);
    }
}
