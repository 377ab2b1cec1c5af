//! Which session an event belongs to, and what it follows (S1, PRODUCT §1).

use crate::home::{Living, PipelineHome};
use serde_json::json;

#[test]
fn s1_the_environments_logical_id_wins_over_stdins() {
    let mut stage = PipelineHome::new();
    let client = stage.client("host-1").with("CLAUDE_SESSION_ID", "logical-1");
    let session = stage.start(&client, "startup");
    assert_eq!(session.logical_id, "logical-1");
    assert_eq!(session.host_session.as_deref(), Some("host-1"));
    let both = stage.client("host-2").with("CLAUDE_SESSION_ID", "x").with("TAUT_SESSION_ID", "logical-2");
    assert_eq!(stage.start(&both, "startup").logical_id, "logical-2");
    assert_eq!(stage.start(&stage.client("host-3"), "startup").logical_id, "host-3");
}

#[test]
fn s1_a_session_keeps_where_it_came_from() {
    let mut stage = PipelineHome::new();
    let client = stage
        .client("one")
        .with("CLAUDE_SESSION_ROLE", "reviewer")
        .with("CLAUDE_SESSION_MODE", "background")
        .with("MISSION_EXECUTION_ID", "m-7")
        .with("TMUX", "/tmp/tmux-1000/default,42,0")
        .with("TMUX_PANE", "%3");
    let session = stage.start(&client, "startup");
    assert_eq!(session.role.as_deref(), Some("reviewer"));
    assert_eq!(session.mode.as_deref(), Some("background"));
    assert_eq!(session.mission.as_deref(), Some("m-7"));
    assert_eq!(session.pane.as_deref(), Some("/tmp/tmux-1000/default %3"));
    assert_eq!(session.transcript.as_deref(), Some("/t/one.jsonl"));
    assert_eq!(session.client.unwrap().pid, std::process::id());
    assert_eq!(session.cwd.as_deref(), Some(stage.folder("acme").to_str().unwrap()));
    assert_eq!(session.prev, None);
    assert_eq!(session.conversation, session.id);
}

/// Compaction keeps the host's id and comes without an end of the old session.
#[test]
fn s1_compact_makes_a_linked_session_of_the_same_conversation() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let first = stage.start(&client, "startup");
    stage.send(&client, "PreCompact", json!({"trigger": "auto"}));
    let second = stage.start(&client, "compact");
    assert_ne!(second.id, first.id);
    assert_eq!(second.prev.as_deref(), Some(first.id.as_str()));
    assert_eq!(second.conversation, first.conversation);
    assert_eq!(second.agent, first.agent);
    let first = stage.session(&first.id);
    assert_eq!(first.end_reason.as_deref(), Some("compact"));
    assert_eq!(first.state.name(), "ended");
}

/// `/clear` ends the old id and starts another in the same process.
#[test]
fn s1_clear_makes_a_linked_session_of_the_same_conversation() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let first = stage.start(&client, "startup");
    stage.end(&client, "clear");
    let second = stage.start(&client.session_id("two"), "clear");
    assert_eq!(second.prev.as_deref(), Some(first.id.as_str()));
    assert_eq!(second.conversation, first.conversation);
    assert_eq!(stage.session(&first.id).end_reason.as_deref(), Some("clear"));
}

#[test]
fn s1_fork_makes_a_linked_session_even_when_the_end_of_the_old_one_was_never_told() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let first = stage.start(&client, "startup");
    let second = stage.start(&client.session_id("two"), "fork");
    assert_eq!(second.prev.as_deref(), Some(first.id.as_str()));
    assert_eq!(second.conversation, first.conversation);
    assert_eq!(stage.session(&first.id).end_reason.as_deref(), Some("fork"));
}

