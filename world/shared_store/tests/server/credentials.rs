//! Where addresses and passwords come from, and what is refused before anybody is asked.

use crate::{PLENTY, Server, ask, refusal};
use serde_json::json;
use shared_store::{Connection, InTransaction, Surroundings, Target, TargetWish, UrlPlace};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use testkit::postgres::Cluster;

fn wish(url: &str) -> TargetWish {
    TargetWish { url: Some(url.to_owned()), ..TargetWish::default() }
}

fn around(variables: &[(&str, &str)], home: &Path) -> Surroundings {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Surroundings { variables, home: Some(home.to_owned()) }
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_password_in_an_address_is_refused_in_a_file_and_taken_from_the_environment() {
    let url = "postgresql://ada:s3cret@localhost/taut";
    let words = refusal(Target::resolve(&wish(url), &Surroundings::default()));
    assert!(words.contains("`password_file`") && !words.contains("s3cret"), "{words}");
    let from_environment = TargetWish { written: UrlPlace::Environment, ..wish(url) };
    let target = Target::resolve(&from_environment, &Surroundings::default()).unwrap();
    assert!(!format!("{target:?} {from_environment:?}").contains("s3cret"));
    assert_eq!((target.shown().as_str(), target.role().as_str()), ("localhost/taut", "ada"));
    let other_way =
        refusal(Target::resolve(&wish("postgresql://ada@localhost/taut?password=s3cret"), &Surroundings::default()));
    assert!(!other_way.contains("s3cret"), "{other_way}");
}

#[test]
fn x3_what_would_be_sent_in_the_clear_off_this_machine_is_refused() {
    for mode in ["disable", "allow", "prefer"] {
        let words = refusal(Target::resolve(
            &wish(&format!("postgresql://a@db.example/d?sslmode={mode}")),
            &Surroundings::default(),
        ));
        assert!(words.contains("in the clear") && words.contains("db.example"), "{words}");
        for here in ["localhost", "127.0.0.1", "[::1]", "%2Frun%2Fpostgresql"] {
            Target::resolve(&wish(&format!("postgresql://a@{here}/d?sslmode={mode}")), &Surroundings::default())
                .unwrap();
        }
    }
    // One of several is enough.
    refusal(Target::resolve(&wish("postgresql://a@localhost,db.example/d?sslmode=disable"), &Surroundings::default()));
}

#[test]
fn a_password_file_that_others_can_read_is_refused_with_the_command_that_mends_it() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".pgpass");
    write(&file, "*:*:*:*:s3cret\n", 0o644);
    let words = refusal(Target::resolve(&wish("postgresql://a@localhost/d"), &around(&[], home.path())));
    assert!(words.contains(&format!("`chmod 600 {}`", file.display())) && !words.contains("s3cret"), "{words}");
    let named = home.path().join("team pass");
    write(&named, "s3cret\n", 0o640);
    let by_name = TargetWish { password_file: Some(named.clone()), ..wish("postgresql://a@localhost/d") };
    let words = refusal(Target::resolve(&by_name, &Surroundings::default()));
    assert!(words.contains(&format!("`chmod 600 '{}'`", named.display())), "{words}");
    write(&named, "", 0o600);
    refusal(Target::resolve(&by_name, &Surroundings::default()));
    fs::remove_file(&named).unwrap();
    refusal(Target::resolve(&by_name, &Surroundings::default()));
}

