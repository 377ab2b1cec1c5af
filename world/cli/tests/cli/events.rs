//! `taut events`: what is listed, how it is narrowed, and one event with all that is kept of it.

use serde_json::{Value, json};
use testkit::stage::{IN_PROCESS, Stage};
use testkit::{AgentStep, FakeTool};

/// Two agents: one edits and is stopped, one reads.
fn played() -> Stage {
    let stage = Stage::without_daemon();
    let path = stage.path("src/tide.rs").display().to_string();
    let edit = json!({"file_path": path, "old_string": "a", "new_string": "b"});
    let edit = FakeTool::new("Edit", edit, json!({}));
    stage
        .agent("writer")
        .play(&[AgentStep::start(), AgentStep::Tools(vec![edit]), AgentStep::bash("sudo rm -rf /etc")])
        .unwrap();
    stage.agent("reader").play(&[AgentStep::start(), AgentStep::bash("git status")]).unwrap();
    stage
}

fn listed(stage: &Stage, options: &[&str]) -> Vec<Value> {
    stage.list(&[&["events", "--json"][..], options].concat())
}

#[test]
fn f4_denied_ones_have_their_reasons_and_edits_their_paths() {
    let stage = played();
    let denied = stage.succeed(&["events", "--denied"]);
    let lines: Vec<&str> = denied.lines().collect();
    assert!(lines[0].contains("sudo rm -rf /etc") && lines[1].starts_with("    ["), "{denied}");
    assert!(!denied.contains("(code "), "{denied}");
    let all = stage.succeed(&["events"]);
    assert!(all.lines().any(|line| line.contains("Edit  ") && line.contains("src/tide.rs")), "{all}");
}

