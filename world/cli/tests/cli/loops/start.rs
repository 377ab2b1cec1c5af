//! Before a run: who may begin it, what the agent may do, and what keeps it from beginning.

use super::{FINE, WORK};
use std::process::{Command, Output, Stdio};
use testkit::poll;
use testkit::stage::{PLENTY, Stage, put_program, summary};

/// Says how it was started, and works.
fn records(stage: &Stage) {
    stage.client_does(&format!("printf '%s\\n' \"$@\" > .git/args; touch .git/ran; {WORK} {FINE}"));
}

/// `taut loop build …` at a terminal where somebody has typed this.
fn at_terminal(stage: &Stage, args: &[&str], typed: &str) -> (Option<i32>, String) {
    let line: Vec<&str> = ["loop", "build"].iter().chain(args).copied().collect();
    let Output { status, stdout, stderr } =
        stage.sandbox.at_terminal(&line, typed, &[("TAUT_NO_DAEMON", "1")]).unwrap();
    (status.code(), format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)))
}

fn ran(stage: &Stage) -> bool {
    stage.path(".git/ran").exists()
}

#[test]
fn g11_no_to_the_trust_question_starts_nothing_at_all() {
    // What is typed after it is for a question that must not come.
    for typed in ["n\n1\n", "\n1\n", "\u{4}1\n"] {
        let stage = Stage::with_plan();
        stage.write(".taut/config.toml", "[loop]\nmax_iterations = 1\npermissions = \"edits\"\n");
        records(&stage);
        let (code, said) = at_terminal(&stage, &[], typed);
        assert_eq!(code, Some(1), "{typed:?}: {said}");
        assert!(said.contains("nothing was started") && !ran(&stage), "{typed:?}: {said}");
        let (code, said) = at_terminal(&stage, &[], "y\n");
        assert!(code == Some(10) && ran(&stage), "{said}");
    }
}

/// One that was trusted once and says something else now is asked about in the same way, and with a no neither its
/// hooks run nor an agent.
#[test]
fn g11_no_to_a_changed_project_starts_nothing_and_runs_no_hook() {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", "[loop]\npermissions = \"all\"\nmax_iterations = 1\n");
    stage.loop_hook("started", "touch .git/hooked");
    stage.sandbox.trust_project().unwrap();
    stage.write(".taut/config.toml", "[loop]\npermissions = \"all\"\n");
    records(&stage);
    let (code, said) = at_terminal(&stage, &[], "n\n1\n");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("-max_iterations = 1") && said.contains("nothing was started"), "{said}");
    assert!(!ran(&stage) && !stage.path(".git/hooked").exists());
}

/// Nobody is there to be asked: what was never trusted runs without anything of its own, which is said with the limits
/// that do not hold; what was trusted and changed does not run at all.
#[test]
fn g11_unattended_a_changed_project_starts_nothing_and_an_untrusted_one_says_what_does_not_hold() {
    let unattended = |stage: &Stage| stage.sandbox.taut(&["loop", "build", "--json", "-n", "1"], b"").unwrap();
    for (before, after) in [
        ("[loop]\nmax_cost = 5.0\nverify = \"true\"\n", Some("[loop]\nmax_cost = 5.0\nverify = \"touch x\"\n")),
        ("[loop]\nmax_cost = 5.0\n", None),
    ] {
        let stage = Stage::with_plan();
        records(&stage);
        stage.write(".taut/config.toml", before);
        let done = unattended(&stage);
        assert_eq!(done.code(), Some(10), "{}", done.stderr_text());
        let said = done.stderr_text();
        assert!(
            said.contains("not trusted") && said.contains("These do not hold: ") && said.contains("max_cost = 5"),
            "{said}"
        );
        std::fs::remove_file(stage.path(".git/ran")).unwrap();
        stage.sandbox.trust_project().unwrap();
        match after {
            Some(text) => stage.write(".taut/config.toml", text),
            None => std::fs::remove_file(stage.path(".taut/config.toml")).unwrap(),
        }
        let done = unattended(&stage);
        assert_eq!(done.code(), Some(1), "{}", done.stderr_text());
        let said = done.stderr_text();
        assert!(
            said.contains(".taut/config.toml changed since") && said.contains("taut trust") && !ran(&stage),
            "{said}"
        );
    }
}

