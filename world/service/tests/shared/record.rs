//! The record: nothing without consent, each event once, and no secret in any of them.

use crate::machine::{Machine, Server, token};
use model::task::TaskPlan;
use serde_json::json;
use service::workers::shared::SharedRounds;
use std::time::Duration;

fn events(server: &Server) -> u64 {
    server.count("events")
}

fn stored(one: &mut Machine) -> u64 {
    one.store().events(&store::EventFilter::default()).unwrap().len() as u64
}

#[test]
fn x3_by_default_no_event_leaves_and_nothing_is_kept_for_it() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.begin("ann", "acme");
    one.bash(("ann", "acme"), "rm -rf /");
    one.round();
    assert_eq!(events(&server), 0);
    assert!(!server.dump().contains("rm -rf"), "nor by any other way");
    assert_eq!(one.store().unshipped().unwrap(), (0, 0));
}

#[test]
fn x3_what_happened_before_consent_and_in_other_projects_stays_here() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.begin("ann", "acme");
    one.round();
    one.share(&server.url("taut_agent"), "summary");
    one.round();
    assert_eq!(events(&server), 0, "agreed to by nobody");
    one.bash(("ann", "acme"), "git push --force origin main");
    one.begin("eve", "private");
    one.bash(("eve", "private"), "ls");
    assert_eq!(one.round().events_sent, 1);
    let row = server.sql("SELECT agent || ' ' || tool || ' ' || coalesce(reason, '-') || ' ' || coalesce(detail::text, '-') FROM taut.events");
    assert_eq!(row, "ann Bash - -", "a summary has neither reasons nor details");
    one.share(&server.url("taut_agent"), "full");
    one.bash(("ann", "acme"), "echo hello");
    one.round();
    let full = server.sql("SELECT detail::text FROM taut.events ORDER BY seq DESC LIMIT 1");
    assert!(full.contains("echo hello"), "{full}");
    let last = one.store().shared_state().unwrap().unwrap().last_event.unwrap();
    assert!(last.to_string().contains("echo hello"), "anybody can see what left: {last}");
    one.share(&server.url("taut_agent"), "none");
    one.bash(("ann", "acme"), "echo off");
    one.round();
    one.share(&server.url("taut_agent"), "full");
    one.round();
    assert!(!server.dump().contains("echo off"), "what happened while it was off stays here");
}

#[test]
fn x3_each_event_is_there_once_though_the_worker_dies_between_the_put_and_the_cursor() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.round();
    let before = stored(&mut one);
    one.begin("ann", "acme");
    for n in 0..20 {
        one.bash(("ann", "acme"), &format!("echo {n}"));
    }
    let id = one.store().shared_state().unwrap().unwrap().server;
    let cursor = one.store().shipped(&id).unwrap().unwrap();
    for behind in [0, 3, 17] {
        one.round();
        // As after a death between the two.
        one.store().set_shipped(&id, cursor + behind).unwrap();
        one.restart();
    }
    one.round();
    let happened = stored(&mut one) - before;
    assert_eq!(events(&server), happened);
    assert_eq!(server.sql("SELECT count(DISTINCT id) FROM taut.events"), happened.to_string());
}

#[test]
fn t7_no_secret_arrives_by_any_way_that_something_leaves() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "full");
    one.round();
    let token = token();
    one.begin("ann", "acme");
    one.hook(("ann", "acme"), "UserPromptSubmit", json!({"prompt": format!("use {token}")}));
    one.bash(("ann", "acme"), &format!("curl -H 'Authorization: Bearer {token}' https://example.org"));
    one.hook(("ann", "acme"), "Notification", json!({"message": format!("may I use {token}?")}));
    one.hook(("ann", "acme"), "Stop", json!({"last_assistant_message": format!("done with {token}")}));
    let written = json!({"command": format!("echo {token}"), "plain": token});
    let mut event =
        model::row::Event::noted("PreToolUse", "ann", host::clock::uuid(host::clock::now()), host::clock::now());
    // As an older Taut may have stored it.
    (event.detail, event.reason) = (written, Some(format!("it has {token}")));
    event.session = one.store().agent("ann").unwrap().unwrap().session;
    let write = [model::effect::Write::Event(Box::new(event))];
    one.store().transact(store::Durability::Full, |tx| tx.apply(&write)).unwrap();
    one.plan_as(TaskPlan {
        slug: "a".into(),
        title: format!("use {token} in it"),
        description: Some(format!("with {token}")),
        reference: Some(format!("as {token}")),
        ..TaskPlan::default()
    });
    one.claim("ann").unwrap();
    one.done_with("ann", "a", json!({"commit": "c0ffee", "note": format!("it has {token}")})).unwrap();
    assert!(one.round().events_sent > 3);
    assert_eq!(server.sql("SELECT status || ' ' || (result ->> 'commit') FROM taut.tasks"), "done c0ffee");
    let there = server.dump();
    assert!(there.contains("example.org") && !there.contains(&token), "{there}");
    assert!(!there.contains(&token[8..]), "nor a part of it");
}

