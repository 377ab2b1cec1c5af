//! Looking at runs: what one does now, which there are, what they said.

use super::runs::{Kept, gone, of, put};
use super::{FINE, WORK};
use model::Ms;
use model::run::{Finish, Iteration, Run, RunLimits, RunProgress, RunState, Tally};
use serde_json::json;
use std::io::Write;
use testkit::poll;
use testkit::stage::{PLENTY, Stage};

fn busy(stage: &Stage) -> Run {
    let now = host::clock::now();
    Run {
        started_at: now.plus(-3_720_000),
        tally: Tally {
            iterations: 3,
            failures: 1,
            commits: 4,
            cost_micros: 1_230_000,
            tokens: 84_000,
            ..Tally::default()
        },
        limits: Some(RunLimits {
            iterations: 10,
            ms: Some(8 * 3_600_000),
            cost_micros: Some(20_000_000),
            failures: 5,
            idle: 3,
        }),
        done: Some(4),
        left: Some(7),
        live: RunProgress {
            state: RunState::Running,
            task: Some("parse-dates".into()),
            tool: Some("Bash".into()),
            said: Some("I run the\u{1b}[2J tests\nnow".into()),
            ..RunProgress::default()
        },
        ..of(stage, "a0")
    }
}

#[test]
fn l13_status_says_iteration_task_cost_limits_left_and_the_last_words() {
    let stage = Stage::without_daemon();
    put(&stage, &busy(&stage));
    let shown = stage.succeed(&["loop", "status"]);
    for part in [
        "run 000000a0 building in", "the agent works, iteration 3", "task        parse-dates", "now         Bash",
        "last words  I run the␛[2J tests", "progress    [###-------] 4/11", "iterations  3, 7 left",
        "time        1 h 02 min, 6 h 5", "cost        $1.23, $18.77 left", "tokens      84k", "commits     4",
        "failures    1 in a row, 4 left",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let [object] = stage.list(&["loop", "status", "--json"]).try_into().unwrap();
    for (name, value) in [
        ("state", json!("running")),
        ("status", json!("working")),
        ("iteration", json!(3)),
        ("task", json!("parse-dates")),
        ("tool", json!("Bash")),
        ("cost_usd", json!(1.23)),
        ("tokens", json!(84_000)),
        ("commits", json!(4)),
        ("tasks_done", json!(4)),
        ("tasks_left", json!(7)),
    ] {
        assert_eq!(object[name], value, "{name}: {object}");
    }
    assert_eq!(object["limits_left"]["iterations"], 7);
    assert_eq!(object["limits_left"]["cost_usd"], 18.77);
}

#[test]
fn l13_status_says_what_is_waited_for_and_until_when_in_local_time() {
    let stage = Stage::without_daemon().with_env("TZ", "Etc/GMT-3");
    let until = host::clock::now().plus(12 * 60_000 + 30_000);
    let live = RunProgress {
        state: RunState::Waiting,
        until: Some(until),
        waits_for: Some("the usage limit is reached".into()),
        ..RunProgress::default()
    };
    put(&stage, &Run { live, ..busy(&stage) });
    let shown = stage.succeed(&["loop", "status"]);
    let local = until.plus(3 * 3_600_000).rfc3339();
    assert!(shown.contains("the usage limit is reached, until ") && shown.contains("(12 min left)"), "{shown}");
    assert!(shown.contains(&local[11..16]), "{local}: {shown}");
}

#[test]
fn l13_a_run_whose_process_is_gone_is_not_called_running() {
    let stage = Stage::without_daemon();
    put(&stage, &Run { runner: gone(), ..busy(&stage) });
    let shown = stage.succeed(&["loop", "status", "000000a0"]);
    assert!(shown.contains("its process is gone, in iteration 3; `taut loop resume 000000a0` goes on"), "{shown}");
    assert!(!shown.contains("now         Bash"), "{shown}");
    let [object] = stage.list(&["loop", "status", "--json"]).try_into().unwrap();
    assert_eq!((&object["state"], &object["status"]), (&json!("gone"), &json!("error")));
    assert!(object.get("pid").is_none(), "{object}");
}

#[test]
fn l13_a_prefix_of_several_names_them_and_ends_with_2() {
    let stage = Stage::without_daemon();
    put(&stage, &of(&stage, "b1"));
    put(&stage, &Run { finish: Some(Finish::Budget), finished_at: Some(Ms(9_000)), ..of(&stage, "b2") });
    let done = stage.taut(&["loop", "status", "000000b"]);
    assert_eq!(done.code(), Some(2));
    let error = done.stderr_text();
    assert!(error.contains("000000b1") && error.contains("000000b2") && error.contains("budget"), "{error}");
    for (name, code) in [("000000b1", 0), ("b1", 2), ("nothing", 2), ("", 2), ("%", 2), ("_", 2)] {
        assert_eq!(stage.taut(&["loop", "status", name]).code(), Some(code), "{name}");
    }
    let whole = of(&stage, "b2").id;
    assert_eq!(stage.list(&["loop", "status", &whole, "--json"])[0]["finish"], "budget");
    // Of no other project.
    let elsewhere = stage.sandbox.tmp();
    let mut command = stage.command(&["loop", "status"]);
    command.current_dir(&elsewhere);
    let done = testkit::process::run(command, b"", PLENTY).unwrap();
    assert_eq!(done.code(), Some(2), "{}", done.stdout_text());
    assert!(done.stderr_text().contains("taut loop build"), "{}", done.stderr_text());
}

#[test]
fn l13_a_list_has_one_line_a_run_and_folds_workers_into_theirs() {
    let stage = Stage::without_daemon();
    assert_eq!(stage.succeed(&["loop", "list"]), "");
    let parent = of(&stage, "c0");
    let worker = |end: &str, task: &str| Run {
        parent: Some(parent.id.clone()),
        task: Some(task.into()),
        folder: format!("/trees/{task}"),
        live: RunProgress {
            state: RunState::Running,
            said: Some(format!("words of {task}")),
            ..RunProgress::default()
        },
        ..of(&stage, end)
    };
    put(&stage, &parent);
    put(&stage, &worker("c1", "one"));
    put(&stage, &worker("c2", "two"));
    let ended = |end: &str, task: &str| Run {
        finish: Some(Finish::Complete),
        finished_at: Some(Ms(9)),
        why: Some("everything is done".into()),
        ..worker(end, task)
    };
    put(&stage, &ended("c3", "three"));
    put(&stage, &ended("c4", "four"));
    put(&stage, &Run { started_at: Ms(5), project: "/other".into(), folder: "/other".into(), ..of(&stage, "d0") });
    let shown = stage.succeed(&["loop", "list"]);
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(shown.contains("000000c0") && shown.contains("2 workers"), "{shown}");
    let all = stage.succeed(&["loop", "list", "--all"]);
    assert_eq!(all.lines().count(), 5, "{all}");
    assert!(all.contains("└ 000000c1") && all.contains("/trees/two") && all.contains("000000d0"), "{all}");
    let [object] = stage.list(&["loop", "list", "--json"]).try_into().unwrap();
    assert_eq!(object["workers"][1]["task"], "two", "{object}");
    assert_eq!(
        (object["workers"].as_array().map(Vec::len), &object["workers_ended"]),
        (Some(2), &2.into()),
        "{object}"
    );
    let status = stage.succeed(&["loop", "status"]);
    assert!(
        status.contains("worker      000000c1 one: the agent works") && status.contains("words of two"),
        "{status}"
    );
    assert!(status.contains("  workers     2 at work, 2 ended\n") && !status.contains("000000c3"), "{status}");
    let report = stage.succeed(&["loop", "report", "000000c0", "--json"]);
    assert!(report.contains("000000c4"), "{report}");
}

#[test]
fn l13_a_run_that_is_over_says_how_and_why_and_what_each_iteration_did() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("{WORK} {FINE}"));
    assert_eq!(stage.build(&["-n", "2"]).code(), Some(10));
    let shown = stage.succeed(&["loop", "status"]);
    assert!(shown.contains("over: max_iterations (2 iterations were allowed)"), "{shown}");
    assert!(shown.contains("progress    [######----] 2/3"), "{shown}");
    let [object] = stage.list(&["loop", "status", "--json"]).try_into().unwrap();
    let of_each = |name: &str| -> Vec<serde_json::Value> {
        object["iterations"].as_array().unwrap().iter().map(|one| one[name].clone()).collect()
    };
    assert_eq!(of_each("commits"), [1, 1]);
    assert_eq!(of_each("cost_usd"), [0.25, 0.25]);
    assert_eq!((&object["finish"], &object["limits_left"]["iterations"]), (&json!("max_iterations"), &json!(0)));
}

