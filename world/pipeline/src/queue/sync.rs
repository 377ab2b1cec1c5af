//! A plan taken over as a whole: checked first, then written in one transaction or not at all.

use super::planning::{circular, revive};
use super::{PlanContext, Queue, QueueError, refused, verify};
use engine::queue::{self, Speaker, TaskLineError};
use engine::redact;
use model::task::{ClockReading, Queued, TaskPlan, TaskStatus};
use std::collections::{BTreeMap, BTreeSet};

/// What synchronising a plan did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synced {
    pub inserted: usize,
    pub updated: usize,
    pub deleted: usize,
    pub skipped: usize,
    /// Tasks that the plan says are done, and were not.
    pub finished: usize,
    /// Left as they are because somebody holds them or a loop is to prove them, though the plan says otherwise: why,
    /// one each.
    pub left: Vec<String>,
    /// Planned by an agent with a command that proves them, which was not taken over.
    pub unproven: Vec<String>,
    /// Dependencies on tasks that are neither planned nor stored, and were left out.
    pub unknown: Vec<String>,
}

/// How a plan is taken over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncMode {
    pub missing: MissingTasks,
    pub unknown: UnknownDeps,
    /// Where the plan says that these stand: done, or put aside for a person.
    pub stand: BTreeMap<String, TaskStatus>,
    pub rehearsal: Rehearsal,
}

/// What becomes of tasks from the same documents that are planned no more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum MissingTasks {
    #[default]
    Deleted,
    Kept,
    /// Only of those that somebody agreed to lose.
    DeletedIf(BTreeSet<String>),
}

/// What a dependency on a task is that is neither planned nor stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownDeps {
    #[default]
    Wrong,
    LeftOut,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rehearsal {
    /// Everything is written.
    #[default]
    No,
    /// Everything is tried, and nothing stays written.
    Yes,
}

/// A plan's tasks, each with the line it stands on.
pub type PlannedTasks = Vec<(usize, TaskPlan)>;

/// Every line checked, or everything that is wrong with any of them.
pub fn read_plan(text: &str) -> Result<PlannedTasks, QueueError> {
    queue::parse_lines(text).map_err(|lines| QueueError::Lines { lines })
}

impl<C: Fn() -> ClockReading> Queue<'_, C> {
    pub fn plan_sync(&mut self, project: &str, text: &str, speaker: &Speaker) -> Result<Synced, QueueError> {
        self.sync(project, read_plan(text)?, speaker, &SyncMode::default())
    }

    /// New tasks are made, known ones rewritten, done ones left alone, and what
    /// came from the same documents and is planned no more is deleted, unless
    /// an agent's plan would so end another's attempt, or get round a proof.
    pub fn sync(
        &mut self,
        project: &str,
        plan: PlannedTasks,
        speaker: &Speaker,
        mode: &SyncMode,
    ) -> Result<Synced, QueueError> {
        let mut plan: PlannedTasks = plan.into_iter().map(|(line, task)| (line, redact::plan(task))).collect();
        let unproven = verify::take_from_agents(&mut plan, speaker);
        let unsent = if self.is_shared() { verify::take_from_all(&mut plan) } else { Vec::new() };
        let mut rehearsed = None;
        let done = self.plan(|tx| {
            let named = plan.iter().flat_map(|(_, task)| std::iter::once(&task.slug).chain(&task.deps));
            tx.prefetch(&named.map(String::as_str).collect::<Vec<_>>())?;
            let hand = Hand { tx, project, speaker };
            let mut synced = hand.sync(&plan, mode)?;
            synced.unproven.clone_from(&unproven);
            synced.left.extend(unsent.iter().cloned());
            match mode.rehearsal {
                Rehearsal::No => Ok(synced),
                // What fails is undone.
                Rehearsal::Yes => {
                    rehearsed = Some(synced);
                    Err(QueueError::Wrong("nothing is written in a rehearsal".into()))
                }
            }
        });
        rehearsed.map_or(done, Ok)
    }

    /// What came from the same documents as this plan and is planned no more.
    pub fn missing(&mut self, project: &str, plan: &PlannedTasks) -> Result<Vec<String>, QueueError> {
        let mut missing = Vec::new();
        for spec in specs(plan) {
            missing.extend(self.tasks_of_document(project, spec)?);
        }
        let planned: BTreeSet<&str> = plan.iter().map(|(_, task)| task.slug.as_str()).collect();
        missing.retain(|task| !planned.contains(task.slug.as_str()) && !task.status.unblocks());
        Ok(missing.into_iter().map(|task| task.slug).collect())
    }
}

fn specs(plan: &PlannedTasks) -> BTreeSet<&str> {
    plan.iter().filter_map(|(_, task)| task.spec.as_deref()).collect()
}

/// One plan being written.
struct Hand<'a> {
    tx: &'a PlanContext<'a>,
    project: &'a str,
    speaker: &'a Speaker,
}

