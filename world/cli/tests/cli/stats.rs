//! `taut stats`: the same events, summed.

use serde_json::{Value, json};
use testkit::AgentStep;
use testkit::stage::Stage;

fn report(stage: &Stage) -> Value {
    serde_json::from_str(&stage.succeed(&["stats", "--json"])).unwrap()
}

fn worked() -> Stage {
    let stage = Stage::without_daemon();
    let waits = AgentStep::Event {
        event: "PermissionRequest",
        fields: json!({"tool_name": "Bash", "tool_input": {"command": "make"}}),
    };
    let steps = [
        AgentStep::start(),
        AgentStep::prompt("publish the almanac"),
        AgentStep::bash("git push --force"),
        waits,
        AgentStep::bash("ls"),
    ];
    stage.agent("pusher").play(&steps).unwrap();
    stage
}

#[test]
fn f4_a_week_is_told_in_numbers_and_small_charts() {
    let stage = Stage::without_daemon();
    let said = stage.taut(&["stats"]);
    assert!(said.success() && said.stderr_text().contains("nothing was recorded on these days"), "{said:?}");
    let stage = worked();
    let told = report(&stage);
    let total = &told["total"];
    assert_eq!([&total["sessions"], &total["prompts"], &total["calls"], &total["denied"]], [1, 1, 2, 1], "{told}");
    assert_eq!((&total["waits"], told["days"].as_array().unwrap().len()), (&json!(1), 7), "{told}");
    assert_eq!((&told["agents"][0]["name"], &told["rules"][0]["name"]), (&json!("pusher"), &json!("git-force-push")));
    assert_eq!(report(&stage)["total"], *total, "asked again it is the same");
    for by in ["day", "agent", "project", "model"] {
        let shown = stage.succeed(&["stats", "--by", by]);
        assert!(shown.contains("stopped") && shown.contains('█') && shown.contains("git-force-push"), "{shown}");
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{shown}");
    }
    assert_eq!(report(&stage)["from"], told["from"]);
    let wrong = stage.taut(&["stats", "--since", "someday"]);
    assert_eq!((wrong.code(), wrong.stderr_text().contains("--since 2d")), (Some(2), true));
}

#[test]
fn f4_the_page_is_told_the_same_as_the_command() {
    let stage = worked();
    let page = stage.page();
    // The page only reads: what nobody has summed yet is counted as it is read.
    let told = page.json("/api/stats");
    assert_eq!((&told["total"]["calls"], told["days"].as_array().unwrap().len()), (&json!(2), 7), "{told}");
    assert_eq!(report(&stage)["total"], told["total"]);
    assert_eq!(page.json("/api/stats?days=30")["days"].as_array().unwrap().len(), 30);
}

#[test]
fn f4_an_agent_that_asks_is_told_of_its_own_project() {
    let stage = worked();
    let elsewhere = stage.sandbox.home().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let mut command = stage.command(&["stats", "--json"]);
    command.current_dir(&elsewhere).env("TAUT_AGENT_ID", "stranger");
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let told: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(told["total"]["calls"], 0, "{told}");
}
