//! The lists scripts rely on: their field names are fixed (PRODUCT §11).

use serde_json::{Value, json};
use testkit::stage::{DAEMON, IN_PROCESS, Stage};

/// A session with a denied call, ended by a compaction that opened another.
fn played() -> Stage {
    let stage = Stage::new();
    let env = [("TAUT_NO_DAEMON", "1"), ("TAUT_AGENT_ID", "worker"), ("CLAUDE_SESSION_ROLE", "reviewer")];
    let event = |fields: Value| stage.hook(&stage.payload(&fields), &env);
    event(json!({"hook_event_name": "SessionStart", "source": "startup"}));
    stage.hook(&stage.bash("t1", "rm -rf /"), &env);
    event(json!({"hook_event_name": "SessionStart", "source": "compact"}));
    event(json!({"hook_event_name": "Stop", "stop_hook_active": false}));
    stage
}

fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Every name the product page fixes, those with a question mark only where they apply.
fn assert_has(value: &Value, always: &[&str]) {
    for name in always {
        assert!(value.as_object().unwrap().contains_key(*name), "{name} is missing: {value:#}");
    }
}

#[test]
fn events_as_json_carry_the_fixed_fields() {
    let stage = played();
    let events = stage.events();
    assert_eq!(events.len(), 4);
    for event in &events {
        assert_has(event, &["id", "at", "agent", "session", "event", "verdict", "rules", "ms"]);
        assert!(event["rules"].is_array() && event["ms"].is_number());
    }
    let denied = &events[1];
    assert_has(denied, &["tool", "reason"]);
    assert_eq!(
        (&denied["event"], &denied["tool"], &denied["verdict"]),
        (&json!("PreToolUse"), &json!("Bash"), &json!("deny"))
    );
    assert_eq!(denied["agent"], "worker");
    assert!(!denied["rules"].as_array().unwrap().is_empty());
    assert!(!fields(&events[0]).contains(&"tool") && !fields(&events[0]).contains(&"reason"));
    assert!(denied["at"].as_str().unwrap().ends_with('Z'));
    let only = stage.list(&["events", "--json", "--denied"]);
    assert_eq!(only.len(), 1);
}

/// A time of day alone is one of today.
#[test]
fn m5_an_event_of_another_day_is_shown_with_its_date() {
    let stage = played().with_env("TZ", "Etc/GMT-3");
    let first = stage.events().remove(0);
    let moved = "UPDATE events SET at = 1767323045000 WHERE id = ?1";
    let database = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    assert_eq!(database.execute(moved, [first["id"].as_str().unwrap()]).unwrap(), 1);
    drop(database);
    let before = host::clock::now();
    let shown = stage.taut(&["events"]).stdout_text();
    let (dated, plain): (Vec<&str>, Vec<&str>) =
        shown.lines().partition(|line| line.starts_with("2026-01-02 06:04:05     #1  pass"));
    assert_eq!(dated.len(), 1, "{shown}");
    let east = model::WallClock(|_| 3 * 3_600);
    let played_at = model::Ms::of_rfc3339(first["at"].as_str().unwrap()).unwrap();
    // Midnight may have passed meanwhile.
    if east.is_same_day(before, played_at) && east.is_same_day(before, host::clock::now()) {
        let hours = [east.time(played_at), east.time(host::clock::now())].map(|time| time[..2].to_string());
        assert!(plain.iter().all(|line| hours.contains(&line[..2].to_string())), "{hours:?} {shown}");
        assert!(plain.len() == 3 && plain.iter().all(|line| line.as_bytes()[2] == b':'), "{shown}");
    }
}

/// People read the clock on their wall, scripts UTC.
/// Whether a time as `--json` has it stands there.
fn has_utc(text: &str) -> bool {
    text.split_whitespace().any(|word| word.contains('T') && word.contains(':') && word.contains('Z'))
}

#[test]
fn f4_every_list_shows_the_time_on_the_wall() {
    let stage = Stage::without_daemon().with_env("TZ", "Etc/GMT-3");
    let env = [("TAUT_NO_DAEMON", "1"), ("TAUT_AGENT_ID", "worker")];
    stage.hook(&stage.payload(&json!({"hook_event_name": "SessionStart", "source": "startup"})), &env);
    stage.task_ok("worker", &["create", "login", "The login page"]);
    stage.task_ok("worker", &["claim"]);
    stage.succeed(&["send", "worker", "look", "here"]);
    // Late on the first of January in UTC is the second on this wall.
    let database = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    for (table, column) in [
        ("events", "at"),
        ("sessions", "started_at"),
        ("attempts", "claimed_at"),
        ("messages", "at"),
        ("tasks", "created_at"),
    ] {
        let moved = format!("UPDATE {table} SET {column} = 1767308645000");
        assert!(database.execute(&moved, []).unwrap() > 0, "{table}");
    }
    drop(database);
    for list in [
        &["events"][..],
        &["sessions", "show", "worker"],
        &["task", "history", "login"],
        &["task", "show", "login"],
        &["inbox", "--all"],
    ] {
        let shown = stage.succeed(list);
        assert!(shown.contains("2026-01-02 02:04:05"), "{list:?}: {shown}");
        assert!(!has_utc(&shown), "{list:?}: {shown}");
        let json = stage.succeed(&[list, &["--json"]].concat());
        assert!(json.contains("2026-01-01T23:04:05.000Z"), "{list:?}: {json}");
    }
    let lease = stage.succeed(&["task", "show", "login"]);
    assert!(lease.lines().any(|line| line.starts_with("lease_expires_at: ") && line.ends_with(" left)")), "{lease}");
    let refused = stage.task_by("other", &["claim", "login"]).stderr_text();
    assert!(refused.contains("until ") && !has_utc(&refused), "{refused}");
}

