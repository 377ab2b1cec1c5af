//! Where nothing is shared there is nothing: no connection, no thread, no row.

use crate::machine::Machine;
use std::net::TcpListener;
use std::time::Duration;
use testkit::poll;

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
