//! Gates, efforts and memory under the real Claude Code, offline. Needs the feature `real-client`.

mod question;
mod sandboxed;

use crate::recorded::{RecordedClient, assert_went_well, is_proof};
use serde_json::{Value, json};
use testkit::scripted_model::SUBAGENT_MARK;
use testkit::{ClientLaunch, PrintRun, RequestKind, Script, Turn};

const SKILL: &str = "[skills.implement]\nphases = [\"1: Plan\", \"2: Build\"]\nheartbeat = { warn = 2, block = 4 }\n";

/// The user's own configuration.
pub fn configured(config: &str) -> RecordedClient {
    let stage = RecordedClient::new();
    let file = stage.sandbox.home().join(".config/taut/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, config).unwrap();
    stage
}

/// What the model was sent in the last request of the main conversation.
fn last_sent(run: &PrintRun) -> String {
    run.requests.of(RequestKind::Main).map(testkit::scripted_model::ModelRequest::text_sent).next_back().unwrap()
}

pub fn effort(stage: &RecordedClient) -> Value {
    stage.list(&["effort", "list", "--all", "--json"]).remove(0)
}

pub fn artifact(stage: &RecordedClient, name: &str) -> String {
    std::fs::read_to_string(format!("{}/{name}", effort(stage)["folder"].as_str().unwrap())).unwrap_or_default()
}

fn exists(stage: &RecordedClient, file: &str) -> bool {
    stage.sandbox.project().join(file).exists()
}

/// G4, G0: stopped at the limit, released by `taut log` through Bash, logged once.
#[test]
fn g4_a_heartbeat_stops_the_agent_and_its_own_log_line_releases_it() {
    let stage = configured(SKILL);
    let script = Script::new()
        .main(Turn::bash("taut session activate implement"))
        .main(Turn::bash("taut effort phase '1: Plan'"))
        .main(Turn::bash("echo 1 > one.txt"))
        .main(Turn::bash("echo 2 > two.txt"))
        .main(Turn::bash("echo 3 > three.txt"))
        .main(Turn::bash("echo 4 > four.txt"))
        .main(Turn::bash("taut log 'made three files'"))
        .main(Turn::bash("echo 5 > five.txt"))
        .main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let made = ["one", "two", "three", "four", "five"].map(|name| exists(&stage, &format!("{name}.txt")));
    assert_eq!(made, [true, true, true, false, true], "{:#?}", run.requests.tool_results());
    let sent = last_sent(&run);
    for part in [
        "2 tool calls without a log entry; at 4 you are stopped", "4 tool calls without a log entry, the limit is 4",
        "logged to ",
    ] {
        assert!(sent.contains(part), "{part}: {sent}");
    }
    assert_eq!(
        artifact(&stage, "1_IMPLEMENT_LOG.md").matches("made three files").count(),
        1,
        "by the hook, and not again by the process"
    );
}

/// G3, G0: in mode `default` without anybody to grant a permission, the way out works all the same.
#[test]
fn g0_in_mode_default_and_without_a_person_the_session_gate_opens_by_its_own_line() {
    let stage = configured(&format!("{SKILL}[session]\nrequired = true\n"));
    let notes = stage.sandbox.project().join("notes.md");
    std::fs::write(&notes, "the treasure is under the oak").unwrap();
    let script = Script::new()
        .main(Turn::call("Read", json!({"file_path": notes})))
        .main(Turn::bash("taut session activate implement"))
        .main(Turn::call("Read", json!({"file_path": notes})))
        .main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).permission_mode("default").run(&stage.client).unwrap();
    assert_went_well(&run);
    let results = run.requests.tool_results();
    assert!(results[0].contains("[session-gate]") && results[0].contains("taut session activate"), "{results:#?}");
    assert!(results[2].contains("under the oak"), "{results:#?}");
    assert_eq!(effort(&stage)["skill"], "implement");
}

/// A skill's own file declares it; `/implement` begins the effort, and the model is told.
#[test]
fn an_invoked_skill_begins_an_effort_by_what_its_own_file_declares() {
    let stage = RecordedClient::new();
    let file = stage.sandbox.claude_dir().join("skills/implement/SKILL.md");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, "---\nname: implement\ndescription: builds things\ntaut:\n  phases: [\"1: Plan\"]\n  preload: [NOTES.md]\n---\nBuild it.\n").unwrap();
    std::fs::write(stage.sandbox.project().join("NOTES.md"), "mind the pipes").unwrap();
    let run = ClientLaunch::new(&stage.sandbox, Script::new().main(Turn::say("done")))
        .prompt("/implement now")
        .run(&stage.client)
        .unwrap();
    assert_went_well(&run);
    let sent = last_sent(&run);
    assert!(sent.contains("effort begun: implement (effort 1 of taut/") && sent.contains("mind the pipes"), "{sent}");
}

