//! Hooks of the loop: variables, exit codes, timeouts, switches and trust.

use super::{FINE, WORK};
use testkit::poll;
use testkit::stage::{Stage, lives, summary};

fn dump(to: &str) -> String {
    format!("env | grep -E '^(FRESHER|TAUT)_' | sort > {to}")
}

/// A loop that is started from a hook of git's has variables that lead git to the index of a commit in the making.
#[test]
fn l2_l10_neither_hooks_nor_the_agent_nor_the_proof_are_led_to_another_index() {
    let stage = Stage::with_plan();
    let note = |who: &str| format!("echo {who} ${{GIT_INDEX_FILE-none}} ${{GIT_AUTHOR_DATE-none}} >> .git/told");
    stage.write(".taut/config.toml", &format!("[loop]\nverify = {:?}\n", note("proof")));
    stage.loop_hook("started", &note("hook"));
    stage.client_does(&format!("{}; {WORK} {FINE}", note("agent")));
    let done = stage.build_with(&["-n", "1"], &[("GIT_INDEX_FILE", "/nowhere/i"), ("GIT_AUTHOR_DATE", "@1 +0000")]);
    assert_eq!(summary(&done)["commits"], 1, "{}", done.stderr_text());
    assert_eq!(stage.read(".git/told"), "hook none none\nagent none none\nproof none none\n");
}

#[test]
fn l2_hooks_get_their_variables_under_both_names() {
    let stage = Stage::with_plan();
    for hook in ["started", "next_iteration", "post_iteration", "finished"] {
        stage.loop_hook(hook, &dump(&format!("/proc/self/cwd/.git/{hook}.env")));
    }
    stage.client_does(&format!("{WORK} exit_code=0; {FINE}"));
    // As from a loop around this one: what is not this hook's is taken away.
    let outer = [
        ("FRESHER_FINISH_TYPE", "outer"),
        ("TAUT_PLAN_FILE", "IMPLEMENTATION_PLAN.md"),
        ("FRESHER_LAST_EXIT_CODE", "outer"),
    ];
    stage.build_with(&["-n", "2"], &outer);
    let names = |hook: &str, prefix: &str| {
        let text = stage.read(&format!(".git/{hook}.env"));
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix(prefix)?.split_once('=').map(|(name, _)| name.to_string()));
        lines.filter(|name| engine::loops::VARIABLES.iter().any(|variable| variable.name == name)).collect::<Vec<_>>()
    };
    for hook in engine::loops::Hook::ALL {
        let mut expected: Vec<_> =
            engine::loops::VARIABLES.iter().filter(|v| v.hooks.contains(&hook)).map(|v| v.name.to_string()).collect();
        expected.sort();
        assert_eq!(names(hook.name(), "FRESHER_"), expected, "{}", hook.name());
        assert_eq!(names(hook.name(), "TAUT_"), expected, "{}", hook.name());
    }
    let after = stage.read(".git/post_iteration.env");
    assert!(after.contains("FRESHER_ITERATION=2") && after.contains("FRESHER_COMMITS_MADE=2"), "{after}");
    assert!(stage.read(".git/next_iteration.env").contains("FRESHER_LAST_EXIT_CODE=0"));
    assert!(stage.read(".git/finished.env").contains("FRESHER_FINISH_TYPE=max_iterations"));
}

#[test]
fn l3_other_codes_than_two_only_warn_and_abort_is_a_choice() {
    let stage = Stage::with_plan();
    stage.loop_hook("started", "exit 7").client_does(&format!("{WORK} {FINE}"));
    let done = stage.build(&["-n", "1"]);
    assert_eq!(done.code(), Some(10));
    assert!(done.stderr_text().contains("Hook started failed with exit code 7"), "{}", done.stderr_text());
    let done = stage.build_with(&[], &[("FRESHER_HOOK_FAIL_BEHAVIOR", "abort")]);
    assert_eq!(done.code(), Some(21), "{}", done.stderr_text());
}

