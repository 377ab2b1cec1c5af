//! The schema is made once, whoever else makes it, and tells its version and its id.

use crate::{PLENTY, Server, refusal, schema};
use shared_store::{Migrated, Schema, migrate, version};
use std::thread;

#[test]
fn eight_migrations_at_once_are_one() {
    let Some(server) = Server::empty() else { return };
    let target = server.target("postgres");
    let did: Vec<Migrated> = thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| migrate(&target, &schema(), PLENTY).unwrap())).collect();
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

#[test]
fn a_client_that_is_too_old_is_refused_in_words_and_one_that_is_newer_than_the_schema_is_not() {
    let Some(server) = Server::migrated() else { return };
    server.sql("UPDATE taut.meta SET value = '3' WHERE name = 'version'");
    assert_eq!(version(&mut server.member(), &schema()).unwrap().version, 3);
    let words = refusal(migrate(&server.target("postgres"), &schema(), PLENTY));
    assert!(words.contains("newer taut"), "{words}");
    server.sql("UPDATE taut.meta SET value = '2' WHERE name = 'oldest'");
    let words = refusal(version(&mut server.member(), &schema()));
    assert!(words.contains("update taut"), "{words}");
}

#[test]
fn a_migration_that_stops_half_way_leaves_nothing() {
    let Some(server) = Server::empty() else { return };
    // Somebody's table stands where one of ours belongs.
    server.sql("CREATE SCHEMA taut; CREATE TABLE taut.tasks (mine int)");
    assert!(migrate(&server.target("postgres"), &schema(), PLENTY).is_err());
    assert_eq!(
        server.sql("SELECT string_agg(relname, ',') FROM pg_class WHERE relnamespace = 'taut'::regnamespace"),
        "tasks"
    );
}

#[test]
fn x1_a_database_that_does_not_keep_every_letter_is_refused_in_words() {
    let Some(server) = Server::empty() else { return };
    let database = format!("{}_latin", server.database);
    server.sql(&format!("CREATE DATABASE {database} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"));
    let latin = Server { database, ..server };
    let words = refusal(migrate(&latin.target("postgres"), &schema(), PLENTY));
    assert!(words.contains("LATIN1") && words.contains("createdb --encoding UTF8"), "{words}");
    assert_eq!(latin.sql("SELECT to_regnamespace('taut') IS NULL"), "t", "nothing is made there");
    // As somebody made it by hand.
    latin.sql(
        "CREATE SCHEMA taut; CREATE TABLE taut.meta (name text, value text);
         INSERT INTO taut.meta VALUES ('version', '1'), ('oldest', '1'), ('id', 'x')",
    );
    let words = refusal(version(&mut latin.connect("postgres"), &schema()));
    assert!(words.contains("LATIN1") && words.contains("createdb --encoding UTF8"), "{words}");
}

#[test]
fn a_schema_has_a_plain_name() {
    for name in ["taut", "team_a", "_x9"] {
        assert_eq!(Schema::named(name).unwrap().name(), name);
    }
    for name in ["", "9a", "Team", "a-b", "a b", "a;drop schema b", "a\"b", "pg_catalog", &"x".repeat(51), "ä"] {
        refusal(Schema::named(name));
    }
}
