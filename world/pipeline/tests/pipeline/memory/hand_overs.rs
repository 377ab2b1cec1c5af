//! Accounts: told to the sessions of the same agent until a newer one takes their place, and to no other.

use super::{IMPLEMENT, Play, configured, denial, told};
use crate::home::{Client, Living, PipelineHome, decision};
use serde_json::{Value, json};

const ACCOUNT: &str = r#"{"summary": "half a bridge", "lastAction": "laid a stone", "nextSteps": ["lay another"],
    "requiredFiles": ["PLAN.md"], "userHistory": "make it wide"}"#;

fn dehydrate(stage: &mut PipelineHome, client: &Client) {
    let served = stage.line(client, &format!("taut session dehydrate <<'EOF'\n{ACCOUNT}\nEOF"));
    assert_eq!(denial(&served), "");
}

fn start_said(stage: &mut PipelineHome, client: &Client, source: &str) -> String {
    told(&stage.send(client, "SessionStart", json!({"source": source})))
}

fn named(stage: &PipelineHome, session: &str, agent: &str) -> Client {
    stage.client(session).with("TAUT_AGENT_ID", agent)
}

/// R1, R3, ORIGINS §4.3 no. 7 and §3.8 no. 9.
#[test]
fn m2_r3_an_account_is_told_to_the_sessions_of_that_agent_until_its_effort_ends_and_to_no_other() {
    let mut stage = configured(IMPLEMENT);
    stage.write("acme/PLAN.md", "the bridge has two ends");
    let ann = named(&stage, "a1", "ann");
    stage.start(&ann, "startup");
    stage.invoke(&ann, "implement");
    stage.line(&ann, "taut effort phase '1: Plan'");
    dehydrate(&mut stage, &ann);
    let kept = std::fs::read_to_string(format!("{}/DEHYDRATED_CONTEXT.md", stage.efforts()[0].folder)).unwrap();
    assert!(kept.contains("half a bridge") && kept.contains("PLAN.md"), "{kept}");
    let asked = stage.pipeline.store().unwrap().messages("restart_request").unwrap();
    let asked: Vec<Option<&str>> = asked.iter().map(|message| message.from_agent.as_deref()).collect();
    assert_eq!(asked, [Some("ann")], "whoever supervises it is asked to start it again");
    stage.end(&ann, "other");

    let bob = named(&stage, "b1", "bob");
    assert_eq!(start_said(&mut stage, &bob, "startup"), "", "it is not bob's");
    let said = start_said(&mut stage, &ann.clone().session_id("a2"), "startup");
    for part in
        ["half a bridge", "laid a stone", "1. lay another", "make it wide", "1: Plan", "the bridge has two ends"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    stage.end(&ann.clone().session_id("a2"), "other");
    let third = ann.session_id("a3");
    let again = start_said(&mut stage, &third, "startup");
    assert!(again.contains("half a bridge") && again.contains("the bridge has two ends"), "still: {again}");
    stage.line(&third, "taut effort finish");
    assert_eq!(start_said(&mut stage, &third.session_id("a4"), "clear"), "", "its effort is over");
}

/// That the old client is gone tells what is followed, that tells the role, and the note names a file: each answer
/// raises the next question, and all of them are asked before the second look at the rows.
#[test]
fn s1_r3_a_start_whose_rows_raise_one_question_after_the_other_is_answered_whole() {
    let mut stage = configured(IMPLEMENT);
    stage.write("acme/PLAN.md", "the bridge has two ends");
    stage.write("acme/.claude/roles/chief.md", "---\nauto_include: [RULES.md]\n---\nLead.");
    stage.write("acme/RULES.md", "No hurry.");
    let living = Living::new();
    let ann = named(&stage, "a1", "ann");
    let first = ann.clone().of(living.pid()).with("CLAUDE_SESSION_ROLE", "chief");
    stage.start(&first, "startup");
    dehydrate(&mut stage, &first);
    drop(living);
    let said = start_said(&mut stage, &ann, "resume");
    for part in ["Lead.", "No hurry.", "half a bridge", "the bridge has two ends"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn r3_a_child_takes_no_account_of_its_elder() {
    let mut stage = configured(IMPLEMENT);
    let elder = named(&stage, "s1", "ann");
    stage.start(&elder, "startup");
    dehydrate(&mut stage, &elder);
    let living = Living::new();
    let child = named(&stage, "s2", "ann").of(living.pid());
    assert_eq!(start_said(&mut stage, &child, "startup"), "");
    assert!(start_said(&mut stage, &elder.session_id("s3"), "clear").contains("half a bridge"));
}

#[test]
fn r3_without_an_account_the_next_session_rehydrates_from_artifacts() {
    let mut stage = configured(IMPLEMENT);
    let ann = named(&stage, "a1", "ann");
    stage.start(&ann, "startup");
    stage.invoke(&ann, "implement");
    stage.line(&ann, "taut log 'found the leak in the cellar'");
    stage.end(&ann, "other");
    let said = start_said(&mut stage, &ann.clone().session_id("a2"), "startup");
    assert!(said.contains("left no hand-over note") && said.contains("1_IMPLEMENT_LOG.md"), "{said}");
    assert!(said.contains("found the leak in the cellar"), "{said}");
    for source in ["resume", "fork"] {
        let said = start_said(&mut stage, &ann.clone().session_id(source), source);
        assert!(
            said.contains("Effort: implement") && !said.contains("left no hand-over note"),
            "it still knows: {said}"
        );
    }
}

/// R2: with the policy `allow` the compaction goes on, and the session after it is told where it stands.
#[test]
fn r2_an_automatic_compaction_leaves_a_mini_account_that_the_session_after_it_gets() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    stage.line(&client, "taut effort phase '1: Plan'");
    stage.came_back(&client, "Read", json!({"file_path": "src/lib.rs"}));
    stage.line(&client, "taut log 'found the leak'");
    for _ in 0..3 {
        let said = stage.send(&client, "PreCompact", json!({"trigger": "auto"}));
        assert_eq!(said.answer.stdout, "", "anything printed here leaks into the summary");
    }
    let said = start_said(&mut stage, &client, "compact");
    assert!(said.contains("Resume at phase 1: Plan") && said.contains("1_IMPLEMENT_LOG.md"), "{said}");
    assert!(said.contains("found the leak") && !said.contains("src/lib.rs"), "nothing it merely read: {said}");
}

/// ORIGINS §3.8 no. 2: `/compact` is the user's own.
#[test]
fn r2_a_manual_compaction_is_not_touched() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    stage.send(&client, "PreCompact", json!({"trigger": "manual"}));
    let agent = stage.agent_of("s1");
    let project = stage.folder("acme").to_string_lossy().into_owned();
    assert!(stage.pipeline.store().unwrap().hand_over(&agent, &project).unwrap().is_none());
    let mut stage = configured("[compaction]\nauto = \"stop\"\n");
    let worker = stage.client("s2").with("RALPH_AGENT_ID", "ann");
    let session = stage.start(&worker, "startup");
    stage.hold("queue/01", "ann", Some(&session.id));
    assert_eq!(stage.send(&worker, "PreCompact", json!({"trigger": "manual"})).answer.stdout, "");
    assert!(stage.session(&session.id).ended_at.is_none());
}

/// R2: who is supervised is restarted where there is something to go on with; its children and helpers are not.
#[test]
fn r2_a_supervised_agent_is_stopped_to_be_started_again_and_nobody_within_it() {
    let mut stage = configured(IMPLEMENT);
    let ann = named(&stage, "s1", "ann").with("TAUT_SUPERVISED", "run");
    let session = stage.start(&ann, "startup");
    stage.invoke(&ann, "implement");
    let living = Living::new();
    let child = ann.clone().session_id("s2").of(living.pid());
    let inner = stage.start(&child, "startup");
    let helper = json!({"trigger": "auto", "agent_id": "h1", "agent_type": "Explore"});
    for (client, fields) in [(&child, json!({"trigger": "auto"})), (&ann, helper)] {
        assert_eq!(stage.send(client, "PreCompact", fields).answer.stdout, "");
    }
    assert!(stage.session(&inner.id).ended_at.is_none() && stage.session(&session.id).ended_at.is_none());
    let said = stage.send(&ann, "PreCompact", json!({"trigger": "auto"})).answer.stdout;
    assert!(said.contains("Context Limit Reached"), "{said}");
    assert!(stage.session(&session.id).ended_at.is_some());
}

/// R2: `taut run` is never worse than the client alone. What the client knows is thrown away only for a note
/// that the agent wrote in this very session, for an effort, or because the configuration says so.
#[test]
fn r2_a_supervised_agent_with_nothing_to_go_on_with_is_left_to_compact() {
    let restart = "[compaction]\nauto = \"restart\"\n";
    for (by, config, wrote, stopped) in
        [("run", "", false, false), ("run", "", true, true), ("run", restart, false, true), ("loop", "", false, true)]
    {
        let mut stage = configured(config);
        let ann = named(&stage, "s1", "ann").with("TAUT_SUPERVISED", by);
        let session = stage.start(&ann, "startup");
        stage.send(&ann, "UserPromptSubmit", json!({"prompt": "build the bridge"}));
        if wrote {
            dehydrate(&mut stage, &ann);
        }
        for _ in 0..2 {
            let said = stage.send(&ann, "PreCompact", json!({"trigger": "auto"})).answer.stdout;
            assert_eq!(!said.is_empty(), stopped, "{by} {config} wrote {wrote}: {said}");
        }
        assert_eq!(stage.session(&session.id).ended_at.is_some(), stopped, "{by} {config} wrote {wrote}");
        if !stopped {
            let next = stage.start(&ann, "compact");
            stage.send(&ann, "UserPromptSubmit", json!({"prompt": "go on"}));
            let said = stage.send(&ann, "PreCompact", json!({"trigger": "auto"})).answer.stdout;
            assert_eq!((said.as_str(), stage.session(&next.id).ended_at), ("", None), "the note is an older one's");
        }
    }
}

/// R2: the default. Who has a person in front of it, or nothing to stop for, is let be.
#[test]
fn r2_without_a_policy_only_a_holder_that_nobody_watches_is_stopped() {
    for (variable, holds, stopped) in [
        ("RALPH_AGENT_ID", true, true),
        ("RALPH_AGENT_ID", false, false),
        ("TAUT_AGENT_ID", true, false),
        ("TAUT_AGENT_ID", false, false),
    ] {
        let mut stage = PipelineHome::new();
        let client = stage.client("s1").with(variable, "ann");
        let session = stage.start(&client, "startup");
        if holds {
            stage.hold("queue/01", "ann", Some(&session.id));
        }
        let said = stage.send(&client, "PreCompact", json!({"trigger": "auto"})).answer.stdout;
        assert_eq!(!said.is_empty(), stopped, "{variable}, holding: {holds}: {said}");
        assert_eq!(stage.session(&session.id).ended_at.is_some(), stopped, "{variable}, holding: {holds}");
    }
}

#[test]
fn r2_an_account_the_agent_wrote_is_not_replaced_by_ours() {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    dehydrate(&mut stage, &client);
    stage.send(&client, "PreCompact", json!({"trigger": "auto"}));
    assert!(start_said(&mut stage, &client, "compact").contains("half a bridge"));
}

#[test]
fn r2_the_policy_stop_blocks_the_compaction_ends_the_session_and_halts_what_follows() {
    let mut stage = configured(&format!("{IMPLEMENT}[compaction]\nauto = \"stop\"\n"));
    let client = stage.client("s1");
    let first = stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    let said: Value =
        serde_json::from_str(&stage.send(&client, "PreCompact", json!({"trigger": "auto"})).answer.stdout).unwrap();
    assert_eq!(
        (&said["decision"], &said["continue"], &said["stopReason"]),
        (&json!("block"), &json!(false), &json!("Context Limit Reached"))
    );
    assert!(said["reason"].is_string());
    let next = stage.line(&client, "ls");
    let reply: Value = serde_json::from_str(&next.answer.stdout).unwrap();
    assert_eq!((decision(&next).as_deref(), &reply["continue"]), (Some("deny"), &json!(false)));
    assert!(stage.session(&first.id).ended_at.is_some());
    let after = start_said(&mut stage, &client.session_id("s2"), "clear");
    assert!(after.contains("[TAUT: RECOVERY]"), "{after}");
}

#[test]
fn r2_the_policy_allow_wins_over_a_held_task() {
    let mut stage = configured("[compaction]\nauto = \"allow\"\n");
    let client = stage.client("s1").with("RALPH_AGENT_ID", "ann");
    let session = stage.start(&client, "startup");
    stage.hold("queue/01", "ann", Some(&session.id));
    assert_eq!(stage.send(&client, "PreCompact", json!({"trigger": "auto"})).answer.stdout, "");
}

/// G5 → R1 → R3: a full context is saved, and the next session goes on.
#[test]
fn g5_a_full_context_leads_to_an_account_and_the_next_session_recovers() {
    let mut stage = configured(&format!("{IMPLEMENT}[overflow]\nat = 95\n[context]\nwindow = 133000\n"));
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    let path = stage.folder("home").join("t.jsonl");
    let message = json!({"id": "m", "model": "claude-x", "usage": {"input_tokens": 96_000, "output_tokens": 0}});
    std::fs::write(&path, format!("{}\n", json!({"type": "assistant", "message": message}))).unwrap();
    stage.send(&client, "PostToolUse", json!({"tool_name": "Bash", "tool_use_id": "x", "transcript_path": path}));
    let reason = denial(&stage.line(&client, "make"));
    assert!(reason.contains("[overflow]") && reason.contains("96 %"), "{reason}");
    dehydrate(&mut stage, &client);
    assert!(denial(&stage.line(&client, "make")).contains("hand-over note is stored"));
    let next = client.session_id("s2");
    assert!(start_said(&mut stage, &next, "clear").contains("half a bridge"));
    assert_eq!(denial(&stage.line(&next, "make")), "");
}