#[test]
fn sessions_as_json_carry_the_fixed_fields() {
    let stage = played();
    let sessions = stage.list(&["sessions", "--all", "--json"]);
    assert_eq!(sessions.len(), 2);
    for session in &sessions {
        assert_has(
            session,
            &[
                "id", "logical_id", "host_session_id", "agent", "conversation", "project", "state", "role", "mode",
                "started_at", "last_seen_at",
            ],
        );
    }
    let (ended, open): (Vec<_>, Vec<_>) = sessions.iter().partition(|session| session["state"] == "ended");
    assert_has(ended[0], &["ended_at", "end_reason"]);
    assert_eq!(ended[0]["end_reason"], "compact");
    assert_eq!(open[0]["prev_session_id"], ended[0]["id"]);
    assert_eq!((&open[0]["state"], &open[0]["role"]), (&json!("idle"), &json!("reviewer")));
    assert!(!fields(open[0]).contains(&"ended_at"));
    assert_eq!(stage.list(&["sessions", "--json"]).len(), 1, "ended ones only with --all");
}

#[test]
fn agents_as_json_carry_the_fixed_fields() {
    let stage = played();
    let agents = stage.list(&["agents", "--json"]);
    assert_eq!(agents.len(), 1);
    assert_has(&agents[0], &["id", "status", "session", "project", "since"]);
    assert_eq!((&agents[0]["id"], &agents[0]["status"]), (&json!("worker"), &json!("done")));
    assert_eq!(agents[0]["project"], stage.sandbox.project().canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn version_and_daemon_status_as_json_are_one_object() {
    let stage = Stage::new();
    let version = stage.list(&["version", "--json"]);
    assert_has(&version[0], &["version", "schema", "protocol", "target"]);
    let absent = stage.taut(&["daemon", "status", "--json"]);
    assert_eq!((absent.code(), absent.stdout_text().as_str()), (Some(2), "{\"running\":false}\n"));
    assert!(stage.taut(&["daemon", "start"]).success());
    stage.hook(&stage.bash("t", "ls"), DAEMON);
    let status = stage.list(&["daemon", "status", "--json"]);
    assert_has(&status[0], &["running", "pid", "build", "started_at", "served"]);
    assert_eq!((&status[0]["running"], &status[0]["served"]), (&json!(true), &json!(1)));
}

#[test]
fn lists_of_nothing_are_empty_and_well() {
    let stage = Stage::new();
    for list in ["events", "sessions", "agents"] {
        let done = stage.taut(&[list, "--json"]);
        assert_eq!(
            (done.code(), done.stdout_text().as_str(), done.stderr_text().as_str()),
            (Some(0), "", ""),
            "{list}"
        );
        let shown = stage.taut(&[list]);
        assert_eq!((shown.code(), shown.stdout_text().as_str()), (Some(0), ""));
        assert!(shown.stderr_text().contains("`taut init`"));
    }
}

/// `error:`, `caused by:` and a hint on stderr, nothing on stdout.
#[test]
fn errors_say_what_happened_and_what_helps() {
    let stage = Stage::new();
    let unknown = stage.taut(&["rpc", "hooks.noSuchEvent"]);
    assert_eq!((unknown.code(), unknown.stdout_text().as_str()), (Some(2), ""));
    let said = unknown.stderr_text();
    assert!(said.starts_with("error: ") && said.contains("\nhint: "), "{said}");
    let usage = stage.taut(&["no-such-command"]);
    assert_eq!((usage.code(), usage.stdout_text().as_str()), (Some(2), ""));
    stage.hook(&stage.bash("t", "ls"), IN_PROCESS);
    std::fs::write(stage.database(), "not a database at all, and long enough to be looked at").unwrap();
    let listed = stage.taut(&["events"]);
    assert!(listed.success() || listed.stderr_text().starts_with("error: "), "{}", listed.stderr_text());
}

#[test]
fn d8_a_hook_called_by_name_gives_its_decision_as_data() {
    let stage = Stage::new().sandbox.with_env("TAUT_NO_DAEMON", "1");
    let call = json!({"sessionId": "s", "toolName": "Bash", "toolInput": {"command": "rm -rf /"}, "toolUseId": "t"});
    let done = stage.taut(&["rpc", "hooks.preToolUse"], call.to_string().as_bytes()).unwrap();
    assert!(done.success(), "{}", done.stderr_text());
    let result: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(result["allow"], false);
    assert!(result["reason"].is_string());
}
