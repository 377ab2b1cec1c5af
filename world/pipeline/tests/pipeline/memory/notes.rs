//! Notes that write themselves: of what a session did, for the one after it.

use super::{IMPLEMENT, Play, configured, told};
use crate::home::{Client, Living, PipelineHome};
use model::effort::StoredHandOver;
use serde_json::{Value, json};

const ON: &str = "[memory]\nenabled = true\n";

fn ann(stage: &PipelineHome, session: &str) -> Client {
    stage.client(session).with("TAUT_AGENT_ID", "ann")
}

fn start_said(stage: &mut PipelineHome, client: &Client, source: &str) -> String {
    told(&stage.send(client, "SessionStart", json!({"source": source})))
}

fn prompt(stage: &mut PipelineHome, client: &Client, text: &str) {
    stage.send(client, "UserPromptSubmit", json!({"prompt": text}));
}

fn note(stage: &mut PipelineHome) -> Option<StoredHandOver> {
    let project = stage.folder("acme").to_string_lossy().into_owned();
    stage.pipeline.store().unwrap().hand_over("ann", &project).unwrap()
}

fn failed(stage: &mut PipelineHome, client: &Client, line: &str, error: &str) {
    let id = format!("toolu_{}", stage.events().len());
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": id, "error": error});
    stage.send(client, "PostToolUseFailure", fields);
}

/// An hour of work on a login, in an unpredictable order.
fn work(stage: &mut PipelineHome, client: &Client) {
    let root = client.cwd.to_string_lossy().into_owned();
    prompt(stage, client, "fix login\nit fails for names with an umlaut");
    stage.came_back(client, "Read", json!({"file_path": format!("{root}/src/only_read.rs")}));
    for _ in 0..3 {
        stage.came_back(
            client,
            "Edit",
            json!({"file_path": format!("{root}/src/login.rs"), "old_string": "a", "new_string": "b"}),
        );
    }
    stage.came_back(client, "Write", json!({"file_path": format!("{root}/src/names.rs"), "content": "x"}));
    stage.came_back(
        client,
        "TodoWrite",
        json!({"todos": [
            {"content": "find the fault", "status": "completed", "activeForm": "finding"},
            {"content": "mend the decoder", "status": "in_progress", "activeForm": "mending"},
        ]}),
    );
    failed(stage, client, "cargo test login", "Exit code 101\nerror: umlaut_is_kept failed");
    failed(stage, client, "make docs", "make: no rule");
    let asked = json!({"questions": [{"question": "Which form?", "header": "Form", "options": [{"label": "NFC"}]}]});
    let id = "ask-1";
    stage.send(client, "PreToolUse", json!({"tool_name": "AskUserQuestion", "tool_input": asked, "tool_use_id": id}));
    let answer = json!({"answers": {"Which form?": "NFC"}});
    stage.send(
        client,
        "PostToolUse",
        json!({"tool_name": "AskUserQuestion", "tool_input": asked, "tool_use_id": id, "tool_response": answer}),
    );
    prompt(stage, client, "now the reset mail");
    stage.send(
        client,
        "Stop",
        json!({"last_assistant_message": "The decoder keeps umlauts now. Shall I send a test mail?"}),
    );
}

const PARTS: &[&str] = &[
    "fix login", "it fails for names with an umlaut", "now the reset mail", "[>] mend the decoder",
    "[x] find the fault", "src/login.rs (3 times)", "src/names.rs (once)", "`cargo test login` failed",
    "umlaut_is_kept failed", "make: no rule", "Which form? → NFC", "The decoder keeps umlauts now.",
    "Shall I send a test mail?",
];

#[test]
fn m2_a_session_that_ends_leaves_a_note_of_what_was_asked_and_done() {
    let mut stage = configured(ON);
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    work(&mut stage, &client);
    stage.end(&client, "other");
    let kept = note(&mut stage).unwrap();
    assert_eq!((kept.title.as_str(), kept.hand_over.mini), ("fix login", true));
    assert_eq!(kept.project, stage.folder("acme").to_string_lossy());
    let said = start_said(&mut stage, &client.session_id("a2"), "startup");
    for part in PARTS {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("only_read.rs"), "{said}");
    assert!(said.find("now the reset mail") < said.find("fix login"), "newest first: {said}");
    assert!(said.encode_utf16().count() <= 1_500, "{}: {said}", said.len());
}

