//! The fleet in numbers (X3), as a monitoring system reads them: from the command and, where asked for, from the page.

use serde_json::json;
use testkit::AgentStep;
use testkit::stage::{IN_PROCESS, Stage, assert_denied};

fn value(page: &str, sample: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' ')?.parse().ok())
}

fn deny(stage: &Stage, id: &str) {
    let call = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": id,
        "tool_input": {"command": "rm -rf /"}});
    assert_denied(&stage.hook(&stage.payload(&call), IN_PROCESS), id);
}

#[test]
fn x3_numbers_tell_agents_tasks_leases_and_what_was_stopped() {
    let stage = Stage::without_daemon();
    let empty = stage.succeed(&["metrics"]);
    assert_eq!(
        (value(&empty, "taut_daemon_up"), value(&empty, "taut_events_unstored")),
        (Some(0.0), Some(0.0)),
        "{empty}"
    );
    stage.agent("ada").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    stage.succeed(&["task", "create", "t/01", "work"]);
    deny(&stage, "c1");
    deny(&stage, "c2");
    let page = stage.succeed(&["metrics"]);
    assert_eq!(value(&page, "taut_agents{status=\"error\"}"), Some(0.0), "{page}");
    assert!(value(&page, "taut_agents{status=\"working\"}") >= Some(1.0), "{page}");
    assert_eq!(value(&page, "taut_denied_calls_total"), Some(2.0), "{page}");
    assert!(
        page.lines().any(|line| line.starts_with("taut_rule_stops_total{rule=\"") && line.ends_with(" 2")),
        "{page}"
    );
    assert!(
        page.lines().any(|line| line.starts_with("taut_tasks{project=\"") && line.contains("status=\"open\"} 1")),
        "{page}"
    );
    assert_eq!(value(&page, "taut_leases_held"), Some(0.0));
    assert!(!page.contains("taut_outbox") && !page.contains("taut_telemetry"), "nothing is told of what is not in use");
    // Each family is told of before its samples, once.
    let families: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let mut once = families.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), families.len());
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        assert!(families.contains(&name), "{line}");
    }
}

#[test]
fn x3_the_page_serves_numbers_only_where_asked_and_only_with_its_secret() {
    let stage = Stage::without_daemon();
    deny(&stage, "c1");
    let silent = stage.page();
    let host = silent.host();
    let bearer = format!("Bearer {}", silent.token);
    assert_eq!(silent.send("GET", "/metrics", &[("Host", &host), ("Authorization", &bearer)]).status, 404);
    assert_eq!(silent.send("GET", "/metrics", &[("Host", &host)]).status, 401);
    let page = stage.page_with(&["--metrics"]);
    let (host, bearer) = (page.host(), format!("Bearer {}", page.token));
    for wrong in ["", "Bearer ", "Bearer x", &page.token, &format!("Basic {}", page.token)] {
        let answer = page.send("GET", "/metrics", &[("Host", &host), ("Authorization", wrong)]);
        assert_eq!((answer.status, answer.body.as_str()), (401, ""), "{wrong}");
    }
    let answer = page.send("GET", "/metrics", &[("Host", &host), ("Authorization", &bearer)]);
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").is_some_and(|kind| kind.starts_with("text/plain; version=0.0.4")));
    assert_eq!(value(&answer.body, "taut_denied_calls_total"), Some(1.0), "{}", answer.body);
    let path = format!("/metrics?token={}", page.token);
    assert_eq!(page.send("GET", &path, &[("Host", &host)]).status, 401, "an address is kept in logs");
    assert_eq!(page.send("GET", &path, &[("Host", "evil.example")]).status, 421);
    assert_eq!(page.send("POST", &path, &[("Host", &host)]).status, 405);
    // A bearer opens nothing else.
    assert_eq!(page.send("GET", "/api/fleet", &[("Host", &host), ("Authorization", &bearer)]).status, 401);
}
