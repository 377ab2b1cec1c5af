//! Several workers that come to an end: by a limit, by hand, by a login. What is proven lands, and a conflict waits.

use super::FINE;
use super::parallel::{CLAIM, is_cleared_away, with_tasks, writes_its_file};
use super::parallel_conflicts::{SOLVES, clashes, shared};
use testkit::poll;
use testkit::stage::{PLENTY, Stage, summary};

fn asked(stage: &Stage) -> Vec<String> {
    let text = std::fs::read_to_string(stage.sandbox.root().join("asked")).unwrap_or_default();
    text.lines().map(String::from).collect()
}

fn started(stage: &Stage) -> usize {
    std::fs::read_to_string(stage.sandbox.root().join("starts")).unwrap_or_default().lines().count()
}

#[test]
fn l11_a_conflict_that_is_found_at_the_end_is_left_for_the_next_run() {
    for (limit, code) in [(["-n", "2"], 10), (["--max-cost", "0.4"], 13)] {
        let stage = with_tasks(&["t1", "t2"]);
        clashes(&stage, &format!("{SOLVES}; {FINE}"));
        let done = stage.build(&[&["--workers", "2"][..], &limit].concat());
        assert_eq!(done.code(), Some(code), "{limit:?}: {}", done.stderr_text());
        assert_eq!(asked(&stage), Vec::<String>::new(), "nothing is begun at the end");
        let done = stage.build(&["--workers", "2"]);
        assert_eq!(summary(&done)["finish"], "complete", "{limit:?}: {}", done.stderr_text());
        assert_eq!((stage.read("shared.txt").as_str(), asked(&stage).len(), started(&stage)), ("t1\nt2\n", 1, 2));
        is_cleared_away(&stage);
    }
}

#[test]
fn l11_a_conflict_that_is_found_after_ctrl_c_does_not_keep_it_from_ending() {
    let stage = with_tasks(&["t1", "t2"]);
    shared(&stage);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!(
        "{CLAIM}; echo x >> {root}/starts; until [ $(wc -l < {root}/starts) -ge 2 ]; do sleep 0.05; done
         [ $id = t1 ] || until [ -e {root}/go ]; do sleep 0.05; done
         echo $id > shared.txt; git commit -qam \"$id\"; taut task done $id; {FINE}"
    ));
    let mut going = stage.start_loop(&["loop", "build", "--workers", "2"]);
    poll::until("the first merge", PLENTY, || going.printed().contains("merged t1").then_some(())).unwrap();
    going.signal(libc::SIGINT);
    poll::until("the word", PLENTY, || going.printed().contains("Ctrl+C again").then_some(())).unwrap();
    std::fs::write(stage.sandbox.root().join("go"), "now").unwrap();
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    assert!(going.printed().contains("the next run"), "{}", going.printed());
    assert_eq!((stage.show("t2")["s"].as_str(), stage.show("t2")["attempt"].as_i64()), (Some("active"), Some(1)));
}