#[test]
fn m2_a_note_is_told_at_every_start_until_a_newer_one_takes_its_place() {
    let mut stage = configured(ON);
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    work(&mut stage, &client);
    for next in ["a2", "a3", "a4"] {
        let before = client.clone().session_id(&format!("a{}", next[1..].parse::<u32>().unwrap() - 1));
        stage.end(&before, "clear");
        let said = start_said(&mut stage, &client.clone().session_id(next), "clear");
        assert!(said.contains("fix login") && said.contains("The decoder keeps"), "{next}: {said}");
    }
    let last = client.clone().session_id("a4");
    prompt(&mut stage, &last, "paint the door green");
    stage.end(&last, "clear");
    let said = start_said(&mut stage, &client.session_id("a5"), "clear");
    assert!(said.contains("paint the door green"), "{said}");
    assert!(said.contains("now the reset mail"), "one prompt does not push the work before it out: {said}");
}

#[test]
fn m2_a_compaction_leaves_a_note_and_prints_nothing_and_its_summary_is_added() {
    let mut stage = configured(ON);
    for trigger in ["auto", "manual"] {
        let client = ann(&stage, &format!("a-{trigger}"));
        stage.start(&client, "startup");
        work(&mut stage, &client);
        assert_eq!(stage.send(&client, "PreCompact", json!({"trigger": trigger})).answer.stdout, "");
        assert!(note(&mut stage).unwrap().hand_over.work.prompts.len() >= 2, "{trigger}");
        let said = start_said(&mut stage, &client, "compact");
        assert!(said.contains("now the reset mail") && !said.contains("The long and short of it"), "{said}");
        let summary = json!({"trigger": trigger, "compact_summary": "The long and short of it"});
        assert_eq!(stage.send(&client, "PostCompact", summary).answer.stdout, "");
        let kept = note(&mut stage).unwrap();
        assert_eq!(kept.hand_over.work.compact_summary.as_deref(), Some("The long and short of it"));
        stage.end(&client, "clear");
        let said = start_said(&mut stage, &client.session_id(&format!("b-{trigger}")), "clear");
        assert!(said.contains("The long and short of it") && said.contains("now the reset mail"), "{said}");
    }
}

#[test]
fn m2_a_session_that_died_without_a_word_is_noted_when_the_next_one_starts() {
    let mut stage = configured(ON);
    let living = Living::new();
    let client = ann(&stage, "a1");
    let first = client.clone().of(living.pid());
    stage.start(&first, "startup");
    work(&mut stage, &first);
    drop(living);
    let resumed = start_said(&mut stage, &client, "resume");
    assert_eq!(resumed, "", "a context that goes on knows what it did");
    let kept = note(&mut stage).unwrap();
    assert_eq!((kept.title.as_str(), kept.hand_over.work.files.len()), ("fix login", 2));
    stage.end(&client, "clear");
    assert!(start_said(&mut stage, &client.session_id("a2"), "clear").contains("now the reset mail"));
}

#[test]
fn m2_a_resumed_context_is_told_only_what_its_agent_wrote_itself_and_once() {
    let mut stage = configured(ON);
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    work(&mut stage, &client);
    stage.line(&client, "taut session dehydrate --summary 'half a bridge' --last 'laid a stone' --next 'lay another'");
    stage.end(&client, "other");
    let said = start_said(&mut stage, &client, "resume");
    assert!(said.contains("half a bridge"), "{said}");
    stage.end(&client, "other");
    assert_eq!(start_said(&mut stage, &client, "resume"), "", "it was told");
}

#[test]
fn m2_an_agents_own_note_is_added_to_and_not_replaced() {
    let mut stage = configured(ON);
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    work(&mut stage, &client);
    stage.line(&client, "taut session dehydrate --summary 'half a bridge' --last 'laid a stone' --next 'lay another'");
    prompt(&mut stage, &client, "and one more thing");
    stage.send(&client, "PreCompact", json!({"trigger": "auto"}));
    stage.end(&client, "other");
    let kept = note(&mut stage).unwrap();
    assert!(!kept.hand_over.mini && kept.hand_over.summary == "half a bridge");
    assert_eq!(kept.hand_over.work.prompts[0].text, "and one more thing");
    let next = client.clone().session_id("a2");
    let said = start_said(&mut stage, &next, "startup");
    assert!(said.contains("half a bridge") && said.contains("and one more thing"), "{said}");
    prompt(&mut stage, &next, "paint it green, all of it");
    stage.end(&next, "other");
    let said = start_said(&mut stage, &client.session_id("a3"), "startup");
    assert!(
        said.contains("In its own words") && said.contains("half a bridge") && said.contains("paint it green"),
        "{said}"
    );
}