#[test]
fn l13_the_log_has_every_iteration_in_order_cleaned_or_one_alone() {
    let stage = Stage::with_plan();
    stage.client_does(&format!(r"printf 'said \033]0;owned\007here\n'; {WORK} {FINE}"));
    stage.build(&["-n", "2"]);
    let log = stage.succeed(&["loop", "log"]);
    let heads: Vec<&str> = log.lines().filter(|line| line.starts_with("──")).collect();
    assert_eq!(heads, ["── iteration 1 ──", "── iteration 2 ──", "── the loop ──"], "{log}");
    assert!(log.contains("said ␛]0;owned␇here") && !log.contains('\u{1b}'), "{log:?}");
    assert!(log.lines().last().unwrap().contains("finished: max_iterations"), "{log}");
    let one = stage.list(&["loop", "log", "-i", "2", "--json"]);
    assert!(one.iter().all(|line| line["iteration"] == 2) && !one.is_empty(), "{one:?}");
    assert_eq!(stage.taut(&["loop", "log", "-i", "7"]).code(), Some(2));
}

/// Follows what is appended, over to the next file, and ends with the run.
#[test]
fn l13_a_log_that_is_followed_goes_on_with_the_next_iteration_and_ends_with_the_run() {
    let stage = Stage::without_daemon();
    let folder = stage.path("logs");
    std::fs::create_dir_all(&folder).unwrap();
    let kept = Kept::new(&stage, Run { logs: Some(folder.to_string_lossy().into_owned()), ..of(&stage, "e0") });
    let append = |name: &str, text: &str| {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(folder.join(name));
        file.unwrap().write_all(text.as_bytes()).unwrap();
    };
    append("iteration-0001.log", "one\n");
    let out = stage.sandbox.root().join("followed.txt");
    let mut command = stage.command(&["loop", "log", "--follow"]);
    command.stdout(std::fs::File::create(&out).unwrap());
    let mut child = command.spawn().unwrap();
    let seen = |text: &str| {
        let there = || std::fs::read_to_string(&out).unwrap_or_default().contains(text).then_some(());
        poll::until(text, PLENTY, there).unwrap();
    };
    seen("one");
    append("iteration-0001.log", "half");
    append("iteration-0002.log", "two\n");
    seen("two");
    assert!(!std::fs::read_to_string(&out).unwrap().contains("half"), "half a line is none");
    append("iteration-0001.log", " and whole\n");
    seen("half and whole");
    append("loop.log", "[loop] finished");
    kept.change(|run| (run.finish, run.finished_at) = (Some(Finish::Complete), Some(host::clock::now())));
    let code = poll::until("it to end with the run", PLENTY, || child.try_wait().unwrap()).unwrap().code();
    assert_eq!(code, Some(0));
    seen("[loop] finished");
}