#[test]
fn l3_hooks_can_be_switched_off_all_or_one_by_environment_and_by_config_sh() {
    let stage = Stage::with_plan();
    stage
        .loop_hook("started", "touch .git/started")
        .loop_hook("finished", "echo $FRESHER_COLOUR > .git/finished")
        .client_does(FINE);
    stage.build_with(&[], &[("FRESHER_HOOKS_ENABLED", "false")]);
    assert!(!stage.path(".git/started").exists() && !stage.path(".git/finished").exists());
    let started = "export FRESHER_HOOK_STARTED_ENABLED=\"${FRESHER_HOOK_STARTED_ENABLED:-false}\"";
    stage.write(".fresher/config.sh", &format!("{started}\nFRESHER_COLOUR=red\nFRESHER_X=$(touch .git/sourced)\n"));
    let done = stage.build(&[]);
    assert!(!stage.path(".git/started").exists());
    assert_eq!(stage.read(".git/finished"), "red\n", "what it assigns is the hooks' too");
    assert!(!stage.path(".git/sourced").exists(), "config.sh was run");
    assert!(done.stderr_text().contains("FRESHER_X"), "{}", done.stderr_text());
}

#[test]
fn l1_where_a_hook_is_missing_the_one_of_fresher_runs() {
    let stage = Stage::with_plan();
    stage.write(".fresher/hooks/started", "#!/bin/bash\ntouch .git/old-started\n");
    stage.loop_hook("finished", "touch .git/new-finished").client_does(FINE);
    stage.write(".fresher/hooks/finished", "#!/bin/bash\ntouch .git/old-finished\n");
    for name in ["started", "finished"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(stage.path(&format!(".fresher/hooks/{name}")), mode).unwrap();
    }
    stage.build(&[]);
    assert!(stage.path(".git/old-started").exists() && stage.path(".git/new-finished").exists());
    assert!(!stage.path(".git/old-finished").exists());
}

#[test]
fn l8_a_background_hook_does_not_hold_the_loop_up_and_its_output_is_kept() {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", "[hooks.started]\nbackground = true\n");
    stage.loop_hook("started", "until [ -e .git/over ]; do sleep 0.05; done; echo late").client_does(FINE);
    stage.loop_hook("finished", "touch .git/over");
    stage.build(&[]);
    let done = stage.build(&[]);
    assert_eq!(done.code(), Some(11), "{}", done.stderr_text());
    let logs = stage.path(".taut/logs");
    poll::until("the hook's words", testkit::stage::PLENTY, || {
        let all = std::fs::read_dir(&logs).ok()?.flatten();
        let texts = all.filter_map(|run| std::fs::read_to_string(run.path().join("loop.log")).ok());
        texts.into_iter().any(|text| text.contains("late")).then_some(())
    })
    .unwrap();
}

/// L8: whose words are whose can be told, and no log is ever committed by accident.
#[test]
fn l8_what_a_hook_says_is_marked_apart_from_the_agents_words() {
    let stage = Stage::with_plan();
    stage.loop_hook("post_iteration", "echo counted").client_does(&format!("echo worked; {FINE}"));
    stage.build(&["-n", "1"]);
    assert_eq!(stage.read(".taut/logs/.gitignore"), "*\n");
    let runs = std::fs::read_dir(stage.path(".taut/logs")).unwrap().flatten().filter(|run| run.path().is_dir());
    let logs: Vec<String> =
        runs.map(|run| std::fs::read_to_string(run.path().join("iteration-0001.log")).unwrap()).collect();
    let lines: Vec<&str> = logs[0].lines().collect();
    assert!(lines.contains(&"worked") && lines.contains(&"[hook post_iteration] counted"), "{lines:?}");
}

/// L3, L8: left to itself, but not for longer than its time.
#[test]
fn l8_a_background_hook_that_hangs_is_ended_when_its_time_is_up() {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", "[hooks.started]\nbackground = true\ntimeout = 1\n");
    stage.loop_hook("started", "echo $$ > .git/hangs; exec sleep 600");
    let hangs = "[ ! -s .git/hangs ] || kill -0 $(cat .git/hangs) 2> /dev/null";
    stage.client_does(&format!(
        "for n in {{1..200}}; do if {hangs}; then sleep 0.1; else touch .git/gone; break; fi; done; {FINE}"
    ));
    stage.build(&["-n", "1"]);
    assert!(stage.path(".git/gone").exists(), "it outlived its time");
}

