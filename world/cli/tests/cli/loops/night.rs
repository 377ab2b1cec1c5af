//! What a night brings: crashes, hung agents, budgets, denials, and waits that are said.

use super::{FINE, WORK};
use testkit::poll;
use testkit::stage::{PLENTY, Stage, lives, summary};

/// Claims the one task and finishes it.
const DO_T1: &str = "taut task claim > /dev/null; taut task done t1 > /dev/null;";

fn one_task(config: &str) -> Stage {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", &format!("[loop]\nmax_backoff = \"0s\"\n{config}"));
    stage.task(&["create", "t1", "one"]);
    stage
}

/// The file of a run's log.
fn log(stage: &Stage, name: &str) -> String {
    let runs = std::fs::read_dir(stage.path(".taut/logs")).unwrap().flatten().filter(|entry| entry.path().is_dir());
    runs.filter_map(|run| std::fs::read_to_string(run.path().join(name)).ok()).collect()
}

fn rows(stage: &Stage, sql: &str) -> Vec<String> {
    let conn = rusqlite::Connection::open(stage.sandbox.taut_home().join("taut.db")).unwrap();
    let mut statement = conn.prepare(sql).unwrap();
    let found = statement.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
    found.map(|text| text.unwrap().unwrap_or_default()).collect()
}

