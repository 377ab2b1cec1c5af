//! Encrypted connections: who the server must prove to be, and what is refused.

use crate::{PLENTY, ask, refusal};
use serde_json::json;
use shared_store::{Connection, InTransaction, Surroundings, Target, TargetWish};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use store::ServerError;
use testkit::postgres::Cluster;

/// One server with TLS for all of these, whose member `ada` has a password.
fn cluster() -> Option<&'static Cluster> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    let made = CLUSTER.get_or_init(|| {
        let cluster = Cluster::plan().tls().start()?;
        cluster.sql("postgres", "CREATE ROLE ada LOGIN PASSWORD 's3cret'; CREATE ROLE certified LOGIN");
        Some(cluster)
    });
    if made.is_none() {
        testkit::skipped("there is no PostgreSQL");
    }
    made.as_ref()
}

struct Wish<'a> {
    host: &'static str,
    role: &'static str,
    query: &'a str,
    ca: Option<PathBuf>,
}

fn resolved(cluster: &Cluster, wish: Wish<'_>) -> Result<Target, ServerError> {
    let url = format!("{}{}", cluster.tcp_url(wish.host, wish.role, "postgres"), wish.query);
    let variables = [("PGPASSWORD".to_owned(), "s3cret".to_owned())].into();
    let wish = TargetWish { url: Some(url), ca: wish.ca, ..TargetWish::default() };
    Target::resolve(&wish, &Surroundings { variables, home: None })
}

fn open(cluster: &Cluster, wish: Wish<'_>) -> Result<Connection, ServerError> {
    Connection::open(&resolved(cluster, wish)?, PLENTY)
}

fn is_encrypted(connection: &mut Connection) -> bool {
    let sql = "SELECT to_jsonb(ssl)::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    connection.flight(&[ask(sql)], InTransaction::No).unwrap() == [vec![json!(true)]]
}

#[test]
fn x3_a_server_with_the_right_authority_and_name_is_believed() {
    let Some(cluster) = cluster() else { return };
    let ca = Some(cluster.certificates().ca.clone());
    let mut connection = open(cluster, Wish { host: "localhost", role: "ada", query: "", ca }).unwrap();
    assert!(is_encrypted(&mut connection));
}

#[test]
fn x3_a_server_of_another_authority_is_refused() {
    let Some(cluster) = cluster() else { return };
    let ca = Some(cluster.certificates().other_ca.clone());
    let words = refusal(open(cluster, Wish { host: "localhost", role: "ada", query: "", ca }));
    assert!(words.contains("signed by nobody who is trusted") && words.contains("`ca`"), "{words}");
    // The system's own authorities did not sign it either.
    let words =
        refusal(open(cluster, Wish { host: "localhost", role: "ada", query: "?sslmode=verify-full", ca: None }));
    assert!(words.contains("`ca`"), "{words}");
}

#[test]
fn x3_a_server_of_another_name_is_refused_unless_the_address_asks_for_less() {
    let Some(cluster) = cluster() else { return };
    let ca = || Some(cluster.certificates().ca.clone());
    let words = refusal(open(cluster, Wish { host: "127.0.0.1", role: "ada", query: "", ca: ca() }));
    assert!(words.contains("another name"), "{words}");
    let mut less = open(cluster, Wish { host: "127.0.0.1", role: "ada", query: "?sslmode=require", ca: ca() }).unwrap();
    assert!(is_encrypted(&mut less));
    // The authority is still asked for where one is named, and for nothing where none is.
    let other = Some(cluster.certificates().other_ca.clone());
    refusal(open(cluster, Wish { host: "127.0.0.1", role: "ada", query: "?sslmode=require", ca: other }));
    assert!(open(cluster, Wish { host: "127.0.0.1", role: "ada", query: "?sslmode=require", ca: None }).is_ok());
}

#[test]
fn a_wrong_password_is_refused_with_what_helps_and_is_not_shown() {
    let Some(cluster) = cluster() else { return };
    let url = cluster.tcp_url("localhost", "ada", "postgres");
    let variables = [("PGPASSWORD".to_owned(), "wr0ng".to_owned())].into();
    let wish = TargetWish { url: Some(url), ca: Some(cluster.certificates().ca.clone()), ..TargetWish::default() };
    let target = Target::resolve(&wish, &Surroundings { variables, home: None }).unwrap();
    assert!(!format!("{target:?}{wish:?}").contains("wr0ng"));
    let words = refusal(Connection::open(&target, PLENTY));
    assert!(words.contains("`password_file`") && !words.contains("wr0ng"), "{words}");
    let target = Target::resolve(&wish, &Surroundings::default()).unwrap();
    let words = refusal(Connection::open(&target, PLENTY));
    assert!(words.contains("asks for a password"), "{words}");
}

#[test]
fn a_member_may_be_known_by_a_certificate_whose_key_nobody_else_reads() {
    let Some(cluster) = cluster() else { return };
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("client.key");
    fs::copy(&cluster.certificates().client_key, &key).unwrap();
    let wish = TargetWish {
        url: Some(cluster.tcp_url("localhost", "certified", "postgres")),
        ca: Some(cluster.certificates().ca.clone()),
        cert: Some(cluster.certificates().client.clone()),
        key: Some(key.clone()),
        ..TargetWish::default()
    };
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let words = refusal(Target::resolve(&wish, &Surroundings::default()));
    assert!(words.contains(&format!("chmod 600 {}", key.display())), "{words}");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let target = Target::resolve(&wish, &Surroundings::default()).unwrap();
    assert!(is_encrypted(&mut Connection::open(&target, PLENTY).unwrap()));
}

#[test]
fn a_server_without_tls_is_refused_where_it_is_asked_for() {
    let Some(cluster) = Cluster::plan().tcp().start() else { return };
    cluster.sql("postgres", "CREATE ROLE ada LOGIN PASSWORD 's3cret'");
    let words = refusal(open(&cluster, Wish { host: "localhost", role: "ada", query: "?sslmode=require", ca: None }));
    assert!(words.contains("offers no TLS"), "{words}");
    assert!(open(&cluster, Wish { host: "127.0.0.1", role: "ada", query: "", ca: None }).is_ok());
}

/// Whoever stands between asks for the password itself, and gets nothing: it is only ever shown bound to a certificate.
#[test]
fn a_server_that_proves_nothing_is_told_no_password() {
    let Some(cluster) = Cluster::plan().tls().start() else { return };
    cluster.sql("postgres", "CREATE ROLE ada LOGIN PASSWORD 's3cret'");
    cluster.admit("hostssl all all 127.0.0.1/32 password");
    let words = refusal(open(&cluster, Wish { host: "127.0.0.1", role: "ada", query: "?sslmode=require", ca: None }));
    assert!(words.contains("does not bind the password") && !words.contains("prefer"), "{words}");
    // Nor where the address asks for less: that would be sent to whoever answers.
    for less in ["prefer", "disable"] {
        let query = format!("?sslmode=require&channel_binding={less}");
        let words = refusal(open(&cluster, Wish { host: "127.0.0.1", role: "ada", query: &query, ca: None }));
        assert!(words.contains("`sslmode=verify-full`") && words.contains(less), "{words}");
    }
    let ca = Some(cluster.certificates().ca.clone());
    assert!(open(&cluster, Wish { host: "localhost", role: "ada", query: "", ca }).is_ok());
}
