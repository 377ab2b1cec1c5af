//! A queue that moves: unfinished tasks are copied to a server's queue, and only then marked as moved here; or copied back.
//! Done again after a crash anywhere between, it ends the same.

use super::transfer_there::{copy, is_another, take_back, unreached};
use super::{MissingTasks, Queue, QueueError, SyncMode, Synced, UnknownDeps, write};
use engine::queue::{self, Speaker};
use model::task::{ClockReading, Task, TaskPlan, TaskStatus};
use std::collections::{BTreeMap, BTreeSet};
use store::{TaskFilter, TaskServer};

/// What can be moved, and what stays where it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MovePlan {
    pub tasks: Vec<Task>,
    pub left: Vec<TaskLeft>,
    /// Tasks with a command that proves them, which no server is told.
    pub unproven: Vec<String>,
}

/// A task that is not moved, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLeft {
    pub slug: String,
    pub why: String,
}

/// What was moved.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MovedTasks {
    /// Written to the server now.
    pub added: Vec<String>,
    /// There already: by an earlier try.
    pub known: Vec<String>,
    pub left: Vec<TaskLeft>,
}

/// Tasks that stay where they are, by slug, and why.
type Stays = BTreeMap<String, String>;

impl MovePlan {
    /// Of all tasks of a project. Who holds a task goes on with it here, and so does whatever waits for that.
    pub fn of(tasks: Vec<Task>) -> Self {
        Self::but_for(tasks, Stays::new())
    }

    /// The same of what somebody has agreed to move since, as it is now.
    fn agreed(tasks: Vec<Task>, agreed: &Self) -> Self {
        let asked: BTreeSet<&str> = agreed.tasks.iter().map(|task| task.queued.slug.as_str()).collect();
        let (mut stays, mut over) = (Stays::new(), Vec::new());
        for Task { queued, .. } in &tasks {
            let (slug, was_asked) = (queued.slug.clone(), asked.contains(queued.slug.as_str()));
            if queued.status.unblocks() {
                over.extend(was_asked.then(|| TaskLeft { slug, why: by_now(queued.status) }));
            } else if !was_asked {
                let stayed = agreed.left.iter().find(|left| left.slug == slug);
                let why = stayed.map_or_else(|| "nobody agreed to move it".to_string(), |left| left.why.clone());
                stays.insert(slug, why);
            }
        }
        let mut plan = Self::but_for(tasks, stays);
        plan.left.extend(over);
        plan
    }

    fn but_for(tasks: Vec<Task>, mut stays: Stays) -> Self {
        let unfinished: Vec<Task> = tasks.into_iter().filter(|task| !task.queued.status.unblocks()).collect();
        for task in &unfinished {
            if let Some(hold) = &task.queued.hold {
                stays.insert(slug(task), format!("{} holds it", hold.agent));
            }
        }
        stay_with(&unfinished, &mut stays);
        let tasks: Vec<Task> = unfinished.into_iter().filter(|task| !stays.contains_key(&task.queued.slug)).collect();
        let proves = tasks.iter().filter(|task| task.plan.verify.is_some());
        let unproven = proves.map(slug).collect();
        let left = stays.into_iter().map(|(slug, why)| TaskLeft { slug, why }).collect();
        Self { tasks, left, unproven }
    }
}

fn slug(task: &Task) -> String {
    task.queued.slug.clone()
}

fn by_now(status: TaskStatus) -> String {
    format!("it is {} by now", status.name())
}

/// Whoever waits for one that stays, stays.
fn stay_with(tasks: &[Task], stays: &mut Stays) {
    while let Some((slug, why)) = tasks.iter().find_map(|task| waits_for_one_that_stays(task, stays)) {
        stays.insert(slug, why);
    }
}

fn waits_for_one_that_stays(task: &Task, stays: &Stays) -> Option<(String, String)> {
    let slug = &task.queued.slug;
    let blocker = task.plan.deps.iter().find(|dep| stays.contains_key(*dep))?;
    (!stays.contains_key(slug)).then(|| (slug.clone(), format!("it waits for {blocker}, which stays")))
}