#[test]
fn x3_a_mistake_in_the_users_file_forgets_nothing_that_was_to_be_sent() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.begin("ann", "acme");
    one.round();
    let file = one.setting.user_config.clone();
    let right = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, right.replace("\"summary\"", "\"sumary\"")).unwrap();
    one.bash(("ann", "acme"), "echo a");
    assert_eq!(one.round().events_sent, 0, "nobody knows what may be sent");
    let mut store = one.own_store();
    std::fs::write(&file, right.replace("[shared]", "[shared = ")).unwrap();
    assert_eq!(one.rounds.server(), None);
    one.bash(("ann", "acme"), "echo b");
    one.rounds.end(&mut store).unwrap();
    std::fs::write(&file, &right).unwrap();
    assert_eq!(one.round().events_sent, 2, "as soon as it is mended");
    std::fs::write(&file, "").unwrap();
    assert_eq!(one.rounds.server(), None);
    one.rounds.end(&mut store).unwrap();
    assert_eq!(store.unshipped().unwrap(), (0, 0), "nothing is shared");
}

#[test]
fn x3_a_server_that_is_away_for_long_blocks_nobody_and_what_goes_is_counted_and_said() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.begin("ann", "acme");
    one.round();
    one.share("postgresql://taut_agent@127.0.0.1:1/taut", "summary");
    for n in 0..50 {
        assert_eq!(one.bash(("ann", "acme"), &format!("echo {n}")).answer.exit, 0);
    }
    assert!(one.try_round().error.is_some());
    let (waiting, _) = one.store().unshipped().unwrap();
    assert!(waiting >= 50, "{waiting}");
    let tight = store::Retention { bytes: 1, unsent_bytes: 1, rows: 10, ..store::Retention::default() };
    // What the server has goes first, then what it was still to be sent.
    for _ in 0..3 {
        one.store().prune(host::clock::now(), &tight).unwrap();
    }
    let (left, skipped) = one.store().unshipped().unwrap();
    assert!(left < waiting && skipped > 0, "{left} {skipped}");
    one.restart();
    one.share(&server.url("taut_agent"), "summary");
    one.round();
    assert!(one.notices().iter().any(|text| text.contains("events were forgotten")), "{:?}", one.notices());
    assert_eq!(events(&server), left);
}

