//! What was told (F5): of many who want to tell, one does.

use crate::rows::open;
use model::Ms;
use model::fleet::NotifiedTurn;
use model::row::AgentStatus;

#[test]
fn f5_of_many_who_would_tell_the_same_one_gets_to() {
    let home = tempfile::tempdir().unwrap();
    let told = |agent: &str, at: i64| NotifiedTurn { agent: agent.into(), status: AgentStatus::Attention, at: Ms(at) };
    let (first, second) = (vec![told("ada", 1)], vec![told("ada", 1), told("bob \"x\"", 2)]);
    drop(open(home.path()));
    let claims: Vec<_> = (0..8)
        .map(|_| {
            let (path, first) = (home.path().to_owned(), first.clone());
            std::thread::spawn(move || open(&path).claim_told(&[], &first).unwrap())
        })
        .collect();
    let won = claims.into_iter().map(|claim| claim.join().unwrap()).filter(|won| *won).count();
    assert_eq!(won, 1);
    let mut store = open(home.path());
    assert_eq!(store.notified().unwrap(), first);
    assert!(store.claim_told(&first, &second).unwrap());
    assert!(!store.claim_told(&first, &second).unwrap(), "it is not what was there any more");
    assert_eq!(store.notified().unwrap(), second);
}
