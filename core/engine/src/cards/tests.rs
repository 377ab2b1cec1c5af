use super::lines::{LineChange, changes};
use super::*;
use model::ClientProcess;
use model::Ms;
use model::card::{Card, CardAnswer, CardShown, CardState, ChosenAnswer};
use proptest::prelude::*;

fn read(payload: &Value) -> Envelope {
    agents::ALL.decode("claude-code", payload.to_string().as_bytes()).unwrap()
}

fn asked(tool: &str, input: Value) -> Envelope {
    read(&json!({"hook_event_name": "PermissionRequest", "session_id": "s", "cwd": "/w", "permission_mode": "default",
        "tool_name": tool, "tool_input": input}))
}

fn seen(tool: &str, input: Value, old: OldContent) -> CardShown {
    shown(&asked(tool, input), &CardSources { old, ..CardSources::default() })
}

fn edit(old: &str, new: &str, all: bool) -> Value {
    json!({"file_path": "/w/a", "old_string": old, "new_string": new, "replace_all": all})
}

fn text(text: &str) -> OldContent {
    OldContent::Text(text.into())
}

fn card(kind: CardKind, tool: &str, input: Value) -> Card {
    let process = ClientProcess { pid: 1, started: 1 };
    let envelope = asked(tool, input);
    Card {
        id: "c".into(),
        at: Ms(1),
        session: "s".into(),
        agent: "a".into(),
        project: None,
        dialect: "claude-code".into(),
        client: process,
        holder: process,
        kind,
        tool: tool.into(),
        digest: "d".into(),
        shown: shown(&envelope, &CardSources::default()),
        state: CardState::Open,
        answer: None,
        answered: None,
        ended_at: None,
    }
}

fn database() -> Value {
    json!({"questions": [
        {"question": "Which database?", "header": "DB", "multiSelect": false,
            "options": [{"label": "SQLite", "description": "small"}, {"label": "Postgres"}]},
        {"question": "Which features?", "multiSelect": true, "options": [{"label": "Auth"}, {"label": "Export"}]}]})
}

fn choose(chosen: &[(&str, &[&str], Option<&str>)]) -> CardAnswer {
    let one = |labels: &[&str], words: Option<&str>| ChosenAnswer {
        labels: labels.iter().map(ToString::to_string).collect(),
        words: words.map(str::to_string),
    };
    CardAnswer::Choose {
        chosen: chosen.iter().map(|(text, labels, words)| (text.to_string(), one(labels, *words))).collect(),
    }
}

#[test]
fn f1_a_card_is_a_permission_a_question_or_a_plan_and_of_nothing_else() {
    assert_eq!(kind(&asked("Bash", json!({"command": "ls"}))), Some(CardKind::Permission));
    assert_eq!(kind(&asked("mcp__x__y", json!({}))), Some(CardKind::Permission));
    assert_eq!(kind(&asked("AskUserQuestion", database())), Some(CardKind::Question));
    assert_eq!(kind(&asked("ExitPlanMode", json!({"plan": "1. do it"}))), Some(CardKind::Plan));
    let twice = json!({"questions": [{"question": "Sure?", "options": []}, {"question": "Sure?", "options": []}]});
    for (tool, input) in [
        ("ExitPlanMode", json!({})),
        ("ExitPlanMode", json!({"plan": " "})),
        ("AskUserQuestion", json!({"questions": []})),
        ("AskUserQuestion", json!({"questions": [{"question": ""}]})),
        ("AskUserQuestion", json!({"questions": [{"question": "Sure?", "options": [{"name": "Yes"}]}]})),
        ("AskUserQuestion", twice),
        ("", json!({"command": "ls"})),
        ("Bash", Value::Null),
    ] {
        assert_eq!(kind(&asked(tool, input.clone())), None, "{tool} {input}");
    }
    let before = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    assert_eq!(kind(&read(&before)), None, "nobody waits yet");
    let cut = r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"#;
    assert_eq!(kind(&agents::ALL.decode("claude-code", cut.as_bytes()).unwrap()), None, "the rest is not known");
}

#[test]
fn f1_the_digest_is_of_session_agent_tool_and_exact_input() {
    let of = |payload: Value| digest_text(&read(&payload));
    let call = |change: fn(&mut Value)| {
        let mut payload = json!({"hook_event_name": "PermissionRequest", "session_id": "s", "tool_name": "Bash",
            "tool_input": {"command": "ls", "description": "x", "more": {"a": 1, "b": [1, 2]}}});
        change(&mut payload);
        of(payload)
    };
    let same = call(|_| {});
    let ordered = call(|it| {
        it["tool_input"] = json!({"more": {"b": [1, 2], "a": 1}, "description": "x", "command": "ls"});
    });
    assert_eq!(same, ordered, "the order of fields is no difference");
    assert_eq!(same, call(|it| it["permission_mode"] = json!("plan")));
    for (what, other) in [
        ("session", call(|it| it["session_id"] = json!("t"))),
        ("sub-agent", call(|it| it["agent_id"] = json!("a1"))),
        ("tool", call(|it| it["tool_name"] = json!("PowerShell"))),
        ("blank", call(|it| it["tool_input"]["command"] = json!("ls "))),
        ("hidden character", call(|it| it["tool_input"]["command"] = json!("ls\u{200b}"))),
        ("order of a list", call(|it| it["tool_input"]["more"]["b"] = json!([2, 1]))),
        ("another field", call(|it| it["tool_input"]["timeout"] = json!(1))),
        ("a number as text", call(|it| it["tool_input"]["more"]["a"] = json!("1"))),
    ] {
        assert_ne!(same, other, "{what}");
    }
}

