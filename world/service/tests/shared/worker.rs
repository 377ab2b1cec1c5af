//! The thread of the worker within a daemon: it comes and goes with the configuration, and holds up nobody.

use crate::machine::{Machine, PLENTY, Server};
use daemon::Client;
use serde_json::json;
use std::net::TcpListener;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use store::{BootTime, Durability};
use testkit::poll;

const LIMIT: Duration = Duration::from_secs(60);

/// One daemon at a time: they are told apart by the names of their threads.
static ALONE: Mutex<()> = Mutex::new(());

struct Served {
    _alone: MutexGuard<'static, ()>,
    thread: Option<JoinHandle<()>>,
    state: std::path::PathBuf,
}

impl Served {
    fn begin(machine: &Machine) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        poll::until("the end of another's thread", LIMIT, || (!has_thread("shared")).then_some(())).unwrap();
        let setting = machine.setting.clone();
        let state = setting.state.clone();
        let thread = std::thread::spawn(move || drop(service::run(&setting)));
        let client = Client::new(&state, Duration::from_secs(30));
        poll::until("the daemon", LIMIT, || client.status().ok()).unwrap();
        Self { _alone: alone, thread: Some(thread), state }
    }

    fn client(&self) -> Client {
        Client::new(&self.state, Duration::from_secs(30))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let stopped = daemon::stop(&self.state, LIMIT);
        let _ = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            stopped.unwrap();
        }
    }
}

fn has_thread(name: &str) -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let called = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.map(called).any(|known| known.trim() == name)
}

#[test]
fn x1_the_worker_begins_when_something_is_shared_and_ends_when_nothing_is() {
    let Some(server) = Server::start() else { return };
    let mut one = Machine::new("vm-1");
    one.begin("ann", "acme");
    let _daemon = Served::begin(&one);
    poll::until("its workers", LIMIT, || has_thread("reaper").then_some(())).unwrap();
    assert!(!has_thread("shared"), "nothing is shared");
    one.share(&server.url("taut_agent"), "none");
    poll::until("its heartbeat", LIMIT, || (server.count("machines") == 1).then_some(())).unwrap();
    poll::until("its agent", LIMIT, || (server.count("agents") == 1).then_some(())).unwrap();
    std::fs::write(&one.setting.user_config, "").unwrap();
    poll::until("its goodbye", LIMIT, || (server.count("agents") == 0).then_some(())).unwrap();
    poll::until("its end", LIMIT, || (!has_thread("shared")).then_some(())).unwrap();
    assert_eq!(one.store().shared_state().unwrap(), None);
}

#[test]
fn q6_what_a_hook_let_go_of_is_said_by_the_daemon() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.plan("a");
    let daemon = Served::begin(&one);
    let begin = one.call(("ann", "acme"), "SessionStart", json!({"source": "startup"}));
    daemon.client().hook(&begin).unwrap();
    one.claim("ann").unwrap();
    poll::until("its agent", LIMIT, || (server.count("agents") == 1).then_some(())).unwrap();
    let end = one.call(("ann", "acme"), "SessionEnd", json!({"reason": "other"}));
    daemon.client().hook(&end).unwrap();
    let status = "SELECT status FROM taut.tasks";
    poll::until("the word", LIMIT, || (server.sql(status) == "open").then_some(())).unwrap();
}

#[test]
fn x2_an_agent_whose_lease_nobody_renews_any_more_is_told_where_no_server_is_configured() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.plan("a");
    one.begin("ann", "acme");
    one.claim("ann").unwrap();
    std::fs::write(&one.setting.user_config, "").unwrap();
    let hold = one.store().all_shared_holds().unwrap().remove(0);
    let long_ago = BootTime { ms: hold.confirmed.ms - 2 * hold.lease_ms, boot: hold.confirmed.boot };
    let claim = [(hold.claim.as_str(), hold.lease_ms)];
    one.store().transact(Durability::Full, |tx| tx.confirm_holds(&claim, &long_ago)).unwrap();
    let _daemon = Served::begin(&one);
    let is_told = |(_, _, body): (String, String, String)| body.contains("another agent may have it by now");
    let mut told = || one.waiting("ann").into_iter().any(is_told).then_some(());
    poll::until("its word", LIMIT, &mut told).unwrap();
    assert!(!has_thread("shared"));
}

