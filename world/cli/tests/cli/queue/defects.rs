//! The ten defects of the queue this one learnt from, each as it must not be.

use super::Client;
use serde_json::{Value, json};
use testkit::stage::Stage;
use testkit::{AgentStep, Sandbox};

#[test]
fn defect_01_without_a_session_end_the_lease_brings_the_task_back() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    stage.looped("w1").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    stage.task_ok("w1", &["claim", "--lease", "1"]);
    stage.until_open("a");
    assert_eq!(stage.claim("w2")["attempt"], 2);
}

#[test]
fn defect_02_who_lost_the_lease_can_neither_finish_nor_fail_the_task() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    stage.task_ok("w1", &["claim", "--lease", "0"]);
    stage.claim("w2");
    assert_eq!(stage.task_by("w1", &["done", "a"]).code(), Some(2));
    assert_eq!(stage.task_by("w1", &["fail", "a", "--reason", "x"]).code(), Some(2));
    assert_eq!((&stage.show("a")["s"], &stage.show("a")["assignee"]), (&json!("active"), &json!("w2")));
}

#[test]
fn defect_03_a_worker_that_leaves_releases_before_it_is_gone() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let id = stage.task_ok("", &["agent", "register"]).trim().to_string();
    stage.claim(&id);
    stage.task_ok("", &["agent", "deregister", &id]);
    assert_eq!(stage.show("a")["s"], "open");
}

#[test]
fn defect_04_a_backlog_that_is_only_blocked_is_not_called_complete() {
    let stage = Stage::without_daemon();
    stage.sync(&[json!({"id": "a", "t": "A"}), json!({"id": "b", "t": "B", "deps": ["a"]})]);
    stage.task_ok("", &["update", "a", "--status", "quarantined"]);
    assert_eq!(stage.plan_status(), "0 open, 0 active, 0 done, 1 blocked, 0 deleted, 1 quarantined");
    let why: Vec<Value> = stage.task_list(&["why", "--json"]);
    assert!(why.iter().any(|why| why["kind"] == "blocked" && why["text"] == "b waits for a (quarantined)"), "{why:?}");
    assert!(why.iter().all(|why| why["kind"] != "finished"));
}

#[test]
fn defect_05_a_poison_task_rests_is_quarantined_and_keeps_every_reason() {
    let stage = Stage::without_daemon();
    stage.tasks(&["poison", "good"]);
    let database = stage.sandbox.taut_home().join("taut.db");
    for nth in 1..=5 {
        stage.task_ok("w", &["claim", "poison"]);
        stage.task_ok("w", &["fail", "poison", "--reason", &format!("reason {nth}")]);
        if nth < 5 {
            assert_eq!(stage.task_by("w", &["claim", "poison"]).code(), Some(2), "it rests after failure {nth}");
            let conn = rusqlite::Connection::open(&database).unwrap();
            conn.execute("UPDATE tasks SET ready_at = 1 WHERE slug = 'poison'", []).unwrap();
        }
    }
    assert_eq!((&stage.show("poison")["s"], &stage.show("poison")["retry_count"]), (&json!("quarantined"), &json!(5)));
    let reasons: Vec<Value> = stage.history("poison").iter().map(|attempt| attempt["reason"].clone()).collect();
    assert_eq!(reasons, ["reason 1", "reason 2", "reason 3", "reason 4", "reason 5"]);
    assert_eq!(stage.claim("w")["id"], "good");
}

#[test]
fn defect_06_the_hook_releases_every_task_and_not_the_first_alone() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a", "b", "c"]);
    let mut agent = stage.looped("w1");
    agent.play(&[AgentStep::start()]).unwrap();
    for _ in 0..3 {
        stage.claim("w1");
    }
    agent.play(&[AgentStep::Compact { trigger: "auto" }]).unwrap();
    assert_eq!(stage.plan_status(), "3 open, 0 active, 0 done, 0 blocked, 0 deleted");
}

#[test]
fn defect_07_a_crashed_worker_does_not_stay_active_for_ever() {
    let stage = Stage::without_daemon();
    let mut client = Client::start();
    let id = stage.task_ok("", &["agent", "register", "--pid", &client.pid()]).trim().to_string();
    assert!(id.len() >= 10);
    client.kill();
    assert_eq!(stage.task_list(&["agent", "list", "--json"])[0]["status"], "stopped");
}

#[test]
fn defect_08_no_text_becomes_sql_and_no_row_is_left_without_its_task() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let evil = "open'; DROP TABLE tasks; --";
    assert_eq!(stage.task(&["list", "--status", evil]).code(), Some(2));
    assert!(stage.task_list(&["list", "--assignee", evil, "--json"]).is_empty());
    assert!(stage.sync(&[json!({"id": "b", "t": evil, "d": evil, "spec": evil, "deps": ["a"]})]).success());
    assert_eq!(stage.show("b")["t"], evil);
    stage.claim(evil);
    stage.task_ok(evil, &["fail", "a", "--reason", evil]);
    let conn = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    let orphans: i64 = conn.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!(orphans, 0);
    stage.check_is_clean();
}

#[test]
fn defect_09_installing_keeps_the_users_own_hooks_on_the_same_events() {
    let sandbox = Sandbox::with_copy_of(env!("CARGO_BIN_EXE_taut").as_ref()).unwrap();
    let own = json!([{"matcher": "*", "hooks": [{"type": "command", "command": "my-own-script"}]}]);
    sandbox.write_settings(&json!({"hooks": {"PreCompact": own, "SessionEnd": own}})).unwrap();
    let done = sandbox.taut(&["init", "--yes"], b"").unwrap();
    let text = std::fs::read_to_string(sandbox.claude_dir().join("settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    for event in ["PreCompact", "SessionEnd"] {
        let entries = settings["hooks"][event].as_array().unwrap();
        assert!(entries.contains(&own[0]), "{event}: {text}\n{}", done.stderr_text());
        assert!(entries.len() > 1, "{event}: {text}\n{}", done.stderr_text());
    }
}

#[test]
fn defect_10_times_finer_than_a_second_keep_leases_and_order_sharp() {
    let stage = Stage::without_daemon();
    let slugs: Vec<String> = (0..6).rev().map(|n| format!("n{n}")).collect();
    for slug in &slugs {
        stage.task_ok("", &["create", slug, "T"]);
    }
    for slug in &slugs {
        assert_eq!(stage.claim("w")["id"], slug.as_str());
    }
    stage.tasks(&["last"]);
    for nth in 1..4 {
        let claimed: Value =
            serde_json::from_str(&stage.task_ok("w", &["claim", "last", "--lease", "0", "--json"])).unwrap();
        assert_eq!(claimed["attempt"], nth);
    }
}
