//! Several workers on one queue: their work comes together on the loop's branch.

use super::FINE;
use serde_json::Value;
use testkit::poll;
use testkit::process::Finished;
use testkit::stage::{PLENTY, Stage, summary};

/// Takes the task it was started for, and knows its name.
pub(super) const CLAIM: &str = "id=$(taut task claim --json | grep -o '\"id\":\"[^\"]*\"' | head -1 | cut -d'\"' -f4)";

/// Writes a file named after its task, commits it and says done.
pub(super) fn writes_its_file() -> String {
    format!("{CLAIM}; echo $id > $id.txt; git add -A; git commit -qm \"$id\"; taut task done $id; {FINE}")
}

/// What is said of one task at the end.
pub(super) fn of_task(done: &Finished, slug: &str) -> Value {
    let text = done.stdout_text();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .into_iter()
        .find(|value| value["message"] == "task_ended" && value["task"] == slug)
        .unwrap_or_else(|| panic!("{slug}: {text}"))
}

pub(super) fn with_tasks(slugs: &[&str]) -> Stage {
    let stage = Stage::with_plan();
    for slug in slugs {
        stage.task(&["create", slug, "do it"]);
    }
    stage
}

/// No branch, work tree or folder of the loop is left.
pub(super) fn is_cleared_away(stage: &Stage) {
    assert_eq!(stage.git(&["branch", "--list", "taut/*"]), "");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    let left = std::fs::read_dir(stage.sandbox.taut_home().join("worktrees")).map(Iterator::count).unwrap_or_default();
    assert_eq!(left, 0, "folders of work trees are left");
}

