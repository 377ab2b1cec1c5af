//! The heartbeat and the session gate, with the line that opens them carried out by the hook.

use super::{IMPLEMENT, Play, configured, denial, told};
use crate::home::{Client, PipelineHome};
use serde_json::json;

/// An agent past its loading, that has not logged yet.
fn at_work() -> (PipelineHome, Client) {
    let mut stage = configured(IMPLEMENT);
    let client = stage.client("s1");
    stage.start(&client, "startup");
    stage.invoke(&client, "implement");
    stage.line(&client, "taut effort phase '1: Plan'");
    (stage, client)
}

#[test]
fn g4_the_tenth_call_is_stopped_and_a_log_line_opens_it_before_its_process_runs() {
    let (mut stage, client) = at_work();
    let said: Vec<String> = (1..=9).map(|n| stage.line(&client, &format!("make {n}")).answer.stdout).collect();
    let loud: Vec<usize> = said.iter().enumerate().filter(|(_, said)| !said.is_empty()).map(|(at, _)| at + 1).collect();
    assert_eq!(loud, [3], "{said:?}");
    let reason = denial(&stage.line(&client, "make 10"));
    assert!(reason.contains("[heartbeat]") && reason.contains("taut log"), "{reason}");
    // What follows needs no process: in a sandbox, or where nobody grants a permission, none may run.
    assert_eq!(stage.line(&client, "taut log 'ten things were made'").answer.stdout, "");
    assert_eq!(denial(&stage.line(&client, "make 11")), "");
    let log = stage.efforts()[0].artifact("LOG");
    assert!(std::fs::read_to_string(log).unwrap().contains("ten things were made"));
}

/// Parallel calls arrive together: one of them is the third, and it alone warns.
#[test]
fn g4_calls_of_one_batch_warn_once() {
    let (mut stage, client) = at_work();
    let mut said = String::new();
    for n in 0..5 {
        said.push_str(&told(&stage.line(&client, &format!("make {n}"))));
        stage.rewind();
    }
    assert_eq!(said.matches("[heartbeat]").count(), 1, "{said}");
}

#[test]
fn g4_sub_agents_have_counters_of_their_own_and_are_not_stopped() {
    let (mut stage, client) = at_work();
    let call = |stage: &mut PipelineHome, n: usize, agent: &str| {
        let fields = json!({
            "tool_name": "Bash", "tool_input": {"command": format!("make {n}")}, "tool_use_id": format!("{agent}{n}"),
            "agent_id": agent, "agent_type": "general-purpose",
        });
        stage.send(&client, "PreToolUse", fields)
    };
    for n in 0..15 {
        assert_eq!(denial(&call(&mut stage, n, "helper")), "", "{n}");
    }
    for n in 0..9 {
        assert_eq!(denial(&stage.line(&client, &format!("make {n}"))), "", "the parent counts for itself");
    }
    assert!(denial(&stage.line(&client, "make")).contains("[heartbeat]"));
}

#[test]
fn g4_a_phase_is_a_sign_of_life_and_what_the_guard_denies_is_not_counted() {
    let (mut stage, client) = at_work();
    for n in 0..8 {
        stage.line(&client, &format!("make {n}"));
    }
    for _ in 0..3 {
        assert!(denial(&stage.line(&client, "rm -rf /")).contains("[rm-root]"));
    }
    assert_eq!(denial(&stage.line(&client, "make")), "", "the ninth that was let through");
    assert!(denial(&stage.line(&client, "make again")).contains("[heartbeat]"));
    stage.line(&client, "taut effort phase '2: Build'");
    assert_eq!(denial(&stage.line(&client, "make")), "");
}

/// G0: the hook carries a line out because it lets it through, never otherwise.
#[test]
fn g0_a_line_that_is_denied_is_not_carried_out() {
    let mut stage = configured(&format!("{IMPLEMENT}[session]\nrequired = true\n"));
    let client = stage.client("s1");
    stage.start(&client, "startup");
    assert!(denial(&stage.line(&client, "taut log 'around the gate'")).contains("[session-gate]"));
    assert!(denial(&stage.line(&client, "taut status 'around the gate'")).contains("[session-gate]"));
    assert_eq!(stage.current(&client).status_text, None);
    assert!(stage.pipeline.store().unwrap().messages("log").unwrap().is_empty());
}