#[test]
fn g11_what_a_loop_would_run_is_shown_and_bound_by_trust() {
    let told = "[loop]\nverify = \"make check\"\ncommands = [\"make\"]\npermissions = \"all\"\n\n[agents.mine]\ncommand = [\"mine\"]\n";
    for (from, to) in
        [("make check", "make evil"), ("[\"make\"]", "[\"sh\"]"), ("\"all\"", "\"ask\""), ("[\"mine\"]", "[\"x\"]")]
    {
        let stage = Stage::with_plan();
        stage.write(".taut/config.toml", told);
        let shown = stage.sandbox.at_terminal(&["trust"], "y\n", &[]).unwrap();
        let said = String::from_utf8_lossy(&shown.stderr).into_owned() + &String::from_utf8_lossy(&shown.stdout);
        assert!(said.contains("make check") && said.contains("[agents.mine]"), "{said}");
        stage.write(".taut/config.toml", &told.replace(from, to));
        records(&stage);
        let done = stage.sandbox.taut(&["loop", "build"], b"").unwrap();
        assert!(done.code() == Some(1) && !ran(&stage), "{from}: {}", done.stderr_text());
    }
}

#[test]
fn l1_what_the_agent_may_do_is_said_and_chosen_by_a_person_once_for_a_work_tree() {
    for (typed, mode) in [("\n", "edits"), ("1\n", "edits"), ("2\n", "all"), ("3\n", "ask")] {
        let stage = Stage::with_plan();
        records(&stage);
        let (code, said) = at_terminal(&stage, &["-n", "1", "--verify", "make check"], typed);
        assert_eq!(code, Some(10), "{typed:?}: {said}");
        assert!(said.contains("\n  1  edit files here and run git add, git commit, "), "{said}");
        assert!(said.contains("make check"), "{said}");
        assert!(said.contains(&format!("(permissions: {mode}, kept for this work tree)")), "{said}");
        assert_eq!(stage.read(".git/args").contains("--dangerously-skip-permissions"), mode == "all");
        // Not asked again, at no terminal either; the repository knows nothing of it.
        let (code, said) = at_terminal(&stage, &["-n", "1"], "");
        assert_eq!(code, Some(10), "{said}");
        let done = stage.build(&["-n", "1"]);
        assert!(
            done.stderr_text().contains(&format!("(permissions: {mode}, as chosen for this work tree)")),
            "{}",
            done.stderr_text()
        );
        assert_eq!(stage.git(&["status", "--short", "--ignored", "--", ":!.taut/logs"]), "");
    }
}

#[test]
fn l1_a_choice_is_changed_by_typing_it_and_danger_is_for_once() {
    let stage = Stage::with_plan();
    records(&stage);
    at_terminal(&stage, &["-n", "1"], "3\n");
    let (_, said) = at_terminal(&stage, &["-n", "1", "--danger"], "");
    assert!(said.contains("(permissions: all)"), "{said}");
    let (_, said) = at_terminal(&stage, &["-n", "1", "--permissions", "edits"], "");
    assert!(said.contains("(permissions: edits)"), "{said}");
    let shown = stage.succeed(&["loop", "build", "--dry-run"]);
    assert!(shown.contains("permissions: edits\n"), "{shown}");
}

