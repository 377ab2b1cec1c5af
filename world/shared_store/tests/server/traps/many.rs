//! Queues of any size: no statement and no answer grows with them.

use super::Trap;
use model::task::TaskStatus;
use store::{TaskFilter, TaskServer};

fn slug(nth: usize) -> String {
    format!("t{nth:04}")
}

#[test]
fn x2_a_list_that_is_longer_than_one_answer_may_be_is_read_in_pages() {
    let Some(trap) = Trap::set(&[]) else { return };
    // Six times as long in an answer: 150 MB of it.
    trap.server.sql(
        "INSERT INTO taut.tasks (project, slug, title, priority, spec, description)
         SELECT id, 't' || lpad(n::text, 4, '0'), 't', 1, 'spec.md', repeat(E'\\x01', 1000000)
         FROM taut.projects, generate_series(0, 24) AS n",
    );
    let mut machine = trap.machine();
    let expected: Vec<String> = (0..25).map(slug).collect();
    let open = TaskFilter { statuses: vec![TaskStatus::Open], ..TaskFilter::default() };
    let listed: Vec<String> = machine.tasks(&open).unwrap().into_iter().map(|task| task.plan.slug).collect();
    assert_eq!(listed, expected);
}
