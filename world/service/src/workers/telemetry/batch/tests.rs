//! What is sent next, however much there is: bounded, nothing twice, nothing left out.

use super::*;
use engine::queue::{Claimant, Speaker};
use model::Level;
use model::effect::Write;
use model::row::Event;
use model::task::TaskPlan;
use pipeline::queue::Queue;
use std::collections::BTreeSet;
use std::time::Duration;
use store::Durability;

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

/// The ids of all that is sent, and how many requests it takes.
fn sent(store: &Store, mut cursor: TelemetryCursor) -> (Vec<String>, usize, TelemetryCursor) {
    let (mut ids, mut requests) = (Vec::new(), 0);
    loop {
        let batch = next_batch(store, &cursor, TelemetryLevel::Full).unwrap();
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
    let mut queue = Queue::new(&mut store, host::clock_reading::moment);
    for n in 0..30 {
        let plan = TaskPlan { slug: format!("t/{n}"), title: "work".into(), ..TaskPlan::default() };
        queue.create("/p", &plan, &Speaker::Person).unwrap();
        queue.claim_one("/p", &plan.slug, &Claimant::agent(&format!("a{n}"), 600_000)).unwrap();
    }
    let (first, ..) = sent(&store, begun.clone());
    let (again, _, after) = sent(&store, begun);
    assert_eq!((first.len(), &first), (30, &again), "the cursor did not move, so the same is sent");
    assert_eq!(sent(&store, after).0.len(), 0);
}
