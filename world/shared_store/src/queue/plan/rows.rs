//! What planning reads and writes on a server: reads are asked once and see what is going to be written.

use super::super::Identity;
use super::super::answer::{self, TaskRow, shift};
use super::super::flights::{Flights, Trouble, json};
use super::super::pages::{FEW, paged};
use super::super::read::{below, graph, listed};
use super::draft::{Draft, Entry};
use crate::Rows;
use model::Ms;
use model::task::{Queued, Task, TaskPlan, TaskStatus, TaskTransition};
use serde_json::json as object;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use store::{Error, PlanRows, TaskEdit, TaskFilter};

/// The transaction of one plan.
pub(super) struct PlanTransaction<'f, 'c> {
    flights: RefCell<&'f mut Flights<'c>>,
    identity: &'f Identity,
    draft: RefCell<Draft>,
    /// What went wrong with a read: whether the plan is made again is not for the work to say.
    trouble: RefCell<Option<Trouble>>,
}

impl<'f, 'c> PlanTransaction<'f, 'c> {
    pub fn new(flights: &'f mut Flights<'c>, identity: &'f Identity) -> Self {
        Self { flights: RefCell::new(flights), identity, draft: RefCell::default(), trouble: RefCell::default() }
    }

    /// What is to be written.
    pub fn finish(self) -> Result<Draft, Trouble> {
        match self.trouble.into_inner() {
            Some(trouble) => Err(trouble),
            None => Ok(self.draft.into_inner()),
        }
    }

