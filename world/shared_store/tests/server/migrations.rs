//! The schema is made once, whoever else makes it, and tells its version and its id.

use crate::{Server, schema};
use shared_store::{Migrated, Patience, migrate, version};
use std::thread;

#[test]
fn eight_migrations_at_once_are_one() {
    let Some(server) = Server::empty() else { return };
    let target = server.target("postgres");
    let did: Vec<Migrated> = thread::scope(|scope| {
        let all: Vec<_> =
            (0..8).map(|_| scope.spawn(|| migrate(&target, &schema(), Patience::default()).unwrap())).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(did.iter().filter(|did| did.from == 0 && did.to == 1).count(), 1, "{did:?}");
    assert_eq!(did.iter().filter(|did| did.from == 1 && did.to == 1).count(), 7, "{did:?}");
}

#[test]
fn a_member_is_told_the_version_and_the_id_that_every_address_has() {
    let Some(server) = Server::migrated() else { return };
    let found = version(&mut server.member(), &schema()).unwrap();
    assert_eq!((found.version, found.oldest, found.id.len()), (1, 1, 36));
    assert_eq!(found, version(&mut server.connect("taut_reader"), &schema()).unwrap());
}