#[test]
fn l13_what_was_denied_and_what_failed_stands_in_the_status() {
    let stage = Stage::without_daemon();
    let run = busy(&stage);
    put(&stage, &run);
    let mut store = super::runs::store(&stage);
    let iteration = |number: u64| Iteration {
        run: run.id.clone(),
        number,
        started_at: run.started_at.plus(1),
        ended_at: run.started_at.plus(2),
        outcome: "failed".into(),
        denied: vec!["Write src/a.rs".into(), "Bash git commit".into()],
        failure: Some("tests failed\nmore".into()),
        ..Iteration::default()
    };
    store.save_iteration(&iteration(1)).unwrap();
    store.save_iteration(&iteration(2)).unwrap();
    let shown = stage.succeed(&["loop", "status"]);
    assert!(shown.contains("denied      Write src/a.rs, Bash git commit\n"), "{shown}");
    let [object] = stage.list(&["loop", "status", "--json"]).try_into().unwrap();
    assert_eq!(object["iterations"][1]["failure"], "tests failed…");
}

/// A loop of three iterations is one row of the fleet and not a heap of agents that are done.
#[test]
fn l13_a_loop_is_one_row_of_agents_json_and_of_the_page() {
    let stage = Stage::with_plan();
    stage.client_does(&format!(
        r#"hook() {{ echo "{{\"hook_event_name\":\"$1\",\"session_id\":\"s$$\",\"cwd\":\"$PWD\",$2}}" | taut hook --agent claude-code; }}
        hook SessionStart '"source":"startup"' > /dev/null; {WORK} hook SessionEnd '"reason":"other"'; {FINE}"#
    ));
    assert_eq!(stage.build(&[]).code(), Some(0));
    stage.write("IMPLEMENTATION_PLAN.md", "- [ ] d\n");
    assert_eq!(stage.build(&[]).code(), Some(0));
    let [row] = stage.list(&["agents", "--json"]).try_into().unwrap();
    assert_eq!((&row["status"], &row["loop"]["finish"]), (&json!("done"), &json!("complete")), "{row}");
    assert_eq!(row["loop"]["iterations"].as_array().unwrap().len(), 1, "{row}");
    assert!(row["id"].as_str().unwrap().starts_with("loop-") && row["since"].is_string(), "{row}");
    let page = stage.page();
    assert_eq!(page.json("/api/fleet")["agents"], json!([row]));
}