/// Why a task is not any more what was copied of it. Another import may have marked it as moved.
fn changed(copied: &Task, now: Option<&Task>, moved: &str) -> Option<String> {
    let Some(now) = now else { return Some("it is gone by now".to_string()) };
    let is_moved = now.queued.status == TaskStatus::Deleted && now.queued.fail_reason.as_deref() == Some(moved);
    match &now.queued.hold {
        _ if now == copied || is_moved => None,
        Some(hold) => Some(format!("{} claimed it meanwhile", hold.agent)),
        None if now.queued.status.unblocks() => Some(by_now(now.queued.status)),
        None => Some("it was changed meanwhile".to_string()),
    }
}

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    pub fn movable(&self, project: &str) -> Result<MovePlan, QueueError> {
        Ok(MovePlan::of(self.store.tasks(project, &TaskFilter::default())?))
    }

    /// The server has a task before it is marked as moved here, so that nothing is lost between the two. Somebody was asked
    /// in between: of what they agreed to, that moves which still can, as it is now.
    pub fn move_to(
        &mut self,
        project: &str,
        agreed: &MovePlan,
        server: &mut dyn TaskServer,
    ) -> Result<MovedTasks, QueueError> {
        let (queue, shown) = (server.place().queue.clone(), server.place().shown.clone());
        let plan = MovePlan::agreed(self.store.tasks(project, &TaskFilter::default())?, agreed);
        let copied = copy(&plan.tasks, &queue, server)?;
        let mut stays = Stays::new();
        for task in plan.tasks.iter().filter(|task| copied.known.contains(&task.queued.slug)) {
            let there = server.task(&task.queued.slug).map_err(unreached)?;
            stays.extend(is_another(task, there.as_ref()).map(|why| (slug(task), why)));
        }
        let reason = format!("moved to the queue {queue} on {shown}");
        let mut stays = self.mark_moved(project, (&plan.tasks, stays), &reason)?;
        let back: Vec<&str> =
            copied.added.iter().filter(|slug| stays.contains_key(*slug)).map(String::as_str).collect();
        for (slug, kept) in take_back(&back, &queue, server) {
            stays.entry(slug).and_modify(|why| *why = format!("{why}, and the server has it too: {kept}"));
        }
        let moves = |slugs: Vec<String>| slugs.into_iter().filter(|slug| !stays.contains_key(slug)).collect();
        let (added, known) = (moves(copied.added), moves(copied.known));
        let left = plan.left.into_iter().chain(stays.into_iter().map(|(slug, why)| TaskLeft { slug, why }));
        Ok(MovedTasks { added, known, left: left.collect() })
    }

    /// Softly deleted, with the reason. What is not any more as it was copied stays, and so does what waits for it: which.
    fn mark_moved(
        &mut self,
        project: &str,
        (tasks, mut stays): (&[Task], Stays),
        reason: &str,
    ) -> Result<Stays, QueueError> {
        self.all_or_nothing(|tx, moment| {
            for task in tasks {
                let now = tx.task(project, &task.queued.slug)?;
                if let Some(why) = changed(task, now.as_ref(), reason) {
                    stays.entry(slug(task)).or_insert(why);
                }
            }
            stay_with(tasks, &mut stays);
            for task in tasks.iter().filter(|task| !stays.contains_key(&task.queued.slug)) {
                let now = tx.queued(project, &task.queued.slug)?;
                let Some(task) = now.filter(|task| task.status != TaskStatus::Deleted) else { continue };
                let turn = queue::delete(&task, &Speaker::Person, moment.now);
                let mut turn = turn.map_err(|refusal| super::refused(&task, refusal))?;
                turn.after.fail_reason = Some(reason.to_string());
                write(tx, turn)?;
            }
            Ok(stays)
        })
    }

    /// The unfinished tasks of a server's queue, copied into the local one. A command that proves a task is this machine's own,
    /// and comes from here alone.
    pub fn copy_back(&mut self, project: &str, server: &mut dyn TaskServer) -> Result<Synced, QueueError> {
        let unfinished = vec![TaskStatus::Open, TaskStatus::Active, TaskStatus::Quarantined];
        let tasks = server.tasks(&TaskFilter { statuses: unfinished, ..TaskFilter::default() }).map_err(unreached)?;
        let names: BTreeSet<String> = tasks.iter().map(|task| task.queued.slug.clone()).collect();
        let aside = tasks.iter().filter(|task| task.queued.status == TaskStatus::Quarantined);
        let stand = aside.map(|task| (task.queued.slug.clone(), TaskStatus::Quarantined)).collect();
        let mut plan = Vec::new();
        for (at, task) in tasks.into_iter().enumerate() {
            let known = self.store.task(project, &task.queued.slug)?;
            let mut one = TaskPlan { verify: known.and_then(|known| known.plan.verify), ..task.plan };
            one.deps.retain(|dep| names.contains(dep));
            plan.push((at + 1, one));
        }
        let mode =
            SyncMode { missing: MissingTasks::Kept, unknown: UnknownDeps::LeftOut, stand, ..SyncMode::default() };
        self.sync(project, plan, &Speaker::Person, &mode)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use model::Ms;
    use model::task::{Hold, LEASE_MS, Queued};

    pub fn task(slug: &str, deps: &[&str], status: TaskStatus) -> Task {
        let hold = Hold {
            agent: "ann".into(),
            session: None,
            attempt: 1,
            lease_until: Ms(1),
            lease_ms: LEASE_MS,
            renewed_at: Ms(0),
            proposed: None,
        };
        let plan = TaskPlan {
            slug: slug.into(),
            title: slug.into(),
            deps: deps.iter().map(ToString::to_string).collect(),
            ..TaskPlan::default()
        };
        let queued = Queued {
            row: 1,
            project: "p".into(),
            slug: slug.into(),
            status,
            hold: (status == TaskStatus::Active).then_some(hold),
            attempt: 1,
            retry_count: 0,
            failures: 0,
            releases: 0,
            fail_reason: None,
            ready_at: Ms(0),
            open_blockers: 0,
        };
        Task { plan, queued, result: None, created_at: Ms(0), updated_at: Ms(0), deleted_at: None }
    }

    #[test]
    fn x2_what_is_held_and_what_waits_for_it_stays_and_what_is_finished_is_no_matter() {
        let tasks = vec![
            task("held", &[], TaskStatus::Active),
            task("next", &["held"], TaskStatus::Open),
            task("after", &["next", "free"], TaskStatus::Open),
            task("free", &["old"], TaskStatus::Open),
            task("aside", &[], TaskStatus::Quarantined),
            task("old", &[], TaskStatus::Done),
            task("gone", &[], TaskStatus::Deleted),
        ];
        let plan = MovePlan::of(tasks);
        let slugs: Vec<&str> = plan.tasks.iter().map(|task| task.queued.slug.as_str()).collect();
        assert_eq!(slugs, ["free", "aside"]);
        let left: Vec<String> = plan.left.iter().map(|left| format!("{}: {}", left.slug, left.why)).collect();
        assert_eq!(
            left,
            ["after: it waits for next, which stays", "held: ann holds it", "next: it waits for held, which stays"]
        );
    }
}