/// The agent that solves it is killed, and the lease of the task it is about runs out.
#[test]
fn l11_a_task_and_the_task_of_its_conflict_are_not_begun_in_one_work_tree() {
    let stage = with_tasks(&["t1", "t2"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    clashes(&stage, &format!("[ -e {root}/go ] || {{ touch {root}/solving; sleep 600; }}; {SOLVES}; {FINE}"));
    let mut going = stage.start_loop(&["loop", "build", "--workers", "2"]);
    let solving = stage.sandbox.root().join("solving");
    poll::until("the agent that solves it", PLENTY, || solving.exists().then_some(())).unwrap();
    going.signal(libc::SIGINT);
    poll::until("the word", PLENTY, || going.printed().contains("Ctrl+C again").then_some(())).unwrap();
    going.signal(libc::SIGINT);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    let conn = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    let lapsed = conn.execute("UPDATE tasks SET lease_until = 1 WHERE status = 'active'", []).unwrap();
    assert_eq!(lapsed, 1);
    drop(conn);
    std::fs::write(stage.sandbox.root().join("go"), "now").unwrap();
    let done = stage.build(&["--workers", "2"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!((stage.read("shared.txt").as_str(), asked(&stage).len(), started(&stage)), ("t1\nt2\n", 2, 2));
    assert!(!stage.task(&["list"]).stdout_text().contains("merge-merge"));
    is_cleared_away(&stage);
}

#[test]
fn l11_what_is_proven_lands_before_a_limit_ends_all_of_it() {
    let stage = with_tasks(&["t1", "t2"]);
    // It opens with the second: by then both have told what they cost.
    stage.task(&["create", "t3", "last", "--deps", "t1,t2"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!(
        "echo x >> {root}/starts; until [ $(wc -l < {root}/starts) -ge 2 ]; do sleep 0.05; done; {}",
        writes_its_file()
    ));
    // The merge of the second is proven once more, and is not through with that when the budget is spent.
    let verify = "[ ! -e t1.txt ] || [ ! -e t2.txt ] || sleep 2";
    let done = stage.build(&["--workers", "2", "--max-cost", "0.4", "--verify", verify]);
    assert_eq!((summary(&done)["finish"].as_str(), done.code()), (Some("budget"), Some(13)), "{}", done.stderr_text());
    for slug in ["t1", "t2"] {
        assert_eq!((stage.show(slug)["s"].as_str(), stage.read(&format!("{slug}.txt")).trim()), (Some("done"), slug));
    }
    assert_eq!(stage.show("t3")["attempt"], 0);
    is_cleared_away(&stage);
}

#[test]
fn l11_solutions_of_conflicts_land_one_after_the_other_and_none_is_refuted_by_another() {
    let slugs = ["t1", "t2", "t3", "t4", "t5"];
    let stage = with_tasks(&slugs);
    shared(&stage);
    stage.write(".taut/config.toml", "[loop]\nmerge_tries = 1\n");
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!(
        "{CLAIM}; case $id in merge-*) echo $id >> {root}/asked
           head=$(taut task show $id | grep -o 'git merge [0-9a-f]*' | head -1 | cut -d' ' -f3)
           git merge -q $head > /dev/null || true; sed -i '/^[<=>]\\{{7\\}}/d' shared.txt
           git add -A; git commit -qm solved; taut task done $id; {FINE}; exit;; esac
         echo x >> {root}/starts; until [ $(wc -l < {root}/starts) -ge 5 ]; do sleep 0.05; done
         echo $id >> shared.txt; git commit -qam \"$id\"; taut task done $id; {FINE}"
    ));
    let done = stage.build(&["--workers", "5"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    let text = stage.read("shared.txt");
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_unstable();
    assert_eq!((lines, asked(&stage).len()), (slugs.to_vec(), 4), "{:?}", asked(&stage));
    is_cleared_away(&stage);
}

#[test]
fn l11_l6_a_login_that_failed_for_one_worker_ends_all_of_it_with_that_reason() {
    let stage = with_tasks(&["t1", "t2", "t3", "t4", "t5", "t6"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!(
        "echo x >> {root}/starts
         echo '{{\"type\":\"assistant\",\"error\":\"authentication_failed\",\"message\":{{}}}}'
         echo '{{\"type\":\"result\",\"is_error\":true,\"api_error_status\":401,\"result\":\"Please run /login\"}}'; exit 1"
    ));
    let done = stage.build(&["--workers", "2"]);
    let told = summary(&done);
    assert_eq!((told["finish"].as_str(), done.code()), (Some("error"), Some(20)), "{told}");
    let why = told["why"].as_str().unwrap();
    assert!(why.contains("Log in") && !why.contains("alike"), "{why}");
    assert!(started(&stage) <= 2, "{}", done.stderr_text());
    let conn = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    let counted: i64 = conn.query_row("SELECT sum(releases + failures) FROM tasks", [], |row| row.get(0)).unwrap();
    assert_eq!(counted, 0, "no task is at fault");
}

/// Workers were told to end already: the first Ctrl+C is not their second.
#[test]
fn l4_l11_the_first_ctrl_c_lets_iterations_end_also_where_all_of_it_is_ending() {
    let stage = with_tasks(&["t1", "t2"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    stage.client_does(&format!(
        "{CLAIM}; if [ $id = t1 ]; then until [ -e {root}/up ]; do sleep 0.05; done
         echo '{{\"type\":\"assistant\",\"error\":\"authentication_failed\",\"message\":{{}}}}'
         echo '{{\"type\":\"result\",\"is_error\":true,\"api_error_status\":401,\"result\":\"login\"}}'; exit 1; fi
         touch {root}/up; until [ -e {root}/go ]; do sleep 0.05; done
         echo $id > $id.txt; git add -A; git commit -qm \"$id\"; taut task done $id; {FINE}"
    ));
    let mut going = stage.start_loop(&["loop", "build", "--workers", "2"]);
    let said = |words: &str| poll::until(words, PLENTY, || going.printed().contains(words).then_some(())).unwrap();
    said("what runs is ended first");
    going.signal(libc::SIGINT);
    said("press Ctrl+C again to kill them");
    std::fs::write(stage.sandbox.root().join("go"), "").unwrap();
    assert_eq!(going.end(), Some(20), "{}", going.printed());
    assert_eq!(
        (stage.show("t2")["s"].as_str(), stage.read("t2.txt").trim()),
        (Some("done"), "t2"),
        "{}",
        going.printed()
    );
}

/// What is being set up when somebody pauses waits with everything else.
#[test]
fn l13_l11_no_worker_begins_while_all_of_it_is_paused() {
    let stage = with_tasks(&["t1"]);
    let root = stage.sandbox.root().to_string_lossy().into_owned();
    let setup = format!("touch {root}/setting; until [ -e {root}/go ]; do sleep 0.05; done; touch {root}/set");
    stage.write(".taut/config.toml", &format!("[loop]\nworktree_setup = {setup:?}\n"));
    stage.client_does(&format!("[ -e {root}/resumed ] || touch {root}/early; {}", writes_its_file()));
    let mut going = stage.start_loop(&["loop", "build", "--workers", "2"]);
    let there = |name: &str| {
        let path = stage.sandbox.root().join(name);
        poll::until(name, PLENTY, || path.exists().then_some(())).unwrap();
    };
    there("setting");
    stage.succeed(&["loop", "pause"]);
    poll::until("paused", PLENTY, || going.printed().contains("paused after what runs").then_some(())).unwrap();
    std::fs::write(stage.sandbox.root().join("go"), "").unwrap();
    there("set");
    for _ in 0..3 {
        assert!(stage.succeed(&["loop", "status"]).contains("paused"));
    }
    std::fs::write(stage.sandbox.root().join("resumed"), "").unwrap();
    stage.succeed(&["loop", "resume"]);
    assert_eq!(going.end(), Some(0), "{}", going.printed());
    assert!(!stage.sandbox.root().join("early").exists(), "{}", going.printed());
    assert_eq!((stage.show("t1")["s"].as_str(), stage.show("t1")["attempt"].as_i64()), (Some("done"), Some(1)));
}

#[test]
fn l11_no_more_workers_are_started_than_iterations_are_left() {
    for (most, tasks) in [("1", 1), ("2", 2)] {
        let stage = with_tasks(&["t1", "t2", "t3", "t4"]);
        stage.client_does(&writes_its_file());
        let done = stage.build(&["--workers", "3", "-n", most]);
        let told = summary(&done);
        assert_eq!(
            (told["finish"].as_str(), told["iterations"].as_u64()),
            (Some("max_iterations"), Some(tasks)),
            "{told}"
        );
        assert_eq!(told["tasks_done"].as_u64(), Some(tasks), "{told}");
        is_cleared_away(&stage);
    }
}
