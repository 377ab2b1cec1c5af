//! What somebody meets who uses the loop for the first time: no hook, no agent, a wrong option, an end that names a command.

use super::parallel::with_tasks;
use super::{FINE, WORK};
use testkit::poll;
use testkit::stage::{PLENTY, Stage, put_program, summary};

const NO_GUARD: &str =
    "no hook of Taut's is installed for claude-code: the guard does not stand; `taut init` installs it";

#[test]
fn g11_where_no_hook_is_installed_no_guard_is_promised_whatever_the_agent_may_do() {
    for mode in ["all", "edits", "ask"] {
        let stage = Stage::with_plan();
        stage.client_does(&format!("{WORK} {FINE}"));
        let said = stage.build(&["-n", "1", "--permissions", mode]).stderr_text();
        assert!(said.contains(NO_GUARD) && !said.contains("guard still stops"), "{mode}: {said}");
        let done = stage.taut(&["init", "--yes", "--allow-build-path", "--agent", "claude-code"]);
        assert!(done.success(), "{}", done.stderr_text());
        let said = stage.build(&["-n", "1", "--permissions", mode]).stderr_text();
        assert!(!said.contains("does not stand"), "{mode}: {said}");
        assert_eq!(said.contains("the guard still stops what it denies"), mode == "all", "{said}");
    }
}

/// A program that is not there, and one that cannot be executed.
#[test]
fn l1_without_the_program_of_the_agent_nothing_starts_and_nothing_is_counted() {
    for (program, workers) in [("no-such-program", "1"), ("no-such-program", "2"), ("./plain", "1"), ("./gone", "2")] {
        let stage = with_tasks(&["t1", "t2"]);
        stage.write("plain", "not a program");
        stage.write(".taut/config.toml", &format!("[agents.mine]\ncommand = [\"{program}\", \"{{prompt}}\"]\n"));
        stage.loop_hook("started", "touch .git/hooked");
        let done = stage.build(&["--agent", "mine", "--workers", workers]);
        let said = done.stderr_text();
        assert_eq!(done.code(), Some(1), "{program}: {said}");
        assert!(said.contains("nothing was started") && said.contains(program) && said.contains("--agent"), "{said}");
        assert!(!stage.path(".git/hooked").exists(), "{program}");
        for slug in ["t1", "t2"] {
            let task = stage.show(slug);
            assert_eq!((task["s"].as_str(), task["attempt"].as_i64()), (Some("open"), Some(0)), "{program}: {task}");
        }
    }
}

#[test]
fn l6_a_program_that_goes_away_ends_the_run_at_once_and_no_task_pays_for_it() {
    for workers in ["1", "2"] {
        let stage = with_tasks(&["t1", "t2", "t3"]);
        // One iteration that settles nothing, and the program is gone.
        stage.client_does(&format!("rm -f \"$0\"; {FINE}"));
        let done = stage.build(&["--workers", workers, "--max-failures", "9"]);
        let told = summary(&done);
        assert_eq!((told["finish"].as_str(), done.code()), (Some("error"), Some(20)), "{workers}: {told}");
        let why = told["why"].as_str().unwrap();
        assert!(why.contains("cannot start the agent `claude`"), "{workers}: {why}");
        assert_eq!(told["next"], "taut loop resume", "{told}");
        let tasks = ["t1", "t2", "t3"].map(|slug| stage.show(slug));
        assert!(tasks.iter().all(|task| task["s"] == "open" && task["failures"] == 0), "{workers}: {tasks:?}");
        // A worker holds its task: it comes back uncounted, after an agent that ran once at most.
        let unstarted = |task: &&serde_json::Value| task["fail_reason"] == "the agent could not be started";
        let came_back = tasks.iter().find(unstarted).and_then(|task| task["retry_count"].as_i64());
        assert!(
            if workers == "1" { came_back.is_none() } else { came_back.is_some_and(|tries| tries <= 1) },
            "{tasks:?}"
        );
    }
}

#[test]
fn l1_a_choice_for_one_agent_is_none_for_another() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}"));
    put_program(&stage.sandbox.root().join("bin/gemini"), "#!/bin/bash\nexit 0\n");
    let line = ["loop", "build", "-n", "1", "--permissions", "all"];
    stage.sandbox.at_terminal(&line, "", &[("TAUT_NO_DAEMON", "1")]).unwrap();
    let shown = |agent: &str| stage.succeed(&["loop", "build", "--dry-run", "--agent", agent]);
    assert!(shown("claude-code").contains("permissions: all\n"), "{}", shown("claude-code"));
    assert!(shown("gemini").contains("permissions: ask "), "{}", shown("gemini"));
}

#[test]
fn l1_a_dry_run_says_what_edits_come_to_with_this_agent() {
    let stage = Stage::with_plan();
    let shown =
        |agent: &str| stage.succeed(&["loop", "build", "--dry-run", "--permissions", "edits", "--agent", agent]);
    assert!(
        shown("claude-code").contains("\nthe agent may: edit files here and run git add, "),
        "{}",
        shown("claude-code")
    );
    assert!(shown("pi").contains("\nthe agent may: do everything: it asks for no permissions\n"), "{}", shown("pi"));
    assert!(shown("codex").contains("\nthe agent may: do whatever runs in its own sandbox"), "{}", shown("codex"));
}

