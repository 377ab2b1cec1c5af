//! A server lives as long as its client: who asks is found out at each call, and two clients never mix.

use super::McpClient;
use serde_json::json;
use testkit::stage::Stage;

#[test]
fn m5_two_clients_in_one_folder_are_two_agents() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a", "b"]);
    // One client gives its mark to what it starts, as the real one does; the other does not.
    let mark = [("CLAUDECODE", "1")];
    let (mut first, mut second) = (McpClient::start(&stage, &mark), McpClient::start(&stage, &[]));
    first.session("one", "a prompt of the first", &[]);
    second.session("two", "a prompt of the second", &[]);
    first.done("tasks_claim", json!({"id": "a"}));
    second.done("tasks_claim", json!({"id": "b"}));
    assert_ne!(stage.show("a")["assignee"], stage.show("b")["assignee"]);
    second.fails("tasks_done", json!({"id": "a"}));
    first.fails("tasks_done", json!({"id": "b"}));
    let told = first.done("timeline", json!({"of": "agent"}));
    assert!(told.contains("of the first") && !told.contains("of the second"), "{told}");
    let holder = stage.show("a")["assignee"].as_str().unwrap().to_owned();
    second.done("send", json!({"to": holder, "text": "for the first alone"}));
    assert!(!second.done("inbox", json!({})).contains("for the first"));
    assert!(first.done("inbox", json!({})).contains("for the first alone"));
}

/// What the client told the server of its session when it started it is old by then.
#[test]
fn m5_a_session_that_begins_under_the_server_is_the_one_that_counts() {
    let stage = Stage::without_daemon();
    let told = [("CLAUDE_CODE_SESSION_ID", "one")];
    let mut client = McpClient::start(&stage, &told);
    client.session("one", "before", &[]);
    assert!(client.done("timeline", json!({})).contains("before"));
    // The client has begun another and did not say that this one is over.
    client.session("two", "after", &[]);
    let now = client.done("timeline", json!({}));
    assert!(now.contains("after") && !now.contains("before"), "{now}");
}

/// A client whose hooks do not reach Taut is no person for that.
#[test]
fn m5_a_client_whose_session_is_not_known_is_shown_no_messages_of_others() {
    let stage = Stage::without_daemon();
    let (known, mut unknown) = (McpClient::start(&stage, &[]), McpClient::start(&stage, &[]));
    known.session("one", "a prompt", &[("TAUT_AGENT_ID", "ann")]);
    assert!(stage.taut(&["send", "ann", "for ann alone"]).success());
    let seen = unknown.done("inbox", json!({}));
    assert!(!seen.contains("for ann alone"), "{seen}");
    assert!(stage.taut(&["inbox"]).stdout_text().contains("for ann alone"), "a person looks at all");
}
