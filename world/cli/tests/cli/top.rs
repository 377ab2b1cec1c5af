//! What scripts get: the same rows as `taut agents`, one frame as text, and a plain word where there is no terminal.

use serde_json::Value;
use testkit::stage::{PLENTY, Stage};
use testkit::{AgentStep, process};

const STATUSES: [&str; 5] = ["error", "attention", "working", "checked", "done"];

fn fleet() -> Stage {
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    for name in ["ada", "bob", "cyd"] {
        stage.working(name);
    }
    stage.agent("dan").play(&[AgentStep::start(), AgentStep::prompt("go"), AgentStep::stop()]).unwrap();
    stage
        .agent("eve")
        .play(&[AgentStep::start(), AgentStep::prompt("go"), AgentStep::bash("git push --force")])
        .unwrap();
    stage
}

#[test]
fn f4_top_as_json_is_what_agents_as_json_is_and_a_frame_counts_the_same() {
    let stage = fleet();
    let (top, agents) = (stage.taut(&["top", "--json"]), stage.taut(&["agents", "--json"]));
    assert_eq!(top.stdout_text(), agents.stdout_text());
    let rows: Vec<Value> = agents.stdout_text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 5);
    let frame = stage.taut(&["top", "--once"]).stdout_text();
    let head = frame.lines().next().unwrap();
    for status in STATUSES {
        let count = rows.iter().filter(|row| row["status"] == status).count();
        assert!(head.contains(&format!("{count} {status}")), "{count} {status} in {head}");
    }
    for row in &rows {
        let id = row["id"].as_str().unwrap();
        let line = frame.lines().find(|line| line.contains(&format!(" {id} "))).unwrap_or_default();
        assert!(line.contains(row["status"].as_str().unwrap()), "{id}: {frame}");
    }
    assert!(frame.contains("git-force-push") && !frame.contains('\u{1b}'), "{frame}");
}

#[test]
fn f4_a_frame_is_as_wide_as_it_is_asked_to_be() {
    let stage = fleet();
    for columns in ["40", "80", "200"] {
        let mut once = stage.sandbox.command(stage.sandbox.bin());
        once.args(["top", "--once"]).env("COLUMNS", columns);
        let frame = process::run(once, b"", PLENTY).unwrap().stdout_text();
        let widest = frame.lines().map(|line| line.chars().count()).max().unwrap_or_default();
        assert!(widest <= columns.parse().unwrap() && frame.contains("ada"), "{frame}");
    }
}

#[test]
fn f4_without_a_terminal_it_says_so_and_what_helps() {
    let stage = Stage::installed().with_env("TAUT_NO_DAEMON", "1");
    let done = stage.taut(&["top"]);
    assert_eq!((done.code(), done.stdout_text().as_str()), (Some(1), ""));
    let said = done.stderr_text();
    assert!(said.contains("needs a terminal") && said.contains("hint: `taut agents --watch`"), "{said}");
    let nobody = stage.taut(&["top", "--once"]);
    assert!(nobody.success() && nobody.stdout_text().contains("no agents yet"), "{}", nobody.stdout_text());
}
