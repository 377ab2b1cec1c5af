//! What an agent's events do to the tasks it holds: they renew, carry over and let go.

use super::{Play, configured};
use crate::home::{Client, Living, PipelineHome};
use model::session::Session;
use model::task::{Hold, Queued};
use serde_json::json;

/// An agent of this name with a session and these tasks.
fn holding(stage: &mut PipelineHome, agent: &str, slugs: &[&str]) -> (Client, Session) {
    let client = stage.client(&format!("session of {agent}")).with("TAUT_AGENT_ID", agent);
    let session = stage.start(&client, "startup");
    for slug in slugs {
        stage.hold(slug, agent, Some(&session.id));
    }
    (client, session)
}

fn task(stage: &mut PipelineHome, slug: &str) -> Queued {
    let project = stage.folder("acme").to_string_lossy().into_owned();
    stage.pipeline.store().unwrap().task(&project, slug).unwrap().unwrap().queued
}

fn hold(stage: &mut PipelineHome, slug: &str) -> Hold {
    task(stage, slug).hold.unwrap_or_else(|| panic!("nobody holds {slug}"))
}

#[test]
fn q4_events_renew_the_leases_of_their_own_agent_within_half_a_minute() {
    let mut stage = PipelineHome::new();
    let (ann, _) = holding(&mut stage, "ann", &["a", "b"]);
    let (_, _) = holding(&mut stage, "bob", &["c"]);
    let before = ["a", "b", "c"].map(|slug| hold(&mut stage, slug));
    for n in 0..4 {
        stage.bash(&ann, &format!("t{n}"), "ls");
    }
    let now = stage.current(&ann).last_seen_at;
    for (slug, before) in ["a", "b"].into_iter().zip(&before) {
        let after = hold(&mut stage, slug);
        assert!(after.lease_until > before.lease_until, "{slug}");
        assert!(now.since(after.renewed_at) <= 30_000, "{slug}");
        assert_eq!(after.lease_until, after.renewed_at.plus(after.lease_ms), "{slug}");
    }
    assert_eq!(hold(&mut stage, "c"), before[2], "bob said nothing");
}

/// Q4, Q6: `clear` and `resume` end a context, not the work.
#[test]
fn q6_what_is_held_goes_over_to_the_session_that_follows() {
    for reason in ["clear", "resume"] {
        let mut stage = PipelineHome::new();
        let (ann, _) = holding(&mut stage, "ann", &["a", "b"]);
        stage.end(&ann, reason);
        let next = stage.start(&ann.session_id("next"), reason);
        for slug in ["a", "b"] {
            let hold = hold(&mut stage, slug);
            assert_eq!((hold.session.as_ref(), hold.attempt), (Some(&next.id), 1), "{reason} {slug}");
        }
    }
}

#[test]
fn q6_the_end_of_a_session_and_a_full_context_let_all_of_it_go_and_name_it() {
    for (event, fields, reason) in [
        ("SessionEnd", json!({"reason": "other"}), "session ended unexpectedly"),
        ("PreCompact", json!({"trigger": "auto"}), "context limit reached"),
    ] {
        let mut stage = configured("[compaction]\nauto = \"stop\"\n");
        let (ann, _) = holding(&mut stage, "ann", &["a", "b"]);
        holding(&mut stage, "bob", &["c"]);
        let said = stage.send(&ann, event, fields).answer.stderr;
        for slug in ["a", "b"] {
            let task = task(&mut stage, slug);
            assert_eq!((task.status.name(), task.fail_reason.as_deref()), ("open", Some(reason)), "{event} {slug}");
            assert_eq!((task.retry_count, task.releases, task.failures), (1, 1, 0), "{event} {slug}");
            assert!(said.contains(&format!("agent ann {reason}, failing task {slug}")), "{said}");
        }
        assert_eq!(task(&mut stage, "c").status.name(), "active", "bob's is bob's");
    }
}

/// Q6: a task claimed before any session was known is the agent's, and not its child's.
#[test]
fn q6_a_child_lets_go_of_nothing_that_is_its_elders() {
    let mut stage = PipelineHome::new();
    let (ann, _) = holding(&mut stage, "ann", &["a"]);
    stage.hold("alone", "ann", None);
    let living = Living::new();
    let child = ann.clone().session_id("child").of(living.pid());
    stage.start(&child, "startup");
    stage.end(&child, "other");
    for slug in ["a", "alone"] {
        assert_eq!(task(&mut stage, slug).status.name(), "active", "{slug}");
    }
    stage.end(&ann, "other");
    for slug in ["a", "alone"] {
        assert_eq!(task(&mut stage, slug).status.name(), "open", "{slug}");
    }
}

/// Q6: a client that died without a word is found out by the next one in its place.
#[test]
fn q6_what_a_dead_client_held_is_let_go_when_its_agent_starts_again() {
    let mut stage = PipelineHome::new();
    let living = Living::new();
    let dead = stage.client("s1").with("TAUT_AGENT_ID", "ann").of(living.pid());
    let session = stage.start(&dead, "startup");
    stage.hold("a", "ann", Some(&session.id));
    drop(living);
    stage.start(&stage.client("s2").with("TAUT_AGENT_ID", "ann"), "startup");
    let task = task(&mut stage, "a");
    assert_eq!((task.status.name(), task.fail_reason.as_deref()), ("open", Some("session ended unexpectedly")));
}

/// Q6: an end whose beginning was never seen lets go of what its agent claimed, unless another of its name is there.
#[test]
fn q6_the_end_of_a_session_nobody_saw_begin_releases_what_is_its_agents_alone() {
    let mut stage = PipelineHome::new();
    let unseen = stage.client("unseen").with("TAUT_AGENT_ID", "ann");
    let project = stage.start(&stage.client("other"), "startup").project;
    assert_eq!(project, stage.folder("acme").to_string_lossy());
    stage.hold("a", "ann", None);
    stage.end(&unseen, "other");
    assert_eq!(task(&mut stage, "a").status.name(), "open");
    let living = Living::new();
    let twin = stage.client("twin").with("TAUT_AGENT_ID", "ann").of(living.pid());
    stage.start(&twin, "startup");
    stage.hold("b", "ann", None);
    stage.end(&unseen, "other");
    assert_eq!(task(&mut stage, "b").status.name(), "active", "the twin's");
}
