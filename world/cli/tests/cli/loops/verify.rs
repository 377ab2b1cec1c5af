//! Done is proven: the command that must pass, on the queue and on a plan.

use super::queue::HOOK;
use super::{FINE, WORK};
use testkit::poll;
use testkit::stage::{PLENTY, Stage, lives, summary};

fn verified(command: &str, more: &str) -> Stage {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", &format!("[loop]\nmax_backoff = \"0s\"\nverify = {command:?}\n{more}"));
    stage
}

fn log(stage: &Stage, name: &str) -> String {
    let runs = std::fs::read_dir(stage.path(".taut/logs")).unwrap().flatten().filter(|entry| entry.path().is_dir());
    runs.filter_map(|run| std::fs::read_to_string(run.path().join(name)).ok()).collect()
}

#[test]
fn l10_a_task_is_done_when_its_proof_passes_and_not_when_its_agent_says_so() {
    let stage = verified("echo the proof; test -e proof.txt", "");
    stage.task(&["create", "t1", "one"]);
    stage.task(&["create", "t2", "two", "--deps", "t1"]);
    stage.client_does(&format!(
        r#"n=$(cat .git/n 2>/dev/null || echo 0); echo $((n+1)) > .git/n; printf '%s' "$2" > .git/prompt$n
        id=$(taut task claim --json | grep -o '"id":"t[12]"' | cut -d'"' -f4)
        [ $n = 0 ] || touch proof.txt
        taut task done $id > .git/said$n; taut task show $id --json > .git/shown$n; {FINE}"#
    ));
    let done = stage.build(&[]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!(stage.read(".git/n").trim(), "3", "t1 was tried twice, then t2");
    assert!(stage.read(".git/shown0").contains("\"s\":\"active\""), "{}", stage.read(".git/shown0"));
    let told = stage.read(".git/prompt1");
    assert!(told.contains("> `echo the proof; test -e proof.txt` failed with 1:\n> the proof"), "{told}");
    assert_eq!(told.matches("> the proof").count(), 1, "the reason and the failure are one: {told}");
    assert_eq!((stage.show("t1")["attempt"].as_i64(), stage.show("t2")["attempt"].as_i64()), (Some(2), Some(1)));
    let log = log(&stage, "iteration-0001.log");
    assert!(log.contains("[verify] the proof"), "{log}");
    assert!(done.stderr_text().contains("not verified: task t1") && done.stderr_text().contains("verified: task t2"));
}

#[test]
fn l10_the_tasks_own_command_is_the_one_that_counts() {
    let stage = Stage::with_plan();
    stage.task(&["create", "t1", "one", "--verify", "touch .git/own"]);
    stage.client_does(&format!("taut task claim > /dev/null; taut task done t1 > /dev/null; {FINE}"));
    let done = stage.build(&[]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert!(stage.path(".git/own").exists());
}

#[test]
fn l10_a_proof_that_hangs_is_ended_with_its_group_and_is_no_proof() {
    let stage = verified("sleep 600 & echo $! > .git/grand; wait", "verify_timeout = \"1s\"\n");
    stage.task(&["create", "t1", "one"]);
    stage.client_does(&format!("taut task claim > /dev/null; taut task done t1 > /dev/null; {FINE}"));
    let done = stage.build(&["-n", "1"]);
    assert_eq!(summary(&done)["finish"], "max_iterations", "{}", done.stderr_text());
    assert!(!lives(&stage.read(".git/grand")));
    let task = stage.show("t1");
    assert_eq!(task["s"], "open", "{task}");
    assert!(task["fail_reason"].as_str().unwrap().contains("took longer than 1 s and was ended"), "{task}");
}

#[test]
fn l10_a_plan_is_complete_only_when_its_proof_passed_last() {
    let stage = verified("test -e proof.txt", "");
    stage.write("PROMPT.building.md", "work");
    stage.client_does(&format!(
        r#"echo x >> .git/starts; n=$(wc -l < .git/starts); printf '%s' "$2" > .git/prompt$n
        if [ $n -gt 3 ]; then touch proof.txt; git add -A; git commit -qm proof; else {WORK} fi; {FINE}"#
    ));
    let done = stage.build(&[]);
    assert_eq!(
        (summary(&done)["finish"].as_str(), summary(&done)["iterations"].as_u64()),
        (Some("complete"), Some(4)),
        "{}",
        done.stderr_text()
    );
    assert_eq!(stage.read(".git/prompt1"), "work");
    assert!(
        stage.read(".git/prompt4").contains("> `test -e proof.txt` failed with 1"),
        "{}",
        stage.read(".git/prompt4")
    );
    let again = stage.build(&[]);
    assert_eq!(
        (summary(&again)["finish"].as_str(), summary(&again)["iterations"].as_u64()),
        (Some("complete"), Some(0))
    );
    std::fs::remove_file(stage.path("proof.txt")).unwrap();
    let broken = stage.build(&["-n", "1"]);
    assert_eq!(
        summary(&broken)["finish"],
        "complete",
        "ticked boxes that fail are worked on: {}",
        broken.stderr_text()
    );
    assert_eq!(summary(&broken)["iterations"], 1);
}

#[test]
fn l10_l4_a_loop_that_is_stopped_while_it_proves_leaves_nothing_behind_and_the_task_comes_back() {
    let stage = verified("echo $$ > .git/proving; trap '' TERM; while :; do sleep 0.1; done", "");
    stage.task(&["create", "t1", "one"]);
    stage.client_does(&format!("taut task claim > /dev/null; taut task done t1 > /dev/null; {FINE}"));
    let mut going = stage.start_loop(&["loop", "build"]);
    let pid = stage.until_written(".git/proving");
    let conn = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    let state = || conn.query_row("SELECT state FROM runs", [], |row| row.get::<_, String>(0)).unwrap();
    poll::until("the state", PLENTY, || (state() == "verifying").then_some(())).unwrap();
    going.signal(libc::SIGTERM);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    assert!(!lives(&pid));
    assert_eq!(stage.show("t1")["s"], "open", "{}", stage.show("t1"));
}

#[test]
fn l10_a_deleted_task_is_no_proven_one() {
    let stage = verified("test -e proof.txt", "");
    stage.task(&["create", "t1", "one"]);
    stage.task(&["create", "t2", "two", "--deps", "t1"]);
    stage.client_does(&format!(
        "taut task claim > /dev/null; taut task delete t1 2> .git/said; taut task unblock t2 --by t1 2>> .git/said; {FINE}"
    ));
    let done = stage.build(&["-n", "1"]);
    assert_eq!(summary(&done)["finish"], "max_iterations", "{}", done.stderr_text());
    assert_eq!(stage.read(".git/said").matches("is proven by its loop").count(), 2, "{}", stage.read(".git/said"));
    assert_eq!((&stage.show("t1")["s"], &stage.show("t2")["open_blockers"]), (&"open".into(), &1.into()));
}

/// A program that calls no hook and goes by no agent's name, as the agent of a loop.
fn with_own_agent(stage: &Stage, script: &str) {
    stage.write("mine.sh", &format!("#!/bin/bash\n{script}\n"));
    let config = stage.read(".taut/config.toml");
    let mine = "[agents.mine]\ncommand = [\"bash\", \"mine.sh\"]\n";
    stage.write(".taut/config.toml", &format!("{config}agent = \"mine\"\n{mine}"));
}

#[test]
fn l10_without_its_variables_the_agent_of_a_loop_is_still_no_person() {
    let stage = verified("test -e proof.txt", "");
    stage.task(&["create", "t1", "one", "--verify", "false"]);
    stage.task(&["create", "t2", "two"]);
    with_own_agent(
        &stage,
        r#"bare() { env -u TAUT_AGENT_ID -u RALPH_AGENT_ID "$@" 2>> .git/refused && echo "$*" >> .git/passed; }
        taut task claim t1 > .git/claimed
        bare taut task update t1 --verify true
        bare taut task update t2 --status done
        CLAUDECODE=1 bare taut task update t2 --status done
        TAUT_AGENT_ID=other taut task update t2 --status done 2>> .git/refused && echo other >> .git/passed
        bare taut task delete t2
        bare taut loop stop
        bare taut loop undo --yes
        token=$(TAUT_AGENT_ID=other taut task claim t2 --json | grep -o '"token":"[^"]*"' | cut -d'"' -f4)
        TAUT_AGENT_ID=other taut task done t2 --token "$token" > .git/said 2>&1"#,
    );
    let done = stage.build(&["-n", "1"]);
    assert_eq!(summary(&done)["finish"], "max_iterations", "{}", done.stderr_text());
    assert!(!stage.path(".git/passed").exists(), "{}", stage.read(".git/passed"));
    let refused = stage.read(".git/refused");
    assert!(refused.contains("is the agent of a loop, and this was started below it"), "{refused}");
    assert!(refused.contains("said by a person") && refused.contains("no task is made done by hand"), "{refused}");
    assert!(stage.read(".git/said").starts_with("proposed t2"), "{}", stage.read(".git/said"));
    assert_eq!((&stage.show("t1")["verify"], &stage.show("t2")["s"]), (&"false".into(), &"open".into()));
}

/// A client that calls hooks is itself what the loop started: whatever runs in it, and under whatever name, is proven.
#[test]
fn l10_within_the_client_of_a_loop_another_name_gets_round_no_proof() {
    let stage = verified("test -e proof.txt", "");
    stage.task(&["create", "t1", "one"]);
    stage.task(&["create", "t2", "two"]);
    stage.client_does(&format!(
        r#"{HOOK} hook SessionStart '"source":"startup"' > /dev/null
        as() {{ name=$1; shift; TAUT_AGENT_ID=$name RALPH_AGENT_ID=$name taut task "$@" 2>> .git/refused; }}
        token() {{ grep -o '"token":"[^"]*"' | cut -d'"' -f4; }}
        one=$(as other claim t1 --json | token)
        as other done t1 --token "$one" > .git/said
        sub=$(taut task agent register --pid $$)
        two=$(as $sub claim t2 --json | token)
        as $sub done t2 --token "$two" >> .git/said
        as $sub update t2 --status done && echo by hand >> .git/passed
        taut task show t1 --json > .git/shown; {FINE}"#
    ));
    let done = stage.build(&["-n", "1"]);
    assert_eq!(summary(&done)["finish"], "max_iterations", "{}", done.stderr_text());
    let said = stage.read(".git/said");
    assert!(said.contains("proposed t1: kept") && said.contains("proposed t2: kept"), "{said}");
    assert!(!stage.path(".git/passed").exists());
    assert!(stage.read(".git/shown").contains("\"s\":\"active\""), "{}", stage.read(".git/shown"));
    for slug in ["t1", "t2"] {
        let task = stage.show(slug);
        let reason = task["fail_reason"].as_str().unwrap_or_default();
        assert!(
            task["s"] == "open" && reason.contains("`test -e proof.txt` failed with 1"),
            "it was put to the proof: {task}"
        );
    }
}

#[test]
fn l10_hooks_and_proofs_of_a_loop_speak_as_before() {
    let stage = verified("taut task create made-by-proof x > .git/proof 2>&1; taut task update t2 --status done", "");
    stage.task(&["create", "t1", "one"]);
    stage.task(&["create", "t2", "two"]);
    stage.client_does(&format!("taut task claim t1 > /dev/null; taut task done t1 > /dev/null; {FINE}"));
    stage.build(&["-n", "1"]);
    assert_eq!((&stage.show("t1")["s"], &stage.show("t2")["s"]), (&"done".into(), &"done".into()));
}