#[test]
fn m2_a_session_without_a_prompt_writes_none_and_replaces_nothing() {
    let mut stage = configured(ON);
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    stage.send(&client, "PreCompact", json!({"trigger": "manual"}));
    stage.end(&client, "other");
    assert_eq!(note(&mut stage), None);
    let client = client.session_id("a2");
    stage.start(&client, "startup");
    work(&mut stage, &client);
    stage.end(&client, "other");
    let before = note(&mut stage);
    let client = client.session_id("a3");
    stage.start(&client, "startup");
    stage.came_back(&client, "Write", json!({"file_path": "/x", "content": "y"}));
    stage.send(&client, "PreCompact", json!({"trigger": "auto"}));
    stage.end(&client, "other");
    let after = note(&mut stage);
    assert_eq!(after.map(|note| note.hand_over), before.map(|note| note.hand_over));
}

/// What is said where nothing was switched on, and what is not.
#[test]
fn m2_without_memory_only_efforts_and_supervised_runs_are_noted_and_with_it_off_nothing_is() {
    for (config, run, effort, noted) in [
        ("", false, false, false),
        ("", true, false, true),
        (IMPLEMENT, false, true, true),
        (ON, false, false, true),
        ("[memory]\nenabled = false\n", true, false, false),
        (&format!("[memory]\nenabled = false\n{IMPLEMENT}"), false, true, false),
    ] {
        let mut stage = configured(config);
        let client = ann(&stage, "a1");
        let client = if run { client.with("TAUT_SUPERVISED", "run") } else { client };
        stage.start(&client, "startup");
        if effort {
            stage.invoke(&client, "implement");
        }
        work(&mut stage, &client);
        stage.end(&client, "other");
        assert_eq!(note(&mut stage).is_some(), noted, "{config}, run: {run}");
        let said = start_said(&mut stage, &client.session_id("a2"), "startup");
        assert_eq!(said.contains("now the reset mail"), noted, "{config}, run: {run}: {said}");
    }
}

#[test]
fn m2_the_iterations_of_a_loop_are_not_told_of_one_another() {
    let mut stage = configured(ON);
    let client = ann(&stage, "a1").with("TAUT_SUPERVISED", "loop");
    stage.start(&client, "startup");
    work(&mut stage, &client);
    stage.end(&client, "other");
    assert_eq!(start_said(&mut stage, &client.session_id("a2"), "startup"), "");
}

#[test]
fn m2_nothing_secret_and_nothing_hidden_is_in_a_note() {
    let mut stage = configured(ON);
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    let token = format!("ghp_{}", "a1B2".repeat(9));
    prompt(&mut stage, &client, &format!("use {token} for it\u{202e}now"));
    failed(&mut stage, &client, &format!("curl -H 'Authorization: Bearer {token}' https://x"), &format!("bad {token}"));
    stage.send(&client, "Stop", json!({"last_assistant_message": format!("I used {token}.\u{1b}[2J")}));
    stage.send(&client, "PreCompact", json!({"trigger": "auto"}));
    stage.send(&client, "PostCompact", json!({"trigger": "auto", "compact_summary": format!("it used {token}")}));
    stage.end(&client, "other");
    let kept = serde_json::to_string(&note(&mut stage).unwrap().hand_over).unwrap();
    assert!(kept.contains("for it") && !kept.contains(&token), "{kept}");
    let said = start_said(&mut stage, &client.session_id("a2"), "startup");
    assert!(said.contains("for it") && !said.contains(&token), "{said}");
    assert!(!said.contains(['\u{202e}', '\u{1b}']), "{said}");
}

#[test]
fn m2_a_very_long_session_is_noted_with_its_prompts_within_the_room_of_a_start() {
    let mut stage = configured(ON);
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    prompt(&mut stage, &client, &format!("build the ark {}", "of gopher wood ".repeat(600)));
    for n in 0..450 {
        stage.came_back(
            &client,
            "Write",
            json!({"file_path": format!("/ark/deck{}/plank{n}.txt", "x".repeat(50)), "content": "y"}),
        );
    }
    stage.end(&client, "other");
    let said = start_said(&mut stage, &client.session_id("a2"), "startup");
    assert!(said.contains("build the ark") && said.contains("plank449.txt"), "{said}");
    assert!(said.contains("taut effort show --note"), "{said}");
    assert!(said.encode_utf16().count() <= 1_500, "{}", said.len());
}