/// An agent without a mode for edits is said to do what it does instead.
#[test]
fn l1_with_an_agent_that_has_no_mode_for_edits_the_start_says_what_it_may_do_instead() {
    let stage = Stage::with_plan();
    put_program(&stage.sandbox.root().join("bin/pi"), "#!/bin/bash\nexit 0\n");
    let said = stage.build(&["--agent", "pi", "--permissions", "edits", "-n", "1"]).stderr_text();
    assert!(said.contains("pi may do everything: it asks for no permissions (permissions: edits)"), "{said}");
}

#[test]
fn l1_nothing_chosen_starts_nothing() {
    for typed in ["n\n", "q\n", "\u{4}", "7\n"] {
        let stage = Stage::with_plan();
        records(&stage);
        let (code, said) = at_terminal(&stage, &[], typed);
        assert!(code == Some(1) && said.contains("nothing was started") && !ran(&stage), "{typed:?}: {code:?} {said}");
    }
}

#[test]
fn l1_where_nobody_can_be_asked_the_agents_own_settings_hold_and_that_is_said() {
    let stage = Stage::with_plan();
    records(&stage);
    let done = stage.build(&["-n", "1"]);
    let said = done.stderr_text();
    assert!(
        said.contains("(permissions: ask)") && said.contains("--permissions edits") && said.contains("--danger"),
        "{said}"
    );
    assert!(!stage.read(".git/args").contains("dangerously"));
}

#[test]
fn i7_a_limit_that_cannot_be_read_starts_nothing_wherever_it_stands() {
    let wrong = [
        "[loop]\nmax_iterations = \"2\"\n", "[loop]\nmax_cost = \"5\"\n", "[hooks]\nfail_behavior = \"explode\"\n",
        "[hooks.started]\ntimeout = \"1\"\n", "[agents.mine]\ncommand = \"mine\"\n", "[loop]\nmax_silence = 5\n",
        "[loop]\npermissions = \"some\"\n", "[loop]\nverify = 3\n", "[loop]\nsame_failures = -1\n",
        "[loop]\nmerge = \"octopus\"\n", "[loop]\nmax_cost = nan\n", "[loop]\nmax_iterations = -2\n",
    ];
    for text in wrong {
        for place in ["config.toml", "config.local.toml", "user"] {
            for trusted in [true, false] {
                let stage = Stage::with_plan();
                records(&stage);
                match place {
                    "user" => stage.configure(text),
                    file => stage.write(&format!(".taut/{file}"), text),
                }
                let done = match trusted {
                    true => stage.build(&[]),
                    false => stage.sandbox.taut(&["loop", "build"], b"").unwrap(),
                };
                let said = done.stderr_text();
                assert_eq!(done.code(), Some(1), "{text} in {place}, {trusted}: {said}");
                assert!(said.contains("does not start") && !ran(&stage), "{text} in {place}, {trusted}: {said}");
            }
        }
    }
}

#[test]
fn i7_a_variable_that_cannot_be_read_starts_nothing() {
    for (name, value) in [
        ("FRESHER_MAX_ITERATIONS", "abc"),
        ("FRESHER_MAX_COST", "nan"),
        ("FRESHER_HOOK_FAIL_BEHAVIOR", "explode"),
        ("FRESHER_HOOK_TIMEOUT", "soon"),
        ("TAUT_MAX_TIME", "potato"),
        ("FRESHER_HOOKS_ENABLED", "maybe"),
    ] {
        let stage = Stage::with_plan();
        records(&stage);
        let done = stage.build_with(&[], &[(name, value)]);
        assert!(done.code() == Some(1) && done.stderr_text().contains(name) && !ran(&stage), "{}", done.stderr_text());
        if !name.starts_with("TAUT") {
            stage.write(".fresher/config.sh", &format!("export {name}={value}\n"));
            let done = stage.build(&[]);
            assert!(
                done.code() == Some(1) && done.stderr_text().contains(name) && !ran(&stage),
                "{}",
                done.stderr_text()
            );
            stage.write(".fresher/config.sh", &format!("export {name}=\"{value}\" # never trusted\n"));
            std::fs::remove_dir_all(stage.sandbox.taut_home().join("trust")).unwrap();
            let done = stage.sandbox.taut(&["loop", "build", "-n", "1"], b"").unwrap();
            assert!(done.code() == Some(10) && done.stderr_text().contains(name), "{}", done.stderr_text());
        }
    }
}

