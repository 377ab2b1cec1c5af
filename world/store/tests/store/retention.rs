//! Retention cannot be tricked by a clock (T11).

use crate::rows::{event, open};
use model::Ms;
use model::effect::Write;
use store::{Clocks, Durability, EventFilter, Retention, Store};

const DAY: i64 = 86_400_000;
const NOW: i64 = 1_000 * DAY;

/// A moment `ms` after the start, by a clock that is `ahead` by so much.
fn clocks(ms: i64, ahead: i64) -> Clocks {
    Clocks { now: Ms(NOW + ms + ahead), since_boot_ms: ms, boot: "one".into() }
}

fn store_event(store: &mut Store, n: i64, at: i64) {
    let mut one = event(n);
    one.at = Ms(at);
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(one))])).unwrap();
}

/// A thousand events over the last ten days.
fn ten_days(store: &mut Store) {
    (0..1_000).for_each(|n| store_event(store, n, NOW - 10 * DAY + n * DAY / 100));
}

fn left(store: &Store) -> usize {
    store.events(&EventFilter::default()).unwrap().len()
}

/// All that a daemon would do at once.
fn prune(store: &mut Store, clocks: &Clocks) -> usize {
    let before = left(store);
    while store.prune_by(clocks, &Retention::default()).unwrap().more {}
    before - left(store)
}

#[test]
fn t11_a_clock_45_days_ahead_for_five_seconds_forgets_nothing_and_is_noticed() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    ten_days(&mut store);
    assert_eq!(prune(&mut store, &clocks(0, 0)), 0);
    assert_eq!(prune(&mut store, &clocks(5_000, 45 * DAY)), 0);
    store_event(&mut store, 5_000, NOW + 45 * DAY);
    assert_eq!(prune(&mut store, &clocks(6_000, 45 * DAY)), 0);
    assert_eq!(prune(&mut store, &clocks(10_000, 0)), 0);
    assert_eq!(prune(&mut store, &clocks(DAY, 0)), 0);
    let jumps: Vec<i64> = store.clock_jumps().unwrap().iter().map(|jump| jump.by_ms / DAY).collect();
    assert_eq!(jumps, [45, -45]);
}

#[test]
fn t11_nor_where_the_clock_is_wrong_at_the_very_first_look() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    ten_days(&mut store);
    store_event(&mut store, 5_000, NOW + 45 * DAY);
    assert_eq!(prune(&mut store, &clocks(0, 45 * DAY)), 0);
}

#[test]
fn t11_a_wrong_clock_that_stays_takes_a_tenth_a_day_and_not_before_a_day() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    ten_days(&mut store);
    prune(&mut store, &clocks(0, 0));
    let hour = 3_600_000;
    let gone: Vec<usize> =
        (1..=4 * 24).map(|n| prune(&mut store, &clocks(n * hour, 100 * DAY))).filter(|gone| *gone > 0).collect();
    assert_eq!(gone, [100, 100, 100], "once on each day after the first");
}

#[test]
fn t11_what_is_really_old_goes_a_share_each_day_until_it_is_gone() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    ten_days(&mut store);
    let mut days = 0;
    while left(&store) > 0 {
        days += 1;
        prune(&mut store, &clocks(days * DAY, 0));
        assert!(days < 60, "{} events are immortal", left(&store));
    }
    assert!(days >= 30, "{days}");
}

#[test]
fn t11_events_of_a_clock_far_ahead_do_not_keep_those_behind_them_for_ever() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    (0..600).for_each(|n| store_event(&mut store, n, NOW + 3_000 * DAY));
    ten_days_after(&mut store);
    let mut day = 0;
    while left(&store) > 0 {
        day += 1;
        prune(&mut store, &clocks(day * DAY, 0));
        assert!(day < 90, "{} events are immortal", left(&store));
    }
}

fn ten_days_after(store: &mut Store) {
    (0..400).for_each(|n| store_event(store, 10_000 + n, NOW - 10 * DAY + n * DAY / 40));
}
