//! Looking back at the guard: what was decided, what would be otherwise, and a session step by step.

use serde_json::{Value, json};
use testkit::AgentStep;
use testkit::stage::{Stage, person_succeeds};

fn worked() -> Stage {
    let stage = Stage::without_daemon();
    let steps = [
        AgentStep::start(),
        AgentStep::prompt("publish the almanac\nand the index"),
        AgentStep::bash("git push --force"),
        AgentStep::bash("ls"),
    ];
    stage.agent("pusher").play(&steps).unwrap();
    stage
}

fn history(stage: &Stage, options: &[&str]) -> Value {
    let line = [&["policy", "test", "--history", "--json"][..], options].concat();
    serde_json::from_str(&stage.taut(&line).stdout_text()).unwrap()
}

#[test]
fn g10_decisions_about_the_guard_are_listed_with_who_and_when() {
    let stage = Stage::new();
    assert!(stage.taut(&["policy", "log"]).stderr_text().contains("nothing was decided"));
    person_succeeds(&stage, &["policy", "allow", "git-reset-hard", "--expires", "8h", "--reason", "deploy"], "y\n");
    person_succeeds(&stage, &["policy", "forget", "git-reset-hard"], "");
    person_succeeds(&stage, &["pause", "10m", "--reason", "surgery"], "y\n");
    person_succeeds(&stage, &["pause", "--off"], "");
    let log = stage.list(&["policy", "log", "--json"]);
    let told: Vec<&str> = log.iter().map(|one| one["what"].as_str().unwrap()).collect();
    assert_eq!(told, ["pause_ended", "paused", "forgotten", "allowed"]);
    assert_eq!((&log[3]["about"], &log[3]["reason"]), (&json!("git-reset-hard"), &json!("deploy")));
    assert!(log.iter().all(|one| one["who"].is_string()) && log[3]["until"].is_string(), "{log:?}");
    let shown = stage.succeed(&["policy", "log", "--about", "git-reset-hard"]);
    assert!(shown.contains("git-reset-hard allowed, until") && !shown.contains("paused"), "{shown}");
}

#[test]
fn g10_a_changed_policy_is_tried_on_what_really_happened() {
    let stage = worked();
    let told = history(&stage, &[]);
    assert_eq!((&told["calls"], &told["rules"]), (&json!(2), &json!([])), "{told}");
    let looser = "[[guard.allow]]\nrule = \"git-force-push\"\nreason = \"ours\"\n";
    stage.write("looser.toml", looser);
    let told = history(&stage, &["--policy", "looser.toml"]);
    let rule = &told["rules"][0];
    assert_eq!((&rule["rule"], &rule["would_pass"]), (&json!("git-force-push"), &json!(1)), "{told}");
    assert_eq!(rule["agents"]["pusher"], 1, "{told}");
    let said = stage.taut(&["policy", "test", "--history", "--policy", "looser.toml", "--check"]);
    assert_eq!(said.code(), Some(1), "{}", said.stderr_text());
    assert!(said.stdout_text().contains("git push --force"), "{}", said.stdout_text());
    let none = stage.taut(&["policy", "test", "--history", "--policy", "none.toml"]);
    assert!(!none.success() && none.stderr_text().contains("there is no file"), "{}", none.stderr_text());
    let plain = stage.taut(&["policy", "test", "--history", "--check"]);
    assert_eq!((plain.code(), plain.stdout_text().contains("nothing would be otherwise")), (Some(0), true));
}

#[test]
fn f4_a_session_is_told_step_by_step_as_it_was() {
    let stage = worked();
    let told = stage.succeed(&["replay", "pusher"]);
    let steps: Vec<&str> = told.lines().filter(|line| line.starts_with('+')).collect();
    let at = |what: &str| steps.iter().position(|line| line.contains(what)).unwrap_or_else(|| panic!("{what}: {told}"));
    assert!(at("publish the almanac") < at("git push --force") && at("git push --force") < at(" ls"), "{told}");
    assert!(told.contains("why: ") && told.contains("and the index"), "{told}");
    let json = stage.list(&["replay", "pusher", "--json"]);
    assert_eq!(json.len(), steps.len(), "{json:?}");
    assert!(json.iter().any(|step| step["verdict"] == "deny" && step["tool"] == "Bash"));
    let none = stage.taut(&["replay", "nobody"]);
    assert!(!none.success() && none.stderr_text().contains("no session's id begins with"), "{}", none.stderr_text());
}
