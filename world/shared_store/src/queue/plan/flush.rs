//! A draft written to the server: blockers first, dependents after, in statements and flights of bounded size.

use super::super::Identity;
use super::super::answer::LOWEST;
use super::super::flights::{Ask, Flights, Trouble, json};
use super::super::turn::told;
use super::draft::{Draft, Entry};
use model::task::{Task, TaskStep};
use serde_json::{Value, json as object};
use std::collections::BTreeSet;
use std::mem;

/// So many rows one statement writes, of about so many bytes; a flight has no more bytes, either. Each has some seconds.
const MOST_ROWS: usize = 500;
const MOST_BYTES: usize = 2 << 20;

/// Writes what differs. Where somebody's turn came between, nothing of it may be kept.
pub(super) fn flush(flights: &mut Flights<'_>, identity: &Identity, draft: &Draft) -> Result<(), Trouble> {
    let changed: Vec<&Entry> = draft.entries().filter(|entry| entry.is_changed()).collect();
    let mut sheet = Sheet { flights, identity, writes: Vec::new() };
    sheet.put("plan_hold", to_hold(draft, &changed), Expected::Any);
    let turns: Vec<_> = changed.iter().filter_map(|entry| entry.turn.as_ref()).collect();
    if !turns.is_empty() {
        sheet.push("turn", vec![told(turns.iter().copied())?], Some(turns.len()));
    }
    let mut made: Vec<&&Entry> = changed.iter().filter(|entry| entry.before.is_none()).collect();
    // In the order in which they were planned: so they are claimed.
    made.sort_by_key(|entry| std::cmp::Reverse(entry.task.queued.row));
    let made: Vec<Value> = made.into_iter().enumerate().map(|(ord, entry)| new_row(ord, &entry.task)).collect();
    sheet.put_parts("plan_make", made, Expected::All);
    let written =
        changed.iter().filter(|entry| entry.before.is_some() && (entry.is_rewritten() || entry.is_relinked()));
    let mut written: Vec<_> = written.collect();
    // As each statement locks its rows, so do all of them together.
    written.sort_by_key(|entry| entry.task.queued.row);
    sheet.put_parts("plan_write", written.into_iter().map(|entry| old_row(entry)).collect(), Expected::All);
    if !turns.is_empty() {
        // Its answer need not be waited for: where `turn` wrote less than all, nothing is kept of this either.
        sheet.push("turned", vec![told(turns)?], None);
    }
    sheet.put_parts("plan_cut", edges(&changed, |entry| entry.removed().collect()), Expected::Any);
    sheet.put_parts("plan_link", edges(&changed, |entry| entry.added().collect()), Expected::Any);
    let counted = changed.iter().filter(|entry| entry.is_relinked()).map(|entry| Value::from(entry.slug()));
    sheet.put("plan_count", counted.collect(), Expected::Any);
    sheet.send()
}

#[derive(Clone, Copy)]
enum Expected {
    Any,
    /// As many rows as were sent.
    All,
}

/// Statements in their order.
struct Sheet<'f, 'c> {
    flights: &'f mut Flights<'c>,
    identity: &'f Identity,
    writes: Vec<Write>,
}

struct Write {
    ask: Ask,
    /// How many rows it must answer with.
    expected: Option<usize>,
    bytes: usize,
}

impl Sheet<'_, '_> {
    /// Nothing where there is nothing to say.
    fn put(&mut self, name: &str, rows: Vec<Value>, expected: Expected) {
        if rows.is_empty() {
            return;
        }
        let many = matches!(expected, Expected::All).then_some(rows.len());
        let rows = json(Value::Array(rows));
        self.push(name, vec![self.identity.project(), rows], many);
    }

    /// Of any number, each of which may be long.
    fn put_parts(&mut self, name: &str, rows: Vec<Value>, expected: Expected) {
        for part in parts(rows) {
            self.put(name, part, expected);
        }
    }

    fn push(&mut self, name: &str, parameters: Vec<Option<String>>, expected: Option<usize>) {
        let bytes = parameters.iter().flatten().map(String::len).sum();
        self.writes.push(Write { ask: self.flights.ask(name, parameters), expected, bytes });
    }

    /// In one flight, unless it is much.
    fn send(self) -> Result<(), Trouble> {
        let (mut asks, mut expected, mut bytes) = (Vec::new(), Vec::new(), 0);
        for write in self.writes {
            if !asks.is_empty() && bytes + write.bytes > MOST_BYTES {
                fly(self.flights, mem::take(&mut asks), &mem::take(&mut expected))?;
                bytes = 0;
            }
            bytes += write.bytes;
            asks.push(write.ask);
            expected.push(write.expected);
        }
        if asks.is_empty() { Ok(()) } else { fly(self.flights, asks, &expected) }
    }
}

fn fly(flights: &mut Flights<'_>, asks: Vec<Ask>, expected: &[Option<usize>]) -> Result<(), Trouble> {
    let answers = flights.fly_all(asks)?;
    if answers.iter().zip(expected).all(|(rows, wanted)| wanted.is_none_or(|wanted| wanted == rows.len())) {
        return Ok(());
    }
    Err(Trouble::Overtaken(
        "others kept changing the tasks that are planned; nothing was written. Try again in a moment".to_string(),
    ))
}

/// As many at once as one statement writes.
fn parts(rows: Vec<Value>) -> Vec<Vec<Value>> {
    let (mut parts, mut part, mut bytes) = (Vec::new(), Vec::new(), 0);
    for row in rows {
        let more = row.to_string().len();
        if !part.is_empty() && (part.len() == MOST_ROWS || bytes + more > MOST_BYTES) {
            parts.push(mem::take(&mut part));
            bytes = 0;
        }
        bytes += more;
        part.push(row);
    }
    parts.push(part);
    parts
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
        row.insert("fail_reason".to_string(), object!(task.queued.fail_reason));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_as_many_rows_as_one_statement_writes_and_one_at_least() {
        let lengths = |rows: Vec<Value>| parts(rows).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths((0..1_200).map(Value::from).collect()), [500, 500, 200]);
        let long = |mb: usize| Value::from("x".repeat(mb << 20));
        assert_eq!(lengths(vec![long(1), Value::from(1), long(1), long(3), long(1)]), [2, 1, 1, 1]);
        assert_eq!(parts((0..700).map(Value::from).collect()).concat(), (0..700).map(Value::from).collect::<Vec<_>>());
    }
}