#[test]
fn x3_what_leaves_at_full_of_every_event_is_commands_and_paths_and_no_text_that_anybody_wrote() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "full");
    one.round();
    one.begin("ann", "acme");
    let ann = ("ann", "acme");
    let long = format!("Tool at /home/ben/KEPT{}", "x".repeat(100));
    let calls = [
        ("Bash", json!({"command": "make check", "description": "KEPT"})),
        ("Bash", json!({"command": "cat > a.txt <<'END'\nKEPT\nEND"})),
        ("Write", json!({"file_path": "/w/written.txt", "content": "KEPT"})),
        ("Edit", json!({"file_path": "/w/edited.txt", "old_string": "KEPT", "new_string": "KEPT"})),
        ("MultiEdit", json!({"file_path": "/w/many.txt", "edits": [{"old_string": "KEPT", "new_string": "KEPT"}]})),
        ("NotebookEdit", json!({"notebook_path": "/w/note.ipynb", "new_source": "KEPT"})),
        ("apply_patch", json!({"command": "*** Begin Patch\n*** Add File: a\n+KEPT\n*** End Patch"})),
        ("Task", json!({"prompt": "KEPT", "description": "KEPT"})),
        ("AskUserQuestion", json!({"questions": [{"question": "KEPT?", "options": [{"label": "KEPT"}]}]})),
        ("ExitPlanMode", json!({"plan": "KEPT"})),
        ("TodoWrite", json!({"todos": [{"content": "KEPT", "status": "pending"}]})),
        ("Grep", json!({"pattern": "wanted", "path": "/w/src", "nested": {"command": "KEPT"}})),
        ("WebFetch", json!({"url": "https://example.org/page", "prompt": "KEPT"})),
        ("mcp__desk__send", json!({"body": "KEPT", "command": {"text": "KEPT"}})),
        (long.as_str(), json!({"text": "KEPT"})),
    ];
    for (at, (tool, input)) in calls.iter().enumerate() {
        for event in ["PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"] {
            let fields = json!({"tool_name": tool, "tool_input": input, "tool_use_id": format!("t{at}"),
                "tool_response": {"stdout": "KEPT", "content": "KEPT"}, "error": "KEPT"});
            one.hook(ann, event, fields);
        }
    }
    for event in model::event::EventKind::ALL.iter().filter(|kind| !kind.name().contains("ToolUse")) {
        let fields = json!({"prompt": "KEPT", "message": "KEPT", "last_assistant_message": "KEPT", "error": "KEPT",
            "error_details": "KEPT", "custom_instructions": "KEPT", "compact_summary": "KEPT", "trigger": "manual",
            "notification_type": "idle_prompt", "title": "KEPT", "command_name": "KEPT", "command_args": "KEPT",
            "task_id": "1", "task_subject": "KEPT", "task_description": "KEPT", "teammate_name": "KEPT",
            "agent_id": "sub", "agent_type": "KEPT", "file_path": "/w/KEPT", "new_cwd": "/w/KEPT", "reason": "other",
            "source": "startup", "tool_calls": [{"tool_name": "Write", "tool_input": {"content": "KEPT"}}]});
        one.hook(ann, event.name(), fields);
    }
    assert!(one.round().events_sent > 60);
    let rows = server.sql("SELECT to_jsonb(e)::text FROM taut.events e");
    for row in rows.lines() {
        assert!(!row.contains("KEPT"), "{row}");
    }
    for sent in
        ["make check", "cat > a.txt", "/w/written.txt", "/w/note.ipynb", "wanted", "example.org/page", "\"manual\""]
    {
        assert!(rows.contains(sent), "{sent}: {rows}");
    }
    let names =
        "SELECT DISTINCT name FROM taut.events, jsonb_object_keys(coalesce(detail, '{}')) AS name ORDER BY name";
    assert_eq!(server.sql(names).lines().collect::<Vec<_>>(), ["call", "input", "kind", "status", "trigger"]);
    assert_eq!(server.sql("SELECT max(length(tool)) FROM taut.events"), "15");
}

#[test]
fn x3_an_event_that_the_server_refuses_is_passed_over_and_said_and_the_rest_arrives() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.round();
    server.sql("ALTER TABLE taut.events ADD CONSTRAINT odd CHECK (tool IS DISTINCT FROM 'Odd')");
    one.begin("ann", "acme");
    for n in 0..5 {
        one.bash(("ann", "acme"), &format!("echo {n}"));
        one.hook(
            ("ann", "acme"),
            "PreToolUse",
            json!({"tool_name": "Odd", "tool_input": {}, "tool_use_id": format!("o{n}")}),
        );
    }
    one.round();
    assert_eq!(server.sql("SELECT count(*) FROM taut.events WHERE tool = 'Bash'"), "5");
    let said = one.notices();
    assert!(said.iter().any(|text| text.contains("refused 5 events") && text.contains("odd")), "{said:?}");
    assert_eq!(one.store().unshipped().unwrap().0, 0);
    server.sql("REVOKE INSERT ON taut.events FROM taut_agent");
    let columns =
        "at, machine, id, seq, project, agent, session, host_session, sub_agent, event, tool, verdict, micros, rules,
        reason, detail";
    server.sql(&format!("REVOKE INSERT ({columns}) ON taut.events FROM taut_agent"));
    one.bash(("ann", "acme"), "echo later");
    assert!(one.try_round().error.is_some(), "a right that is missing is no event's fault");
    assert!(one.store().unshipped().unwrap().0 > 0);
    assert_eq!(one.notices(), said);
}

#[test]
fn x3_a_record_that_the_server_refuses_is_left_alone_for_a_while_and_holds_up_nothing_else() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.rounds = SharedRounds::of_daemon(&one.setting).resting(Duration::from_secs(3_600));
    one.begin("ann", "acme");
    one.round();
    let sent = events(&server);
    let check = server.sql("SELECT with_check FROM pg_policies WHERE policyname = 'members_append'");
    server.sql("DROP POLICY members_append ON taut.events");
    one.bash(("ann", "acme"), "echo one");
    let error = one.try_round().error;
    assert!(error.is_some());
    let was = server.sql("SELECT status FROM taut.agents");
    server.sql(&format!("CREATE POLICY members_append ON taut.events FOR INSERT TO taut_agent WITH CHECK {check}"));
    one.end("ann", "acme");
    assert_eq!(one.try_round().error, error, "it is not asked again, and is wrong still");
    assert_eq!(events(&server), sent);
    assert_ne!(server.sql("SELECT status FROM taut.agents"), was, "that ann is gone is told");
    one.restart();
    one.round();
    assert!(events(&server) > sent);
}