#[test]
fn x1_a_server_that_takes_calls_and_says_nothing_holds_up_no_hook_and_no_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut one = Machine::new("vm-1");
    one.share(&format!("postgresql://a@127.0.0.1:{}/taut", listener.local_addr().unwrap().port()), "full");
    one.begin("ann", "acme");
    let daemon = Served::begin(&one);
    // It is kept open for as long as this test.
    listener.set_nonblocking(true).unwrap();
    let _hung = poll::until("the daemon's call", LIMIT, || listener.accept().ok()).unwrap();
    for n in 0..20 {
        let call = one.call(("ann", "acme"), "UserPromptSubmit", json!({"prompt": format!("go on {n}")}));
        assert_eq!(daemon.client().hook(&call).unwrap().exit, 0);
    }
    drop(daemon);
}

#[test]
fn x2_who_is_let_in_no_more_is_let_in_again_with_the_password_of_then() {
    let Some(cluster) = testkit::postgres::Cluster::plan().tls().start() else { return };
    let database = cluster.database();
    let owner = shared_store::TargetWish {
        url: Some(cluster.url(testkit::postgres::OWNER, &database)),
        ..shared_store::TargetWish::default()
    };
    let owner = shared_store::Target::resolve(&owner, &shared_store::Surroundings::default()).unwrap();
    let schema = shared_store::Schema::named("taut").unwrap();
    shared_store::migrate(&owner, &schema, PLENTY).unwrap();
    let mut one = Machine::new("vm-1");
    let url = cluster.tcp_url("localhost", "taut_agent", &database);
    let ca = cluster.certificates().ca.display().to_string();
    let config =
        format!("[shared]\nurl = \"{url}\"\nprojects = [\"acme/shop\"]\npassword_file = \"p\"\nca = \"{ca}\"\n");
    std::fs::write(&one.setting.user_config, config).unwrap();
    let file = one.setting.user_config.with_file_name("p");
    let keep = |password: &str| {
        std::fs::write(&file, password).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    };
    let is = |password: &str| cluster.sql(&database, &format!("ALTER ROLE taut_agent PASSWORD '{password}'"));
    keep("first-secret");
    is("first-secret");
    one.round();
    is("second-secret");
    cluster.sql(&database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'taut_agent'");
    let refused = one.rounds_until(|report| matches!(report.error, Some(store::ServerError::Refused(_))));
    assert!(refused.error.unwrap().to_string().contains("password"));
    keep("second-secret");
    one.round();
}

#[test]
fn x2_what_another_process_notes_while_a_round_goes_on_is_not_lost() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.round();
    let mut other = one.own_store();
    let mut owner = server.owner();
    let mut held = owner.begin();
    let lock = "LOCK TABLE {s}.messages IN ACCESS EXCLUSIVE MODE";
    held.flight(&[shared_store::Statement::new(lock, "taut", Vec::new())]).unwrap();
    let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'taut.messages'::regclass";
    let report = std::thread::scope(|scope| {
        let noted = scope.spawn(|| {
            poll::until("the round to wait", LIMIT, || (server.sql(waits) != "0").then_some(())).unwrap();
            other.change_shared_state(|state| state.note("of another".into(), host::clock::now())).unwrap();
        });
        let report = one.try_round();
        noted.join().unwrap();
        report
    });
    assert!(matches!(report.error, Some(store::ServerError::Busy(_))), "{report:?}");
    let state = other.shared_state().unwrap().unwrap();
    assert!(state.error.is_some() && state.notices.len() == 1, "{state:?}");
}
