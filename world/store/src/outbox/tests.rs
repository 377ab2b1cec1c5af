//! In which order what is owed is said.

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