fn spawn(stage: &Stage, args: &[&str], into: &str) -> std::process::Child {
    let mut command = stage.command(args);
    let out = std::fs::File::create(stage.sandbox.root().join(into)).unwrap();
    command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out).spawn().unwrap()
}

/// Starts so many at once; one runs, the others say who does.
fn one_of(stage: &Stage, commands: Vec<Command>) {
    let mut children: Vec<_> = commands
        .into_iter()
        .enumerate()
        .map(|(number, mut command)| {
            let out = std::fs::File::create(stage.sandbox.root().join(format!("out-{number}"))).unwrap();
            command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out);
            command.spawn().unwrap()
        })
        .collect();
    let mut ended = vec![None; children.len()];
    poll::until("all but one to end", PLENTY, || {
        for (child, end) in children.iter_mut().zip(&mut ended) {
            *end = end.or(child.try_wait().unwrap());
        }
        (ended.iter().flatten().count() >= ended.len() - 1).then_some(())
    })
    .unwrap();
    let runs: Vec<u32> =
        children.iter().zip(&ended).filter(|(_, end)| end.is_none()).map(|(child, _)| child.id()).collect();
    assert_eq!(runs.len(), 1, "all of them ended");
    for (number, end) in ended.iter().enumerate().filter_map(|(number, end)| Some((number, (*end)?))) {
        let said = std::fs::read_to_string(stage.sandbox.root().join(format!("out-{number}"))).unwrap();
        assert_eq!(end.code(), Some(1), "{said}");
        assert!(said.contains(&format!("process {}, run ", runs[0])), "{said}");
    }
    stage.write(".git/go", "now");
    for mut child in children {
        child.wait().unwrap();
    }
    assert_eq!(stage.read(".git/starts").lines().count(), 1, "more than one agent ran");
}

const WAITS: &str = "echo start >> .git/starts; until [ -e .git/go ]; do sleep 0.05; done; exit 3";

#[test]
fn l1_of_simultaneous_starts_in_one_work_tree_one_runs_whatever_path_leads_there() {
    let stage = Stage::with_plan();
    stage.client_does(WAITS);
    std::fs::create_dir(stage.path("below")).unwrap();
    let link = stage.sandbox.root().join("link");
    std::os::unix::fs::symlink(stage.sandbox.project(), &link).unwrap();
    let folders = [stage.sandbox.project(), stage.path("below"), link.clone(), link.join("below")];
    let commands = folders.iter().map(|folder| {
        let mut command = stage.command(&["loop", "build"]);
        command.current_dir(folder);
        command
    });
    one_of(&stage, commands.collect());
}

#[test]
fn l9_of_simultaneous_resumes_one_runs() {
    let stage = Stage::with_plan();
    stage.client_does("exit 3");
    assert_eq!(stage.build(&[]).code(), Some(20));
    stage.client_does(WAITS);
    one_of(&stage, (0..3).map(|_| stage.command(&["loop", "build", "--resume"])).collect());
}

/// The lock dies with the loop, even where its agent and hooks live on.
#[test]
fn l9_no_lock_outlives_a_loop_that_was_killed() {
    let stage = Stage::with_plan();
    stage.client_does("touch .git/begun; exec sleep 600");
    let mut going = spawn(&stage, &["loop", "build"], "out");
    poll::until("the agent", PLENTY, || stage.path(".git/begun").exists().then_some(())).unwrap();
    going.kill().unwrap();
    going.wait().unwrap();
    stage.client_does(&format!("{WORK} {FINE}"));
    assert_eq!(stage.build(&[]).code(), Some(0));
}

