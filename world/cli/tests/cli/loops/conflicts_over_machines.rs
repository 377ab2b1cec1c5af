//! Tasks of conflicts in a queue on a server: what becomes of them is told there, and by nobody else.

use super::FINE;
use super::over_machines::Team;
use super::parallel_conflicts::{SOLVES, clashes};
use testkit::poll;
use testkit::stage::{PLENTY, summary};

fn with_two() -> Option<Team<'static>> {
    let team = Team::of(1)?;
    for slug in ["t1", "t2"] {
        team.first().task(&["create", slug, "do it"]);
    }
    Some(team)
}

#[test]
fn x2_l11_the_task_of_a_conflict_has_a_name_that_nobody_has_on_the_server() {
    let Some(team) = with_two() else { return };
    let machine = team.first();
    // Of an earlier conflict, on another machine.
    for slug in ["merge-t1", "merge-t2"] {
        machine.task(&["create", slug, "solve it"]);
        machine.task(&["update", slug, "--status", "done"]);
    }
    clashes(machine, &format!("{SOLVES}; {FINE}"));
    let done = machine.build(&["--workers", "2"]);
    assert_eq!(summary(&done)["finish"], "complete", "{}", done.stderr_text());
    let made = team.sql("SELECT count(*) FROM taut.tasks WHERE slug LIKE 'merge-t_-2' AND status = 'done'");
    assert_eq!((made.trim(), machine.read("shared.txt").as_str()), ("1", "t1\nt2\n"));
}

#[test]
fn x2_l11_a_conflict_whose_task_is_taken_out_of_the_queue_on_another_machine_is_left_for_a_person() {
    let Some(team) = with_two() else { return };
    let machine = team.first();
    clashes(machine, &format!("taut task fail $id --reason 'too hard'; {FINE}"));
    let mut running = machine.start_loop(&["loop", "build", "--json", "--source", "queue", "--workers", "2"]);
    let failed = "SELECT count(*) FROM taut.tasks WHERE slug LIKE 'merge-%' AND failures > 0";
    poll::until("an agent to fail", PLENTY, || (team.sql(failed).trim() == "1").then_some(())).unwrap();
    team.sql("UPDATE taut.tasks SET status = 'quarantined', lease_until = NULL WHERE slug LIKE 'merge-%'");
    let ended = running.end();
    let said = running.printed();
    assert!(said.contains(" is quarantined; merge it by hand"), "{ended:?} {said}");
    let left = "SELECT count(*) FROM taut.tasks WHERE slug IN ('t1', 't2') AND status = 'quarantined'";
    assert_eq!(team.sql(left).trim(), "1", "{said}");
}
