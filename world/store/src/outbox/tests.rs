//! In which order what is owed is said, and how much of what was refused is kept.

use super::*;
use crate::Durability;
use std::time::Duration;

fn done(id: i64, claim: &str) -> ServerTurn {
    ServerTurn {
        id,
        slug: format!("t/{id}"),
        was: "active".into(),
        attempt: 1,
        claim: Some(claim.into()),
        need: None,
        status: "done".into(),
        retry_count: 0,
        failures: 0,
        releases: 0,
        fail_reason: None,
        rest_ms: None,
        result: None,
        outcome: Some("done".into()),
        reason: None,
        step: -1,
    }
}

/// The words as they are to be said, by their keys.
fn in_turn(store: &Store) -> Vec<String> {
    let seqs = store.owed_in_turn("srv", "acme/shop").unwrap();
    seqs.into_iter().filter_map(|seq| store.owed_turn(seq).unwrap()).map(|owed| owed.key).collect()
}

#[test]
fn x2_what_could_not_be_said_comes_behind_the_others_and_words_of_one_task_in_their_order() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
    let put = |conn: &Connection| {
        for (id, key) in [(1, "a"), (2, "b"), (1, "a corrected"), (3, "c")] {
            put_turn(conn, ("srv", "acme/shop"), (key, None), (&done(id, key), Ms(1)))?;
        }
        put_turn(conn, ("srv", "another"), ("d", None), (&done(4, "d"), Ms(1)))?;
        conn.execute(
            "INSERT INTO outbox (server, queue, kind, key, body, at) VALUES ('srv', 'acme/shop', 'turn', 'e', '{', 1)",
            [],
        )
    };
    store.transact(Durability::Full, |tx| tx.verb(put)).unwrap();
    assert_eq!(in_turn(&store), ["a", "b", "a corrected", "c"], "what cannot be read is passed over");
    let first = store.owed_in_turn("srv", "acme/shop").unwrap()[0];
    store.transact(Durability::Normal, |tx| tx.turn_tried(first)).unwrap();
    assert_eq!(in_turn(&store), ["b", "c", "a", "a corrected"]);
}

#[test]
fn x2_as_many_results_that_came_too_late_are_kept_as_may_be_read_however_they_were_refused() {
    let home = tempfile::tempdir().unwrap();
    let mut store = Store::open(home.path(), Duration::ZERO).unwrap();
    let late = |attempt: i64| RefusedTurn {
        at: Ms(attempt),
        queue: "acme/shop".into(),
        slug: "a".into(),
        agent: None,
        attempt,
        outcome: Some("done".into()),
        result: None,
        why: "over".into(),
    };
    store.transact(Durability::Normal, |tx| (1..=1_005).try_for_each(|nth| tx.keep_refused(&late(nth)))).unwrap();
    let kept = "SELECT count(*), min(attempt) FROM refused_turns";
    let kept: (i64, i64) = store.read(|conn| conn.query_row(kept, [], |row| Ok((row.get(0)?, row.get(1)?)))).unwrap();
    assert_eq!(kept, (1_000, 6), "the newest");
}
