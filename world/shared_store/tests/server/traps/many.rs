//! Queues of any size: no statement and no answer grows with them.

use super::{Trap, now};
use model::task::{TaskPlan, TaskStatus};
use store::{PlanRows, TaskFilter, TaskServer};

/// Notes how many tasks each statement made.
const NOTED: &str = "CREATE TABLE taut.noted (many bigint);
    CREATE FUNCTION taut.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
      $$ BEGIN INSERT INTO taut.noted SELECT count(*) FROM made; RETURN NULL; END $$;
    CREATE TRIGGER note AFTER INSERT ON taut.tasks REFERENCING NEW TABLE AS made
      FOR EACH STATEMENT EXECUTE FUNCTION taut.note()";

fn slug(nth: usize) -> String {
    format!("t{nth:04}")
}

#[test]
fn x2_a_plan_of_many_tasks_is_written_in_its_order_by_statements_of_some() {
    let Some(trap) = Trap::set(&[]) else { return };
    trap.server.sql(NOTED);
    let plans: Vec<TaskPlan> =
        (0..1_200).map(|nth| TaskPlan { slug: slug(nth), title: slug(nth), ..TaskPlan::default() }).collect();
    let names: Vec<&str> = plans.iter().map(|plan| plan.slug.as_str()).collect();
    let mut machine = trap.machine();
    let add = |rows: &dyn PlanRows| {
        rows.prefetch(&names)?;
        let made: Vec<_> = plans.iter().map(|plan| rows.add_task("acme", plan, now())).collect::<Result<_, _>>()?;
        for pair in made.windows(2) {
            rows.set_blockers(&pair[1], &pair[..1])?;
        }
        Ok(())
    };
    machine.plan(&mut { add }).unwrap();
    assert_eq!(trap.server.sql("SELECT sum(many) || ' ' || (max(many) <= 500) FROM taut.noted"), "1200 true");
    let listed: Vec<String> =
        machine.tasks(&TaskFilter::default()).unwrap().into_iter().map(|task| task.plan.slug).collect();
    assert_eq!(listed, names);
    assert_eq!(machine.look().unwrap().counts.blocked, 1_199);
    // All of them once more, each with another title.
    let again = |rows: &dyn PlanRows| {
        rows.prefetch(&names)?;
        for plan in &plans {
            let Some(task) = rows.queued("acme", &plan.slug)? else { panic!("{}", plan.slug) };
            rows.rewrite_task(&task, &TaskPlan { title: "again".into(), ..plan.clone() }, now())?;
        }
        Ok(())
    };
    machine.plan(&mut { again }).unwrap();
    assert_eq!(trap.server.sql("SELECT count(*) FROM taut.tasks WHERE title = 'again'"), "1200");
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
