//! What the real Claude Code's model is told of its context, offline. Needs the feature `real-client`.

mod screen;

use crate::recorded::{RecordedClient, assert_went_well, is_proof};
use serde_json::{Value, json};
use testkit::{ClientLaunch, PrintRun, RequestKind, Script, Turn};

fn configured(config: &str, files: &[(&str, &str)]) -> RecordedClient {
    let stage = RecordedClient::new();
    for (name, text) in files.iter().chain(&[(".taut/config.toml", config)]) {
        let path = stage.sandbox.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    stage
}

/// What the model was sent in each request of the main conversation.
fn sent(run: &PrintRun) -> Vec<String> {
    run.requests.of(RequestKind::Main).map(testkit::scripted_model::ModelRequest::text_sent).collect()
}

fn sessions(stage: &RecordedClient) -> Vec<Value> {
    stage.sessions().into_iter().filter(|session| !is_proof(session)).collect()
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn s2_the_files_of_a_session_are_found_in_what_the_model_is_sent() {
    let stage = configured(
        "[context]\ncore = [{ path = \"TODAY.md\", name = \"TODAY.MD\", label = \"daily memory\" }, \"long.md\"]\n",
        &[
            ("TODAY.md", "Remember the marmalade."),
            ("long.md", &"long ".repeat(5_000)),
            (".claude/roles/chief/role.md", "---\nauto_include:\n  - docs/*.md\n---\nYou lead the orchard."),
            ("docs/trees.md", "Pears before plums."),
        ],
    );
    let script = Script::new().main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).env("CLAUDE_SESSION_ROLE", "chief").run(&stage.client).unwrap();
    assert_went_well(&run);
    let first = &sent(&run)[0];
    for part in [
        "[TAUT: INFO]: Session context loaded",
        "Core memory files loaded automatically:\n- TODAY.MD (daily memory)",
        "## TODAY.MD (daily memory)\nRemember the marmalade.",
        "You lead the orchard.",
        "Pears before plums.",
        "Read them before you go on:\n- ",
    ] {
        assert!(first.contains(part), "{part} is missing in {first}");
    }
    assert!(!first.contains("long long"), "what does not fit is only named");
}

#[test]
fn s7_a_filling_context_is_warned_of_once_beside_a_tools_result() {
    let stage = configured("[context]\nwarnings = true\n", &[]);
    let script = Script::new()
        .main(Turn::bash("echo one").using(600_000))
        .main(Turn::bash("echo two").using(610_000))
        .main(Turn::bash("echo three").using(800_000))
        .main(Turn::bash("echo four").using(801_000))
        .main(Turn::bash("echo five").using(802_000))
        .main(Turn::say("done").using(810_000));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let sent = sent(&run);
    let (first, second) = ("Context at 60% - Consider writing reset notes soon", "Context at 80% - Write reset notes");
    let seen: Vec<_> = sent.iter().map(|text| (count(text, first), count(text, second))).collect();
    // The client may write an answer down only after the tool's result: a warning then comes with the next one.
    assert_eq!((seen.first(), seen.last()), (Some(&(0, 0)), Some(&(1, 1))), "{seen:?}");
    assert!(seen.iter().all(|(first, second)| *first <= 1 && *second <= 1), "each comes once: {seen:?}");
    assert!(seen.is_sorted(), "what was said stays said: {seen:?}");
    let percent = sessions(&stage)[0]["context_percent"].as_f64().unwrap();
    assert!((82.0..84.0).contains(&percent), "{percent}");
}

#[test]
fn s9_a_background_session_is_asked_once_to_report_and_then_ends() {
    let stage = configured("[context]\nreport = true\nwarnings = true\n", &[]);
    let script = Script::new().main(Turn::say("finished")).main(Turn::say("reported")).otherwise(Turn::say("again"));
    let run =
        ClientLaunch::new(&stage.sandbox, script).env("CLAUDE_SESSION_MODE", "background").run(&stage.client).unwrap();
    assert_went_well(&run);
    let sent = sent(&run);
    assert_eq!(sent.len(), 2, "{sent:#?}");
    assert!(sent[1].contains("Reminder - Ping before ending"));
    let stops = stage.heard().into_iter().filter(|heard| heard.event == "Stop").count();
    assert_eq!(stops, 2);
}

#[test]
fn s9_a_stop_at_90_percent_costs_one_turn_at_most_and_never_loops() {
    let stage = configured("[context]\nwarnings = true\n", &[]);
    let script =
        Script::new().main(Turn::say("a thought").using(900_000)).otherwise(Turn::say("the end").using(900_200));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let spoken: Vec<_> = stage.heard().into_iter().filter(|heard| !heard.stdout.is_empty()).collect();
    // The client may write its last answer down only after the stop: then nothing is known, and nothing said.
    assert!(spoken.iter().all(|heard| heard.event == "Stop") && spoken.len() <= 1, "{spoken:#?}");
    if !spoken.is_empty() {
        assert!(sent(&run)[1].contains("Stop hook feedback:\n[TAUT: WARNING]: Context at 90% - URGENT"));
    }
}

#[test]
fn r2_a_compaction_by_itself_is_let_through_and_the_session_after_it_goes_on_with_its_files() {
    let stage =
        configured("[context]\nwarnings = true\ncore = [\"notes.md\"]\n", &[("notes.md", "Remember the quince.")]);
    let script = Script::new()
        .main(Turn::bash("echo one").using(970_000))
        .main(Turn::bash("echo two").using(970_000))
        .otherwise(Turn::say("done").using(21_000))
        .compact(Turn::say("SUMMARY-OF-ALL"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let heard = stage.heard();
    let events: Vec<&str> = heard.iter().map(|heard| heard.event.as_str()).collect();
    assert!(events.contains(&"PreCompact") && events.contains(&"PostCompact"), "{events:?}");
    let quiet = heard.iter().find(|heard| heard.event == "PreCompact").unwrap();
    assert_eq!(quiet.stdout, "", "anything said here would leak into the summary");
    let last = sent(&run).pop().unwrap();
    assert!(last.contains("SUMMARY-OF-ALL") && last.contains("Remember the quince."), "{last}");
    let sessions = sessions(&stage);
    let [before, after] = sessions.as_slice() else { panic!("{sessions:#?}") };
    assert_eq!((&after["prev_session_id"], &before["end_reason"]), (&before["id"], &json!("compact")));
    // Unknown, where the client had not written its last answer down by the stop.
    assert!(after["context_percent"].as_f64().is_none_or(|percent| percent < 5.0), "{after}");
    // A warning given with the last tool before the compaction is carried over by the client; ours says nothing more.
    let new = heard.iter().skip_while(|heard| heard.event != "PostCompact");
    assert!(new.clone().count() > 1 && new.clone().all(|heard| !heard.stdout.contains("Context at")), "{heard:#?}");
}