#[test]
fn m2_two_agents_in_one_folder_never_read_each_others_notes() {
    let mut stage = configured(ON);
    let living = Living::new();
    let bob = stage.client("b1").with("TAUT_AGENT_ID", "bob").of(living.pid());
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    stage.start(&bob, "startup");
    work(&mut stage, &client);
    prompt(&mut stage, &bob, "water the plants today");
    stage.end(&client, "other");
    stage.end(&bob, "other");
    let hers = start_said(&mut stage, &client.session_id("a2"), "startup");
    let his = start_said(&mut stage, &bob.session_id("b2"), "startup");
    assert!(hers.contains("fix login") && !hers.contains("plants"), "{hers}");
    assert!(his.contains("plants") && !his.contains("login"), "{his}");
}

#[test]
fn s9_a_failed_turn_keeps_its_reason_and_the_last_words() {
    let mut stage = configured(ON);
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    prompt(&mut stage, &client, "fix login, please");
    let fields =
        json!({"error": "rate_limit", "error_details": "until 14:00", "last_assistant_message": "Half of it stands."});
    stage.send(&client, "StopFailure", fields);
    let kept = stage.pipeline.store().unwrap().messages("stop_failure").unwrap();
    assert_eq!(kept[0].body, "rate_limit: until 14:00\nLast words: Half of it stands.");
    let detail = stage.events().pop().unwrap().detail;
    assert_eq!((&detail["details"], &detail["last_message"]), (&json!("until 14:00"), &json!("Half of it stands.")));
    stage.end(&client, "other");
    let said = start_said(&mut stage, &client.session_id("a2"), "startup");
    assert!(
        said.contains("The last turn failed: rate_limit: until 14:00") && said.contains("Half of it stands."),
        "{said}"
    );
}

#[test]
fn s9_what_the_assistant_last_said_is_stored_with_the_stop() {
    let mut stage = configured("");
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    stage.send(&client, "Stop", json!({"last_assistant_message": "All done."}));
    assert_eq!(stage.events().pop().unwrap().detail["last_message"], Value::from("All done."));
}

/// A log that has grown is of use at its end.
#[test]
fn r3_of_a_long_log_the_end_is_shown_and_files_that_are_not_there_are_not_named() {
    let mut stage = configured(IMPLEMENT);
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    let folder = stage.efforts()[0].folder.clone();
    std::fs::create_dir_all(&folder).unwrap();
    let log: String = (0..6_000).map(|n| format!("step {n}\n")).collect();
    std::fs::write(format!("{folder}/1_IMPLEMENT_LOG.md"), log).unwrap();
    let said = start_said(&mut stage, &client, "clear");
    assert!(said.contains("step 5999") && !said.contains("step 1\n"), "{said}");
    let line = "taut session dehydrate --summary s --last l --next n --file PLAN.md --file GONE.md";
    stage.write("acme/PLAN.md", "the plan");
    let client = client.session_id("a2");
    stage.start(&client, "clear");
    stage.line(&client, line);
    let said = start_said(&mut stage, &client.session_id("a3"), "clear");
    assert!(said.contains("the plan") && !said.contains("GONE.md"), "{said}");
}

