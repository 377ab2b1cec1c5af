//! A second live client under the same name is a child: it never ends, takes or inherits anything of the first.

use crate::home::{Client, Living, PipelineHome};
use serde_json::json;

/// An elder with a session of its own, and a twin in another process under the same name.
fn elder_and_twin(stage: &mut PipelineHome, twin: &Living) -> (Client, Client) {
    let elder = stage.client("one").with("TAUT_AGENT_ID", "worker");
    stage.start(&elder, "startup");
    (elder.clone(), elder.of(twin.pid()).session_id("two"))
}

#[test]
fn s1_a_twin_under_the_same_name_is_a_child() {
    let mut stage = PipelineHome::new();
    let process = Living::new();
    let (elder, twin) = elder_and_twin(&mut stage, &process);
    let child = stage.start(&twin, "startup");
    let first = &stage.sessions()[0];
    assert_eq!(child.parent.as_deref(), Some(first.id.as_str()));
    assert_eq!(child.prev, None);
    assert_ne!(child.conversation, first.conversation);
    assert!(first.open());
    stage.bash(&elder, "t1", "ls");
    assert_eq!(stage.current(&elder).parent, None);
}

#[test]
fn s1_a_childs_end_leaves_the_elders_session_and_row_alone() {
    let mut stage = PipelineHome::new();
    let process = Living::new();
    let (elder, twin) = elder_and_twin(&mut stage, &process);
    stage.send(&elder, "UserPromptSubmit", json!({"prompt": "go"}));
    let first = stage.current(&elder);
    stage.start(&twin, "startup");
    stage.send(&twin, "StopFailure", json!({"error": "rate_limit"}));
    stage.end(&twin, "other");
    drop(process);
    let row = stage.agent("worker");
    assert_eq!((row.status.name(), row.session.as_deref()), ("working", Some(first.id.as_str())));
    stage.send(&elder, "UserPromptSubmit", json!({"prompt": "go on"}));
    let now = stage.current(&elder);
    assert_eq!((now.id, now.prev), (first.id, None));
}

/// A `claude` started by the Bash tool of another inherits its whole environment, the logical id as well.
#[test]
fn s1_a_nested_client_with_the_same_logical_id_is_a_child_with_a_session_of_its_own() {
    let mut stage = PipelineHome::new();
    let process = Living::new();
    let outer = stage.client("outer").with("CLAUDE_SESSION_ID", "logical");
    let first = stage.start(&outer, "startup");
    stage.bash(&outer, "t1", "claude -p help");
    let inner = outer.clone().of(process.pid()).session_id("inner");
    let child = stage.start(&inner, "startup");
    assert_ne!(child.id, first.id);
    assert_eq!(child.parent.as_deref(), Some(first.id.as_str()));
    stage.bash(&inner, "t2", "ls");
    stage.end(&inner, "other");
    let first = stage.session(&first.id);
    assert_eq!((first.state.name(), first.in_flight.as_slice()), ("tool_active", &["t1".to_owned()][..]));
    stage.done(&outer, "t1");
    assert_eq!(stage.current(&outer).id, first.id);
}

#[test]
fn s1_a_nested_client_follows_nothing_of_the_first_not_even_what_has_ended() {
    let mut stage = PipelineHome::new();
    let process = Living::new();
    let outer = stage.client("outer").with("CLAUDE_SESSION_ID", "logical");
    stage.start(&outer, "startup");
    let second = stage.start(&outer, "compact");
    let inner = outer.of(process.pid()).session_id("inner");
    let child = stage.start(&inner, "startup");
    assert_eq!(child.parent.as_deref(), Some(second.id.as_str()));
    assert_eq!(child.prev, None);
    assert_ne!(child.conversation, second.conversation);
}

#[test]
fn s1_a_childs_own_clear_follows_the_child_and_stays_one() {
    let mut stage = PipelineHome::new();
    let process = Living::new();
    let (elder, twin) = elder_and_twin(&mut stage, &process);
    let first = stage.current(&elder);
    let child = stage.start(&twin, "startup");
    stage.end(&twin, "clear");
    let cleared = stage.start(&twin.session_id("three"), "clear");
    assert_eq!(cleared.prev.as_deref(), Some(child.id.as_str()));
    assert_eq!(cleared.conversation, child.conversation);
    assert_eq!(cleared.parent.as_deref(), Some(first.id.as_str()));
    assert!(stage.session(&first.id).open());
    assert_eq!(stage.agent("worker").session.as_deref(), Some(first.id.as_str()));
}

#[test]
fn s1_two_clients_in_one_pane_are_elder_and_child() {
    let mut stage = PipelineHome::new();
    let process = Living::new();
    let elder = stage.client("one").with("TMUX", "/tmp/tmux-0/default,1,0").with("TMUX_PANE", "%1");
    let first = stage.start(&elder, "startup");
    let child = stage.start(&elder.of(process.pid()).session_id("two"), "startup");
    assert_eq!(child.parent.as_deref(), Some(first.id.as_str()));
    assert!(stage.session(&first.id).open());
}

/// The host's own session taken up by a second live client.
#[test]
fn s1_the_same_session_resumed_while_its_client_lives_is_a_child() {
    let mut stage = PipelineHome::new();
    let process = Living::new();
    let client = stage.client("one");
    let first = stage.start(&client, "startup");
    let second = stage.start(&client.of(process.pid()), "resume");
    assert_eq!(second.parent.as_deref(), Some(first.id.as_str()));
    assert!(stage.session(&first.id).open());
}

#[test]
fn s1_a_name_whose_client_was_killed_is_taken_over_not_inherited_as_a_child() {
    let mut stage = PipelineHome::new();
    let killed = Living::new();
    let first = stage.start(&stage.client("one").with("TAUT_AGENT_ID", "worker").of(killed.pid()), "startup");
    drop(killed);
    let second = stage.start(&stage.client("two").with("TAUT_AGENT_ID", "worker"), "startup");
    assert_eq!(second.parent, None);
    assert_eq!(stage.session(&first.id).end_reason.as_deref(), Some("client_gone"));
    assert_eq!(stage.agent("worker").session.as_deref(), Some(second.id.as_str()));
}
