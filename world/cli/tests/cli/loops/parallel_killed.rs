//! A coordinator killed with -9: nothing is done twice, nothing is lost.

use super::FINE;
use super::parallel::{CLAIM, is_cleared_away, with_tasks, writes_its_file};
use testkit::poll;
use testkit::stage::{PLENTY, Stage, lives, summary};

#[test]
fn l11_l9_workers_of_a_killed_coordinator_stop_and_a_resume_goes_on() {
    let stage = with_tasks(&["t1", "t2", "t3"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!(
        "[ -e {root}/go ] || {{ echo half > half-$TAUT_TASK.txt; git add -A; git commit -qm half; echo $$ >> {root}/pids; sleep 600; }}; \
         {}",
        writes_its_file()
    ));
    let mut going = stage.start_loop(&["loop", "build", "--workers", "2"]);
    let pids = stage.sandbox.root().join("pids");
    let read = || std::fs::read_to_string(&pids).ok().filter(|text| text.lines().count() == 2);
    let agents = poll::until("both agents", PLENTY, read).unwrap();
    going.child.kill().unwrap();
    going.child.wait().unwrap();
    std::fs::write(stage.sandbox.root().join("go"), "now").unwrap();
    poll::until("the agents to end", PLENTY, || agents.lines().all(|pid| !lives(pid)).then_some(())).unwrap();
    let done = stage.build(&["--workers", "2", "--resume"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    for slug in ["t1", "t2", "t3"] {
        assert_eq!((stage.show(slug)["s"].as_str(), stage.read(&format!("{slug}.txt")).trim()), (Some("done"), slug));
    }
    for slug in ["t1", "t2"] {
        assert_eq!(stage.show(slug)["attempt"], 2);
        assert_eq!(stage.read(&format!("half-{slug}.txt")).trim(), "half", "the next attempt began on the kept branch");
    }
    is_cleared_away(&stage);
}

/// It is killed while the verification of a merge runs, which is after its worker has ended.
#[test]
fn l11_l9_a_proposal_that_was_not_merged_yet_is_merged_by_whoever_goes_on() {
    for more in [&["--resume"][..], &[]] {
        let stage = with_tasks(&["t1", "t2"]);
        let root = stage.sandbox.root().to_string_lossy().into_owned();
        let both = format!("echo x >> {root}/starts; until [ $(wc -l < {root}/starts) -ge 2 ]; do sleep 0.05; done;");
        stage.client_does(&format!("{both} echo $TAUT_TASK >> {root}/worked; {}", writes_its_file()));
        // Both trees have one file, the merged one has two.
        let verify =
            format!("[ -e {root}/go ] || [ ! -e t1.txt ] || [ ! -e t2.txt ] || {{ touch {root}/merging; sleep 600; }}");
        let mut going = stage.start_loop(&["loop", "build", "--workers", "2", "--verify", &verify]);
        let merging = stage.sandbox.root().join("merging");
        poll::until("the second merge", PLENTY, || merging.exists().then_some(())).unwrap();
        going.child.kill().unwrap();
        going.child.wait().unwrap();
        std::fs::write(stage.sandbox.root().join("go"), "now").unwrap();
        let args = [&["--workers", "2", "--verify", &verify][..], more].concat();
        let done = stage.build(&args);
        assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
        assert_eq!((stage.read("t1.txt").trim(), stage.read("t2.txt").trim()), ("t1", "t2"));
        assert_eq!((stage.show("t1")["attempt"].as_i64(), stage.show("t2")["attempt"].as_i64()), (Some(1), Some(1)));
        let worked = std::fs::read_to_string(stage.sandbox.root().join("worked")).unwrap();
        assert_eq!(worked.lines().count(), 2, "nobody did it again: {worked}");
        is_cleared_away(&stage);
    }
}

/// Killed again and again at moments that nobody chose.
#[test]
fn l11_l9_killed_at_many_points_every_task_lands_once() {
    let stage = with_tasks(&["t1", "t2", "t3", "t4"]);
    stage.task(&["create", "t5", "last", "--deps", "t1,t2"]);
    stage.client_does(&writes_its_file());
    // While an agent works, when one has ended, when one is merged, and when the next has begun after that.
    for (kill, sign) in ["iteration 1 begins", " ended: ", "merged ", "merged "].into_iter().enumerate() {
        let resume: &[&str] = if kill == 0 { &[] } else { &["--resume"] };
        let mut going = stage.start_loop(&[&["loop", "build", "--workers", "2"][..], resume].concat());
        poll::until(sign, PLENTY, || {
            (going.printed().contains(sign) || going.child.try_wait().unwrap().is_some()).then_some(())
        })
        .unwrap();
        let _ = going.child.kill();
        going.child.wait().unwrap();
    }
    let mut done = stage.build(&["--workers", "2", "--resume"]);
    if done.code() == Some(2) {
        // It had come to its end before the last kill.
        done = stage.build(&["--workers", "2", "--source", "queue"]);
    }
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    for slug in ["t1", "t2", "t3", "t4", "t5"] {
        assert_eq!((stage.show(slug)["s"].as_str(), stage.read(&format!("{slug}.txt")).trim()), (Some("done"), slug));
        let log = stage.git(&["log", "--format=%s", "--", &format!("{slug}.txt")]);
        assert_eq!(log.lines().count(), 1, "{slug} landed once: {log}");
    }
    is_cleared_away(&stage);
}

/// Two agents that said done and whose coordinator is killed while the workers prove it.
fn killed_while_proving(stage: &Stage, does: &str, passes: &str) -> String {
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!("{CLAIM}; {does}; taut task done $id; {FINE}"));
    let verify = format!("[ -e {root}/go ] || {{ echo x >> {root}/proving; sleep 600; }}; {passes}");
    let mut going = stage.start_loop(&["loop", "build", "--workers", "2", "--verify", &verify]);
    let proving = stage.sandbox.root().join("proving");
    let both = || std::fs::read_to_string(&proving).ok().filter(|text| text.lines().count() == 2);
    poll::until("both to be proven", PLENTY, both).unwrap_or_else(|_| panic!("{}", going.printed()));
    going.child.kill().unwrap();
    going.child.wait().unwrap();
    std::fs::write(stage.sandbox.root().join("go"), "now").unwrap();
    verify
}

#[test]
fn l11_l9_work_on_another_branch_than_the_tasks_is_not_lost_when_the_coordinator_is_killed() {
    let stage = with_tasks(&["t1", "t2"]);
    for file in ["t1.txt", "t2.txt"] {
        stage.write(file, "before\n");
    }
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "both"]);
    // One leaves it uncommitted, the other commits it there and goes on.
    let does = "git checkout -q -b mine-$id; echo $id > $id.txt; \
         [ $id = t1 ] || { git commit -qam \"$id\"; git checkout -q --detach; echo more >> $id.txt; echo new > new.txt; }";
    let verify = killed_while_proving(&stage, does, "true");
    let done = stage.build(&["--workers", "2", "--resume", "--verify", &verify]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!(
        [stage.read("t1.txt"), stage.read("t2.txt"), stage.read("new.txt")],
        ["t1\n", "t2\nmore\n", "new\n"],
        "{}",
        done.stderr_text()
    );
    assert_eq!((stage.show("t1")["attempt"].as_i64(), stage.show("t2")["attempt"].as_i64()), (Some(1), Some(1)));
}

#[test]
fn l11_l9_a_task_whose_work_tree_is_gone_comes_back_unless_its_branch_holds_what_passes() {
    let stage = with_tasks(&["t1", "t2"]);
    // One has committed its work, the other has not; the verification is content with either.
    let does = "echo $id > $id.txt; [ $id = t1 ] || { git add -A; git commit -qm \"$id\"; }";
    let verify = killed_while_proving(&stage, does, "true");
    std::fs::remove_dir_all(stage.sandbox.taut_home().join("worktrees")).unwrap();
    let done = stage.build(&["--workers", "2", "--resume", "--verify", &verify]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!((stage.read("t1.txt").trim(), stage.read("t2.txt").trim()), ("t1", "t2"), "{}", done.stderr_text());
    let (one, two) = (stage.show("t1"), stage.show("t2"));
    assert_eq!((one["attempt"].as_i64(), two["attempt"].as_i64()), (Some(2), Some(1)), "{one} {two}");
    assert!(one["fail_reason"].as_str().unwrap().contains("work tree is gone"), "{one}");
    is_cleared_away(&stage);
}

/// The kill came after its branch was removed, and before the rest was.
#[test]
fn l11_l9_what_a_kill_kept_from_being_cleared_away_is_cleared_away_by_the_next_run() {
    let stage = with_tasks(&["t1"]);
    stage.client_does(&writes_its_file());
    assert_eq!(stage.build(&["--workers", "2"]).code(), Some(0));
    let folder = stage.sandbox.taut_home().join("worktrees/gone/t1");
    std::fs::create_dir_all(folder.join("left")).unwrap();
    let conn = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    let left = "UPDATE task_branches SET state = 'merging', branch = 'taut/gone/t1', folder = ?1";
    assert_eq!(conn.execute(left, [folder.to_str().unwrap()]).unwrap(), 1);
    stage.task(&["create", "t2", "do it"]);
    let done = stage.build(&["--workers", "2"]);
    assert_eq!((summary(&done)["finish"].as_str(), stage.show("t1")["attempt"].as_i64()), (Some("complete"), Some(1)));
    let states: String = conn.query_row("SELECT group_concat(state) FROM task_branches", [], |row| row.get(0)).unwrap();
    assert_eq!(states, "merged");
    is_cleared_away(&stage);
}

#[test]
fn l11_l9_a_loop_with_one_worker_says_that_finished_branches_wait() {
    let stage = with_tasks(&["t1", "t2"]);
    killed_while_proving(&stage, "echo $id > $id.txt; git add -A; git commit -qm \"$id\"", "true");
    let told = stage.build(&[]);
    assert_eq!(told.code(), Some(1), "{}", told.stderr_text());
    for part in ["2 finished branches wait", "t1, t2", "taut loop resume "] {
        assert!(told.stderr_text().contains(part), "{part}: {}", told.stderr_text());
    }
    let done = stage.taut(&["loop", "resume", "--json"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!((stage.read("t1.txt").trim(), stage.read("t2.txt").trim()), ("t1", "t2"));
    is_cleared_away(&stage);
}