#[test]
fn l1_where_no_lock_can_be_had_that_is_said_and_nothing_starts() {
    let stage = Stage::with_plan();
    records(&stage);
    std::fs::write(stage.sandbox.taut_home().join("loops"), "").unwrap();
    let done = stage.build(&[]);
    assert!(done.code() == Some(1) && done.stderr_text().contains("cannot be locked"), "{}", done.stderr_text());
    assert!(!ran(&stage));
}

#[test]
fn l1_with_neither_plan_nor_tasks_nothing_starts() {
    let stage = Stage::with_plan();
    stage.git(&["rm", "-q", "IMPLEMENTATION_PLAN.md"]);
    records(&stage);
    for args in [&[][..], &["--source", "plan"], &["--source", "queue"]] {
        let done = stage.build(args);
        let said = done.stderr_text();
        assert_eq!(done.code(), Some(2), "{args:?}: {said}");
        for way in ["taut loop plan", "taut task create", "taut task import"] {
            assert!(said.contains(way), "{args:?}: {said}");
        }
        assert!(!ran(&stage));
    }
    assert_eq!(stage.sandbox.taut(&["loop", "plan", "-n", "1"], b"").unwrap().code(), Some(10), "a plan needs none");
    // A plan without boxes is a plan.
    stage.write("IMPLEMENTATION_PLAN.md", "Make it better.\n");
    assert_eq!(stage.build(&["-n", "1", "--idle-iterations", "0"]).code(), Some(10));
}

#[test]
fn l5_a_queue_whose_tasks_are_all_done_is_complete_and_not_missing() {
    let stage = Stage::with_plan();
    stage.git(&["rm", "-q", "IMPLEMENTATION_PLAN.md"]);
    stage.task(&["create", "t1", "do it"]);
    stage.client_does("taut task claim >/dev/null && taut task done t1");
    assert_eq!(summary(&stage.build(&[]))["finish"], "complete");
    let again = stage.build(&[]);
    assert_eq!((again.code(), summary(&again)["iterations"].as_u64()), (Some(0), Some(0)), "{}", again.stderr_text());
}

#[test]
fn l1_a_dry_run_names_what_would_run_and_with_which_limits() {
    let stage = Stage::with_plan();
    records(&stage);
    put_program(&stage.path(".fresher/hooks/started"), "#!/bin/bash\n");
    stage.write(".taut/config.toml", "[loop]\nverify = \"make check\"\npermissions = \"edits\"\nmax_cost = 3.0\n");
    let show = |args: &[&str]| {
        let line: Vec<&str> = ["loop", "build", "--dry-run"].iter().chain(args).copied().collect();
        stage.succeed(&line)
    };
    let said = show(&[]);
    assert!(said.contains(".fresher/hooks/started (not trusted: they would not run)"), "{said}");
    assert!(said.contains("these do not hold: ") && said.contains("verify = make check"), "{said}");
    stage.sandbox.trust_project().unwrap();
    let said = show(&["-n", "4", "--max-time", "8h"]);
    for line in [
        "hooks: ",
        ".fresher/hooks/started\n",
        "permissions: edits\n",
        "verify: make check\n",
        "workers: 1\n",
        "limits: 4 iterations, 28800s in all, 86400s in any case, $3.00, 1 failures in a row, 1 iterations without a change",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains(".taut/hooks") && !said.contains("goes on with"), "{said}");
    stage.client_does("exit 3");
    stage.build(&[]);
    let said = show(&["--resume", "--json"]);
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((said["hooks_run"].as_bool(), said["verify"].as_str()), (Some(true), Some("make check")));
    assert_eq!(said["resumes"].as_str().map(str::len), Some(36), "{said}");
    assert!(!ran(&stage));
}