#[test]
fn f1_an_edit_is_shown_as_the_difference_it_makes() {
    let file = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
    let diff = |input, old| seen("Edit", input, old).diff.unwrap();
    assert_eq!(
        diff(edit("five", "5", false), text(file)),
        "@@ -2,7 +2,7 @@\n two\n three\n four\n-five\n+5\n six\n seven\n eight\n"
    );
    let ends = text(&file.replace('\n', "\r\n"));
    assert_eq!(diff(edit("five\nsix", "5\n6", false), ends), diff(edit("five\nsix", "5\n6", false), text(file)));
    assert_eq!(
        diff(edit("x", "y", true), text("x\na\nb\nc\nd\ne\nf\ng\nx\n")),
        "@@ -1,4 +1,4 @@\n-x\n+y\n a\n b\n c\n@@ -6,4 +6,4 @@\n e\n f\n g\n-x\n+y\n"
    );
    // Where the text does not stand in the file as it has to, the two texts are shown for themselves.
    for old in [OldContent::Unknown, OldContent::Missing, text("nothing of it\n"), text("five\nfive\n")] {
        assert_eq!(diff(edit("five", "5", false), old), "@@ -1,1 +1,1 @@\n-five\n+5\n");
    }
}

#[test]
fn f1_a_written_file_is_shown_as_the_difference_it_makes() {
    let write = |content: &str, old| seen("Write", json!({"file_path": "/w/a", "content": content}), old).diff;
    assert_eq!(write("a\nb\n", OldContent::Missing).unwrap(), "@@ -0,0 +1,2 @@\n+a\n+b\n");
    assert_eq!(write("a\nc\n", text("a\nb\n")).unwrap(), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    assert_eq!(write("", text("a\n")).unwrap(), "@@ -1,1 +0,0 @@\n-a\n");
    assert_eq!(write("a", text("a\n")).unwrap(), "\\ the newline at the end is taken out\n");
    assert_eq!(write("a\nb\n", text("a\r\nb\r\n")).unwrap(), "\\ only line ends change\n");
    assert_eq!(write("a\nb\n", text("a\nb\n")).unwrap(), "\\ nothing changes\n");
    assert_eq!(write("", OldContent::Missing).unwrap(), "\\ an empty file is made\n");
    let edit = json!({"file_path": "/w/a", "old_string": "a\r\nb", "new_string": "a\nb"});
    assert_eq!(seen("Edit", edit, OldContent::Unknown).diff.unwrap(), "\\ only line ends change\n");
    assert_eq!(write("a\n", OldContent::Unknown), None, "what it replaces is not known");
    assert_eq!(seen("Bash", json!({"command": "ls"}), text("a")).diff, None);
    let notebook = json!({"notebook_path": "/w/a", "new_source": "x"});
    assert_eq!(seen("NotebookEdit", notebook, text("{}")).diff, None, "a cell is not the file");
}

#[test]
fn f1_what_cannot_be_shown_whole_says_so() {
    assert_eq!(seen("Bash", json!({"command": "ls -la"}), OldContent::Unknown).incomplete, None);
    let secret = seen("Bash", json!({"command": "curl -u ada:hunter2hunter2 https://x.example"}), OldContent::Unknown);
    assert!(secret.incomplete.unwrap().contains("secret"));
    assert!(!secret.input.to_string().contains("hunter2"), "{}", secret.input);
    let long = seen("Bash", json!({"command": "x ".repeat(5 << 20)}), OldContent::Unknown);
    assert!(long.incomplete.unwrap().contains("too long"));
    assert!(long.input.to_string().len() < 128 * 1024);
    let many = seen("mcp__x__y", json!({"list": vec![0; 100_000]}), OldContent::Unknown);
    assert!(many.incomplete.is_some() && many.input.to_string().len() < 128 * 1024);
    let deep = (0..100).fold(json!(1), |inner, _| json!({"a": inner}));
    assert!(seen("mcp__x__y", deep, OldContent::Unknown).incomplete.is_some());
    let lines = "a line that is as long as lines are\n".repeat(4_000);
    let written = seen("Write", json!({"file_path": "/w/a", "content": lines}), OldContent::Missing);
    assert!(written.incomplete.is_some() && written.diff.unwrap().len() < 128 * 1024);
    let hidden = seen("Bash", json!({"command": "\u{202e}".repeat(20_000)}), OldContent::Unknown);
    assert!(hidden.incomplete.unwrap().contains("too long"), "written out it is longer than anybody is shown");
    // Of a short text that replaces a long one not all is seen either.
    let replaced = seen("Write", json!({"file_path": "/w/a", "content": ""}), text(&lines));
    assert!(replaced.incomplete.is_some());
}

#[test]
fn f1_a_secret_of_the_file_is_not_shown_in_its_difference() {
    let old = text("password = \"hunter2hunter2\"\nname = \"a\"\n");
    let shown = seen("Edit", edit("name = \"a\"", "name = \"b\"", false), old);
    assert!(shown.diff.as_deref().is_some_and(|diff| diff.contains("+name") && !diff.contains("hunter2")), "{shown:?}");
    assert_eq!(shown.incomplete, None, "what the call itself says is seen whole");
}

#[test]
fn f1_only_an_answer_that_fits_the_card_is_taken() {
    let permission = card(CardKind::Permission, "Bash", json!({"command": "ls"}));
    let question = card(CardKind::Question, "AskUserQuestion", database());
    let plan = card(CardKind::Plan, "ExitPlanMode", json!({"plan": "1. do it"}));
    let no = CardAnswer::Deny { words: "no".into() };
    let reject = CardAnswer::RejectPlan { words: String::new() };
    let picks = choose(&[("Which database?", &["SQLite"], None), ("Which features?", &["Export", "Auth"], None)]);
    let table = [
        (&permission, [true, true, false, false, false]),
        (&question, [false, true, true, false, false]),
        (&plan, [false, true, false, true, true]),
    ];
    for (card, fitting) in table {
        let answers = [&CardAnswer::AllowOnce, &no, &picks, &CardAnswer::ApprovePlan, &reject];
        for (answer, fit) in answers.into_iter().zip(fitting) {
            assert_eq!(fits(card, answer).is_ok(), fit, "{:?} {answer:?}", card.kind);
        }
    }
    for answer in [
        choose(&[]),
        choose(&[("Which database?", &[], None)]),
        choose(&[("Which database?", &[], Some("  "))]),
        choose(&[("Which database?", &["MySQL"], None)]),
        choose(&[("Which database?", &["SQLite", "Postgres"], None)]),
        choose(&[("Which language?", &["SQLite"], None)]),
        choose(&[("Which database? ", &["SQLite"], None)]),
        choose(&[("Which database?", &["SQLite"], None), ("And?", &[], Some("x"))]),
    ] {
        assert!(fits(&question, &answer).is_err(), "{answer:?}");
    }
    for answer in [
        choose(&[("Which database?", &[], Some("a flat file"))]),
        choose(&[("Which features?", &["Auth"], Some("later the rest"))]),
    ] {
        assert_eq!(fits(&question, &answer), Ok(()), "{answer:?}");
    }
}

#[test]
fn f1_what_was_not_seen_whole_can_be_denied_from_here_and_not_agreed_to() {
    let secret = "--password=hunter2hunter2";
    let cards = [
        (card(CardKind::Permission, "Bash", json!({"command": format!("x {secret}")})), CardAnswer::AllowOnce),
        (card(CardKind::Plan, "ExitPlanMode", json!({"plan": format!("x {secret}")})), CardAnswer::ApprovePlan),
    ];
    for (card, agrees) in cards {
        assert!(allowed_from_here(&card).is_err_and(|why| why.contains("terminal")), "{:?}", card.shown);
        assert!(fits(&card, &agrees).is_err());
        assert_eq!(fits(&card, &CardAnswer::Deny { words: String::new() }), Ok(()));
    }
    assert_eq!(allowed_from_here(&card(CardKind::Permission, "Bash", json!({"command": "ls"}))), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn the_changes_between_two_texts_lead_from_one_to_the_other(
        old in prop::collection::vec("[abc]", 0..40), new in prop::collection::vec("[abc]", 0..40)
    ) {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
        let all = changes(&old, &new);
        let side = |left_out: fn(&LineChange<'_>) -> bool| -> Vec<&str> {
            all.iter().filter(|change| !left_out(change)).map(|change| match change {
                LineChange::Kept(text) | LineChange::Removed(text) | LineChange::Added(text) => *text,
            }).collect()
        };
        prop_assert_eq!(side(|change| matches!(change, LineChange::Added(_))), old);
        prop_assert_eq!(side(|change| matches!(change, LineChange::Removed(_))), new);
    }
}

#[test]
fn two_long_texts_that_share_nothing_are_shown_one_after_the_other() {
    let (old, new): (Vec<String>, Vec<String>) = (0..5_000).map(|at| (format!("o{at}"), format!("n{at}"))).unzip();
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
    let all = changes(&old, &new);
    assert_eq!(all.len(), 10_000);
    assert_eq!((all.first(), all.last()), (Some(&LineChange::Removed("o0")), Some(&LineChange::Added("n4999"))));
}