#[test]
fn l11_work_of_several_workers_is_merged_blockers_first_and_nothing_is_left_behind() {
    let stage = with_tasks(&["t1", "t2", "t3"]);
    stage.task(&["create", "t4", "last", "--deps", "t1,t2"]);
    stage.client_does(&format!(
        "{CLAIM}; [ $id != t4 ] || {{ [ -e t1.txt ] && [ -e t2.txt ]; }} || exit 1; \
         echo $id > $id.txt; git add -A; git commit -qm \"$id\"; taut task done $id; {FINE}"
    ));
    let head = stage.git(&["rev-parse", "HEAD"]);
    let done = stage.build(&["--workers", "2"]);
    let told = summary(&done);
    assert_eq!((told["finish"].as_str(), done.code()), (Some("complete"), Some(0)), "{}", done.stderr_text());
    assert_eq!((told["iterations"].as_u64(), told["cost_usd"].as_f64()), (Some(4), Some(1.0)), "{told}");
    for slug in ["t1", "t2", "t3", "t4"] {
        assert_eq!(stage.read(&format!("{slug}.txt")).trim(), slug, "the person's own tree goes forward");
        assert_eq!((stage.show(slug)["s"].as_str(), stage.show(slug)["attempt"].as_i64()), (Some("done"), Some(1)));
        let told = of_task(&done, slug);
        let commit = told["merged"].as_str().unwrap();
        assert_eq!(stage.git(&["log", "-1", "--format=%s", commit]).trim(), slug);
        assert_eq!(
            (told["tries"].as_u64(), told["cost_usd"].as_f64(), &told["branch"]),
            (Some(1), Some(0.25), &Value::Null)
        );
    }
    assert_eq!(stage.git(&["log", "--format=%s", "-1"]).trim(), "t4");
    assert_eq!(stage.git(&["merge-base", "HEAD", head.trim()]), head, "the branch only went forward");
    assert_eq!(stage.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    is_cleared_away(&stage);
    assert!(
        done.stderr_text().lines().any(|line| line.starts_with("w1 t") && line.contains('│')),
        "{}",
        done.stderr_text()
    );
}

#[test]
fn l11_a_worker_is_given_its_own_task_alone() {
    let stage = with_tasks(&["t1", "t2"]);
    stage.client_does(&format!(
        "other=$([ $TAUT_TASK = t1 ] && echo t2 || echo t1); {CLAIM}; [ $id = $TAUT_TASK ] || exit 1; \
         taut task claim $other 2>> ../said-$id && exit 1; {}",
        writes_its_file()
    ));
    let done = stage.build(&["--workers", "2"]);
    assert_eq!(done.code(), Some(0), "{}", done.stderr_text());
    assert_eq!((stage.show("t1")["attempt"].as_i64(), stage.show("t2")["attempt"].as_i64()), (Some(1), Some(1)));
}

#[test]
fn l11_what_the_agent_left_uncommitted_is_merged_as_it_was_proven() {
    let stage = with_tasks(&["t1", "t2"]);
    stage.client_does(&format!("{CLAIM}; echo $id > $id.txt; taut task done $id; {FINE}"));
    let done = stage.build(&["--workers", "2", "--verify", "[ -e t1.txt ] || [ -e t2.txt ]"]);
    assert_eq!(done.code(), Some(0), "{}", done.stderr_text());
    assert_eq!((stage.read("t1.txt").trim(), stage.read("t2.txt").trim()), ("t1", "t2"));
    assert!(stage.git(&["log", "--format=%s"]).contains("t1: left uncommitted by the agent"));
}

/// Each passes on its own, and both together do not.
#[test]
fn l11_l10_what_lands_is_proven_as_it_lands_and_its_failure_goes_to_the_next_attempt() {
    let stage = with_tasks(&["t1", "t2"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!(
        "{CLAIM}; echo x >> {root}/starts; until [ $(wc -l < {root}/starts) -ge 2 ]; do sleep 0.05; done; \
         if [ -e t1.txt ] || [ -e t2.txt ]; then touch both-are-fine; fi; {}",
        writes_its_file()
    ));
    let verify = "if [ -e t1.txt ] && [ -e t2.txt ] && [ ! -e both-are-fine ]; then echo they clash; exit 1; fi";
    let done = stage.build(&["--workers", "2", "--verify", verify]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    let (one, two) = (stage.show("t1"), stage.show("t2"));
    let again = if one["attempt"] == 2 { &one } else { &two };
    assert_eq!(again["attempt"], 2, "{one} {two}");
    assert!(again["fail_reason"].as_str().unwrap().contains("they clash"), "{again}");
    is_cleared_away(&stage);
}

#[test]
fn l11_a_worker_that_fails_does_not_end_the_others_and_its_branch_waits_for_the_next_attempt() {
    let stage = with_tasks(&["bad", "good"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!(
        "{CLAIM}; if [ $id = bad ] && [ ! -e {root}/once ]; then touch {root}/once; echo half > half.txt; \
         git add -A; git commit -qm half; taut task fail bad --reason 'no idea yet'; exit 1; fi; \
         [ $id != bad ] || [ -e half.txt ] || exit 1; {}",
        writes_its_file()
    ));
    let done = stage.build(&["--workers", "2"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!((stage.show("good")["attempt"].as_i64(), stage.show("bad")["attempt"].as_i64()), (Some(1), Some(2)));
    assert_eq!(stage.read("half.txt").trim(), "half", "what the first attempt left is not lost");
    is_cleared_away(&stage);
}

#[test]
fn l11_tasks_that_fail_alike_end_all_of_it() {
    let stage = with_tasks(&["t1", "t2", "t3", "t4", "t5"]);
    stage.client_does("echo 'no such tool' >&2; exit 7");
    let done = stage.build(&["--workers", "2", "--max-failures", "1"]);
    assert_eq!((summary(&done)["finish"].as_str(), done.code()), (Some("error"), Some(20)), "{}", done.stderr_text());
    assert!(summary(&done)["why"].as_str().unwrap().contains("in a row failed alike"), "{}", summary(&done));
    assert!(stage.task(&["agent", "list", "--json"]).stdout_text().lines().all(|line| line.contains("stopped")));
}

#[test]
fn l11_hooks_of_the_whole_run_once_and_a_work_tree_is_set_up_once() {
    let stage = with_tasks(&["t1", "t2"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.loop_hook("started", &format!("echo started >> {root}/hooks"));
    stage.loop_hook("finished", &format!("echo $FRESHER_FINISH_TYPE $FRESHER_TOTAL_ITERATIONS >> {root}/hooks"));
    stage.write(".gitignore", ".taut/\n.env\n");
    stage.write(".env", "needed");
    stage.write(".taut/config.toml", "[loop]\nworkers = 2\nworktree_setup = \"cp $TAUT_MAIN_DIR/.env .env\"\n");
    stage.git(&["add", ".gitignore"]);
    stage.git(&["commit", "-qm", "ignore"]);
    stage.client_does(&format!("[ \"$(cat .env)\" = needed ] || exit 1; {}", writes_its_file()));
    let done = stage.build(&[]);
    assert_eq!(done.code(), Some(0), "{}", done.stderr_text());
    assert_eq!(std::fs::read_to_string(stage.sandbox.root().join("hooks")).unwrap(), "started\ncomplete 2\n");
    assert_eq!(stage.git(&["ls-files", ".env"]), "");
}

#[test]
fn l11_a_setup_that_fails_brings_the_task_back_with_its_words() {
    let stage = with_tasks(&["t1", "t2", "t3"]);
    let setup = "API_TOKEN=swordfishsetup77 true; echo $TAUT_MODE $TAUT_WORK ${GIT_INDEX_FILE-none}; exit 3";
    stage.write(".taut/config.toml", &format!("[loop]\nworktree_setup = {setup:?}\n"));
    stage.client_does("touch ../ran");
    let done = stage.build_with(&["--workers", "2"], &[("GIT_INDEX_FILE", "/nowhere/index")]);
    assert_eq!(done.code(), Some(20), "{}", done.stderr_text());
    let reason = stage.show("t1")["fail_reason"].as_str().unwrap().to_string();
    assert!(reason.contains("`API_TOKEN=[redacted] true; ") && reason.contains("` failed with 3:\n"), "{reason}");
    assert!(reason.ends_with("\nbuilding queue none"), "it is told what every command of a loop is: {reason}");
    assert!(!done.stderr_text().contains("swordfish"), "{}", done.stderr_text());
    is_cleared_away(&stage);
}

#[test]
fn l11_limits_are_those_of_the_whole() {
    let stage = with_tasks(&["t1", "t2", "t3", "t4", "t5", "t6"]);
    stage.client_does(&writes_its_file());
    let done = stage.build(&["--workers", "2", "--max-cost", "0.7"]);
    let told = summary(&done);
    assert_eq!((told["finish"].as_str(), done.code()), (Some("budget"), Some(13)), "{told} {}", done.stderr_text());
    assert!(told["iterations"].as_u64().unwrap() <= 4, "{told}");
    let stage = with_tasks(&["t1", "t2", "t3", "t4", "t5", "t6"]);
    stage.client_does(&writes_its_file());
    let done = stage.build(&["--workers", "2", "-n", "3"]);
    let told = summary(&done);
    assert_eq!((told["finish"].as_str(), done.code()), (Some("max_iterations"), Some(10)), "{told}");
    assert!((3..=4).contains(&told["iterations"].as_u64().unwrap()), "{told}");
}

#[test]
fn l11_ctrl_c_lets_every_worker_end_its_iteration_and_merges_what_they_proved() {
    let stage = with_tasks(&["t1", "t2", "t3"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!(
        "echo x >> {root}/starts; until [ -e {root}/go ]; do sleep 0.05; done; {}",
        writes_its_file()
    ));
    let mut going = stage.start_loop(&["loop", "build", "--workers", "2"]);
    let starts = stage.sandbox.root().join("starts");
    poll::until("both agents", PLENTY, || {
        std::fs::read_to_string(&starts).ok().filter(|text| text.lines().count() == 2)
    })
    .unwrap();
    going.signal(libc::SIGINT);
    poll::until("the word", PLENTY, || going.printed().contains("Ctrl+C again").then_some(())).unwrap();
    std::fs::write(stage.sandbox.root().join("go"), "now").unwrap();
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    assert_eq!(
        (stage.show("t1")["s"].as_str(), stage.show("t2")["s"].as_str()),
        (Some("done"), Some("done")),
        "{}",
        going.printed()
    );
    assert_eq!(stage.show("t3")["attempt"], 0);
    is_cleared_away(&stage);
}

#[test]
fn l11_the_second_ctrl_c_ends_every_worker_and_agent_and_their_tasks_come_back() {
    let stage = with_tasks(&["t1", "t2"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!("echo $$ >> {root}/pids; while :; do sleep 0.1; done"));
    let mut going = stage.start_loop(&["loop", "build", "--workers", "2"]);
    let pids = stage.sandbox.root().join("pids");
    let read = || std::fs::read_to_string(&pids).ok().filter(|text| text.lines().count() == 2);
    let agents = poll::until("both agents", PLENTY, read).unwrap();
    going.signal(libc::SIGINT);
    poll::until("the word", PLENTY, || going.printed().contains("Ctrl+C again").then_some(())).unwrap();
    going.signal(libc::SIGINT);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    assert!(agents.lines().all(|pid| !testkit::stage::lives(pid)));
    for slug in ["t1", "t2"] {
        assert_eq!((stage.show(slug)["s"].as_str(), stage.show(slug)["attempt"].as_i64()), (Some("open"), Some(1)));
    }
}
