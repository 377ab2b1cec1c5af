//! What the protocol asks for, and what a client may get wrong.

use super::McpClient;
use serde_json::{Value, json};
use testkit::stage::Stage;

/// Everything there is, and nothing that is for people or makes the guard weaker.
const NAMES: [&str; 14] = [
    "recall", "timeline", "remember", "forget", "note", "tasks_list", "tasks_claim", "tasks_done", "tasks_fail",
    "tasks_renew", "agents", "send", "inbox", "explain_command",
];

#[test]
fn m5_a_server_says_who_it_is_and_lists_small_tools_that_are_an_agents_own() {
    let stage = Stage::without_daemon();
    let mut client = McpClient::silent(&stage, &[]);
    let who = client.initialize()["result"].clone();
    assert_eq!((&who["serverInfo"]["name"], &who["protocolVersion"]), (&json!("taut"), &json!("2025-11-25")));
    assert_eq!(who["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert!(who["instructions"].as_str().unwrap().chars().count() <= 400);
    assert!(who["instructions"].as_str().unwrap().contains("Look up earlier work"));
    stage.configure("[memory]\nenabled = false\n");
    let off = McpClient::silent(&stage, &[]).initialize()["result"]["instructions"].to_string();
    assert!(!off.contains("earlier work") && !off.contains("note what you did"), "{off}");
    let listed = client.request("tools/list", json!({}));
    assert!(listed.to_string().len() < 6_000, "{}", listed.to_string().len());
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), NAMES);
    for tool in tools {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        let told = |of: &Value| of["description"].as_str().is_some_and(|text| (1..=120).contains(&text.len()));
        assert!(told(tool) && tool["inputSchema"]["properties"].as_object().unwrap().values().all(told), "{tool}");
    }
    let (ended, stderr) = client.end();
    assert_eq!((ended.code(), stderr.as_str()), (Some(0), ""));
}

/// The client asks so before anything else, and may go on without a handshake.
#[test]
fn m5_the_lifecycle_without_a_handshake_is_served_too() {
    let stage = Stage::without_daemon();
    let mut client = McpClient::silent(&stage, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.request("server/discover", json!({"_meta": meta}));
    assert!(found["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{found}");
    let said = client.request("tools/call", json!({"_meta": meta, "name": "tasks_list", "arguments": {}}));
    assert!(said["result"]["content"][0]["text"].as_str().unwrap().starts_with("no tasks"), "{said}");
}

#[test]
fn m5_whatever_is_wrong_is_answered_and_the_next_call_served() {
    let stage = Stage::without_daemon();
    let mut client = McpClient::silent(&stage, &[]);
    // Before the handshake: a notification out of turn, and a request that comes too early.
    client.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert!(client.request("tools/list", json!({}))["error"].is_object());
    client.initialize();
    for (line, code) in [
        ("no JSON at all", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":", -32700),
        ("\u{7}\u{1b}[2J", -32700),
        ("[]", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":9,"method":"no/such/method"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"allow","arguments":{}}}"#, -32602),
    ] {
        client.line(line);
        let answer = client.next();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
        assert!(answer.as_object().unwrap().contains_key("id"), "null where it is not known: {answer}");
    }
    client.line("");
    client.line(r#"{"jsonrpc":"2.0","method":"notifications/of_no_kind"}"#);
    let huge = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "note", "arguments": {"text": "x".repeat(3 << 20)}}});
    client.line(&huge.to_string());
    assert_eq!(client.next()["error"]["code"], -32600);
    for (tool, arguments, why) in [
        ("note", json!({"text": "x".repeat(20_000)}), "more than 16000 characters"),
        ("note", json!({"text": 7}), "`text` is a text"),
        ("note", json!({"text": "a\u{0}b"}), "NUL"),
        ("send", json!({}), "needs `to`"),
        ("tasks_claim", json!({"agent": "eve"}), "takes no `agent`"),
    ] {
        assert!(client.fails(tool, arguments).contains(why), "{tool}: {why}");
    }
    assert!(client.done("tasks_list", json!({})).starts_with("no tasks"));
}

#[test]
fn m5_calls_that_were_sent_before_the_end_are_answered_before_the_end() {
    let stage = Stage::without_daemon();
    stage.tasks(&["a"]);
    let mut client = McpClient::start(&stage, &[]);
    for id in 1..=6 {
        client.line(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "tasks_list", "arguments": {}}}).to_string());
    }
    drop(client.stdin.take());
    let mut answered: Vec<u64> = (0..6).map(|_| client.next()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3, 4, 5, 6]);
    let (ended, stderr) = client.end();
    assert_eq!((ended.code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn m5_a_client_that_leaves_without_a_word_leaves_no_server_behind() {
    let stage = Stage::without_daemon();
    assert_eq!(McpClient::silent(&stage, &[]).end().0.code(), Some(0));
    let mut half = McpClient::silent(&stage, &[]);
    std::io::Write::write_all(half.stdin.as_mut().unwrap(), b"{\"jsonrpc\"").unwrap();
    assert_eq!(half.end().0.code(), Some(0));
}

#[test]
fn m5_a_request_whose_id_is_none_and_a_call_without_its_parameters_are_answered_with_words() {
    let stage = Stage::without_daemon();
    let mut client = McpClient::start(&stage, &[]);
    for id in ["1.5", "null", "{}", "[]", "true"] {
        for method in ["ping", "tools/list", "tools/call", "no/such"] {
            client.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#));
            let answer = client.next();
            assert_eq!(
                (&answer["error"]["code"], answer.get("id")),
                (&json!(-32600), Some(&Value::Null)),
                "{id}: {answer}"
            );
            assert!(answer["error"]["message"].as_str().unwrap().contains("id"), "{answer}");
        }
    }
    for params in [
        "", r#","params":[]"#, r#","params":{}"#, r#","params":{"name":7}"#,
        r#","params":{"name":"recall","arguments":[1]}"#, r#","params":{"name":"recall","arguments":"x"}"#,
    ] {
        client.line(&format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call"{params}}}"#));
        let answer = client.next();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32602), &json!(9)), "{params}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("object"), "{params}: {answer}");
    }
    assert!(client.done("tasks_list", json!({})).starts_with("no tasks"));
    assert!(client.call("tasks_list", Value::Null).text.starts_with("no tasks"), "no arguments are none");
}