#[test]
fn passwords_come_from_each_place_in_turn() {
    let Some(cluster) = Cluster::plan().tcp().start() else { return };
    cluster.sql("postgres", "CREATE ROLE ada LOGIN PASSWORD 'r:ght'");
    let home = tempfile::tempdir().unwrap();
    let url = cluster.tcp_url("127.0.0.1", "ada", "postgres");
    let enters = |wish: &TargetWish, around: &Surroundings| {
        Connection::open(&Target::resolve(wish, around).unwrap(), PLENTY).is_ok()
    };
    assert!(!enters(&wish(&url), &around(&[("PGPASSWORD", "wrong")], home.path())));
    assert!(enters(&wish(&url), &around(&[("PGPASSWORD", "r:ght")], home.path())));
    let line = format!("other:*:*:*:wrong\n127.0.0.1:{}:postgres:ada:r\\:ght\n*:*:*:*:wrong\n", cluster.port());
    write(&home.path().join(".pgpass"), &line, 0o600);
    assert!(enters(&wish(&url), &around(&[("PGPASSWORD", "wrong")], home.path())));
    write(&home.path().join("passes"), "*:*:*:*:wrong\n", 0o600);
    let passes = home.path().join("passes").display().to_string();
    assert!(!enters(&wish(&url), &around(&[("PGPASSFILE", &passes)], home.path())));
    write(&home.path().join("team.pass"), "r:ght\n", 0o600);
    let own = TargetWish { password_file: Some(home.path().join("team.pass")), ..wish(&url) };
    assert!(enters(&own, &around(&[("PGPASSFILE", &passes)], home.path())));
}

#[test]
fn a_service_stands_for_an_address() {
    let Some(server) = Server::empty() else { return };
    let home = tempfile::tempdir().unwrap();
    let (folder, port) = (server.cluster.socket_folder().display(), server.cluster.port());
    let text = format!("[team]\nhost={folder}\nport={port}\ndbname={}\nuser=postgres\n", server.database);
    write(&home.path().join(".pg_service.conf"), &text, 0o644);
    let named = around(&[("PGSERVICE", "team")], home.path());
    for (wish, around) in
        [(TargetWish::default(), &named), (wish("postgresql://?service=team"), &around(&[], home.path()))]
    {
        let mut connection = Connection::open(&Target::resolve(&wish, around).unwrap(), PLENTY).unwrap();
        let name = connection.flight(&[ask("SELECT to_jsonb(current_database())::text")], InTransaction::No).unwrap();
        assert_eq!(name, [vec![json!(server.database)]]);
    }
    let words = refusal(Target::resolve(&wish("postgresql://?service=none"), &named));
    assert!(words.contains("no service is called none in ~/.pg_service.conf: write it there"), "{words}");
    // What the address leaves open is the service's, its port too.
    write(&home.path().join(".pg_service.conf"), "[team]\nport=5433\n", 0o644);
    for (url, shown) in [("db.example", "db.example:5433/taut"), ("db.example:5434", "db.example:5434/taut")] {
        let url = format!("postgresql://ada@{url}/taut?service=team");
        assert_eq!(Target::resolve(&wish(&url), &around(&[], home.path())).unwrap().shown(), shown);
    }
    // A password in it makes it a file that others must not read.
    write(&home.path().join(".pg_service.conf"), &format!("{text}password=s3cret\n"), 0o644);
    let words = refusal(Target::resolve(&TargetWish::default(), &named));
    assert!(words.contains("chmod 600") && !words.contains("s3cret"), "{words}");
}

#[test]
fn x2_a_service_that_is_not_there_is_said_with_the_file_that_was_read_for_it() {
    let home = tempfile::tempdir().unwrap();
    write(&home.path().join(".pg_service.conf"), "[team]\nhost=db.example\ndbname=taut\nuser=ada\n", 0o644);
    let team = wish("postgresql://?service=team");
    assert!(Target::resolve(&team, &around(&[], home.path())).is_ok());
    let other = home.path().join("other.conf").display().to_string();
    let words = refusal(Target::resolve(&team, &around(&[("PGSERVICEFILE", &other)], home.path())));
    assert!(words.contains(&format!("team in {other}, the file that PGSERVICEFILE names")), "{words}");
    assert!(words.contains("the daemon is told of no variable and reads ~/.pg_service.conf"), "{words}");
    let words = refusal(Target::resolve(&wish("postgresql://?service=none"), &around(&[], home.path())));
    assert!(!words.contains("PGSERVICEFILE"), "what the daemon does not read helps nobody: {words}");
}