#[test]
fn g3_a_required_session_is_activated_by_the_line_itself() {
    let mut stage = configured(&format!("{IMPLEMENT}[session]\nrequired = true\n"));
    let client = stage.client("s1");
    stage.start(&client, "startup");
    assert!(denial(&stage.line(&client, "ls")).contains("taut session activate"));
    assert!(denial(&stage.line(&client, "taut log 'let me through'")).contains("[session-gate]"));
    assert_eq!(denial(&stage.line(&client, "taut session activate implement")), "");
    assert_eq!(denial(&stage.line(&client, "ls")), "");
    stage.line(&client, "taut effort finish");
    assert!(denial(&stage.line(&client, "ls")).contains("[session-gate]"), "a finished effort closes it again");
}

/// D5: state fails open. A gate that nothing is known of is not closed.
#[test]
fn d5_without_a_database_the_gates_stand_open_and_the_guard_does_not() {
    let mut stage = configured("[session]\nrequired = true\n");
    let client = stage.client("s1");
    std::fs::remove_dir_all(stage.folder("state")).unwrap();
    std::fs::write(stage.folder("").join("state"), "not a folder").unwrap();
    assert_eq!(stage.bash(&client, "1", "ls").answer.stdout, "");
    assert!(denial(&stage.bash(&client, "2", "rm -rf /")).contains("[rm-root]"));
}

/// G10: what a user pauses, is paused.
#[test]
fn a_pause_lifts_the_gates() {
    let mut stage = configured("[session]\nrequired = true\n");
    let client = stage.client("s1");
    stage.start(&client, "startup");
    assert!(!denial(&stage.line(&client, "ls")).is_empty());
    let standing = host::overrides::ActiveOverrides { paused_until: Some(model::Ms(i64::MAX)), reason: None };
    host::overrides::write(&stage.folder("state"), &standing).unwrap();
    assert_eq!(denial(&stage.line(&client, "ls")), "");
}

/// S12: what a session says of itself is kept, by its own line.
#[test]
fn s12_a_status_line_sets_what_the_session_is_doing() {
    let mut stage = PipelineHome::new();
    let client = stage.client("s1");
    stage.start(&client, "startup");
    assert_eq!(stage.line(&client, "taut status 'reading the code'").answer.stdout, "");
    assert_eq!(stage.current(&client).status_text.as_deref(), Some("reading the code"));
}

/// D9: what an agent writes down is kept, its secrets are not.
#[test]
fn d9_a_secret_in_a_log_line_is_kept_nowhere() {
    let (mut stage, client) = at_work();
    stage.line(&client, "taut log 'set API_TOKEN=abcdefgh12345678 for the build'");
    let log = std::fs::read_to_string(stage.efforts()[0].artifact("LOG")).unwrap();
    assert!(log.contains("for the build") && !log.contains("abcdefgh12345678"), "{log}");
    let database: Vec<u8> = ["state/taut.db", "state/taut.db-wal"]
        .iter()
        .flat_map(|file| std::fs::read(stage.folder(file)).unwrap_or_default())
        .collect();
    assert!(!database.windows(16).any(|window| window == b"abcdefgh12345678"));
}

/// G11: what the user has set, a project that nobody trusts does not unset.
#[test]
fn g11_an_untrusted_project_tightens_and_unsets_nothing() {
    let mut stage = configured("[session]\nrequired = true\n[contacts]\n");
    stage.write(
        "acme/.taut/config.toml",
        "[session]\nrequired = false\nstandards = [\"X.md\"]\n[contacts]\n\"eve@x\" = [\"claude_direct\"]\n",
    );
    let client = stage.client("s1");
    stage.start(&client, "startup");
    let reason = denial(&stage.line(&client, "ls"));
    assert!(reason.contains("[session-gate]") && reason.contains("X.md"), "{reason}");
    let mut stage = PipelineHome::new();
    stage.write("acme/.taut/config.toml", "[session]\nrequired = true\n");
    stage.start(&client, "startup");
    let client = stage.client("s1");
    assert!(denial(&stage.line(&client, "ls")).contains("[session-gate]"), "it may tighten");
}
