//! The feed without a daemon: it looks by itself.

use dash::{Feed, News};
use model::Ms;
use model::effect::Write;
use model::row::{Agent, AgentStatus};
use std::time::Duration;
use store::{Durability, Store};

const LONG: Duration = Duration::from_secs(20);

fn commit(store: &mut Store, id: &str) {
    let row = Agent {
        id: id.into(),
        named: true,
        status: AgentStatus::Working,
        dialect: None,
        session: None,
        project: "/p".into(),
        since: Ms(1),
    };
    store.transact(Durability::Normal, |tx| tx.apply(&[Write::Agent(row)])).unwrap();
}

#[test]
fn f1_without_a_daemon_a_commit_of_somebody_else_is_noticed_and_silence_is_silence() {
    let home = tempfile::tempdir().unwrap();
    let mut writer = Store::open(home.path(), LONG).unwrap();
    let reader = Store::open_existing_read_only(home.path()).unwrap();
    let mut feed = Feed::new(home.path());
    assert_eq!(feed.wait(&reader, Duration::from_millis(1)), News::Quiet);
    for id in ["alpha", "beta"] {
        commit(&mut writer, id);
        assert_eq!(feed.wait(&reader, LONG), News::Changed);
        assert_eq!(feed.wait(&reader, Duration::from_millis(1)), News::Quiet);
    }
}

#[test]
fn f1_what_was_committed_between_two_looks_is_not_missed() {
    let home = tempfile::tempdir().unwrap();
    let mut writer = Store::open(home.path(), LONG).unwrap();
    let reader = Store::open_existing_read_only(home.path()).unwrap();
    let mut feed = Feed::new(home.path());
    feed.wait(&reader, Duration::ZERO);
    commit(&mut writer, "alpha");
    assert_eq!(feed.wait(&reader, Duration::ZERO), News::Changed);
}