#[test]
fn g11_an_untrusted_projects_hooks_and_settings_do_nothing() {
    let stage = Stage::with_plan();
    stage.write(
        ".taut/config.toml",
        "[loop]\nmax_iterations = 1\nagent = \"other\"\n[agents.other]\ncommand = [\"touch\", \".git/other\"]\n",
    );
    stage.write(".fresher/config.sh", "FRESHER_MAX_ITERATIONS=1\n");
    stage.loop_hook("started", "touch .git/started").client_does(&format!("{WORK} {FINE}"));
    let done = stage.sandbox.taut(&["loop", "build", "--json"], b"").unwrap();
    assert_eq!(summary(&done)["finish"], "complete");
    assert!(!stage.path(".git/started").exists() && !stage.path(".git/other").exists());
    assert!(done.stderr_text().contains("not trusted"), "{}", done.stderr_text());
}

/// The version that was trusted goes on, `finished` included, and that the file is another is said once.
#[test]
fn g11_the_hooks_of_a_run_are_those_it_began_with() {
    for spoil in [
        "echo 'touch .git/evil' >> .taut/hooks/finished",
        "rm -r .taut/hooks",
        "printf '#!/bin/bash\\ntouch .git/evil\\n' > .taut/hooks/post_iteration; chmod +x .taut/hooks/post_iteration",
        "echo 'touch .git/evil' >> .taut/hooks/custom/words",
        "rm -r \"$TAUT_HOME/hooks\"; echo x >> .taut/hooks/custom/words",
    ] {
        let stage = Stage::with_plan();
        stage.write(".taut/hooks/custom/words", "words=found\n");
        stage
            .loop_hook("next_iteration", "echo next >> .git/hooked")
            .loop_hook("finished", "source \"$(dirname \"$0\")/custom/words\"; echo $words >> .git/hooked")
            .client_does(&format!("{spoil}; git commit -q --allow-empty -m x; {FINE}"));
        let done = stage.build(&["-n", "2"]);
        assert_eq!(stage.read(".git/hooked"), "next\nnext\nfound\n", "{spoil}: {}", done.stderr_text());
        assert!(!stage.path(".git/evil").exists(), "{spoil}");
        let said = done.stderr_text();
        assert_eq!(said.matches("have been changed since the loop began").count(), 1, "{spoil}: {said}");
    }
}

#[test]
fn l3_what_config_sh_exports_reaches_the_hooks_and_what_steers_does_not() {
    let stage = Stage::with_plan();
    stage.write(
        ".fresher/config.sh",
        "export SLACK_WEBHOOK=\"https://x.example/$TERM\"\nHIDDEN=1\nexport LD_PRELOAD=/x\n",
    );
    stage.loop_hook("started", "echo \"$SLACK_WEBHOOK|$HIDDEN|$LD_PRELOAD|$TAUT_WORK\" > .git/told").client_does(FINE);
    let done = stage.build(&["-n", "1"]);
    assert_eq!(stage.read(".git/told"), "https://x.example/xterm-256color|||plan\n");
    assert!(done.stderr_text().contains("LD_PRELOAD"), "{}", done.stderr_text());
}

/// L8: not even when the loop is over before it.
#[test]
fn l8_a_background_hook_does_not_outlive_its_time_when_the_loop_ends_first() {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", "[hooks.finished]\nbackground = true\ntimeout = 1\n");
    stage.loop_hook(
        "finished",
        "trap '' TERM; (echo $BASHPID > .git/below; exec sleep 600) & echo $$ > .git/hangs; wait; sleep 600",
    );
    stage.client_does(FINE);
    let done = stage.build(&["-n", "1"]);
    assert_eq!(done.code(), Some(11), "{}", done.stderr_text());
    for file in [".git/hangs", ".git/below"] {
        let pid = stage.until_written(file);
        poll::until("the hook to be ended", testkit::stage::PLENTY, || (!lives(&pid)).then_some(())).unwrap();
    }
}

/// T9: they run from a copy of what is trusted, which has the scripts beside them; the project is where they work.
#[test]
fn t9_a_hook_runs_from_a_copy_with_its_scripts_and_works_in_the_project() {
    let stage = Stage::with_plan();
    stage.write(".taut/hooks/custom/words", "words=found\n");
    stage
        .loop_hook("started", "source \"$(dirname \"$0\")/custom/words\"; echo \"$words $0\" > .git/told")
        .client_does(FINE);
    stage.build(&["-n", "1"]);
    let told = stage.read(".git/told");
    let (words, program) = told.trim().split_once(' ').unwrap();
    assert_eq!(words, "found");
    assert!(program.starts_with(&*stage.sandbox.taut_home().to_string_lossy()), "{program}");
}