/// G5, R1, R3: a full context is saved by the agent, and the sessions of that agent after it get it.
#[test]
fn g5_a_full_context_is_dehydrated_and_the_next_session_recovers() {
    let stage = configured(&format!("{SKILL}[overflow]\nat = 95\n"));
    let line =
        "taut session dehydrate --summary 'half a bridge' --last 'laid a stone' --next 'lay another' --file PLAN.md";
    std::fs::write(stage.sandbox.project().join("PLAN.md"), "the bridge has two ends").unwrap();
    let script = Script::new()
        .main(Turn::bash("taut session activate implement"))
        .main(Turn::bash("echo 1 > one.txt").using(950_000))
        .main(Turn::bash("echo 2 > two.txt").using(950_000))
        .main(Turn::bash(line).using(950_000))
        .main(Turn::say("saved").using(950_000));
    let launch = |script| ClientLaunch::new(&stage.sandbox, script).env("TAUT_AGENT_ID", "ann");
    let run = launch(script).run(&stage.client).unwrap();
    assert_went_well(&run);
    assert!(exists(&stage, "one.txt") && !exists(&stage, "two.txt"), "{:#?}", run.requests.tool_results());
    let sent = last_sent(&run);
    assert!(sent.contains("98 % full") && sent.contains("Your hand-over note is stored"), "{sent}");
    assert!(artifact(&stage, "DEHYDRATED_CONTEXT.md").contains("half a bridge"));

    let say = || Script::new().main(Turn::say("hello"));
    let other = ClientLaunch::new(&stage.sandbox, say()).env("TAUT_AGENT_ID", "bob").run(&stage.client).unwrap();
    assert!(!last_sent(&other).contains("half a bridge"), "it is not bob's");
    let next = launch(say()).run(&stage.client).unwrap();
    for part in ["half a bridge", "1. lay another", "the bridge has two ends"] {
        assert!(last_sent(&next).contains(part), "{part}: {}", last_sent(&next));
    }
    assert!(last_sent(&launch(say()).run(&stage.client).unwrap()).contains("half a bridge"), "until a newer one");
}

/// S10: a sub-agent has a session of its own, is told of the effort, and ends nobody else's.
#[test]
fn s10_a_sub_agent_is_told_of_the_effort_and_its_parent_goes_on() {
    let stage = configured(SKILL);
    let order = json!({"description": "look", "prompt": format!("{SUBAGENT_MARK} look"), "subagent_type": "general-purpose", "run_in_background": false});
    let script = Script::new()
        .main(Turn::bash("taut session activate implement"))
        .main(Turn::call("Agent", order))
        .main(Turn::bash("echo after > after.txt"))
        .main(Turn::say("done"))
        .sub_agent(Turn::bash("echo hi"))
        .sub_agent(Turn::say("I-looked"));
    let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
    assert_went_well(&run);
    let helper: String =
        run.requests.of(RequestKind::Sub).map(testkit::scripted_model::ModelRequest::text_sent).collect();
    assert!(helper.contains("You work for the effort implement"), "{helper}");
    let sessions: Vec<Value> = stage.sessions().into_iter().filter(|session| !is_proof(session)).collect();
    assert_eq!(sessions.len(), 1, "{sessions:#?}");
    let helpers = sessions[0]["sub_agents"].as_array().unwrap();
    assert_eq!((helpers.len(), helpers[0]["ended_at"].is_string()), (1, true), "{helpers:?}");
    assert!(exists(&stage, "after.txt"));
}

/// R2: under `stop` an automatic compaction is refused and the run ends; under `allow` it happens and the
/// session after it is told where it stands.
#[test]
fn r2_an_automatic_compaction_is_stopped_or_followed_as_configured() {
    for (policy, stopped) in [("stop", true), ("allow", false)] {
        let stage = configured(&format!("{SKILL}[compaction]\nauto = \"{policy}\"\n"));
        let script = Script::new()
            .main(Turn::bash("taut session activate implement"))
            .main(Turn::bash("echo 1 > one.txt").using(970_000))
            .main(Turn::bash("echo 2 > two.txt"))
            .main(Turn::say("done"))
            .compact(Turn::say("a summary"));
        let run = ClientLaunch::new(&stage.sandbox, script).run(&stage.client).unwrap();
        let compacted = run.requests.of(RequestKind::Compact).count();
        if stopped {
            assert_eq!((compacted, exists(&stage, "two.txt")), (0, false), "{:#?}", run.lines);
        } else {
            assert!(compacted >= 1, "{:#?}", run.lines);
            assert!(last_sent(&run).contains("[TAUT: RECOVERY]"), "{}", last_sent(&run));
        }
    }
}

/// I3, G0: under the preset, in mode `default` and without a person, the way out is permitted and its process runs.
#[test]
fn i3_under_the_workflow_engine_the_way_out_is_permitted_in_mode_default() {
    let stage = RecordedClient::new();
    stage.unwitnessed();
    let project = stage.sandbox.project();
    let preset = stage.sandbox.taut(&["init", "--preset", "workflow-engine", "--yes"], b"").unwrap();
    assert!(preset.success(), "{}{}", preset.stdout_text(), preset.stderr_text());
    // The client takes a project's permissions only where its user trusts the folder.
    let trusted = json!({"projects": {project.to_string_lossy(): {"hasTrustDialogAccepted": true}}});
    std::fs::write(stage.sandbox.claude_dir().join(".claude.json"), trusted.to_string()).unwrap();
    std::fs::write(project.join("notes.md"), "the treasure is under the oak").unwrap();
    let read = || Turn::call("Read", json!({"file_path": project.join("notes.md")}));
    let script = Script::new()
        .main(read())
        .main(Turn::bash("taut session activate implement"))
        .main(Turn::bash("taut effort phase '1: Setup'"))
        .main(Turn::bash("taut log 'set up'"))
        .main(read())
        .main(Turn::say("done"));
    let run = ClientLaunch::new(&stage.sandbox, script).permission_mode("default").run(&stage.client).unwrap();
    assert_went_well(&run);
    let results = run.requests.tool_results();
    for (at, part) in
        [(0, "[session-gate]"), (1, "begun: implement"), (2, "phase 1: Setup"), (3, "logged to "), (4, "under the oak")]
    {
        assert!(results[at].contains(part), "{part}: {results:#?}");
    }
    assert!(run.requests.all_text_sent().contains("[Session Context] Time:"));
}