#[test]
fn r4_in_test_mode_a_compaction_is_only_talked_about() {
    let mut stage = configured(&format!("{IMPLEMENT}[compaction]\nauto = \"restart\"\n"));
    let client = ann(&stage, "a1").with("TEST_MODE", "1");
    let session = stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    prompt(&mut stage, &client, "fix login, please");
    stage.hold("queue/01", "ann", Some(&session.id));
    let before = stage.events().len();
    let payload = json!({"event": "auto", "session_id": "a1", "cwd": client.cwd});
    let said = stage.send_bytes(&client, payload.to_string().into_bytes()).answer.stdout;
    for part in [
        "would refuse the compaction", "would end session a1", "would let task queue/01 go",
        "would write a hand-over note", "would ask for a restart",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!((stage.events().len(), note(&mut stage)), (before, None));
    assert!(stage.session(&session.id).ended_at.is_none());
    assert!(super::denial(&stage.line(&client, "rm -rf /")).contains("[rm-root]"), "the guard is no test");
    let off = stage.send(&client.with("TEST_MODE", "0"), "PreCompact", json!({"trigger": "auto"})).answer.stdout;
    assert!(off.contains("\"block\""), "{off}");
}

#[test]
fn r2_after_a_refused_compaction_the_user_is_told_what_to_type() {
    let mut stage = configured(&format!("{IMPLEMENT}[compaction]\nauto = \"stop\"\n"));
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    prompt(&mut stage, &client, "fix login, please");
    let refused = stage.send(&client, "PreCompact", json!({"trigger": "auto"})).answer.stdout;
    assert!(refused.contains("/clear"), "{refused}");
    let call = stage.line(&client, "ls").answer.stdout;
    let shown = |said: &str| {
        serde_json::from_str::<Value>(said).unwrap()["systemMessage"].as_str().unwrap_or_default().to_owned()
    };
    assert!(shown(&call).contains("/clear"), "{call}");
    let said = stage.send(&client, "UserPromptSubmit", json!({"prompt": "go on"})).answer.stdout;
    assert!(shown(&said).contains("/clear"), "{said}");
    let again = stage.send(&client, "UserPromptSubmit", json!({"prompt": "go on"})).answer.stdout;
    assert!(!again.contains("/clear"), "said once: {again}");
}

fn fill(stage: &mut PipelineHome, client: &Client, tokens: u64) {
    let path = stage.folder("home").join("t.jsonl");
    let message =
        json!({"id": format!("m{tokens}"), "model": "claude-x", "usage": {"input_tokens": tokens, "output_tokens": 0}});
    std::fs::write(&path, format!("{}\n", json!({"type": "assistant", "message": message}))).unwrap();
    let id = format!("full-{tokens}");
    stage.send(client, "PostToolUse", json!({"tool_name": "Bash", "tool_use_id": id, "transcript_path": path}));
}

#[test]
fn g5_an_agent_is_warned_once_before_the_gate_closes_and_noted_when_it_does() {
    let mut stage = configured(&format!("{IMPLEMENT}[overflow]\nat = 76\n[context]\nwindow = 133000\n"));
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    work(&mut stage, &client);
    fill(&mut stage, &client, 70_000);
    assert_eq!(told(&stage.line(&client, "make")), "");
    fill(&mut stage, &client, 72_000);
    let warned = told(&stage.line(&client, "make"));
    assert!(warned.contains("[overflow]") && warned.contains("taut session dehydrate --summary '"), "{warned}");
    assert_eq!(told(&stage.line(&client, "make all")), "", "said once");
    fill(&mut stage, &client, 77_000);
    let denied = super::denial(&stage.line(&client, "make"));
    assert!(denied.contains("taut session dehydrate --summary '"), "{denied}");
    let kept = note(&mut stage).unwrap();
    assert!(kept.hand_over.mini && kept.hand_over.work.prompts[0].text == "now the reset mail");
    let denied = super::denial(&stage.line(&client, "make"));
    assert!(denied.contains("--summary '"), "our note is not the agent's: {denied}");
    let line = "taut session dehydrate --summary 'half a bridge' --last 'laid a stone' --next 'lay another'";
    assert_eq!(super::denial(&stage.line(&client, line)), "");
    assert!(super::denial(&stage.line(&client, "make")).contains("hand-over note is stored"));
    let kept = note(&mut stage).unwrap().hand_over;
    assert!(kept.summary == "half a bridge" && kept.work.prompts[0].text == "now the reset mail");
}

#[test]
fn m2_who_goes_on_with_an_effort_is_shown_its_note_with_its_age() {
    let mut stage = configured(IMPLEMENT);
    let client = ann(&stage, "a1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    work(&mut stage, &client);
    stage.end(&client, "other");
    let task = stage.efforts()[0].task.clone();
    let living = Living::new();
    let bob = stage.client("b1").with("TAUT_AGENT_ID", "bob").of(living.pid());
    let said = start_said(&mut stage, &bob, "startup");
    assert!(!said.contains("login"), "never silently another's: {said}");
    stage.line(&bob, &format!("taut session continue {task}"));
    let now = stage.events().pop().unwrap().at;
    let done = stage.pipeline.store().unwrap();
    let words = ["session".to_string(), "continue".into(), task];
    let key = store::PreExecutedKey { project: &bob.cwd.to_string_lossy(), agent: Some("bob"), session: Some("b1") };
    let found = done.collect_pre_executed(&words, &key, now).unwrap().unwrap();
    assert!(
        found.output.contains("continuing: implement") && found.output.contains("Hand-over note, "),
        "{}",
        found.output
    );
    assert!(
        found.output.contains(" ago, about \"fix login\"") || found.output.contains("just now, about \"fix login\""),
        "{}",
        found.output
    );
    assert!(found.output.contains("now the reset mail"), "{}", found.output);
}
