//! What is sent next, however much there is: bounded, nothing twice, nothing left out.

use super::*;
use engine::queue::{Claimant, Speaker};
use model::Level;
use model::effect::Write;
use model::row::Event;
use model::task::{ClockReading, TaskPlan};
use pipeline::queue::Queue;
use std::collections::BTreeSet;
use std::time::Duration;
use store::Durability;

const DAY: i64 = 86_400_000;

fn store() -> (tempfile::TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Duration::ZERO).unwrap();
    (home, store)
}

fn denied(n: i64) -> Write {
    let mut event = Event::noted("PreToolUse", "ada", format!("id-{n}"), Ms(n));
    event.verdict = if n % 10 == 0 { Level::Deny } else { Level::Pass };
    event.reason = Some("because \"it\" \\ is so ".repeat(50));
    Write::Event(Box::new(event))
}

/// So many tasks, each claimed at this moment.
fn claimed(store: &mut Store, at: Ms, name: &str, many: usize) {
    let mut queue = Queue::new(store, || ClockReading { now: at, ..host::clock_reading::moment() });
    for n in 0..many {
        let plan = TaskPlan { slug: format!("{name}/{n}"), title: "work".into(), ..TaskPlan::default() };
        queue.create("/p", &plan, &Speaker::Person).unwrap();
        queue.claim_one("/p", &plan.slug, &Claimant::agent(&format!("{name}-{n}"), 600_000)).unwrap();
    }
}

/// The ids of all that is sent, and how many requests it takes.
fn sent(store: &Store, cursor: TelemetryCursor) -> (Vec<String>, usize, TelemetryCursor) {
    let now = host::clock::now();
    sent_as(&BatchLook { level: TelemetryLevel::Full, now, most_changes: MOST_CHANGES }, store, cursor)
}

fn sent_as(look: &BatchLook, store: &Store, mut cursor: TelemetryCursor) -> (Vec<String>, usize, TelemetryCursor) {
    let (mut ids, mut requests) = (Vec::new(), 0);
    loop {
        let batch = next_batch(store, &no_later(cursor, look.now), look).unwrap();
        let bytes = body(&TelemetrySource::default(), &batch.records).to_string().len();
        assert!(bytes <= MOST_BYTES + 1_000, "{bytes}");
        requests += usize::from(!batch.records.is_empty());
        ids.extend(batch.records.into_iter().map(|record| record.id));
        cursor = batch.after;
        if batch.is_last {
            return (ids, requests, cursor);
        }
        assert!(requests < 1_000, "it never ends");
    }
}

#[test]
fn x3_a_backlog_is_sent_in_bounded_requests_each_record_once() {
    let (_home, mut store) = store();
    let begun = store.begin_telemetry(Ms(0)).unwrap();
    for part in 0..4 {
        let events: Vec<Write> = (part * 1_000..(part + 1) * 1_000).map(denied).collect();
        store.transact(Durability::Normal, |tx| tx.apply(&events)).unwrap();
    }
    let (ids, requests, after) = sent(&store, begun);
    assert_eq!((ids.len(), ids.iter().collect::<BTreeSet<_>>().len()), (400, 400));
    assert!(requests > 5, "{requests}");
    assert_eq!(sent(&store, after).0, Vec::<String>::new());
}

#[test]
fn x3_what_becomes_of_tasks_is_told_once_and_a_death_before_the_cursor_moves_repeats_the_same_ids() {
    let (_home, mut store) = store();
    let begun = store.begin_telemetry(Ms(host::clock::now().0 - 60_000)).unwrap();
    claimed(&mut store, host::clock::now(), "t", 30);
    let (first, ..) = sent(&store, begun.clone());
    let (again, _, after) = sent(&store, begun);
    assert_eq!((first.len(), &first), (30, &again), "the cursor did not move, so the same is sent");
    assert_eq!(sent(&store, after).0.len(), 0);
}

#[test]
fn x3_what_a_clock_that_was_ahead_has_dated_is_told_once_and_hides_nothing_that_comes_after() {
    let (_home, mut store) = store();
    let now = host::clock::now();
    let at = |ms| BatchLook { level: TelemetryLevel::Full, now: Ms(now.0 + ms), most_changes: 10 };
    let begun = store.begin_telemetry(Ms(now.0 - 60_000)).unwrap();
    claimed(&mut store, Ms(now.0 - 1_000), "before", 1);
    claimed(&mut store, Ms(now.0 + DAY), "ahead", 15);
    let (mut after, mut told) = (begun, Vec::new());
    for round in 0..4 {
        let (ids, _, cursor) = sent_as(&at(round), &store, after);
        (after, told) = (cursor, [told, vec![ids.len()]].concat());
    }
    assert_eq!(told, [10, 0, 0, 0], "those that are looked at are told once, and not for ever");
    claimed(&mut store, Ms(now.0 + 3_000), "since", 1);
    let (next, ..) = sent_as(&at(5_000), &store, after);
    assert_eq!(next.len(), 1, "{next:?}");
}
