//! Hooks know of no server: they let go and renew as ever, and what that means is said by the next round.

use super::SharedServer;
use serde_json::json;

#[test]
fn q6_a_full_context_and_the_end_of_a_session_release_a_shared_task_while_the_server_is_away() {
    let Some(server) = SharedServer::start() else { return };
    for (event, fields, reason) in [
        ("SessionEnd", json!({"reason": "other"}), "session ended unexpectedly"),
        ("PreCompact", json!({"trigger": "auto"}), "context limit reached"),
    ] {
        let mut one = server.machine("one");
        one.home.write("home/.config/taut/config.toml", "[compaction]\nauto = \"stop\"\n");
        let slug = format!("of-{event}").to_lowercase();
        one.plan(&slug, &[]);
        let ann = one.home.client("s").with("TAUT_AGENT_ID", "ann");
        let session = one.home.start(&ann, "startup");
        assert_eq!(one.claim_in("ann", &session.id).task.plan.slug, slug);
        one.queue.away = true;
        let said = one.home.send(&ann, event, fields).answer.stderr;
        assert!(said.contains(&format!("agent ann {reason}, failing task {slug}")), "{event}: {said}");
        assert_eq!(server.status(&slug), "active 1", "nobody has told the server");
        one.queue.away = false;
        assert_eq!(one.round().unwrap().said, 1);
        let there =
            format!("SELECT status || ' ' || releases || ' ' || fail_reason FROM taut.tasks WHERE slug = '{slug}'");
        assert_eq!(server.sql(&there), format!("open 1 {reason}"));
        let ended = format!("SELECT outcome FROM taut.attempts JOIN taut.tasks ON id = task WHERE slug = '{slug}'");
        assert_eq!(server.sql(&ended), "released");
        server.sql(&format!("UPDATE taut.tasks SET status = 'deleted' WHERE slug = '{slug}'"));
    }
}

#[test]
fn q6_a_shared_task_goes_over_to_the_session_that_follows() {
    let Some(server) = SharedServer::start() else { return };
    let mut one = server.machine("one");
    one.plan("a", &[]);
    let ann = one.home.client("s").with("TAUT_AGENT_ID", "ann");
    let session = one.home.start(&ann, "startup");
    one.claim_in("ann", &session.id);
    one.home.end(&ann, "clear");
    let next = one.home.start(&ann.session_id("next"), "clear");
    let store = one.home.pipeline.store().unwrap();
    let held = store.shared_holds(&store.server_of("acme/shop").unwrap().unwrap()).unwrap();
    assert_eq!(held[0].session.as_deref(), Some(next.id.as_str()));
    assert_eq!(one.home.pipeline.store().unwrap().outbox_standing().unwrap().turns, 0, "nothing was let go");
}

#[test]
fn x1_what_an_agent_is_told_of_its_task_reaches_it_at_its_next_hook() {
    let Some(server) = SharedServer::start() else { return };
    let (mut one, mut two) = (server.machine("one"), server.machine("two"));
    one.plan("a", &[]);
    let ann = one.home.client("s").with("TAUT_AGENT_ID", "ann");
    let session = one.home.start(&ann, "startup");
    one.claim_in("ann", &session.id);
    one.queue.away = true;
    one.done("ann", "a").unwrap();
    server.lapse("a");
    two.claim("bob").unwrap();
    one.queue.away = false;
    one.round().unwrap();
    let answer = one.home.send(&ann, "UserPromptSubmit", json!({"prompt": "go on"})).answer;
    assert!(answer.stdout.contains("does not count") && answer.stdout.contains("taut shared refused"), "{answer:?}");
    let again = one.home.send(&ann, "UserPromptSubmit", json!({"prompt": "go on"})).answer;
    assert!(!again.stdout.contains("does not count"), "once: {again:?}");
}