impl Hand<'_> {
    fn sync(&self, plan: &PlannedTasks, mode: &SyncMode) -> Result<Synced, QueueError> {
        let mut synced = Synced::default();
        let mut written: BTreeMap<&str, Queued> = BTreeMap::new();
        let before = match self.speaker {
            Speaker::Person => BTreeMap::new(),
            Speaker::Agents(_) => self.tx.dependencies(self.project)?,
        };
        for (_, task) in plan {
            let put = self.put(task, &mut synced)?;
            written.extend(put.map(|put| (task.slug.as_str(), put)));
        }
        for (line, task) in plan {
            if let Some(queued) = written.get(task.slug.as_str()) {
                let mut blockers = self.blockers(task, *line, mode.unknown, &mut synced.unknown)?;
                let before = before.get(&task.slug).map(Vec::as_slice).unwrap_or_default();
                for (blocker, why) in verify::kept_blockers(self.tx, queued, (before, &task.deps), self.speaker)? {
                    blockers.push(blocker);
                    synced.left.push(why);
                }
                self.tx.set_blockers(queued, &blockers)?;
            }
        }
        for (slug, status) in &mode.stand {
            if let Some(task) = self.tx.queued(self.project, slug)?.filter(|_| written.contains_key(slug.as_str())) {
                self.stand(&task, *status, &mut synced)?;
            }
        }
        self.prune(plan, &mode.missing, &mut synced)?;
        match queue::cycle(&self.tx.dependencies(self.project)?) {
            Some(circle) => Err(circular(&circle)),
            None => Ok(synced),
        }
    }

    /// `None` where it is done, and so left alone.
    fn put(&self, plan: &TaskPlan, synced: &mut Synced) -> Result<Option<Queued>, QueueError> {
        let Some(task) = self.tx.queued(self.project, &plan.slug)? else {
            synced.inserted += 1;
            return Ok(Some(self.tx.add_task(self.project, plan, self.tx.now)?));
        };
        match task.status {
            TaskStatus::Done => {
                synced.skipped += 1;
                return Ok(None);
            }
            TaskStatus::Deleted => revive(self.tx, &task, plan, self.speaker)?,
            _ => {
                let plan = verify::kept_from_agents(self.tx, &task, plan, self.speaker)?;
                self.tx.rewrite_task(&task, &plan, self.tx.now)?;
            }
        }
        synced.updated += 1;
        Ok(Some(task))
    }

    fn blockers(
        &self,
        plan: &TaskPlan,
        line: usize,
        unknown: UnknownDeps,
        left_out: &mut Vec<String>,
    ) -> Result<Vec<Queued>, QueueError> {
        let mut blockers = Vec::new();
        for slug in &plan.deps {
            match (self.tx.queued(self.project, slug)?, unknown) {
                (Some(blocker), _) => blockers.push(blocker),
                (None, UnknownDeps::LeftOut) => left_out.push(format!("{} on {slug}", plan.slug)),
                (None, UnknownDeps::Wrong) => return Err(QueueError::Lines { lines: vec![nowhere(line, slug)] }),
            }
        }
        Ok(blockers)
    }

    /// Whoever holds a task says what becomes of it.
    fn stand(&self, task: &Queued, status: TaskStatus, synced: &mut Synced) -> Result<(), QueueError> {
        if task.status == status {
            return Ok(());
        }
        if status == TaskStatus::Done {
            verify::may_finish(self.tx, task, self.speaker)?;
        }
        match queue::set_status(task, status, self.tx.now) {
            Ok(turn) => {
                self.tx.write(turn)?;
                synced.finished += usize::from(status == TaskStatus::Done);
            }
            Err(refusal) => synced.left.push(refused(task, refusal).to_string()),
        }
        Ok(())
    }

    fn prune(&self, plan: &PlannedTasks, missing: &MissingTasks, synced: &mut Synced) -> Result<(), QueueError> {
        if *missing == MissingTasks::Kept {
            return Ok(());
        }
        let planned: BTreeSet<&str> = plan.iter().map(|(_, task)| task.slug.as_str()).collect();
        for spec in specs(plan) {
            for task in self.tx.tasks_of_spec(self.project, spec)? {
                let kept = matches!(missing, MissingTasks::DeletedIf(agreed) if !agreed.contains(&task.slug));
                if kept || planned.contains(task.slug.as_str()) || task.status.unblocks() {
                    continue;
                }
                match verify::may_delete(self.tx, &task, self.speaker) {
                    Err(QueueError::Wrong(why)) => {
                        synced.left.push(why);
                        continue;
                    }
                    other => other?,
                }
                match queue::delete(&task, self.speaker, self.tx.now) {
                    Ok(turn) => {
                        self.tx.write(turn)?;
                        synced.deleted += 1;
                    }
                    Err(refusal) => synced.left.push(refusal.sentence(&task.slug)),
                }
            }
        }
        Ok(())
    }
}

fn nowhere(line: usize, slug: &str) -> TaskLineError {
    TaskLineError {
        line,
        field: "deps".into(),
        value: format!("\"{slug}\""),
        why: "names a task that is neither in this plan nor stored".into(),
    }
}
