//! What an agent, a hook or a proof leaves in the tree: processes that work on, and settings of git that run a program.

use super::{FINE, WORK};
use testkit::stage::{Stage, lives, put_program, summary};

/// Starts something in the background that says when it is asked to end, and waits until it would.
const LEAVES: &str = r#"(trap 'echo asked > .git/asked; exit' TERM; touch .git/waits; while :; do sleep 0.05; done) \
    > /dev/null 2>&1 & echo $! > .git/left; while ! test -e .git/waits; do sleep 0.01; done;"#;
/// The same, of one that does not want to.
const LEAVES_STUBBORN: &str = r#"(trap '' TERM; touch .git/waits; while :; do sleep 0.05; done) \
    > /dev/null 2>&1 & echo $! > .git/left; while ! test -e .git/waits; do sleep 0.01; done;"#;

#[test]
fn l10_what_an_agent_left_behind_has_ended_before_its_work_is_proven() {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", "[loop]\nverify = \"test -e .git/asked\"\n");
    stage.task(&["create", "t1", "one"]);
    stage.client_does(&format!("taut task claim > /dev/null; taut task done t1 > /dev/null; {LEAVES} {FINE}"));
    let done = stage.build(&["-n", "1"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert!(!lives(&stage.read(".git/left")));
}

#[test]
fn l10_what_does_not_want_to_end_is_ended_with_its_agent() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{LEAVES_STUBBORN} {WORK} {FINE}"));
    let done = stage.build(&["-n", "1"]);
    assert!(!lives(&stage.read(".git/left")), "{}", done.stderr_text());
}

#[test]
fn l10_what_a_proof_that_passed_left_behind_ends_with_it() {
    let stage = Stage::with_plan();
    put_program(&stage.path(".git/proof"), &format!("#!/bin/bash\n{LEAVES}\n"));
    stage.write(".taut/config.toml", "[loop]\nverify = \".git/proof\"\n");
    stage.task(&["create", "t1", "one"]);
    stage.client_does(&format!("taut task claim > /dev/null; taut task done t1 > /dev/null; {FINE}"));
    let done = stage.build(&["-n", "1"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert!(stage.path(".git/asked").exists() && !lives(&stage.read(".git/left")));
}

#[test]
fn l3_what_a_hook_left_behind_ends_with_it_before_the_agent_starts() {
    let stage = Stage::with_plan();
    stage.loop_hook("next_iteration", LEAVES);
    stage.client_does(&format!("cp .git/asked .git/before; {WORK} {FINE}"));
    let done = stage.build(&["-n", "1"]);
    assert!(stage.path(".git/before").exists(), "{}", done.stderr_text());
}

/// An agent that may write files only would otherwise have a program run.
#[test]
fn l14_a_look_at_the_work_runs_no_program_that_the_repository_names() {
    let stage = Stage::with_plan();
    put_program(&stage.path(".git/watcher"), "#!/bin/sh\ntouch .git/watched\n");
    stage.write("more.txt", "more\n");
    stage.client_does(&format!(
        "{WORK} echo more >> more.txt; rm -f .git/watched\nprintf '[core]\\n\\tfsmonitor = .git/watcher\\n' >> .git/config; {FINE}"
    ));
    for progress in ["any", "commits"] {
        stage.write(".taut/config.toml", &format!("[loop]\nprogress = \"{progress}\"\n"));
        let done = stage.build(&["-n", "1"]);
        assert_eq!(summary(&done)["iterations"], 1, "{}", done.stderr_text());
        assert!(!stage.path(".git/watched").exists(), "{progress}");
    }
}