/// T9: whoever swaps the file all the time gets it refused, or the trusted one run, and never theirs.
#[test]
fn t9_a_hook_that_is_swapped_all_the_time_never_runs_untrusted() {
    let stage = Stage::with_plan();
    stage
        .loop_hook("next_iteration", "echo run >> .git/ran")
        .client_does(&format!("git commit -q --allow-empty -m x; {FINE}"));
    let (hook, beside) = (stage.path(".taut/hooks/next_iteration"), stage.path(".git/beside"));
    let good = std::fs::read_to_string(&hook).unwrap();
    let evil = "#!/bin/bash\necho evil >> .git/evil\n";
    let trust = stage.build(&["-n", "1"]);
    assert_eq!(stage.read(".git/ran"), "run\n", "{}", trust.stderr_text());
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                for text in [evil, &good] {
                    std::fs::write(&beside, text).unwrap();
                    std::fs::set_permissions(&beside, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
                    std::fs::rename(&beside, &hook).unwrap();
                }
            }
        });
        // Not by the stage, which would trust whatever lies there.
        for _ in 0..20 {
            let done = stage.sandbox.taut(&["loop", "build", "--json", "-n", "3"], b"").unwrap();
            assert!(matches!(done.code(), Some(1 | 10)), "{}", done.stderr_text());
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(!stage.path(".git/evil").exists(), "{}", stage.read(".git/evil"));
}

#[test]
fn l3_a_hanging_hook_is_killed_with_its_grandchildren() {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", "[hooks.started]\ntimeout = 1\n");
    stage
        .loop_hook("started", "(trap '' TERM; echo $BASHPID > .git/grandchild; while :; do sleep 0.1; done) & wait")
        .client_does(FINE);
    let done = stage.build(&[]);
    assert!(done.code() == Some(11), "{}", done.stderr_text());
    assert!(done.stderr_text().contains("timed out"), "{}", done.stderr_text());
    let pid = stage.read(".git/grandchild");
    assert!(!pid.is_empty() && !lives(&pid), "the grandchild lives on");
}

#[test]
fn l8_init_loop_writes_templates_once_and_they_run() {
    let stage = Stage::with_plan();
    assert!(stage.sandbox.taut(&["init", "loop", "--yes"], b"").unwrap().success());
    stage.write("PROMPT.building.md", "mine");
    assert!(stage.sandbox.taut(&["init", "loop", "--yes"], b"").unwrap().success());
    assert_eq!(stage.read("PROMPT.building.md"), "mine");
    stage.client_does(&format!("{WORK} {FINE}"));
    let done = stage.build(&["-n", "1"]);
    assert!(done.stderr_text().contains("next_iteration │ Starting iteration 1"), "{}", done.stderr_text());
}

/// The table in the docs is the one of the code.
#[test]
fn l2_the_documented_table_of_variables_is_the_one_of_the_code() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/loop.md")).unwrap();
    for variable in engine::loops::VARIABLES {
        let hooks: Vec<_> = variable.hooks.iter().map(|hook| hook.name()).collect();
        let hooks = if hooks.len() == 4 { "all".to_string() } else { hooks.join(", ") };
        let row = format!("| `{}` | {} | {hooks} |", variable.name, variable.about);
        assert!(page.contains(&row), "docs/loop.md lacks: {row}");
    }
}

/// What a hook prints, and what the loop says of a failed agent, stand on somebody's terminal.
#[test]
fn t6_what_hooks_and_agents_print_does_not_command_the_terminal() {
    let stage = Stage::with_plan();
    let hostile = r"printf 'a\033[31mred\033[0m\033[2K\033]0;t\007\033]52;c;eA==\007\302\2332J\342\200\256\rb\n'";
    for hook in ["started", "post_iteration", "finished"] {
        stage.loop_hook(hook, hostile);
    }
    stage.client_does(&format!("{hostile}; {hostile} >&2; exit 3"));
    let done = stage.build_with(&["-n", "1"], &[("CLICOLOR_FORCE", "1")]);
    let said = format!("{}{}", done.stdout_text(), done.stderr_text());
    assert!(said.contains("ared␛[2K␛]0;t␇␛]52;c;eA==␇\\u{9b}2J\\u{202e}␍b"), "{said}");
    let bare = ["0", "2", "31", "32", "33", "36"]
        .iter()
        .fold(said, |said, style| said.replace(&format!("\u{1b}[{style}m"), ""));
    let bad = bare.chars().find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
    assert_eq!(bad, None, "{bare:?}");
}
