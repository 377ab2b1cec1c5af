//! What leaves this machine, and for whom, is for people to say: an agent's own commands are refused.

use super::{QUEUE, Team, config, named};
use serde_json::{Value, json};
use store::{Durability, RefusedTurn, SharedState, Store};
use testkit::process;
use testkit::stage::PLENTY;

#[test]
fn x3_g8_an_agent_connects_migrates_imports_and_disconnects_nothing() {
    let Some(team) = Team::made() else { return };
    let stage = team.machine();
    let before = config(&stage);
    let (agent, owner) = (team.agent(), team.url("postgres"));
    let cases: [&[&str]; 6] = [
        &["shared", "connect", &agent, "--events", "full", "--yes"],
        &["shared", "connect", &agent, "--dry-run"],
        &["shared", "disconnect", "--yes"],
        &["shared", "migrate", &owner, "--yes"],
        &["shared", "import", "--yes"],
        &["shared", "export", "--local", "--yes"],
    ];
    for args in cases {
        let mut command = stage.command(args);
        command.env("CLAUDECODE", "1");
        let done = process::run(command, b"", PLENTY).unwrap();
        assert_eq!(done.code(), Some(1), "{args:?}: {}", done.stdout_text());
        assert!(done.stderr_text().contains("is for people"), "{args:?}: {}", done.stderr_text());
    }
    assert_eq!(config(&stage), before);
    for args in [&["shared", "status"][..], &["shared", "refused"]] {
        let mut command = stage.command(args);
        command.env("CLAUDECODE", "1");
        let done = process::run(command, b"", PLENTY).unwrap();
        assert!(done.success(), "{args:?}: {}", done.stderr_text());
    }
}

#[test]
fn x3_g8_no_option_of_an_agents_command_names_a_file_with_a_server_of_its_own() {
    let stage = named();
    let file = stage.path("own.toml").display().to_string();
    stage.write("own.toml", &format!("[shared]\nurl = \"{}\"\n", super::nobody(&stage)));
    for (verb, code, words) in [("sync", 2, "unexpected argument '--config'"), ("deliver", 1, "is for people")] {
        let mut command = stage.command(&["shared", verb, "--config", &file]);
        command.env("CLAUDECODE", "1");
        let done = process::run(command, b"", PLENTY).unwrap();
        assert_eq!(done.code(), Some(code), "{verb}: {}", done.stderr_text());
        assert!(done.stderr_text().contains(words), "{verb}: {}", done.stderr_text());
    }
}

#[test]
fn x3_g8_an_agent_is_shown_what_is_of_its_own_projects_queue_and_a_person_all() {
    let stage = named();
    stage.configure(&format!("[shared]\nurl = \"{}\"\nprojects = [\"{QUEUE}\"]\n", super::nobody(&stage)));
    let session = "33333333-aaaa-4bbb-8ccc-222222222222";
    let start = json!({"hook_event_name": "SessionStart", "source": "startup", "session_id": session});
    stage.hook(&stage.payload(&start), &[("TAUT_AGENT_ID", "ann"), ("TAUT_NO_DAEMON", "1")]);
    let mut store = Store::open_and_migrate(&stage.sandbox.taut_home(), PLENTY).unwrap();
    for (queue, slug) in [(QUEUE, "ours"), ("acme/payroll", "theirs")] {
        let event = json!({"project": queue, "agent": "bob", "detail": {"input": {"command": slug}}});
        store.set_shared_state(&SharedState { last_event: Some(event), ..SharedState::default() }).unwrap();
        store.transact(Durability::Full, |tx| tx.keep_refused(&late(queue, slug))).unwrap();
    }
    let said = |agent: bool, args: &[&str]| {
        let mut command = stage.command(args);
        if agent {
            command.env("TAUT_AGENT_ID", "ann").env("CLAUDE_SESSION_ID", session);
        }
        process::run(command, b"", PLENTY).unwrap().stdout_text()
    };
    for (agent, theirs, refused) in [(false, true, 2), (true, false, 1)] {
        let listed = said(agent, &["shared", "refused"]);
        assert!(listed.contains("ours") && listed.contains("theirs") == theirs, "{listed}");
        let status = said(agent, &["shared", "status"]);
        assert!(status.contains(&format!("refused    {refused}:")), "{status}");
        assert_eq!(status.contains("theirs"), theirs, "{status}");
        let object: Value = serde_json::from_str(&said(agent, &["shared", "status", "--json"])).unwrap();
        assert_eq!((&object["refused"], object["last_event"].is_null()), (&refused.into(), !theirs), "{object}");
    }
}

fn late(queue: &str, slug: &str) -> RefusedTurn {
    RefusedTurn {
        at: host::clock::now(),
        queue: queue.into(),
        slug: slug.into(),
        agent: Some("bob".into()),
        attempt: 1,
        outcome: Some("done".into()),
        result: None,
        why: "late".into(),
    }
}

#[test]
fn x3_g8_where_nobody_sits_a_question_is_not_answered_by_a_pipe() {
    let stage = named();
    let done = stage.sandbox.taut(&["shared", "connect", "postgresql://a@localhost/b"], b"y\ny\n").unwrap();
    assert!(done.code() == Some(1) && done.stderr_text().contains("is for people"), "{}", done.stderr_text());
}
