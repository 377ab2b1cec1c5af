//! A run of the loop is one row of the fleet, with its iterations, in every view.

use crate::top_view::{NOW, TopView, snapshot};
use dash::run_view::RunRow;
use dash::tui::{FleetSnapshot, Key, ViewInput};
use dash::view_model::rows;
use model::ClientProcess;
use model::row::AgentStatus;
use model::run::{Finish, Iteration, Run, RunProgress, RunState, Tally};
use store::{Fleet, FleetRun};

fn iteration(number: u64) -> Iteration {
    Iteration {
        number,
        started_at: NOW.plus(-100_000),
        ended_at: NOW.plus(-40_000),
        exit: Some(0),
        commits: 1,
        cost_micros: 250_000,
        outcome: "ended".into(),
        task: Some("parse-dates".into()),
        said: Some("done\u{1b}[2J with it".into()),
        ..Iteration::default()
    }
}

fn seen(run: Run) -> FleetRun {
    let alive = run.finished_at.is_none();
    FleetRun { run, alive, iterations: vec![iteration(1), iteration(2)], ..FleetRun::default() }
}

fn run() -> Run {
    Run {
        id: "0199aaaa-bbbb-7ccc-8ddd-eeee000000a0".into(),
        project: "/home/ada/work/shop".into(),
        folder: "/home/ada/work/shop".into(),
        runner: ClientProcess { pid: 4, started: 2 },
        started_at: NOW.plus(-180_000),
        tally: Tally { iterations: 3, commits: 2, cost_micros: 500_000, ..Tally::default() },
        done: Some(4),
        left: Some(7),
        live: RunProgress { state: RunState::Running, tool: Some("Bash".into()), ..RunProgress::default() },
        ..Run::default()
    }
}

fn over(finish: Finish) -> FleetRun {
    seen(Run { finish: Some(finish), finished_at: Some(NOW), why: Some("so it ended".into()), ..run() })
}

#[test]
fn l13_a_run_is_one_row_with_its_iterations_and_its_own_status() {
    let fleet = Fleet { runs: vec![seen(run())], ..Fleet::default() };
    let [row] = rows(&fleet, NOW).try_into().unwrap();
    assert_eq!((row.id.as_str(), row.status), ("loop-000000a0", AgentStatus::Working));
    assert_eq!(row.doing.as_deref(), Some("iteration 3 · 4/11 · Bash"));
    let object = row.object();
    assert_eq!(object["loop"]["iterations"][1]["said"], "done␛[2J with it");
    assert_eq!(object["loop"]["iterations"][0]["task"], "parse-dates");
    for field in ["id", "status", "project", "since"] {
        assert!(object[field].is_string(), "{field}: {object}");
    }
}

/// Where a person is needed the row says so, and why.
#[test]
fn l13_a_run_that_needs_a_person_is_attention_or_error_and_others_are_done() {
    let denied = FleetRun {
        iterations: vec![Iteration { denied: vec!["Write a.rs".into()], ..iteration(1) }],
        ..over(Finish::NoChanges)
    };
    let paused = seen(Run { live: RunProgress { state: RunState::Paused, ..RunProgress::default() }, ..run() });
    let killed = FleetRun { alive: false, ..seen(run()) };
    let cases = [
        (over(Finish::Complete), AgentStatus::Done),
        (over(Finish::MaxIterations), AgentStatus::Done),
        (over(Finish::NoChanges), AgentStatus::Done),
        (over(Finish::Manual), AgentStatus::Done),
        (denied, AgentStatus::Attention),
        (over(Finish::Stuck), AgentStatus::Attention),
        (over(Finish::HookAbort), AgentStatus::Attention),
        (over(Finish::Error), AgentStatus::Error),
        (paused, AgentStatus::Attention),
        (killed, AgentStatus::Error),
    ];
    for (seen, status) in cases {
        let [row] = rows(&Fleet { runs: vec![seen], ..Fleet::default() }, NOW).try_into().unwrap();
        assert_eq!(row.status, status, "{row:?}");
        assert!(row.why.is_some(), "{row:?}");
    }
}

#[test]
fn l13_top_shows_a_run_as_one_line_and_its_iterations_on_demand() {
    let worker = FleetRun { run: Run { id: "w-000000b1".into(), task: Some("lexer".into()), ..run() }, ..seen(run()) };
    let fleet = Fleet { runs: vec![FleetRun { workers: vec![worker], ..seen(run()) }], ..Fleet::default() };
    let view = TopView::new(200, 24);
    let view = view.then(ViewInput::Snapshot(FleetSnapshot { rows: rows(&fleet, NOW), ..snapshot() }));
    let screen = view.screen();
    assert!(screen.contains("loop 000000a0") && screen.contains("iteration 3 · 4/11 · Bash · 1 at work"), "{screen}");
    assert_eq!(screen.lines().filter(|line| line.contains("working")).count(), 2, "the head and one row: {screen}");
    for open in [Key::Char('i'), Key::Enter] {
        let view = TopView::new(100, 40);
        let view = view.then(ViewInput::Snapshot(FleetSnapshot { rows: rows(&fleet, NOW), ..snapshot() })).key(open);
        let screen = view.screen();
        for part in ["2 parse-dates: ended with 0 after", "1 commits, $0.25", "done␛[2J with it", "000000b1 lexer"] {
            assert!(screen.contains(part), "{part}: {screen}");
        }
    }
}

#[test]
fn l13_a_run_that_is_over_does_not_claim_to_be_at_work() {
    let row = RunRow::of(&over(Finish::Budget), NOW.plus(3_600_000));
    assert_eq!((row.state, row.finish, row.tool.as_deref(), row.pid), ("over", Some("budget"), None, None));
    assert_eq!(row.elapsed_ms, 180_000, "time stands still when it is over");
}
