//! A draft written to the server: everything in one flight, blockers first, dependents after.

use super::super::Identity;
use super::super::answer::LOWEST;
use super::super::flights::{Ask, Flights, Trouble, json};
use super::super::turn::told;
use super::draft::{Draft, Entry};
use model::task::{Task, TaskStep};
use serde_json::{Value, json as object};
use std::collections::BTreeSet;

/// Writes what differs. Where somebody's turn came between, nothing of it may be kept.
pub(super) fn flush(flights: &mut Flights<'_>, identity: &Identity, draft: &Draft) -> Result<(), Trouble> {
    let changed: Vec<&Entry> = draft.entries().filter(|entry| entry.is_changed()).collect();
    let mut sheet = Sheet { flights, identity, asks: Vec::new(), expected: Vec::new() };
    sheet.put("plan_hold", to_hold(draft, &changed), None);
    let turns: Vec<_> = changed.iter().filter_map(|entry| entry.turn.as_ref()).collect();
    if !turns.is_empty() {
        sheet.put_turns("turn", told(turns.iter().copied())?, Some(turns.len()));
    }
    let mut made: Vec<&&Entry> = changed.iter().filter(|entry| entry.before.is_none()).collect();
    // In the order in which they were planned: so they are claimed.
    made.sort_by_key(|entry| std::cmp::Reverse(entry.task.queued.row));
    let made: Vec<Value> = made.into_iter().enumerate().map(|(ord, entry)| new_row(ord, &entry.task)).collect();
    sheet.put("plan_make", made, Some(Expected::All));
    let written =
        changed.iter().filter(|entry| entry.before.is_some() && (entry.is_rewritten() || entry.is_relinked()));
    sheet.put("plan_write", written.map(|entry| old_row(entry)).collect(), Some(Expected::All));
    if !turns.is_empty() {
        // In the same flight as `turn`, because where that wrote less than all, nothing is kept of this either.
        sheet.put_turns("turned", told(turns)?, None);
    }
    sheet.put("plan_cut", edges(&changed, |entry| entry.removed().collect()), None);
    sheet.put("plan_link", edges(&changed, |entry| entry.added().collect()), None);
    let counted = changed.iter().filter(|entry| entry.is_relinked()).map(|entry| Value::from(entry.slug()));
    sheet.put("plan_count", counted.collect(), None);
    sheet.send()
}

enum Expected {
    /// As many rows as were sent.
    All,
}

/// The statements of one flight, and how many rows each must answer with.
struct Sheet<'f, 'c> {
    flights: &'f mut Flights<'c>,
    identity: &'f Identity,
    asks: Vec<Ask>,
    expected: Vec<Option<usize>>,
}

impl Sheet<'_, '_> {
    /// Nothing where there is nothing to say.
    fn put(&mut self, name: &str, rows: Vec<Value>, expected: Option<Expected>) {
        if rows.is_empty() {
            return;
        }
        self.expected.push(expected.map(|Expected::All| rows.len()));
        self.asks.push(self.flights.ask(name, vec![self.identity.project(), json(Value::Array(rows))]));
    }

    fn put_turns(&mut self, name: &str, turns: Option<String>, expected: Option<usize>) {
        self.expected.push(expected);
        self.asks.push(self.flights.ask(name, vec![turns]));
    }

    fn send(self) -> Result<(), Trouble> {
        if self.asks.is_empty() {
            return Ok(());
        }
        let answers = self.flights.fly_all(self.asks)?;
        let as_expected =
            answers.iter().zip(&self.expected).all(|(rows, wanted)| wanted.is_none_or(|wanted| wanted == rows.len()));
        if as_expected {
            return Ok(());
        }
        Err(Trouble::Overtaken(
            "others kept changing the tasks that are planned; nothing was written. Try again in a moment".to_string(),
        ))
    }
}

/// Every blocker that what is written has or gets: none of them ends before this is committed, and whoever ends one
/// waits before it has locked anybody who waits for it.
fn to_hold(draft: &Draft, changed: &[&Entry]) -> Vec<Value> {
    let mut slugs: BTreeSet<&str> = BTreeSet::new();
    for entry in changed {
        slugs.extend(entry.blockers.keys().map(String::as_str));
        slugs.extend(entry.removed());
    }
    let stored = |slug: &&str| draft.get(slug).is_none_or(|entry| entry.before.is_some());
    slugs.into_iter().filter(stored).map(Value::from).collect()
}

fn edges<'e>(changed: &[&'e Entry], blockers: impl Fn(&'e Entry) -> Vec<&'e str>) -> Vec<Value> {
    let of = |entry: &'e Entry| {
        blockers(entry).into_iter().map(|blocker| object!({ "slug": entry.slug(), "blocker": blocker }))
    };
    changed.iter().flat_map(|entry| of(entry)).collect()
}

fn new_row(ord: usize, task: &Task) -> Value {
    let mut row = fields(task);
    if let Value::Object(row) = &mut row {
        row.insert("ord".to_string(), object!(ord));
        row.insert("status".to_string(), object!(task.queued.status.name()));
        row.insert("result".to_string(), object!(task.result));
    }
    row
}

fn old_row(entry: &Entry) -> Value {
    let mut row = fields(&entry.task);
    if let Value::Object(row) = &mut row {
        row.insert("afresh".to_string(), object!(entry.afresh));
        row.insert("fields".to_string(), object!(entry.is_rewritten()));
        row.insert("over".to_string(), object!(entry.task.queued.status.unblocks()));
    }
    row
}

fn fields(task: &Task) -> Value {
    let plan = &task.plan;
    object!({
        "slug": plan.slug,
        "title": plan.title,
        "description": plan.description,
        "category": plan.category,
        "priority": plan.priority.0.min(LOWEST),
        "spec": plan.spec,
        "ref": plan.reference,
        "steps": steps(&plan.steps),
    })
}

fn steps(steps: &[TaskStep]) -> Value {
    if steps.is_empty() {
        return Value::Null;
    }
    steps.iter().map(|step| object!({ "content": step.content, "done": step.done })).collect()
}