#[test]
fn x3_where_the_server_takes_no_row_of_this_machine_no_event_is_to_blame_and_each_waits() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.begin("ann", "acme");
    one.round();
    let before = events(&server);
    let check = server.sql("SELECT with_check FROM pg_policies WHERE policyname = 'members_append'");
    server.sql("DROP POLICY members_append ON taut.events");
    one.bash(("ann", "acme"), "echo one");
    one.bash(("ann", "acme"), "echo two");
    let error = one.try_round().error.unwrap();
    assert!(matches!(&error, store::ServerError::Refused(why) if why.contains("row-level security")), "{error}");
    assert_eq!(one.store().unshipped().unwrap().0, 2);
    assert_eq!(one.notices(), [""; 0]);
    server.sql(&format!("CREATE POLICY members_append ON taut.events FOR INSERT TO taut_agent WITH CHECK {check}"));
    one.round();
    assert_eq!((events(&server), one.store().unshipped().unwrap()), (before + 2, (0, 0)));
}

#[test]
fn x3_what_was_recorded_leaves_also_where_the_branch_of_now_names_no_queue() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.begin("ann", "acme");
    one.round();
    let before = events(&server);
    one.bash(("ann", "acme"), "rm -rf /");
    let named = one.folder("acme").join(".taut/config.toml");
    let text = std::fs::read_to_string(&named).unwrap();
    std::fs::remove_file(&named).unwrap();
    one.round();
    assert_eq!(events(&server), before + 1, "as after `git stash -u`");
    std::fs::write(&named, "[shared]\nproject = \"acme/other\"\n").unwrap();
    one.bash(("ann", "acme"), "rm -rf /");
    one.round();
    assert_eq!(events(&server), before + 1, "another queue, in which this machine takes no part");
    std::fs::write(&named, text).unwrap();
    one.bash(("ann", "acme"), "rm -rf /");
    one.round();
    assert_eq!(events(&server), before + 2);
}

#[test]
fn x3_a_session_in_no_project_holds_up_nobody() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    let mut nowhere = one.call(("eve", "acme"), "SessionStart", json!({"source": "startup", "cwd": null}));
    nowhere.cwd = String::new();
    one.pipeline.handle(nowhere);
    let open = one.store().sessions(&store::SessionFilter { only_open: true, ..Default::default() }).unwrap();
    assert_eq!(open.iter().map(|session| session.project.as_str()).collect::<Vec<_>>(), [""]);
    one.begin("ann", "acme");
    one.round();
    one.bash(("ann", "acme"), "rm -rf /");
    assert_eq!(one.round().events_sent, 1);
}

#[test]
fn x3_what_a_person_told_an_agent_does_not_leave() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "full");
    one.round();
    one.begin("ann", "acme");
    let mut answer =
        model::row::Event::noted("Answer", "ann", host::clock::uuid(host::clock::now()), host::clock::now());
    answer.session = one.session_of("ann");
    answer.reason = Some("ada denied Bash at a terminal: the customer Miller is bankrupt".into());
    let write = [model::effect::Write::Event(Box::new(answer))];
    one.store().transact(store::Durability::Full, |tx| tx.apply(&write)).unwrap();
    one.bash(("ann", "acme"), "rm -rf /");
    one.round();
    let reasons =
        server.sql("SELECT string_agg(event || ' ' || reason, ';') FROM taut.events WHERE reason IS NOT NULL");
    assert!(reasons.starts_with("PreToolUse ") && !reasons.contains("Answer"), "{reasons}");
    assert!(!server.dump().contains("Miller"));
}

#[test]
fn x3_a_server_that_will_have_none_of_them_is_asked_no_more_for_each() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "summary");
    one.begin("ann", "acme");
    one.round();
    let before = events(&server);
    for n in 0..100 {
        one.bash(("ann", "acme"), &format!("echo {n}"));
    }
    server.sql("ALTER TABLE taut.events ADD CONSTRAINT none CHECK (tool IS NULL OR tool <> 'Bash') NOT VALID");
    let error = one.try_round().error.unwrap();
    assert!(matches!(&error, store::ServerError::Refused(_)), "{error}");
    assert!(one.store().unshipped().unwrap().0 >= 100, "they are not taken for sent");
    server.sql("ALTER TABLE taut.events DROP CONSTRAINT none");
    one.round();
    assert_eq!((events(&server), one.store().unshipped().unwrap()), (before + 100, (0, 0)));
}