#[test]
fn l1_of_an_agent_without_a_mode_for_edits_nothing_is_said_to_be_refused_that_is_not() {
    for (agent, program, never) in [("pi", "pi", true), ("kimi-code", "kimi", true), ("droid", "droid", false)] {
        for mode in ["edits", "all", "ask"] {
            let stage = Stage::with_plan();
            put_program(&stage.sandbox.root().join("bin").join(program), "#!/bin/bash\nexit 0\n");
            let said = stage.build(&["--agent", agent, "--permissions", mode, "-n", "1"]).stderr_text();
            assert!(!said.contains("commands` adds") && !said.contains("keeps it to edits"), "{agent} {mode}: {said}");
            assert_eq!(said.contains("`--permissions` changes nothing for it"), never, "{agent} {mode}: {said}");
            assert!(!never || !said.contains("refused"), "{agent} {mode}: {said}");
            assert!(!never || said.contains(&format!("{agent} may do everything: ")), "{agent} {mode}: {said}");
        }
    }
}

/// The choices that are offered are those that make a difference, each in a line of its own.
#[test]
fn l1_the_question_has_a_line_for_each_choice_and_says_where_they_are_the_same() {
    let stage = Stage::with_plan();
    put_program(&stage.sandbox.root().join("bin/pi"), "#!/bin/bash\nexit 0\n");
    let line = ["loop", "build", "--agent", "pi", "-n", "1"];
    let done = stage.sandbox.at_terminal(&line, "n\n", &[("TAUT_NO_DAEMON", "1")]).unwrap();
    let said = String::from_utf8_lossy(&done.stdout).replace('\r', "") + &String::from_utf8_lossy(&done.stderr);
    let said = said.replace('\r', "");
    let first = "\n  1  do everything: it asks for no permissions (edits)\n";
    assert!(said.contains(&format!("{first}  2  the same (all, as --danger)\n  3  the same (ask)\n")), "{said:?}");
}

#[test]
fn i7_an_option_that_would_switch_something_off_unseen_is_refused() {
    let stage = with_tasks(&["t1"]);
    stage.client_does("touch .git/ran");
    for args in [["--verify", ""], ["--verify", " \t"], ["--workers", "0"], ["--workers", "65"]] {
        let done = stage.build(&args);
        assert_eq!(done.code(), Some(2), "{args:?}: {}", done.stderr_text());
        assert!(done.stderr_text().contains(args[0]) && !stage.path(".git/ran").exists(), "{args:?}");
    }
}

#[test]
fn l2_after_denials_the_way_out_is_one_that_is_not_taken_yet() {
    let denied = r#"printf %s '{"type":"result","is_error":false,"result":"no","permission_denials":['
        echo '{"tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"make"}}]}'"#;
    for (mode, in_text, not_in_text, next) in [
        ("ask", "`--permissions edits`", "nothing else", "taut loop build --resume --permissions edits"),
        ("edits", "`[loop] commands`", "--permissions edits", "taut loop build --resume --permissions all"),
    ] {
        let stage = Stage::with_plan();
        stage.client_does(denied);
        let told = summary(&stage.build(&["--permissions", mode]));
        let why = told["why"].as_str().unwrap();
        assert!(why.contains(in_text) && !why.contains(not_in_text) && why.contains("`--permissions all`"), "{why}");
        assert_eq!(told["next"], next, "{told}");
    }
    let stage = Stage::with_plan();
    stage.client_does(denied);
    let told = summary(&stage.build(&["--permissions", "all"]));
    assert!(!told["why"].as_str().unwrap().contains("--permissions"), "{told}");
    assert!(told["next"].as_str().unwrap().starts_with("taut loop log "), "{told}");
}

#[test]
fn l12_a_limit_without_a_time_is_not_said_to_reset_then() {
    let stage = Stage::with_plan();
    stage.client_does(r#"echo '{"type":"result","is_error":true,"api_error_status":429}'; exit 1"#);
    let mut going = stage.start_loop(&["loop", "build"]);
    poll::until("the word", PLENTY, || going.printed().contains("waiting until ").then_some(())).unwrap();
    going.signal(libc::SIGINT);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    let said = going.printed();
    assert!(said.contains("the usage limit is reached; it is looked at again then"), "{said}");
    assert!(!said.contains("resets"), "{said}");
}

#[test]
fn l13_after_a_refused_login_the_text_and_the_next_line_name_one_command() {
    let stage = Stage::with_plan();
    stage.client_does(r#"echo '{"type":"result","is_error":true,"api_error_status":401,"result":"log in"}'; exit 1"#);
    let told = summary(&stage.build(&[]));
    assert!(told["why"].as_str().unwrap().ends_with("then `taut loop resume`"), "{told}");
    assert_eq!(told["next"], "taut loop resume", "{told}");
}

#[test]
fn l4_an_iteration_that_somebody_killed_has_failed_for_that_and_not_for_its_last_words() {
    let stage = Stage::with_plan();
    stage.client_does(
        r#"echo '{"type":"assistant","message":{"content":[{"type":"text","text":"all is well"}]}}'
        echo there > .git/there; while :; do sleep 0.1; done"#,
    );
    let mut going = stage.start_loop(&["loop", "build", "--json"]);
    stage.until_written(".git/there");
    going.signal(libc::SIGTERM);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    let last = going.printed().lines().last().unwrap_or_default().to_string();
    let told: serde_json::Value = serde_json::from_str(&last).unwrap();
    assert_eq!(told["failed"][0]["failure"], "stopped by hand", "{told}");
}