/// Nothing depends on it, but it looks after what a loop leaves.
#[test]
fn l7_the_loop_starts_the_daemon_unless_none_is_wanted() {
    for wanted in [true, false] {
        let stage = Stage::new();
        stage.write("IMPLEMENTATION_PLAN.md", "- [ ] a\n");
        stage.git(&["add", "-A"]);
        stage.git(&["commit", "-qm", "plan"]);
        stage.client_does(&format!("{WORK} {FINE}"));
        let none = if wanted { "0" } else { "1" };
        let done = stage.build_with(&[], &[("TAUT_NO_DAEMON", none)]);
        assert_eq!(done.code(), Some(0), "{}", done.stderr_text());
        if wanted {
            poll::until("the daemon", PLENTY, || stage.daemon_pid()).unwrap();
        } else {
            assert_eq!(stage.daemon_pid(), None);
        }
    }
}

/// What a project holds becomes what an agent is told; what is outside of it does not.
#[test]
fn g11_a_prompt_that_leads_out_of_the_project_is_refused_and_one_that_is_named_is_not() {
    use std::os::unix::fs::symlink;
    for (name, folder) in [("PROMPT.building.md", false), (".taut/PROMPT.building.md", false), (".taut", true)] {
        let stage = Stage::with_plan();
        records(&stage);
        let out = stage.sandbox.root().join("elsewhere");
        std::fs::create_dir_all(&out).unwrap();
        std::fs::write(out.join("PROMPT.building.md"), "a secret of somebody\n").unwrap();
        let to = if folder { out.clone() } else { out.join("PROMPT.building.md") };
        std::fs::create_dir_all(stage.path(name).parent().unwrap()).unwrap();
        symlink(&to, stage.path(name)).unwrap();
        for more in [&[][..], &["--workers", "2", "--source", "plan"], &["--dry-run"]] {
            let done = stage.taut(&[&["loop", "build", "-n", "1"], more].concat());
            let said = done.stderr_text();
            assert_eq!(done.code(), Some(1), "{name} {more:?}: {said}");
            assert!(said.contains("PROMPT.building.md") && said.contains("--prompt") && !ran(&stage), "{name}: {said}");
        }
        if !folder {
            let named = stage.taut(&["loop", "build", "-n", "1", "--prompt", name]);
            assert!(ran(&stage) && stage.read(".git/args").contains("a secret"), "{}", named.stderr_text());
        }
    }
    // One that leads to another file of the same project is fine.
    let stage = Stage::with_plan();
    records(&stage);
    stage.write("prompts/mine.md", "a prompt of ours\n");
    symlink("prompts/mine.md", stage.path("PROMPT.building.md")).unwrap();
    stage.build(&["-n", "1"]);
    assert!(stage.read(".git/args").contains("a prompt of ours"));
}

#[test]
fn g11_logs_of_a_project_that_nobody_trusts_are_not_written_outside_of_it() {
    use std::os::unix::fs::symlink;
    for (name, below) in [(".taut/logs", ""), (".taut", ""), (".taut/logs", "not/there/yet")] {
        let stage = Stage::with_plan();
        records(&stage);
        let out = stage.sandbox.root().join("elsewhere");
        std::fs::create_dir_all(&out).unwrap();
        std::fs::create_dir_all(stage.path(name).parent().unwrap()).unwrap();
        symlink(out.join(below), stage.path(name)).unwrap();
        let build = ["loop", "build", "--json", "-n", "1"];
        let done = stage.taut(&build);
        let said = done.stderr_text();
        assert_eq!(done.code(), Some(1), "{name}: {said}");
        assert!(said.contains(".taut/logs") && said.contains("taut trust") && !ran(&stage), "{name}: {said}");
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0, "{name}");
        // Whoever names it means it.
        if below.is_empty() {
            let mut command = stage.command(&build);
            command.env("FRESHER_LOG_DIR", ".taut/logs");
            let done = testkit::process::run(command, b"", PLENTY).unwrap();
            assert!(ran(&stage) && std::fs::read_dir(&out).unwrap().count() > 0, "{name}: {}", done.stderr_text());
        }
    }
}
