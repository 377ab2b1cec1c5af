//! One script in every API a client may speak.

use serde_json::{Value, json};
use testkit::scripted_model::SUBAGENT_MARK;
use testkit::{RequestKind, Script, ScriptedModel, Turn};

use crate::scripted_model::ask;

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const GEMINI: &str = "/v1beta/models/some-model:streamGenerateContent?alt=sse";

/// Says something and calls two tools.
fn script() -> Script {
    let turn = Turn::say("hi").and_call("shell", json!({"command": "ls"})).and_call("patch", json!("*** Begin"));
    Script::new().main(turn.using(5000)).main(Turn::say("done"))
}

fn post(model: &ScriptedModel, path: &str, body: &Value) -> Value {
    let (status, body) = ask(model, "POST", path, body);
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

/// What the events of a stream carry; a closing word that is no JSON is a text.
fn streamed(model: &ScriptedModel, path: &str, body: &Value) -> Vec<Value> {
    let (status, text) = ask(model, "POST", path, body);
    assert_eq!(status, 200, "{text}");
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| data.into())).collect()
}

fn chat(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": text}], "tools": [{"type": "function"}]})
}

fn responses(text: &str) -> Value {
    let content = json!([{"type": "input_text", "text": text}]);
    json!({"input": [{"type": "message", "role": "user", "content": content}], "tools": [{"type": "function"}]})
}

fn gemini(text: &str) -> Value {
    json!({"contents": [{"role": "user", "parts": [{"text": text}]}], "tools": [{"functionDeclarations": []}]})
}

#[test]
fn chat_completions_tell_the_turn_whole_or_in_chunks() {
    let model = ScriptedModel::start(script()).unwrap();
    let whole = post(&model, CHAT, &chat("go"));
    let choice = &whole["choices"][0];
    assert_eq!((&choice["message"]["content"], &choice["finish_reason"]), (&json!("hi"), &json!("tool_calls")));
    let calls = choice["message"]["tool_calls"].as_array().unwrap();
    assert_eq!((calls.len(), &calls[0]["function"]["name"]), (2, &json!("shell")));
    assert_eq!(calls[0]["function"]["arguments"], r#"{"command":"ls"}"#);
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    assert_eq!(whole["usage"]["prompt_tokens"], 5000);

    let mut body = chat("go on");
    body["stream"] = json!(true);
    let chunks = streamed(&model, CHAT, &body);
    assert_eq!(chunks[0]["choices"][0]["delta"]["content"], "done");
    assert_eq!(chunks[1]["choices"][0]["finish_reason"], "stop");
    assert_eq!((&chunks[2]["choices"], &chunks[2]["usage"]["prompt_tokens"]), (&json!([]), &json!(1200)));
    assert_eq!(chunks[3], "[DONE]");
}

#[test]
fn responses_are_events_that_end_with_the_whole_and_a_text_is_a_call_of_its_own_form() {
    let model = ScriptedModel::start(script()).unwrap();
    let mut body = responses("go");
    body["stream"] = json!(true);
    let events = streamed(&model, RESPONSES, &body);
    assert_eq!(events.first().unwrap()["type"], "response.created");
    let whole = &events.last().unwrap()["response"];
    let output = whole["output"].as_array().unwrap();
    let kinds: Vec<_> = output.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "function_call", "custom_tool_call"]);
    assert_eq!(output[1]["arguments"], r#"{"command":"ls"}"#);
    assert_eq!(output[2]["input"], "*** Begin");
    let done = events.iter().filter(|event| event["type"] == "response.output_item.done").map(|event| &event["item"]);
    assert_eq!(done.collect::<Vec<_>>(), output.iter().collect::<Vec<_>>());
    assert_eq!(whole["usage"]["input_tokens"], 5000);
}

#[test]
fn gemini_is_told_in_one_piece_and_counts_for_itself() {
    let model = ScriptedModel::start(script().counting(7)).unwrap();
    let told = streamed(&model, GEMINI, &gemini("go"));
    assert_eq!(told.len(), 1);
    let parts = &told[0]["candidates"][0]["content"]["parts"];
    assert_eq!(parts[0]["text"], "hi");
    assert_eq!(parts[1]["functionCall"], json!({"name": "shell", "args": {"command": "ls"}}));
    let count = post(&model, "/v1beta/models/some-model:countTokens", &gemini("go"));
    assert_eq!(count["totalTokens"], 7);
}

#[test]
fn each_api_has_its_main_sub_and_side_requests() {
    let of = |text: &str| [(CHAT, chat(text)), (RESPONSES, responses(text)), (GEMINI, gemini(text))];
    for ((path, main), (_, sub)) in of("hello").into_iter().zip(of(&format!("{SUBAGENT_MARK} look"))) {
        let model = ScriptedModel::start(Script::new()).unwrap();
        let mut side = main.clone();
        side["tools"] = json!([]);
        for body in [&main, &sub, &side] {
            assert_eq!(ask(&model, "POST", path, body).0, 200);
        }
        let kinds: Vec<_> = model.requests().0.iter().map(|request| request.kind).collect();
        assert_eq!(kinds, [RequestKind::Main, RequestKind::Sub, RequestKind::Side], "{path}");
    }
    let model = ScriptedModel::start(Script::new()).unwrap();
    post(&model, "/v1beta/models/some-model:generateContent", &gemini("who speaks next?"));
    assert_eq!(model.requests().0[0].kind, RequestKind::Side);
    post(&model, "/v1/responses/compact", &responses("all of it"));
    assert_eq!(model.requests().0[1].kind, RequestKind::Compact);
}

#[test]
fn a_failure_is_an_error_in_every_api() {
    for (path, body) in [(CHAT, chat("a")), (RESPONSES, responses("a")), (GEMINI, gemini("a"))] {
        let model = ScriptedModel::start(Script::new().main(Turn::fail(429, "busy", "later"))).unwrap();
        let (status, body) = ask(&model, "POST", path, &body);
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &body["error"]["message"]), (429, &json!("later")));
    }
}

#[test]
fn what_reached_the_model_and_what_its_tools_gave_is_read_from_every_api() {
    let chat = json!({"tools": [{"name": "x", "description": "unread"}], "messages": [
        {"role": "system", "content": "be kind"},
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "shell", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
    ]});
    let responses = json!({"instructions": "be kind", "input": [
        {"type": "additional_tools", "role": "developer", "tools": [{"name": "x", "description": "unread"}]},
        {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "a.txt"},
    ]});
    let gemini = json!({"tools": [{"functionDeclarations": [{"description": "unread"}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": "be kind"}]}, "contents": [
        {"role": "model", "parts": [{"functionCall": {"name": "shell", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "shell", "response": {"output": "a.txt"}}}]},
    ]});
    for (path, body) in [(CHAT, chat), (RESPONSES, responses), (GEMINI, gemini)] {
        let model = ScriptedModel::start(Script::new()).unwrap();
        assert_eq!(ask(&model, "POST", path, &body).0, 200);
        let requests = model.requests();
        assert_eq!(requests.0[0].kind, RequestKind::Main, "{path}");
        assert_eq!(requests.tool_results(), ["a.txt\n"], "{path}");
        let sent = requests.all_text_sent();
        assert!(sent.starts_with("be kind\n") && sent.contains("shell") && sent.contains("a.txt"), "{path}: {sent}");
        assert!(!sent.contains("unread") && !sent.contains("c1"), "{path}: {sent}");
    }
}
