//! Runs within the fleet: one row each, their agents under them, and none that piles up.

use crate::rows::{agent, open};
use model::effect::Write;
use model::row::Agent;
use model::run::{Finish, Run};
use model::{ClientProcess, Ms};
use store::{Durability, Fleet, FleetRun, Store};

const DAY: i64 = 24 * 3_600_000;

fn run(end: &str, folder: &str, began: i64) -> Run {
    Run {
        id: format!("0199aaaa-bbbb-7ccc-8ddd-eeee{end:0>8}"),
        project: "/p".into(),
        folder: folder.into(),
        runner: ClientProcess { pid: std::process::id(), started: 0 },
        started_at: Ms(began),
        ..Run::default()
    }
}

fn over(run: Run, at: i64) -> Run {
    Run { finish: Some(Finish::Complete), finished_at: Some(Ms(at)), ..run }
}

fn stored(runs: &[Run], agents: &[&str]) -> (tempfile::TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let rest = |id: &&str| Write::Agent(Agent { session: None, ..agent(id) });
    let writes: Vec<Write> = agents.iter().map(rest).collect();
    store.transact(Durability::Normal, |tx| tx.apply(&writes)).unwrap();
    runs.iter().for_each(|run| store.save_run(run).unwrap());
    (home, store)
}

fn shorts(fleet: &Fleet) -> Vec<&str> {
    fleet.runs.iter().map(|seen| seen.run.short()).collect()
}

#[test]
fn l13_agents_of_runs_stand_under_their_run_and_not_beside_it() {
    let worker = Run { parent: Some(run("a0", "/t", 1).id), agent: Some("agent-9".into()), ..run("a1", "/w", 2) };
    let runs = [over(run("90", "/t", 0), 1), run("a0", "/t", 1), worker];
    let (_home, store) = stored(&runs, &["alpha", "loop-00000090", "loop-000000a0", "agent-9"]);
    let fleet = store.fleet().unwrap();
    let own: Vec<&str> = fleet.members.iter().map(|member| member.agent.id.as_str()).collect();
    assert_eq!(own, ["alpha"]);
    let [seen] = fleet.runs.as_slice() else { panic!("{fleet:?}") };
    assert_eq!(seen.member.as_ref().map(|member| member.agent.id.as_str()), Some("loop-000000a0"));
    assert_eq!(seen.workers[0].member.as_ref().map(|member| member.agent.id.as_str()), Some("agent-9"));
    assert!(seen.alive);
}

/// A night with hundreds of workers costs a look no more than those that are at work.
#[test]
fn l13_workers_that_are_over_are_counted_and_read_only_where_all_of_it_is_told() {
    let parent = Run { runner: ClientProcess { pid: std::process::id(), started: 1 }, ..run("a0", "/t", 1) };
    let worker = |end: &str| Run { parent: Some(parent.id.clone()), ..run(end, "/w", 2) };
    let runs = [parent.clone(), worker("a1"), over(worker("a2"), 2 * DAY), over(worker("a3"), DAY)];
    let (_home, store) = stored(&runs, &[]);
    let fleet = store.fleet().unwrap();
    let names = |seen: &FleetRun| seen.workers.iter().map(|worker| worker.run.short().to_string()).collect::<Vec<_>>();
    assert_eq!((names(&fleet.runs[0]), fleet.runs[0].workers_ended), (vec!["000000a1".to_string()], 2));
    assert_eq!(fleet.runs[0].touched(), Ms(2 * DAY), "the end of a worker is news of its run");
    let whole = store.whole_run(parent).unwrap();
    assert_eq!((names(&whole).len(), whole.workers_ended, whole.touched()), (3, 2, Ms(2 * DAY)));
}

#[test]
fn l13_of_each_work_tree_only_the_newest_run_is_shown_and_what_is_over_for_a_day() {
    let runs = [
        over(run("01", "/t", 0), 1),
        over(run("02", "/t", 2), 3),
        over(run("03", "/old", 5), 6),
        over(run("04", "/new", DAY), DAY + 7),
    ];
    let (_home, store) = stored(&runs, &[]);
    assert_eq!(shorts(&store.fleet().unwrap()), ["00000004"]);
    let (_home, store) = stored(&runs[..3], &[]);
    assert_eq!(shorts(&store.fleet().unwrap()), ["00000003", "00000002"]);
    // One that was left for dead long ago is not news, one that lives is shown however old it is.
    let killed = Run { runner: ClientProcess { pid: std::process::id(), started: 1 }, ..run("05", "/dead", 1) };
    let (_home, store) = stored(&[killed, run("06", "/lives", 1), over(run("07", "/n", 2 * DAY), 2 * DAY)], &[]);
    assert_eq!(shorts(&store.fleet().unwrap()), ["00000007", "00000006"]);
}
