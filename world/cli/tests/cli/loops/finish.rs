//! Every way to end, with its exit status.

use super::{FINE, WORK};
use testkit::stage::{Stage, summary};

fn ends(stage: &Stage, args: &[&str], name: &str, code: i32) -> serde_json::Value {
    let done = stage.build(args);
    let said = summary(&done);
    assert_eq!((said["finish"].as_str(), done.code()), (Some(name), Some(code)), "{said}\n{}", done.stderr_text());
    said
}

#[test]
fn l4_l5_a_plan_that_is_done_is_complete_and_counts_what_it_took() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}"));
    let said = ends(&stage, &[], "complete", 0);
    assert_eq!((&said["iterations"], &said["commits"], &said["cost_usd"]), (&3.into(), &3.into(), &0.75.into()));
}

#[test]
fn l5_completion_on_the_last_allowed_iteration_is_complete() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}"));
    ends(&stage, &["--max-iterations", "3"], "complete", 0);
}

/// L5: a plan in parts, opened by a README.
#[test]
fn l5_the_boxes_of_impl_are_the_plan_where_there_is_no_file() {
    let stage = Stage::with_plan();
    stage.git(&["rm", "-q", "IMPLEMENTATION_PLAN.md"]);
    stage.write("impl/README.md", "# Parts\n");
    stage.write("impl/one.md", "- [ ] a\n");
    stage.client_does(&format!("echo '- [x] a' > impl/one.md; {FINE}"));
    ends(&stage, &["-n", "1"], "complete", 0);
}

#[test]
fn l4_max_iterations_ends_with_10() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}"));
    ends(&stage, &["--max-iterations=2"], "max_iterations", 10);
}

#[test]
fn l4_l5_an_idle_iteration_ends_with_11_and_a_changed_tree_is_none() {
    let stage = Stage::with_plan();
    stage.client_does(FINE);
    ends(&stage, &[], "no_changes", 11);
    let stage = Stage::with_plan();
    stage.client_does(&format!("echo x >> notes.txt; {FINE}"));
    ends(&stage, &["-n", "2"], "max_iterations", 10);
    let stage = Stage::with_plan();
    stage.client_does(FINE);
    let said = ends(&stage, &["--idle-iterations", "3"], "no_changes", 11);
    assert_eq!(said["iterations"], 3);
}

/// The same bytes again, a touch, and a file that comes and goes are nothing that changed.
#[test]
fn l5_what_is_written_again_as_it_was_is_no_change() {
    for idle in ["echo fine > report.log", "touch notes.txt", "echo x > .lock.$$; rm .lock.$$", "echo x > a.ignored"] {
        let stage = Stage::with_plan();
        stage.write(".gitignore", "*.ignored\n");
        stage.write("report.log", "fine\n");
        stage.write("notes.txt", "notes\n");
        stage.client_does(&format!("{idle}; {FINE}"));
        let said = ends(&stage, &["-n", "5"], "no_changes", 11);
        assert_eq!(said["iterations"], 1, "{idle}");
    }
}

#[test]
fn l5_with_commits_alone_a_changed_tree_is_idle() {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", "[loop]\nprogress = \"commits\"\n");
    stage.client_does(&format!("echo x >> notes.txt; {FINE}"));
    ends(&stage, &[], "no_changes", 11);
}

#[test]
fn l4_a_budget_that_is_spent_ends_with_13() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}"));
    let said = ends(&stage, &["--max-cost", "0.4"], "budget", 13);
    assert_eq!(said["iterations"], 2);
}

#[test]
fn l4_a_failed_agent_ends_with_20_and_two_are_allowed_where_that_was_said() {
    let stage = Stage::with_plan();
    stage.client_does("exit 3");
    assert_eq!(ends(&stage, &[], "error", 20)["iterations"], 1);
    assert_eq!(ends(&stage, &["--max-failures", "2"], "error", 20)["iterations"], 2);
}

#[test]
fn l1_an_agent_that_is_not_there_is_an_error_with_words() {
    let stage = Stage::with_plan();
    stage.client_does(FINE);
    std::fs::remove_file(stage.sandbox.root().join("bin/claude")).unwrap();
    let said = stage.build_with(&[], &[("PATH", "/usr/bin:/bin")]);
    let words = "nothing was started: `claude`, the program of agent `claude-code`, is not there";
    assert!(said.code() == Some(1) && said.stderr_text().contains(words), "{}", said.stderr_text());
    let unknown = stage.build(&["--agent", "nobody"]);
    assert!(
        unknown.code() == Some(1) && unknown.stderr_text().contains("there is no agent"),
        "{}",
        unknown.stderr_text()
    );
}

#[test]
fn l1_planning_runs_the_planning_prompt_and_touches_no_queue() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "do it"]);
    stage.write("PROMPT.planning.md", "make a plan");
    stage.client_does(&format!("echo \"$2|$RALPH_AGENT_ID|$TAUT_SUPERVISED\" > seen.txt; {FINE}"));
    let done = stage.sandbox.taut(&["loop", "plan", "-n", "1", "--json"], b"").unwrap();
    assert_eq!(done.code(), Some(10), "{}", done.stderr_text());
    assert_eq!(stage.read("seen.txt").trim(), "make a plan||loop");
    assert!(stage.task(&["agent", "list", "--json"]).stdout_text().is_empty());
}

#[test]
fn l1_called_fresher_it_is_the_loop_and_a_dry_run_starts_nothing() {
    let stage = Stage::with_plan();
    stage.client_does("touch ran");
    let link = stage.sandbox.root().join("fresher");
    std::os::unix::fs::symlink(stage.sandbox.bin(), &link).unwrap();
    let mut command = stage.sandbox.command(&link);
    command.args(["build", "--dry-run", "--model", "opus"]);
    let done = testkit::process::run(command, b"", testkit::stage::PLENTY).unwrap();
    assert!(done.success() && done.stdout_text().contains("--model opus"), "{}", done.stdout_text());
    assert!(!done.stdout_text().contains("/./"), "{}", done.stdout_text());
    assert!(!stage.path("ran").exists());
}

#[test]
fn i3_the_preset_fresher_counts_commits_alone_and_reads_its_own_hooks() {
    let stage = Stage::with_plan();
    let mut init = stage.command(&["init", "--preset", "fresher", "--yes", "--allow-build-path"]);
    init.env("CLAUDE_CONFIG_DIR", stage.sandbox.claude_dir());
    let done = testkit::process::run(init, b"", std::time::Duration::from_secs(60)).unwrap();
    assert!(done.success(), "{}", done.stderr_text());
    assert!(stage.sandbox.taut_home().join("bin/fresher").exists(), "the alias is there");
    stage.write(".fresher/hooks/finished", "#!/bin/bash\necho \"$FRESHER_FINISH_TYPE\" > finished.txt\n");
    let hook = stage.path(".fresher/hooks/finished");
    std::fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    stage.client_does(&format!("echo x >> notes.txt; {FINE}"));
    let said = ends(&stage, &[], "no_changes", 11);
    assert_eq!(said["iterations"], 1, "a changed tree without a commit is idle");
    assert_eq!(stage.read("finished.txt").trim(), "no_changes");
}
