//! What `taut init loop` and the preset `fresher` write, and that it runs.

use super::{FINE, WORK};
use std::os::unix::fs::PermissionsExt;
use testkit::stage::{Stage, put_program, summary};

fn with_templates() -> Stage {
    let stage = Stage::with_plan();
    assert!(stage.sandbox.taut(&["init", "loop", "--yes"], b"").unwrap().success());
    stage
}

/// What the agent is told.
fn told(stage: &Stage) -> String {
    stage.client_does(&format!("printf '%s' \"$2\" > .git/told; {FINE}"));
    stage.build(&["-n", "1"]);
    stage.read(".git/told")
}

#[test]
fn l8_the_templates_abort_without_a_plan_and_say_how_it_ended() {
    let stage = with_templates();
    stage.client_does(&format!("{WORK} {FINE}"));
    let done = stage.build(&[]);
    let said = done.stderr_text();
    assert_eq!(done.code(), Some(0), "{said}");
    for line in [
        "next_iteration │ Starting iteration 2", "Previous iteration: exit=0",
        "finished │ All tasks completed successfully!",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    // A loop that finds none does not begin; a hook that does stops it: the plan goes away between the two.
    put_program(
        &stage.path(".taut/hooks/started"),
        &stage.read(".taut/hooks/started").replacen('\n', "\nrm -f IMPLEMENTATION_PLAN.md\n", 1),
    );
    let done = stage.build(&[]);
    assert_eq!(summary(&done)["finish"], "hook_abort", "{}", done.stderr_text());
    assert!(done.stderr_text().contains("started │ ERROR: "), "{}", done.stderr_text());
    assert!(done.stderr_text().contains("finished │ A hook stopped the loop"), "{}", done.stderr_text());
}

/// Each as the hook sees it; the loop would not come so far with all of them.
#[test]
fn l8_the_template_skips_when_nothing_is_pending_and_leaves_the_queue_and_plans_without_boxes_alone() {
    let stage = with_templates();
    let code = |mode: &str, work: &str, plan: &str| {
        stage.write("IMPLEMENTATION_PLAN.md", plan);
        let mut hook = stage.sandbox.command(stage.path(".taut/hooks/next_iteration"));
        hook.env("FRESHER_MODE", mode).env("FRESHER_WORK", work).env("FRESHER_ITERATION", "1");
        testkit::process::run(hook, b"", testkit::stage::PLENTY).unwrap().code()
    };
    assert_eq!(code("building", "plan", "- [x] a\n"), Some(1));
    for (mode, work, plan) in [
        ("building", "plan", "- [x] a\n  - [ ] b\n"),
        ("building", "plan", "- [~] a\n"),
        ("building", "plan", "Make it better.\n"),
        ("building", "queue", "- [x] a\n"),
        ("planning", "plan", "- [x] a\n"),
    ] {
        assert_eq!(code(mode, work, plan), Some(0), "{mode} {work} {plan:?}");
    }
}

#[test]
fn l8_the_templates_work_on_the_queue_without_a_plan_and_its_prompt_is_told() {
    let stage = with_templates();
    stage.git(&["rm", "-q", "IMPLEMENTATION_PLAN.md"]);
    stage.task(&["create", "t1", "do it"]);
    stage.client_does("printf '%s' \"$2\" > .git/told; taut task claim >/dev/null && taut task done t1");
    let done = stage.build(&[]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert!(stage.read(".git/told").contains("taut task claim"), "{}", stage.read(".git/told"));
}

/// Neither prompt hides the other: a template nobody changed says nothing about the queue, and the user's own building
/// prompt is told as it is, with a word where it says nothing of the queue.
#[test]
fn l8_on_the_queue_neither_the_users_prompt_nor_the_queues_is_lost() {
    let stage = with_templates();
    stage.task(&["create", "t1", "do it"]);
    std::fs::remove_file(stage.path("PROMPT.queue.md")).unwrap();
    let text = told(&stage);
    assert!(text.contains("taut task claim") && !text.contains("IMPLEMENTATION_PLAN"), "{text}");
    stage.write("PROMPT.building.md", "Speak like a sailor.\n");
    assert_eq!(told(&stage), "Speak like a sailor.\n");
    let said = stage.build(&["-n", "1"]).stderr_text();
    assert!(said.contains("PROMPT.building.md; it says nothing of the queue"), "{said}");
    stage.write("PROMPT.building.md", "First `taut task claim --json`.\n");
    assert_eq!(told(&stage), "First `taut task claim --json`.\n");
    stage.write("PROMPT.queue.md", "mine\n");
    assert_eq!(told(&stage), "mine\n");
}

fn preset(stage: &Stage) -> testkit::Finished {
    let mut init = stage.command(&["init", "--preset", "fresher", "--yes", "--allow-build-path"]);
    init.env("CLAUDE_CONFIG_DIR", stage.sandbox.claude_dir());
    testkit::process::run(init, b"", std::time::Duration::from_secs(60)).unwrap()
}

const FILES: [&str; 5] =
    ["config.sh", "hooks/started", "hooks/next_iteration", "hooks/finished", "hooks/custom/notify-slack"];

#[test]
fn i3_the_preset_fresher_writes_hooks_custom_and_config_that_run_at_once() {
    let stage = Stage::with_plan();
    let done = preset(&stage);
    assert!(done.success(), "{}", done.stderr_text());
    for name in FILES {
        let mode = std::fs::metadata(stage.path(&format!(".fresher/{name}"))).unwrap().permissions().mode();
        assert_eq!(mode & 0o100 != 0, name.starts_with("hooks/"), "{name}: {mode:o}");
        assert!(done.stdout_text().contains(&format!(".fresher/{name}")), "it was not shown: {}", done.stdout_text());
    }
    // What was shown and agreed to is trusted.
    stage.client_does(&format!("{WORK} {FINE}"));
    let done = stage.sandbox.taut(&["loop", "build"], b"").unwrap();
    let said = done.stderr_text();
    assert_eq!(done.code(), Some(0), "{said}");
    for line in [
        "started │ Starting Fresher loop in building mode", "next_iteration │ Starting iteration 3",
        "finished │ All tasks completed successfully!",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains("warning"), "{said}");
    let again = preset(&stage);
    assert!(again.success(), "{}", again.stderr_text());
}

#[test]
fn i3_a_hook_that_was_there_stops_the_preset_and_one_beside_it_is_not_trusted_with_it() {
    let stage = Stage::with_plan();
    stage.write(".fresher/hooks/started", "#!/bin/bash\necho mine\n");
    let done = preset(&stage);
    assert!(!done.success() && done.stderr_text().contains("is there already"), "{}", done.stderr_text());
    assert_eq!(stage.read(".fresher/hooks/started"), "#!/bin/bash\necho mine\n");
    let stage = Stage::with_plan();
    put_program(&stage.path(".taut/hooks/finished"), "#!/bin/bash\ntouch .git/evil\n");
    assert!(preset(&stage).success());
    stage.client_does(&format!("{WORK} {FINE}"));
    let done = stage.sandbox.taut(&["loop", "build"], b"").unwrap();
    assert!(done.stderr_text().contains("not trusted") && !stage.path(".git/evil").exists(), "{}", done.stderr_text());
}