/// Resume keeps the host's id and runs in another process.
#[test]
fn s1_resume_makes_a_linked_session_of_the_same_conversation() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let first = stage.start(&client, "startup");
    stage.end(&client, "prompt_input_exit");
    let again = Living::new();
    let second = stage.start(&client.of(again.pid()), "resume");
    assert_ne!(second.id, first.id);
    assert_eq!(second.prev.as_deref(), Some(first.id.as_str()));
    assert_eq!(second.conversation, first.conversation);
}

#[test]
fn s1_resume_of_a_client_that_was_killed_ends_what_it_left_open() {
    let mut stage = PipelineHome::new();
    let killed = Living::new();
    let client = stage.client("one").of(killed.pid());
    let first = stage.start(&client, "startup");
    drop(killed);
    let second = stage.start(&stage.client("one"), "resume");
    assert_eq!(second.prev.as_deref(), Some(first.id.as_str()));
    assert_eq!(stage.session(&first.id).end_reason.as_deref(), Some("client_gone"));
    assert_eq!(second.parent, None);
}

#[test]
fn s1_an_event_for_an_ended_session_opens_a_linked_new_one() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let first = stage.start(&client, "startup");
    stage.end(&client, "other");
    stage.send(&client, "UserPromptSubmit", json!({"prompt": "still here"}));
    let second = stage.current(&client);
    assert_ne!(second.id, first.id);
    assert_eq!(second.prev.as_deref(), Some(first.id.as_str()));
    assert_eq!(second.conversation, first.conversation);
    assert_eq!(stage.session(&first.id).end_reason.as_deref(), Some("other"));
}

#[test]
fn s1_the_end_of_a_session_that_never_was_opens_none() {
    let mut stage = PipelineHome::new();
    stage.end(&stage.client("one"), "other");
    assert!(stage.sessions().is_empty());
    assert_eq!(stage.events().len(), 1);
}

#[test]
fn s1_a_first_event_without_a_start_opens_a_session() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    stage.bash(&client, "t1", "ls");
    let session = stage.current(&client);
    assert_eq!((session.prev, session.state.name()), (None, "tool_active"));
}

#[test]
fn s1_a_pane_whose_client_is_gone_ends_the_old_session_there() {
    let mut stage = PipelineHome::new();
    let in_pane = stage.client("one").with("TMUX", "/tmp/tmux-0/default,1,0").with("TMUX_PANE", "%1");
    let killed = Living::new();
    let first = stage.start(&in_pane.clone().of(killed.pid()), "startup");
    drop(killed);
    let second = stage.start(&in_pane.session_id("two"), "startup");
    let first = stage.session(&first.id);
    assert_eq!(first.end_reason.as_deref(), Some("pane_reused"));
    assert_eq!(second.parent, None);
    assert_eq!(second.prev.as_ref(), Some(&first.id), "the same pane is the same agent");
    assert_eq!(second.conversation, first.conversation);
}

#[test]
fn s1_the_conversation_of_the_environment_is_taken() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one").with("CLAUDE_CONVERSATION_ID", "talk-1");
    let first = stage.start(&client, "startup");
    assert_eq!(first.conversation, "talk-1");
    assert_eq!(stage.start(&client, "compact").conversation, "talk-1");
}

/// A start told twice by two installed hook lines is one session.
#[test]
fn d1_a_start_told_twice_at_once_is_one_session() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    stage.send(&client, "SessionStart", json!({"source": "startup"}));
    stage.rewind();
    stage.send(&client, "SessionStart", json!({"source": "startup"}));
    assert_eq!(stage.sessions().len(), 1);
}

/// Some agents tell one more stop when they are over.
#[test]
fn s1_an_event_that_nothing_follows_from_opens_no_session() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    assert!(stage.send(&client, "NotYetKnown", json!({})).event.unwrap().session.is_none());
    stage.start(&client, "startup");
    stage.end(&client, "other");
    stage.send(&client, "NotYetKnown", json!({}));
    let sessions = stage.sessions();
    assert_eq!(sessions.iter().filter(|session| session.open()).count(), 0, "{sessions:#?}");
    assert_eq!((sessions.len(), stage.events().len()), (1, 4));
}