#[test]
fn f4_the_rule_that_decided_is_named_first() {
    let stage = played();
    let denied = &listed(&stage, &["--denied"])[0];
    let rules: Vec<&str> = denied["rules"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(rules.len() > 1 && rules[0] == "rm-system" && rules.contains(&"sudo"), "{rules:?}");
    assert!(denied["reason"].as_str().unwrap().starts_with("[rm-system]"), "{denied:#}");
    let agents = stage.list(&["agents", "--json"]);
    let writer = agents.iter().find(|agent| agent["id"] == "writer").unwrap();
    assert_eq!(writer["verdict"]["rules"][0], "rm-system", "the chip of the page");
}

#[test]
fn f4_events_are_chosen_by_what_they_are_about() {
    let stage = played();
    let whole = listed(&stage, &["-n", "100"]).len();
    for (options, found) in [
        (&["--rule", "rm-system"][..], 1),
        (&["--rule", "git-push"], 0),
        (&["--since", "1h"], whole),
        (&["--until", "1h"], 0),
        (&["--since", "2001-01-01", "--until", "2001-01-02"], 0),
        (&["--project", "."], whole),
        (&["--limit", "1"], 1),
    ] {
        let most = if options[0] == "--limit" { &[][..] } else { &["-n", "100"] };
        assert_eq!(listed(&stage, &[most, options].concat()).len(), found, "{options:?}");
    }
    let tools: Vec<Value> = listed(&stage, &["--tool", "Edit"]).iter().map(|event| event["tool"].clone()).collect();
    assert!(!tools.is_empty() && tools.iter().all(|tool| tool == "Edit"), "{tools:?}");
    assert!(listed(&stage, &["--agent", "reader"]).iter().all(|event| event["agent"] == "reader"));
    let session = listed(&stage, &["--agent", "reader"])[0]["session"].as_str().unwrap().to_owned();
    let short = &session[..session.len() - 4];
    assert!(listed(&stage, &["--session", short]).iter().all(|event| event["session"] == session));
    let nothing = stage.taut(&["events", "--session", short, "--denied"]);
    let said = nothing.stderr_text();
    assert!(said.contains(&session) && said.contains("of reader") && !said.contains("taut init"), "{said}");
    assert!(stage.taut(&["events", "--rule", "sodu"]).stderr_text().contains("no rule of Taut's own is called sodu"));
    assert_eq!(stage.taut(&["events", "--since", "soon"]).code(), Some(2));
    assert_eq!(stage.taut(&["events", "--csv", "--json"]).code(), Some(2));
}

#[test]
fn f4_one_event_is_shown_by_its_number_and_by_its_id() {
    let stage = played();
    let denied = listed(&stage, &["--denied"]).remove(0);
    let number = denied["number"].to_string();
    let id = denied["id"].as_str().unwrap();
    for called in [number.as_str(), &format!("#{number}"), id, &id[..20]] {
        let shown = stage.succeed(&["events", "show", called]);
        for part in [id, "rm-system", "sudo rm -rf /etc", "writer"] {
            assert!(shown.contains(part), "{called} {part}: {shown}");
        }
        assert!(!shown.contains(denied["at"].as_str().unwrap()), "people read the time on the wall: {shown}");
        assert_eq!(stage.list(&["events", "show", called, "--json"])[0]["id"], id);
    }
    let unknown = stage.taut(&["events", "show", "999999"]);
    assert!(
        !unknown.success() && unknown.stderr_text().contains("no event has the number"),
        "{}",
        unknown.stderr_text()
    );
    assert!(!stage.taut(&["events", "show", "ä"]).success());
    let line = stage.succeed(&["events", "--denied"]);
    assert!(line.contains(&format!("#{number}")), "{line}");
}

#[test]
fn f4_a_spreadsheet_takes_what_is_listed() {
    let stage = played();
    let table = stage.succeed(&["events", "--csv", "--denied"]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        (lines.len(), lines[0]),
        (2, "number,at,verdict,agent,session,event,tool,about,rules,reason,ms,agent_name")
    );
    assert!(lines[1].contains(",deny,writer,") && lines[1].contains("sudo rm -rf /etc"), "{table}");
}

#[test]
fn f4_the_proofs_of_taut_itself_are_shown_when_asked_for() {
    let stage = Stage::new();
    let proof = |fields: Value| serde_json::to_vec(&fields).unwrap();
    let cwd = stage.sandbox.project().display().to_string();
    let call = json!({
        "session_id": "taut-proof-1", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_use_id": "p1", "tool_input": {"command": "rm -rf /"},
    });
    stage.hook(&proof(call), IN_PROCESS);
    assert_eq!(listed(&stage, &[]).len(), 0);
    assert_eq!(listed(&stage, &["--proofs"]).len(), 1);
    let said = stage.taut(&["events", "--denied"]).stderr_text();
    assert!(said.contains("only the proofs of `taut init`") && said.contains("`--proofs`"), "{said}");
    let agents = stage.taut(&["agents", "--all"]).stderr_text();
    assert!(!agents.contains("sessions that ended"), "a proof is no session of an agent: {agents}");
    assert_eq!(stage.list(&["sessions", "--all", "--json"]), Vec::<Value>::new());
}

#[test]
fn f4_where_sessions_ended_nobody_is_told_to_install() {
    let stage = Stage::without_daemon();
    let fresh = stage.taut(&["agents"]).stderr_text();
    assert!(fresh.contains("no agents yet; `taut init` installs"), "{fresh}");
    let env = [("TAUT_NO_DAEMON", "1")];
    stage.hook(&stage.payload(&json!({"hook_event_name": "SessionStart", "source": "startup"})), &env);
    stage.hook(&stage.payload(&json!({"hook_event_name": "SessionEnd", "reason": "logout"})), &env);
    for list in [&["agents"][..], &["sessions"], &["top", "--once"]] {
        let done = stage.taut(list);
        let said = format!("{}{}", done.stdout_text(), done.stderr_text());
        assert!(said.contains("is running") && said.contains("taut sessions --all"), "{list:?}: {said}");
        assert!(!said.contains("taut init"), "{list:?}: {said}");
    }
}
