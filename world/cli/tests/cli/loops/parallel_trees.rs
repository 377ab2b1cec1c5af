//! Two work trees of one project, one queue: a blocker that was done in the other comes along.

use super::FINE;
use super::parallel::{CLAIM, is_cleared_away, of_task, with_tasks, writes_its_file};
use testkit::process;
use testkit::stage::summary;

#[test]
fn l11_a_blocker_that_another_work_tree_merged_is_taken_in_first() {
    let stage = with_tasks(&["base"]);
    stage.task(&["create", "top", "on it", "--deps", "base"]);
    let other = stage.sandbox.root().join("other");
    stage.git(&["worktree", "add", "-q", "-b", "side", other.to_str().unwrap()]);
    // The first loop does the blocker alone, and is stopped by its limit.
    stage.client_does(&writes_its_file());
    let done = stage.build(&["--workers", "2", "-n", "1"]);
    assert_eq!(
        (stage.show("base")["s"].as_str(), stage.show("top")["s"].as_str()),
        (Some("done"), Some("open")),
        "{}",
        done.stderr_text()
    );
    stage.client_does(&format!(
        "{CLAIM}; [ -e base.txt ] || exit 1; echo $id > $id.txt; git add -A; git commit -qm \"$id\"; taut task done $id; {FINE}"
    ));
    let mut command = stage.command(&["loop", "build", "--json", "--workers", "2"]);
    command.current_dir(&other);
    let done = process::run(command, b"", std::time::Duration::from_secs(60)).unwrap();
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    for file in ["base.txt", "top.txt"] {
        assert!(other.join(file).exists(), "{file} is on the other branch");
    }
    assert!(!stage.path("top.txt").exists(), "this branch is not that loop's");
    stage.git(&["worktree", "remove", "--force", other.to_str().unwrap()]);
    is_cleared_away(&stage);
}

#[test]
fn l11_a_task_without_a_commit_of_its_own_is_not_said_to_be_merged() {
    let stage = with_tasks(&["t1", "t2"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    // The other one is merged while it looks at things.
    stage.client_does(&format!(
        "{CLAIM}; if [ $id = t1 ]; then until grep -q 'merged t2' {root}/out.txt; do sleep 0.05; done; \
         else echo $id > $id.txt; git add -A; git commit -qm $id; fi; taut task done $id; {FINE}"
    ));
    let mut going = stage.start_loop(&["loop", "build", "--workers", "2", "--verify", "true"]);
    assert_eq!(going.end(), Some(0), "{}", going.printed());
    let told = going.printed();
    assert!(told.contains("t1: done, nothing to merge") && !told.contains("t1: merged"), "{told}");
    assert!(told.contains("t2: merged"), "{told}");
    is_cleared_away(&stage);
}

/// Nothing is committed, and its own work tree alone has what the verification asks for.
#[test]
fn l11_l10_what_git_does_not_look_at_proves_nothing() {
    for (does, verify) in [
        ("echo x > out.gen", "test -e out.gen"),
        ("git update-index --assume-unchanged hidden.txt; echo good > hidden.txt", "grep -q good hidden.txt"),
        ("git update-index --skip-worktree hidden.txt; echo good > hidden.txt", "grep -q good hidden.txt"),
    ] {
        let stage = with_tasks(&["t1"]);
        stage.write(".gitignore", "*.gen\n");
        stage.write("hidden.txt", "bad\n");
        stage.git(&["add", "-A"]);
        stage.git(&["commit", "-qm", "more"]);
        stage.client_does(&format!("{CLAIM}; {does}; taut task done $id; {FINE}"));
        let done = stage.build(&["--workers", "2", "--verify", verify, "-n", "1"]);
        let task = stage.show("t1");
        assert_ne!(task["s"], "done", "{does}: {}", done.stderr_text());
        let why = task["fail_reason"].as_str().unwrap();
        assert!(
            why.contains("nothing was committed")
                && why.contains(if does.contains("gen") { "out.gen" } else { "hidden.txt" }),
            "{why}"
        );
    }
    // Without a verification it counts, and that is said.
    let stage = with_tasks(&["t1"]);
    stage.write(".gitignore", "*.gen\n");
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "more"]);
    stage.client_does(&format!("{CLAIM}; echo x > out.gen; taut task done $id; {FINE}"));
    let done = stage.build(&["--workers", "2"]);
    let told = of_task(&done, "t1");
    assert_eq!((told["nothing_to_merge"].as_bool(), &told["merged"]), (Some(true), &serde_json::Value::Null), "{told}");
    assert!(told["why"].as_str().unwrap().contains("out.gen"), "{told}");
    is_cleared_away(&stage);
}

