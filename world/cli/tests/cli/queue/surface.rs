//! Q1: every command, its output and its exit code, as scripts rely on them.

use serde_json::json;
use testkit::process;
use testkit::stage::Stage;

#[test]
fn q1_a_plan_is_synchronised_counted_and_synchronised_again() {
    let stage = Stage::without_daemon();
    let plan = [
        json!({"id": "s/01", "t": "One", "d": "why", "p": 0, "cat": "feat", "spec": "s.md", "ref": "r", "steps": ["a", "b"]}),
        json!({"id": "s/02", "t": "Two", "spec": "s.md", "deps": ["s/01"]}),
        json!({"id": "s/03", "t": "Three", "p": 3, "spec": "s.md"}),
    ];
    let synced = stage.sync(&plan);
    assert_eq!(synced.stdout_text(), "inserted: 3, updated: 0, deleted: 0, skipped (done): 0\n");
    assert_eq!(stage.plan_status(), "2 open, 0 active, 0 done, 1 blocked, 0 deleted");
    stage.claim("a");
    assert_eq!(stage.task_ok("a", &["done", "s/01", "--result", r#"{"commit":"c0ffee"}"#]), "done s/01\n");
    let synced = stage.sync(&plan[..2]);
    assert_eq!(synced.stdout_text(), "inserted: 0, updated: 1, deleted: 1, skipped (done): 1\n");
    assert_eq!(stage.plan_status(), "1 open, 0 active, 1 done, 0 blocked, 1 deleted");
    let again = stage.sync(&plan[..2]);
    assert_eq!(again.stdout_text(), "inserted: 0, updated: 1, deleted: 0, skipped (done): 1\n");
}

#[test]
fn q1_a_wrong_line_is_named_and_nothing_is_written() {
    let stage = Stage::without_daemon();
    let wrong = stage.sync(&[json!({"id": "a", "t": "A"}), json!({"id": "b", "t": "B", "p": 9})]);
    assert_eq!(wrong.code(), Some(1));
    assert!(
        wrong.stderr_text().contains("line 2: field 'p' must be 0, 1, 2 or 3 (value: 9)"),
        "{}",
        wrong.stderr_text()
    );
    let unknown = stage.sync(&[json!({"id": "a", "t": "A"}), json!({"id": "b", "t": "B", "deps": ["nowhere"]})]);
    assert_eq!(unknown.code(), Some(1));
    assert!(unknown.stderr_text().contains("line 2: field 'deps'") && unknown.stderr_text().contains("\"nowhere\""));
    assert_eq!(stage.plan_status(), "0 open, 0 active, 0 done, 0 blocked, 0 deleted");
}

#[test]
fn q7_a_circle_is_refused_at_every_entry() {
    let stage = Stage::without_daemon();
    let circle =
        stage.sync(&[json!({"id": "a", "t": "A", "deps": ["b"]}), json!({"id": "b", "t": "B", "deps": ["a"]})]);
    assert_eq!(circle.code(), Some(1));
    assert!(circle.stderr_text().contains("wait for each other"), "{}", circle.stderr_text());
    assert_eq!(stage.plan_status(), "0 open, 0 active, 0 done, 0 blocked, 0 deleted");
    stage.tasks(&["a", "b", "c"]);
    stage.task_ok("", &["block", "a", "--by", "b"]);
    stage.task_ok("", &["block", "b", "--by", "c"]);
    for args in [&["block", "c", "--by", "a"][..], &["block", "a", "--by", "a"], &["update", "c", "--deps", "a"]] {
        assert_eq!(stage.task(args).code(), Some(1), "{args:?}");
    }
    assert_eq!(stage.show("c")["deps"], json!([]));
}

#[test]
fn q1_a_list_is_json_lines_with_short_keys() {
    let stage = Stage::without_daemon();
    stage.sync(&[
        json!({"id": "a/01", "t": "T", "d": "D", "p": 1, "cat": "bug", "spec": "a.md", "ref": "R", "steps": ["x"]}),
    ]);
    let claimed = stage.claim("w1");
    assert_eq!(claimed["attempt"], 1);
    let listed = stage.task_list(&["list", "--status", "active", "--json"]);
    assert_eq!(
        listed,
        [json!({
            "id": "a/01", "t": "T", "d": "D", "p": 1, "s": "active", "state": "active", "cat": "bug", "spec": "a.md", "ref": "R",
            "assignee": "w1", "deps": [], "steps": [{"seq": 1, "content": "x", "status": "pending"}],
        })]
    );
    assert!(stage.task_list(&["list", "--assignee", "w2", "--json"]).is_empty());
    let table = stage.task_ok("", &["list"]);
    assert!(table.starts_with("ID    P  S       CAT  TITLE  AGENT\n"), "{table}");
    assert!(stage.task_ok("", &["list", "--markdown"]).starts_with("## Task a/01\ntitle: T\n"));
}

#[test]
fn q1_done_and_deleted_are_listed_only_when_asked_for() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a", "b", "c"]);
    stage.claim("w");
    stage.task_ok("w", &["done", "a"]);
    assert_eq!(stage.task_ok("", &["delete", "b"]), "deleted b\n");
    assert_eq!(stage.task_list(&["list", "--json"]).len(), 1);
    assert_eq!(stage.task_list(&["list", "--all", "--json"]).len(), 3);
    assert_eq!(stage.task_list(&["list", "--status", "done,deleted", "--json"]).len(), 2);
    assert_eq!(stage.task_ok("", &["delete", "--status", "open"]), "deleted 1 tasks\n");
    assert_eq!(stage.task(&["delete", "--all"]).code(), Some(1));
    assert!(stage.task(&["delete", "--all", "--confirm"]).success());
}

#[test]
fn q1_peek_shows_what_may_be_claimed_and_what_is_held() {
    let stage = Stage::without_daemon();
    assert_eq!(stage.task_ok("", &["peek"]), "");
    stage.sync(&[
        json!({"id": "low", "t": "L", "p": 3}),
        json!({"id": "high", "t": "H", "p": 0}),
        json!({"id": "mid", "t": "M", "p": 1}),
        json!({"id": "blocked", "t": "B", "p": 0, "deps": ["low"]}),
    ]);
    stage.task_ok("w", &["claim", "mid"]);
    let seen: Vec<_> =
        stage.task_list(&["peek", "-n", "1"]).into_iter().map(|task| (task["id"].clone(), task["s"].clone())).collect();
    assert_eq!(seen, [(json!("high"), json!("open")), (json!("mid"), json!("active"))]);
}

#[test]
fn q2_claims_go_by_priority_then_age_and_hand_over_the_blockers_results() {
    let stage = Stage::without_daemon();
    stage.sync(&[
        json!({"id": "b", "t": "B", "p": 2}),
        json!({"id": "a", "t": "A", "p": 2}),
        json!({"id": "first", "t": "F", "p": 0}),
        json!({"id": "after", "t": "X", "p": 0, "deps": ["first"]}),
    ]);
    assert_eq!(stage.claim("w")["id"], "first");
    assert_eq!(stage.claim("w")["id"], "b");
    stage.task_ok("w", &["done", "first", "--result", r#"{"commit":"abc","n":1}"#]);
    let after = stage.claim("w");
    assert_eq!(
        (&after["id"], &after["blocker_results"]),
        (&json!("after"), &json!({"first": {"commit": "abc", "n": 1}}))
    );
    assert!(after["lease_expires_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(after["retry_count"], 0);
}

#[test]
fn q1_exit_codes_are_0_1_and_2() {
    let stage = Stage::without_daemon();
    stage.sync(&[json!({"id": "a", "t": "A"}), json!({"id": "b", "t": "B", "deps": ["a"]})]);
    for (code, args) in [
        (2, &["claim", "nowhere"][..]),
        (2, &["claim", "b"]),
        (2, &["show", "nowhere"]),
        (2, &["done", "nowhere"]),
        (2, &["fail", "nowhere"]),
        (2, &["renew", "nowhere"]),
        (2, &["unblock", "a", "--by", "b"]),
        (2, &["agent", "deregister", "nobody"]),
        (2, &["no-such-command"]),
        (1, &["done", "a"]),
        (1, &["renew", "a"]),
        (2, &["done", "a", "--result", "nonsense"]),
        (2, &["done", "a", "--result", "{}"]),
        (1, &["create", "a", "again"]),
        (2, &["create", "c", "C", "-p", "7"]),
        (2, &["create", "c", "C", "-c", "misc"]),
        (2, &["create", "c d", "C"]),
        (2, &["update", "a"]),
        (2, &["list", "--status", "opened"]),
        (0, &["fail", "a", "--reason", "never held"]),
    ] {
        let done = stage.task(args);
        assert_eq!(done.code(), Some(code), "{args:?}: {}", done.stderr_text());
        assert!(code == 0 || done.stdout.is_empty(), "{args:?} printed to stdout");
    }
}

#[test]
fn q1_tasks_are_made_changed_linked_and_stepped_through() {
    let stage = Stage::without_daemon();
    assert_eq!(stage.task_ok("", &["create", "a", "A"]), "a\n");
    let made = [
        "create", "b", "B", "-p", "1", "-c", "doc", "-d", "text", "-s", r#"["one","two"]"#, "-r", "s.md", "--ref", "x",
        "--deps", "a",
    ];
    assert_eq!(stage.task_ok("", &made), "b\n");
    assert_eq!(stage.task_ok("", &["step-done", "b", "2"]), "step-done b 2\n");
    assert_eq!(stage.task(&["step-done", "b", "3"]).code(), Some(2));
    assert_eq!(stage.task_ok("", &["update", "b", "--title", "BB", "--priority", "0"]), "updated b\n");
    let shown = stage.show("b");
    assert_eq!(
        (&shown["t"], &shown["p"], &shown["deps"], &shown["steps"][1]["status"]),
        (&json!("BB"), &json!(0), &json!(["a"]), &json!("done"))
    );
    assert_eq!(stage.task_ok("", &["deps", "b"]), "b open\n  a open\n");
    assert_eq!(stage.task_ok("", &["deps", "a"]), "(no dependencies)\n");
    assert_eq!(stage.task_ok("", &["unblock", "b", "--by", "a"]), "unblocked b from a\n");
    assert_eq!(stage.task_ok("", &["block", "b", "--by", "a"]), "blocked b by a\n");
    stage.claim("w");
    stage.task_ok("w", &["done", "a"]);
    assert_eq!(stage.task(&["update", "a", "--title", "no"]).code(), Some(1));
}

#[test]
fn q1_called_as_task_it_is_the_queue() {
    let stage = Stage::without_daemon();
    let alias = stage.sandbox.root().join("bin/task");
    std::os::unix::fs::symlink(stage.sandbox.bin(), &alias).unwrap();
    let mut command = stage.sandbox.command(&alias);
    command.args(["create", "x", "X"]);
    let done = process::run(command, b"", testkit::stage::PLENTY).unwrap();
    assert_eq!((done.code(), done.stdout_text().as_str()), (Some(0), "x\n"), "{}", done.stderr_text());
}

#[test]
fn q1_all_worktrees_and_folders_of_a_repository_are_one_queue() {
    let stage = Stage::without_daemon();
    let tree = stage.sandbox.root().join("tree");
    let mut add = stage.sandbox.command("git");
    add.args(["worktree", "add", "--quiet"]).arg(&tree);
    assert!(process::run(add, b"", testkit::stage::PLENTY).unwrap().success());
    std::fs::create_dir(stage.sandbox.project().join("deep")).unwrap();
    stage.tasks(&["a"]);
    for folder in [tree, stage.sandbox.project().join("deep")] {
        let mut command = stage.sandbox.command(stage.sandbox.bin());
        command.args(["task", "show", "a"]).current_dir(&folder);
        assert!(process::run(command, b"", testkit::stage::PLENTY).unwrap().success(), "{folder:?}");
    }
}

#[test]
fn q7_why_names_every_reason() {
    let stage = Stage::without_daemon();
    let kinds = |stage: &Stage| -> Vec<String> {
        stage.task_list(&["why", "--json"]).iter().map(|why| why["kind"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(kinds(&stage), ["empty"]);
    stage.sync(&[
        json!({"id": "a", "t": "A", "p": 0}),
        json!({"id": "b", "t": "B", "deps": ["a"]}),
        json!({"id": "c", "t": "C"}),
    ]);
    assert_eq!(kinds(&stage), ["claimable", "blocked"]);
    stage.claim("w");
    stage.task_ok("w", &["claim", "c"]);
    stage.task_ok("w", &["fail", "c", "--reason", "broken"]);
    assert_eq!(kinds(&stage), ["blocked", "backing_off", "leased"]);
    stage.task_ok("", &["update", "c", "--status", "quarantined"]);
    assert_eq!(kinds(&stage), ["blocked", "quarantined", "leased"]);
    assert!(stage.plan_status().ends_with(", 0 deleted, 1 quarantined"), "{}", stage.plan_status());
    assert_eq!(stage.task_ok("", &["requeue", "c"]), "requeued c\n");
    assert_eq!(stage.claim("w2")["id"], "c");
    for (agent, slug) in [("w", "a"), ("w2", "c")] {
        stage.task_ok(agent, &["done", slug]);
    }
    stage.claim("w");
    stage.task_ok("w", &["done", "b"]);
    assert_eq!(kinds(&stage), ["finished"]);
}

#[test]
fn q1_watch_tells_changes_until_nothing_is_left_to_do() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let mut command = stage.sandbox.command(stage.sandbox.bin());
    command.args(["task", "watch", "--until-done", "--json"]).stdout(std::process::Stdio::piped());
    let mut watching = command.spawn().unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(watching.stdout.take().unwrap()));
    let (send, seen) = std::sync::mpsc::channel();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
    // The watcher's first look leaves no trace to wait for, so the task is changed until one was seen.
    let first = (0..8).find_map(|_| {
        stage.task_by("w", &["claim", "a", "--lease", "0"]);
        seen.recv_timeout(std::time::Duration::from_secs(1)).ok()
    });
    assert!(first.unwrap().contains("\"id\":\"a\""));
    stage.task_ok("", &["delete", "a"]);
    assert!(watching.wait().unwrap().success());
    assert!(seen.iter().last().unwrap().contains("\"s\":\"deleted\""));
}