    fn read<T>(&self, ask: impl FnOnce(&mut Flights<'c>) -> Result<T, Trouble>) -> Result<T, Error> {
        ask(&mut self.flights.borrow_mut()).map_err(|trouble| {
            let words = match &trouble {
                Trouble::Flight(error) => error.clone().into(),
                Trouble::Overtaken(why) => store::ServerError::Busy(why.clone()),
                Trouble::Final(error) => error.clone(),
            };
            self.trouble.replace(Some(trouble));
            Error::Server(words)
        })
    }

    /// Gives the slugs in the order of the answer.
    fn learn(&self, ask: impl FnOnce(&mut Flights<'c>) -> Result<(Rows, i64), Trouble>) -> Result<Vec<String>, Error> {
        let (rows, shift) = self.read(|flights| {
            let (rows, shift) = ask(flights)?;
            Ok((answer::readable::<TaskRow>(rows)?, shift))
        })?;
        let reading = self.identity.reading(shift);
        let mut draft = self.draft.borrow_mut();
        for row in &rows {
            draft.learn(row, &reading);
        }
        Ok(rows.iter().map(|row| reading.queued(&row.queued).slug).collect())
    }

    fn fetch(&self, slugs: &[&str]) -> Result<(), Error> {
        let unknown: BTreeSet<&str> = {
            let draft = self.draft.borrow();
            slugs.iter().copied().filter(|slug| !draft.knows(slug)).collect()
        };
        if unknown.is_empty() {
            return Ok(());
        }
        let asked = vec![self.identity.project(), json(object!(unknown))];
        self.learn(|flights| {
            if unknown.len() > FEW {
                return paged(flights, self.identity, "plan_found", asked);
            }
            let rows = flights.one("plan_tasks", asked)?;
            let shift = shift(flights.sent, &rows);
            Ok((rows, shift))
        })?;
        self.draft.borrow_mut().note_absent(unknown);
        Ok(())
    }

    /// Those that the server finds and what is changed here, by what they are to be.
    fn found(&self, slugs: Vec<String>, wanted: impl Fn(&Entry) -> bool) -> Vec<Queued> {
        let draft = self.draft.borrow();
        let changed = draft.entries().filter(|entry| entry.is_changed()).map(|entry| entry.slug().to_string());
        let all: BTreeSet<String> = slugs.into_iter().chain(changed).collect();
        let mut found: Vec<&Entry> =
            all.iter().filter_map(|slug| draft.get(slug)).filter(|entry| wanted(entry)).collect();
        found.sort_by_key(|entry| order(entry));
        found.into_iter().map(|entry| entry.task.queued.clone()).collect()
    }
}

impl PlanRows for PlanTransaction<'_, '_> {
    fn prefetch(&self, slugs: &[&str]) -> Result<(), Error> {
        self.fetch(slugs)
    }

    fn queued(&self, _: &str, slug: &str) -> Result<Option<Queued>, Error> {
        self.fetch(&[slug])?;
        Ok(self.draft.borrow().get(slug).map(|entry| entry.task.queued.clone()))
    }

    fn queued_by(&self, _: &str, filter: &TaskFilter) -> Result<Vec<Queued>, Error> {
        // What is changed here may take a place among the first.
        let changed = self.draft.borrow().entries().any(Entry::is_changed);
        let asked = TaskFilter { limit: if changed { 0 } else { filter.limit }, ..filter.clone() };
        let slugs = self.learn(|flights| listed(flights, self.identity, &asked))?;
        let untouched: BTreeSet<String> = slugs.iter().cloned().collect();
        let wanted = |entry: &Entry| {
            if entry.is_changed() { wanted(filter, &entry.task) } else { untouched.contains(entry.slug()) }
        };
        let mut found = self.found(slugs, wanted);
        if filter.limit > 0 {
            found.truncate(filter.limit);
        }
        Ok(found)
    }

    fn tasks_of_spec(&self, _: &str, spec: &str) -> Result<Vec<Queued>, Error> {
        let filter = TaskFilter { spec: Some(spec.to_string()), ..TaskFilter::default() };
        let slugs = self.learn(|flights| listed(flights, self.identity, &filter))?;
        Ok(self.found(slugs, |entry| entry.task.plan.spec.as_deref() == Some(spec)))
    }

    fn add_task(&self, project: &str, plan: &TaskPlan, now: Ms) -> Result<Queued, Error> {
        self.fetch(&[&plan.slug])?;
        let made = self.draft.borrow_mut().add(project, plan, now);
        made.ok_or_else(|| {
            Error::Refused(format!("task '{0}' exists already; `taut task update {0}` changes it", plan.slug))
        })
    }

    fn rewrite_task(&self, task: &Queued, plan: &TaskPlan, _: Ms) -> Result<(), Error> {
        self.fetch(&[&task.slug])?;
        self.draft.borrow_mut().rewrite(&task.slug, plan);
        Ok(())
    }

    fn replan_task(&self, task: &Queued, plan: &TaskPlan, now: Ms) -> Result<(), Error> {
        self.fetch(&[&task.slug])?;
        self.draft.borrow_mut().replan(&task.slug, plan, now);
        Ok(())
    }

    fn edit_task(&self, task: &Queued, edit: &TaskEdit, _: Ms) -> Result<(), Error> {
        self.fetch(&[&task.slug])?;
        self.draft.borrow_mut().edit(&task.slug, edit);
        Ok(())
    }

    fn set_blockers(&self, task: &Queued, blockers: &[Queued]) -> Result<(), Error> {
        self.fetch(&[&task.slug])?;
        self.draft.borrow_mut().set_blockers(&task.slug, blockers);
        Ok(())
    }

    fn add_blockers(&self, task: &Queued, blockers: &[Queued]) -> Result<(), Error> {
        self.fetch(&[&task.slug])?;
        self.draft.borrow_mut().add_blockers(&task.slug, blockers);
        Ok(())
    }

    fn remove_blocker(&self, task: &Queued, blocker: &Queued) -> Result<bool, Error> {
        self.fetch(&[&task.slug])?;
        Ok(self.draft.borrow_mut().remove_blocker(&task.slug, &blocker.slug))
    }

    fn leads_back(&self, task: &Queued) -> Result<bool, Error> {
        self.fetch(&[&task.slug])?;
        let mut walk = Walk::default();
        let start = self.draft.borrow().get(&task.slug).map(|entry| entry.blockers.keys().cloned().collect());
        walk.next = start.unwrap_or_default();
        loop {
            if walk.reaches(&task.slug, &self.draft.borrow()) {
                return Ok(true);
            }
            if walk.unknown.is_empty() {
                return Ok(false);
            }
            let unknown = std::mem::take(&mut walk.unknown);
            let slugs: Vec<&str> = unknown.iter().map(String::as_str).collect();
            for edge in self.read(|flights| below(flights, self.identity, &slugs))? {
                walk.stored.entry(edge.blocker.clone()).or_default();
                walk.stored.entry(edge.task).or_default().push(edge.blocker);
            }
            for slug in unknown {
                walk.stored.entry(slug.clone()).or_default();
                walk.next.push(slug);
            }
        }
    }

    fn dependencies(&self, _: &str) -> Result<BTreeMap<String, Vec<String>>, Error> {
        let over = |status: TaskStatus| status.unblocks();
        let revived: Vec<String> = {
            let draft = self.draft.borrow();
            let was_over = |entry: &&Entry| entry.before.as_ref().is_some_and(|before| over(before.status));
            draft.entries().filter(was_over).map(|entry| entry.slug().to_string()).collect()
        };
        let edges: Vec<(String, String)> = self.read(|flights| {
            answer::rows(flights.one("edges", vec![self.identity.project(), json(object!(revived))])?)
        })?;
        let draft = self.draft.borrow();
        let is_over = |slug: &str| draft.get(slug).is_some_and(|entry| over(entry.task.queued.status));
        let stored = edges.into_iter().filter(|(task, _)| draft.get(task).is_none());
        let drafted = draft.entries().flat_map(|entry| {
            let open = entry.blockers.iter().filter(|(_, open)| **open);
            open.map(|(blocker, _)| (entry.slug().to_string(), blocker.clone()))
        });
        let alive = |(task, blocker): &(String, String)| !is_over(task) && !is_over(blocker);
        Ok(graph(stored.chain(drafted).filter(alive).collect()))
    }

    fn finish_step(&self, task: &Queued, seq: i64) -> Result<bool, Error> {
        self.fetch(&[&task.slug])?;
        Ok(self.draft.borrow_mut().finish_step(&task.slug, seq))
    }

    fn verify_of(&self, _: &Queued) -> Result<Option<String>, Error> {
        Ok(None)
    }

    fn turn(&self, turn: TaskTransition) -> Result<(), Error> {
        if turn.after.status == TaskStatus::Active {
            let slug = &turn.after.slug;
            return Err(Error::Refused(format!("a plan cannot claim task '{slug}'; `taut task claim {slug}` does")));
        }
        self.fetch(&[&turn.after.slug])?;
        self.draft.borrow_mut().turn(&turn);
        Ok(())
    }
}

/// On the way from a task along what it waits for.
#[derive(Default)]
struct Walk {
    next: Vec<String>,
    seen: BTreeSet<String>,
    /// What the server has of those that are not changed here.
    stored: BTreeMap<String, Vec<String>>,
    /// Reached, and to be asked for.
    unknown: Vec<String>,
}

impl Walk {
    /// As far as is known.
    fn reaches(&mut self, goal: &str, draft: &Draft) -> bool {
        while let Some(slug) = self.next.pop() {
            if slug == goal {
                return true;
            }
            if self.seen.contains(&slug) {
                continue;
            }
            if let Some(entry) = draft.get(&slug) {
                self.next.extend(entry.blockers.keys().cloned());
            } else if let Some(blockers) = self.stored.get(&slug) {
                self.next.extend(blockers.iter().cloned());
            } else {
                self.unknown.push(slug);
                continue;
            }
            self.seen.insert(slug);
        }
        false
    }
}

/// By priority, then age; what is made here is the youngest.
fn order(entry: &Entry) -> (u8, bool, Ms, i64) {
    let made = entry.before.is_none();
    let row = entry.task.queued.row;
    (entry.task.plan.priority.0, made, entry.task.created_at, if made { -row } else { row })
}

/// Rests are over by this machine's clock, onto which those of the server were moved.
fn wanted(filter: &TaskFilter, task: &Task) -> bool {
    let is = |wanted: &Option<String>, found: Option<&String>| wanted.is_none() || wanted.as_ref() == found;
    let Task { plan, queued, .. } = task;
    let claimable = |now: Ms| queued.status == TaskStatus::Open && queued.open_blockers == 0 && queued.ready_at <= now;
    (filter.statuses.is_empty() || filter.statuses.contains(&queued.status))
        && is(&filter.agent, queued.hold.as_ref().map(|hold| &hold.agent))
        && is(&filter.spec, plan.spec.as_ref())
        && is(&filter.category, plan.category.as_ref())
        && filter.claimable_at.is_none_or(claimable)
}