#[test]
fn l12_a_crash_on_the_queue_is_tried_again_and_the_next_agent_is_told_why() {
    let stage = one_task("");
    stage.write("PROMPT.building.md", "do the next task");
    stage.client_does(&format!(
        r#"n=$(cat .git/n 2>/dev/null || echo 0); echo $((n+1)) > .git/n; printf '%s' "$2" > .git/prompt$n
        if [ $n = 0 ]; then taut task claim > /dev/null
        echo '{{"type":"result","is_error":true,"result":"boom API_TOKEN=swordfishcrash77"}}'; exit 9; fi
        {DO_T1} {FINE}"#
    ));
    let done = stage.build(&["--prompt", "PROMPT.building.md"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert_eq!(stage.read(".git/prompt0"), "do the next task", "a first iteration is told the prompt and nothing else");
    let told = stage.read(".git/prompt1");
    assert!(told.starts_with("do the next task\n\n---\n"), "{told}");
    for part in ["The last task was t1 (one)", "the next attempt is number 2", "> the agent ended with 9: boom"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(told.contains("session exited without completing task") && !told.contains("swordfish"), "{told}");
    assert!(told.len() < 7_000, "{}", told.len());
    assert_eq!(rows(&stage, "SELECT task FROM iterations ORDER BY number"), ["t1", "t1"]);
    let failures = rows(&stage, "SELECT failure FROM iterations ORDER BY number");
    assert!(failures[0].starts_with("the agent ended with 9") && failures[1].is_empty(), "{failures:?}");
}

#[test]
fn l12_the_same_crash_again_and_again_ends_the_loop_with_what_it_was() {
    let stage = one_task("");
    stage.client_does("echo x >> .git/starts; echo \"{\\\"type\\\":\\\"result\\\",\\\"is_error\\\":true,\\\"result\\\":\\\"pid $$ lost\\\"}\"; exit 1");
    let done = stage.build(&[]);
    assert_eq!((summary(&done)["finish"].as_str(), done.code()), (Some("error"), Some(20)), "{}", done.stderr_text());
    assert_eq!(stage.read(".git/starts").lines().count(), 3);
    assert!(
        summary(&done)["why"].as_str().unwrap().starts_with("the same failure 3 times in a row"),
        "{}",
        summary(&done)
    );
}

#[test]
fn l12_an_agent_that_falls_silent_is_ended_with_its_group_and_another_is_tried() {
    let stage = one_task("max_silence = \"1s\"\n");
    stage.client_does(&format!(
        "if [ ! -e .git/first ]; then touch .git/first; echo hello; sleep 600 & echo $! > .git/grand; sleep 600; fi; {DO_T1} {FINE}"
    ));
    let done = stage.build(&[]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert!(!lives(&stage.read(".git/grand")));
    assert_eq!(
        rows(&stage, "SELECT failure FROM iterations ORDER BY number")[0],
        "the agent said nothing for 1 s and was ended"
    );
}

#[test]
fn l12_a_tool_may_take_its_time_in_silence_but_an_iteration_not_for_ever() {
    let stage = one_task("max_silence = \"1s\"\nmax_iteration_time = \"4s\"\nmax_failures = 1\n");
    stage.client_does(
        r#"echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash"}]}}'; sleep 600"#,
    );
    let done = stage.build(&[]);
    assert_eq!(summary(&done)["why"], "the iteration took longer than 4 s and was ended", "{}", done.stderr_text());
}

#[test]
fn l12_a_budget_ends_an_agent_that_spends_it_within_one_iteration() {
    let stage = one_task("");
    stage.client_does(
        r#"echo $$ > .git/pid; echo '{"type":"result","is_error":false,"total_cost_usd":3.5,"num_turns":1,"result":"on"}'; sleep 600"#,
    );
    let done = stage.build(&["--max-cost", "2"]);
    assert_eq!((summary(&done)["finish"].as_str(), done.code()), (Some("budget"), Some(13)), "{}", done.stderr_text());
    assert!(!lives(&stage.read(".git/pid")));
    assert_eq!(summary(&done)["cost_usd"].as_f64(), Some(3.5));
}

#[test]
fn l12_a_wait_is_said_when_it_begins_with_its_end_and_kept_in_the_row() {
    let stage = Stage::with_plan();
    stage.loop_hook("next_iteration", "echo the hook of the next one");
    stage.client_does(
        r#"echo of the agent; echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":'$(( $(date +%s) + 3600 ))'}}'; exit 1"#,
    );
    let mut going = stage.start_loop(&["loop", "build"]);
    poll::until("the word", PLENTY, || going.printed().contains("waiting until ").then_some(())).unwrap();
    let waiting = || rows(&stage, "SELECT waits_for FROM runs WHERE state = 'waiting' AND wait_until > started_at");
    let waits_for = poll::until("the row", PLENTY, || waiting().pop()).unwrap();
    assert_eq!(waits_for, "the usage limit is reached; it resets then");
    going.signal(libc::SIGINT);
    assert_eq!(going.end(), Some(130), "{}", going.printed());
    assert_eq!(going.printed().matches("waiting until ").count(), 1, "{}", going.printed());
    let run = log(&stage, "loop.log");
    assert!(run.contains("[loop] waiting until ") && run.contains("the hook of the next one"), "{run}");
    let iteration = log(&stage, "iteration-0001.log");
    assert!(iteration.contains("of the agent"), "{iteration}");
    assert!(!iteration.contains("the hook of the next one") && !iteration.contains("waiting"), "{iteration}");
    assert_eq!(rows(&stage, "SELECT state FROM runs"), ["over"]);
}

#[test]
fn l12_q2_a_task_whose_lease_lapses_is_waited_for_and_taken_without_a_daemon() {
    let stage = one_task("");
    stage.task(&["claim", "--agent", "somebody", "--lease", "3"]);
    stage.client_does(&format!("{DO_T1} {FINE}"));
    let done = stage.build(&[]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    assert!(done.stderr_text().contains(": no task can be claimed yet"), "{}", done.stderr_text());
    assert_eq!(stage.show("t1")["attempt"], 2);
}

#[test]
fn l12_a_wait_for_tasks_ends_when_somebody_adds_one() {
    let stage = one_task("");
    stage.task(&["claim", "--agent", "somebody"]);
    stage.client_does(&format!("taut task claim --json > .git/claimed; {FINE}"));
    let mut going = stage.start_loop(&["loop", "build", "-n", "1"]);
    poll::until("the word", PLENTY, || going.printed().contains("no task can be claimed yet").then_some(())).unwrap();
    stage.task(&["create", "t2", "two"]);
    assert_eq!(going.end(), Some(10), "{}", going.printed());
    assert!(stage.read(".git/claimed").contains("\"id\":\"t2\""));
}

#[test]
fn l9_l12_a_loop_that_is_killed_leaves_no_agent_and_nothing_of_its_group_at_work() {
    let stage = Stage::with_plan();
    stage.client_does(
        "trap '' TERM; (trap '' TERM; while :; do sleep 0.1; done) & echo $! > .git/grand; echo $$ > .git/pid; while :; do sleep 0.1; done",
    );
    let mut going = stage.start_loop(&["loop", "build"]);
    let (pid, grand) = (stage.until_written(".git/pid"), stage.until_written(".git/grand"));
    poll::until("the row", PLENTY, || rows(&stage, "SELECT 'x' FROM runs WHERE leader_pid IS NOT NULL").pop()).unwrap();
    going.child.kill().unwrap();
    going.child.wait().unwrap();
    poll::until("the agent to end", PLENTY, || (!lives(&pid) && !lives(&grand)).then_some(())).unwrap();
}

#[test]
fn l11_a_worker_whose_parent_is_gone_stops_and_gives_back_what_it_holds() {
    let stage = one_task("");
    stage.client_does("taut task claim > .git/claimed; echo $$ > .git/pid; sleep 600");
    stage.sandbox.trust_project().unwrap();
    let mut parent = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let out = std::fs::File::create(stage.sandbox.root().join("out.txt")).unwrap();
    let mut command = stage.command(&["loop", "build"]);
    command.env("TAUT_LOOP_PARENT", format!("{}:0", parent.id()));
    command.stdin(std::process::Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out);
    let mut going = command.spawn().unwrap();
    stage.until_written(".git/pid");
    assert!(going.try_wait().unwrap().is_none(), "its parent lives");
    parent.kill().unwrap();
    parent.wait().unwrap();
    let code = poll::until("the worker to end", PLENTY, || going.try_wait().unwrap()).unwrap().code();
    assert_eq!((code, lives(&stage.read(".git/pid"))), (Some(130), false));
    assert_eq!(
        (stage.show("t1")["s"].as_str(), stage.show("t1")["fail_reason"].as_str()),
        (Some("open"), Some("session exited without completing task"))
    );
    assert_eq!(rows(&stage, "SELECT why FROM runs"), ["the loop that started this one is gone"]);
}

#[test]
fn l13_what_an_agent_does_is_in_the_row_while_it_works() {
    let stage = one_task("");
    stage.client_does(&format!(
        r#"taut task claim > /dev/null; echo '{{"type":"assistant","message":{{"content":[{{"type":"tool_use","name":"Bash"}}]}}}}'
        until [ -e .git/go ]; do sleep 0.1; done; taut task done t1 > /dev/null; {FINE}"#
    ));
    let mut going = stage.start_loop(&["loop", "build"]);
    let row = || rows(&stage, "SELECT now_task || ' ' || tool FROM runs WHERE state = 'running'").pop();
    let seen = poll::until("the row", PLENTY, || row().filter(|text| !text.is_empty())).unwrap();
    assert_eq!(seen, "t1 Bash");
    stage.write(".git/go", "now");
    assert_eq!(going.end(), Some(0), "{}", going.printed());
    assert_eq!(rows(&stage, "SELECT state || ' ' || why FROM runs"), ["over everything is done"]);
    assert_eq!(rows(&stage, "SELECT said || ' ' || task FROM iterations"), ["ok t1"]);
}

#[test]
fn l6_a_plan_goes_on_as_before_where_nothing_goes_wrong() {
    let stage = Stage::with_plan();
    stage.write("PROMPT.building.md", "work");
    stage.client_does(&format!("printf '%s' \"$2\" >> .git/prompts; {WORK} {FINE}"));
    assert_eq!(stage.build(&[]).code(), Some(0));
    assert_eq!(stage.read(".git/prompts"), "workworkwork");
}

#[test]
fn l12_an_agent_that_was_denied_things_and_did_nothing_ends_the_loop_with_their_names_and_the_option() {
    let stage = one_task("");
    stage.client_does(
        r#"echo x >> .git/starts
printf %s '{"type":"result","is_error":false,"result":"I may not","total_cost_usd":0.1,"permission_denials":['
printf %s '{"tool_name":"Write","tool_use_id":"t1","tool_input":{"file_path":"src/a.rs"}},'
echo '{"tool_name":"Bash","tool_use_id":"t2","tool_input":{"command":"git commit -m x"}}]}'"#,
    );
    let done = stage.build(&["--idle-iterations", "9"]);
    assert_eq!(
        (summary(&done)["finish"].as_str(), done.code()),
        (Some("no_changes"), Some(11)),
        "{}",
        done.stderr_text()
    );
    assert_eq!(stage.read(".git/starts"), "x\n", "it does not idle on");
    let why = summary(&done)["why"].as_str().unwrap().to_string();
    for part in ["src/a.rs", "git commit", "--permissions edits", "--permissions all", "[loop] commands"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert!(rows(&stage, "SELECT denied FROM iterations")[0].contains("src/a.rs"));
    assert!(done.stderr_text().contains("the agent was not let do: "), "{}", done.stderr_text());
}