#[test]
fn l11_a_repository_within_the_work_tree_is_refused_with_words() {
    for commits in ["", "git add -A; git commit -qm lib;"] {
        let stage = with_tasks(&["t1"]);
        let head = stage.git(&["rev-parse", "HEAD"]);
        stage.client_does(&format!(
            "{CLAIM}; git init -q lib; (cd lib; echo x > x.txt; git add x.txt; git -c user.name=a -c user.email=a@b commit -qm x); \
             {commits} taut task done $id; {FINE}"
        ));
        stage.build(&["--workers", "2", "-n", "1"]);
        let task = stage.show("t1");
        let why = task["fail_reason"].as_str().unwrap_or_else(|| panic!("{task}"));
        assert!(why.contains("lib is a repository of its own"), "{why}");
        assert_eq!((task["s"].as_str(), stage.git(&["rev-parse", "HEAD"])), (Some("open"), head));
    }
}

/// The person has a change that stands in the way, and commits it while the loop goes on.
#[test]
fn l11_the_summary_lists_what_the_run_made_and_what_is_still_there() {
    let stage = with_tasks(&["t1", "t3"]);
    stage.task(&["create", "t2", "after it", "--deps", "t1"]);
    stage.write("a.txt", "a\n");
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "a"]);
    stage.write("a.txt", "mine\n");
    let mine = stage.path("").to_string_lossy().into_owned();
    stage.client_does(&format!(
        "{CLAIM}; case $id in t3) taut task fail t3 --reason no; exit 1;; t2) (cd {mine}; git commit -qam mine);; esac; \
         echo $id > $([ $id = t1 ] && echo a || echo b).txt; git add -A; git commit -qm $id; taut task done $id; {FINE}"
    ));
    let done = stage.build(&["--workers", "2", "-n", "3"]);
    let told = summary(&done);
    let subjects: Vec<&str> =
        told["commit_subjects"].as_array().unwrap().iter().filter_map(|one| one["subject"].as_str()).collect();
    assert!(subjects.contains(&"t1") && subjects.contains(&"t2"), "{told} {}", done.stderr_text());
    assert!(!subjects.contains(&"mine"), "that is the person's own: {told}");
    let own = stage.git(&["rev-parse", "--abbrev-ref", "HEAD"]);
    let branches: Vec<&str> = told["branches"].as_array().unwrap().iter().filter_map(|one| one.as_str()).collect();
    let aside = branches.iter().find(|name| name.ends_with("/_merged")).unwrap_or_else(|| panic!("{told}"));
    for branch in &branches {
        stage.git(&["rev-parse", "--verify", "-q", branch]);
    }
    assert!(branches.contains(&own.trim()), "{told}");
    assert!(told["why"].as_str().unwrap().contains("merged beside your branch"), "{told}");
    assert_eq!(of_task(&done, "t3")["branch"], serde_json::Value::Null, "it has no commit");
    let log = stage.git(&["log", "--format=%s", aside]);
    assert!(log.contains("t2"), "{log}");
}

/// The loop that met the conflict has ended at its limit, and the task of the conflict waits for it.
#[test]
fn l11_a_conflict_is_solved_in_the_work_tree_it_is_about_and_in_no_other() {
    let stage = with_tasks(&["t1", "t2"]);
    let other = stage.sandbox.root().join("other");
    stage.write("shared.txt", "nothing\n");
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "shared"]);
    stage.git(&["worktree", "add", "-q", "-b", "side", other.to_str().unwrap()]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!(
        "{CLAIM}; case $id in merge-*) echo $PWD >> {root}/asked; taut task release $id; exit;; t3) ;; *)
         echo x >> {root}/starts; until [ $(wc -l < {root}/starts) -ge 2 ]; do sleep 0.05; done;; esac
         echo $id > $([ $id = t3 ] && echo own || echo shared).txt; git add -A; git commit -qm \"$id\"; taut task done $id; {FINE}"
    ));
    stage.build(&["--workers", "2", "-n", "3"]);
    stage.task(&["create", "t3", "anything else"]);
    let listed = stage.task(&["list", "--json"]).stdout_text();
    assert!(listed.contains("merge-t"), "its conflict waits: {listed}");
    let mut command = stage.command(&["loop", "build", "--json", "--workers", "2", "-n", "1"]);
    command.current_dir(&other);
    let done = process::run(command, b"", std::time::Duration::from_secs(60)).unwrap();
    assert_eq!(summary(&done)["finish"], "max_iterations", "{}", done.stderr_text());
    assert_eq!(stage.show("t3")["s"], "done", "{}", done.stderr_text());
    let asked = std::fs::read_to_string(stage.sandbox.root().join("asked")).unwrap_or_default();
    assert!(asked.lines().count() <= 1, "{asked}");
}
