//! Presence: each machine sees the agents of the others, of shared projects alone.

use crate::machine::{Server, token};
use serde_json::json;

#[test]
fn f9_each_machine_sees_the_agents_of_the_others_and_of_shared_projects_only() {
    let Some(server) = Server::start() else { return };
    let (mut one, mut two) = (server.machine("vm-1", "none"), server.machine("vm-2", "none"));
    one.begin("api", "acme");
    one.begin("secret", "private");
    one.round();
    assert!(two.round().is_news);
    let seen = two.store().remote_agents().unwrap();
    let shown: Vec<_> = seen.iter().map(|agent| (agent.shown(), agent.told.project.clone())).collect();
    assert_eq!(shown, [("api@vm-1".to_string(), Some("acme/shop".to_string()))]);
    assert!(!server.dump().contains("private"), "{}", server.dump());
    assert!(!two.round().is_news, "nothing has changed");
    one.end("api", "acme");
    one.round();
    two.round();
    let gone = two.store().remote_agents().unwrap();
    assert!(gone.is_empty() || gone[0].told.status == "done", "{gone:?}");
}

#[test]
fn f9_what_an_agent_does_is_told_when_it_changed_and_without_secrets() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.begin("api", "acme");
    one.round();
    let put = "SELECT seen_at::text FROM taut.agents";
    let first = server.sql(put);
    one.round();
    assert_eq!(server.sql(put), first, "not told again");
    one.bash(("api", "acme"), &format!("curl -u me:{} https://example.org", token()));
    one.hook(("api", "acme"), "Notification", json!({"message": format!("use {}?", token())}));
    one.round();
    assert_ne!(server.sql(put), first);
    assert!(!server.dump().contains(&token()), "{}", server.dump());
}

#[test]
fn f9_who_leaves_is_seen_no_more_and_whose_daemon_ends_stays_in_sight() {
    let Some(server) = Server::start() else { return };
    let mut one = server.machine("vm-1", "none");
    one.begin("api", "acme");
    one.round();
    assert_eq!(server.count("agents"), 1);
    one.rounds.close();
    assert_eq!(server.count("agents"), 1, "the agent may live on");
    one.round();
    one.rounds.leave();
    assert_eq!(server.count("agents"), 0);
    one.round();
    assert_eq!(server.count("agents"), 1, "told anew to the next connection");
}
