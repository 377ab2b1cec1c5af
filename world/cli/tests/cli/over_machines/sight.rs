//! The whole fleet in `taut agents`, `top` and the overview.

use super::{HOSTILE, json_lines, put, remote, silent};
use serde_json::json;
use store::RemoteAgent;
use testkit::process;
use testkit::stage::{PLENTY, Stage};

fn stage() -> Stage {
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1").with_env("TZ", "UTC");
    stage.working("ada");
    stage
}

#[test]
fn f9_agents_of_other_machines_are_listed_with_their_machines_and_how_old_the_news_is() {
    let stage = stage();
    let before = stage.taut(&["agents"]).stdout_text();
    assert!(!before.contains("MACHINE"), "a fleet of one machine looks as ever: {before}");
    let web = silent(remote("m4", "vm-4", "web", "working"));
    put(&stage, &[web.clone(), remote("m3", "vm-3", "docs", "done"), remote("m3", "vm-3", "api", "attention")]);
    let text = stage.taut(&["agents"]).stdout_text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("MACHINE"), "{text}");
    let order = [("(here)", " ada "), ("vm-3", " api "), ("vm-3", " docs "), ("vm-4", " web ")];
    for (line, (machine, name)) in lines[1..].iter().zip(order) {
        assert!(line.starts_with(machine) && line.contains(name), "{text}");
    }
    // With the day, where midnight came between.
    let at = web.heard_at.rfc3339().replace('T', " ");
    let says = |at: &str| lines[4].contains(&format!("not heard of since {at}"));
    assert!((says(&at[11..16]) || says(&at[..16])) && text.matches("not heard of").count() == 1, "{text}");
    let rows = json_lines(&stage.taut(&["agents", "--json"]).stdout_text());
    assert_eq!((&rows[0]["id"], rows[0].get("machine")), (&json!("ada"), None), "own rows keep their fields");
    let [id, name, machine, machine_id, stale] = ["id", "name", "machine", "machine_id", "stale"].map(|f| &rows[3][f]);
    assert_eq!(json!([id, name, machine, machine_id, stale]), json!(["id-web@m4", "web", "vm-4", "m4", true]));
    assert_eq!(rows[3]["heard_at"], json!(web.heard_at.rfc3339()));
    assert_eq!(stage.taut(&["top", "--json"]).stdout_text(), stage.taut(&["agents", "--json"]).stdout_text());
}

#[test]
fn f9_who_needs_somebody_on_another_machine_counts_where_that_is_counted() {
    let stage = stage();
    put(&stage, &[remote("m3", "vm-3", "api", "attention"), remote("m3", "vm-3", "web", "error")]);
    let once = stage.taut(&["top", "--once"]).stdout_text();
    let head = once.lines().next().unwrap();
    assert!(head.contains("1 error") && head.contains("1 attention") && head.contains("3 agents"), "{once}");
    assert!(once.contains("MACHINE") && once.contains("(here)"), "{once}");
    let overview = stage.taut(&[]).stdout_text();
    assert!(overview.contains("1 error, 1 attention, 1 working"), "{overview}");
}

#[test]
fn f9_who_ended_long_ago_and_machines_long_silent_fade_as_agents_of_this_machine_do() {
    const DAY: i64 = 86_400_000;
    let stage = stage();
    let mut old = remote("m3", "vm-3", "old", "done");
    old.told.since -= DAY;
    let mut gone = remote("m5", "vm-5", "gone", "working");
    gone.heard_at = gone.heard_at.plus(-DAY - 1);
    put(&stage, &[remote("m3", "vm-3", "api", "working"), old, gone]);
    let names = |args: &[&str]| -> Vec<String> {
        let rows = json_lines(&stage.taut(args).stdout_text());
        rows.iter().map(|row| row["name"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(names(&["agents", "--json"]), ["ada", "api"]);
    assert_eq!(names(&["agents", "--all", "--json"]), ["ada", "api", "old", "gone"]);
}

#[test]
fn f9_labels_of_other_machines_are_harmless_on_a_terminal() {
    let stage = stage();
    let long = "x".repeat(3_000);
    let hostile = format!("{HOSTILE}{long}");
    let mut bad = remote("m3", &hostile, &hostile, "attention");
    (bad.told.asks, bad.told.task) = (Some(hostile.clone()), Some(hostile.clone()));
    (bad.told.project, bad.told.client) = (Some(hostile.clone()), Some(hostile));
    put(&stage, &[bad, RemoteAgent { label: String::new(), ..remote("m4", "", "web", "working") }]);
    for args in [&["agents"][..], &["agents", "--json"], &["top", "--once"], &["top", "--json"], &[]] {
        let mut command = stage.sandbox.command(stage.sandbox.bin());
        command.args(args).env("COLUMNS", "120").env("TAUT_NO_DAEMON", "1");
        let text = process::run(command, b"", PLENTY).unwrap().stdout_text();
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{args:?}: {text:?}");
        assert!(text.lines().all(|line| line.len() < 3_000), "{args:?}: {text}");
    }
}
