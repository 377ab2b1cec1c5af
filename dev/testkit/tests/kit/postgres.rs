//! The database server of tests: it answers, keeps what it was told, and leaves nothing behind.

use testkit::poll;
use testkit::postgres::{Cluster, OWNER};
use testkit::process::lives;

#[test]
fn a_cluster_answers_and_is_gone_with_its_value() {
    let Some(cluster) = Cluster::start() else { return };
    let database = cluster.database();
    assert_eq!(cluster.sql(&database, "SELECT current_database()"), database);
    let (folder, server) = (cluster.socket_folder().to_owned(), cluster.pid().to_string());
    assert!(lives(&server));
    drop(cluster);
    assert!(!folder.exists());
    assert!(!lives(&server));
}

#[test]
fn what_a_durable_cluster_committed_survives_a_power_cut() {
    let Some(cluster) = Cluster::plan().durable().start() else { return };
    cluster.sql("postgres", "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)");
    cluster.stop_immediate();
    assert!(cluster.sql_as(OWNER, "postgres", "SELECT 1").is_err());
    cluster.start_again();
    assert_eq!(cluster.sql("postgres", "SELECT n FROM kept"), "7");
}

#[test]
fn what_a_server_logged_of_a_deadlock_is_there_after_a_power_cut() {
    let Some(cluster) = Cluster::plan().durable().start() else { return };
    cluster.sql("postgres", "CREATE TABLE t (n int PRIMARY KEY); INSERT INTO t VALUES (1), (2)");
    // Each has its first row before either asks for the other's.
    let crossed = |first: u32, second: u32| {
        format!(
            "BEGIN; UPDATE t SET n = n WHERE n = {first}; SELECT pg_advisory_xact_lock({first});
             DO $$ BEGIN FOR n IN 1..600 LOOP
               EXIT WHEN (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory') = 2; PERFORM pg_sleep(0.05);
             END LOOP; END $$;
             UPDATE t SET n = n WHERE n = {second}; COMMIT"
        )
    };
    let told = std::thread::scope(|scope| {
        let one = scope.spawn(|| cluster.sql_as(OWNER, "postgres", &crossed(1, 2)));
        let other = cluster.sql_as(OWNER, "postgres", &crossed(2, 1));
        [one.join().unwrap(), other]
    });
    assert_eq!(told.iter().filter(|told| told.is_err()).count(), 1, "{told:?}");
    cluster.restart();
    assert!(cluster.log().contains("ERROR:  deadlock detected"), "{}", cluster.log());
}

/// Set for the process that the last test starts.
const KILLED: &str = "TAUT_TEST_IS_KILLED";

/// Does nothing but in a process of its own, which ends here.
#[test]
fn a_test_that_is_killed() {
    if std::env::var_os(KILLED).is_none() {
        return;
    }
    let Some(cluster) = Cluster::start() else { return };
    println!("server {} {}", cluster.pid(), cluster.socket_folder().display());
    // SAFETY: kill takes plain numbers; this process ends here and runs nothing of its own afterwards.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
}

#[test]
fn a_cluster_goes_with_a_test_process_that_is_killed() {
    if Cluster::shared().is_none() {
        return;
    }
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "postgres::a_test_that_is_killed", "--nocapture"]).env(KILLED, "1");
    let done = testkit::process::run(test, b"", std::time::Duration::from_secs(60)).unwrap();
    let said = done.stdout_text();
    let words: Vec<&str> = said.lines().find_map(|line| line.split_once("server ")).unwrap().1.split(' ').collect();
    let limit = std::time::Duration::from_secs(20);
    poll::until("the server to end", limit, || (!lives(words[0])).then_some(())).unwrap();
    poll::until("its folder to go", limit, || (!std::path::Path::new(words[1]).exists()).then_some(())).unwrap();
}
