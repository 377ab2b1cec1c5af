//! Where nothing is shared there is nothing: no connection, no thread, no row.

use crate::machine::{Machine, Server};
use std::net::TcpListener;
use std::time::Duration;
use testkit::poll;

fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.map(name).map(|name| name.trim().to_string()).collect()
}

#[test]
fn x1_without_a_server_in_the_users_own_file_no_connection_is_tried_and_nothing_is_kept() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("postgresql://taut_agent@127.0.0.1:{}/taut", listener.local_addr().unwrap().port());
    let mut one = Machine::new("vm-1");
    // A repository may name its queue, and no server.
    let config = one.folder("acme").join(".taut/config.toml");
    std::fs::write(config, format!("[shared]\nproject = \"acme/shop\"\nurl = \"{url}\"\n")).unwrap();
    one.begin("ann", "acme");
    assert_eq!(one.rounds.server(), None);
    assert!(!one.end("ann", "acme").after.contains(&model::effect::After::Owed));
    std::fs::write(&one.setting.user_config, format!("# [shared]\n# url = \"{url}\"\n")).unwrap();
    assert_eq!(one.rounds.server(), None, "a word in a remark names no server");
    assert!(listener.accept().is_err(), "nobody called");
    assert_eq!((one.store().known_machine().unwrap(), one.store().shared_state().unwrap()), (None, None));
    one.share(&url, "none");
    let called = std::thread::spawn(move || {
        let accepted = poll::until("a call", Duration::from_secs(10), || listener.accept().ok());
        accepted.map(drop)
    });
    assert!(one.try_round().error.is_some(), "it hangs up");
    called.join().unwrap().unwrap();
}

#[test]
fn x1_the_worker_begins_when_something_is_shared_and_ends_when_nothing_is() {
    let Some(server) = Server::start() else { return };
    let mut one = Machine::new("vm-1");
    one.begin("ann", "acme");
    let setting = one.setting.clone();
    let daemon = std::thread::spawn(move || {
        let _ = service::run(&setting);
    });
    let limit = Duration::from_secs(30);
    poll::until("the daemon", limit, || threads().iter().any(|name| name == "reaper").then_some(())).unwrap();
    assert!(!threads().iter().any(|name| name == "shared"), "{:?}", threads());
    one.share(&server.url("taut_agent"), "none");
    poll::until("its heartbeat", limit, || (server.count("machines") == 1).then_some(())).unwrap();
    poll::until("its agent", limit, || (server.count("agents") == 1).then_some(())).unwrap();
    std::fs::write(&one.setting.user_config, "").unwrap();
    poll::until("its goodbye", limit, || (server.count("agents") == 0).then_some(())).unwrap();
    poll::until("its end", limit, || (!threads().iter().any(|name| name == "shared")).then_some(())).unwrap();
    assert_eq!(one.store().shared_state().unwrap(), None);
    daemon::stop(&one.setting.state, limit).unwrap();
    daemon.join().unwrap();
}
