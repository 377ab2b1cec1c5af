//! The scripted model, spoken to over a plain socket.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::scripted_model::{Lifetime, SUBAGENT_MARK};
use testkit::{RequestKind, Script, ScriptedModel, Turn, poll};

const PLENTY: Duration = Duration::from_secs(20);

/// One request; gives status and body.
pub fn ask(model: &ScriptedModel, method: &str, path: &str, body: &Value) -> (u16, String) {
    let mut stream = TcpStream::connect(model.address()).unwrap();
    let body = if body.is_null() { String::new() } else { body.to_string() };
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

fn messages(model: &ScriptedModel, body: &Value) -> (u16, Value) {
    let (status, body) = ask(model, "POST", "/v1/messages?beta=true", body);
    (status, serde_json::from_str(&body).unwrap())
}

fn user(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": text}], "tools": [{"name": "Bash"}]})
}

#[test]
fn main_turns_are_used_up_in_order_then_the_default_speaks() {
    let script = Script::new().main(Turn::say("one")).main(Turn::bash("ls")).otherwise(Turn::say("rest"));
    let model = ScriptedModel::start(script).unwrap();
    let first = messages(&model, &user("a")).1;
    assert_eq!(first["content"], json!([{"type": "text", "text": "one"}]));
    assert_eq!(first["stop_reason"], "end_turn");
    let second = messages(&model, &user("b")).1;
    assert_eq!(second["content"][0]["name"], "Bash");
    assert_eq!(second["content"][0]["input"]["command"], "ls");
    assert_eq!(second["stop_reason"], "tool_use");
    assert_eq!(messages(&model, &user("c")).1["content"][0]["text"], "rest");
    assert_eq!(messages(&model, &user("d")).1["content"][0]["text"], "rest");
}

#[test]
fn each_kind_of_request_is_answered_from_its_own_turns() {
    let script = Script::new()
        .main(Turn::say("main"))
        .sub_agent(Turn::say("sub"))
        .compact(Turn::say("compact"))
        .side(Turn::say("side"));
    let model = ScriptedModel::start(script).unwrap();
    let mut aside = user("title?");
    aside["tools"] = json!([]);
    let bodies = [
        (user("hello"), "main"),
        (user(&format!("{SUBAGENT_MARK} look around")), "sub"),
        (user("Your task is to create a detailed summary of it"), "compact"),
        (aside, "side"),
    ];
    for (body, expected) in &bodies {
        assert_eq!(messages(&model, body).1["content"][0]["text"], *expected);
    }
    let kinds: Vec<_> = model.requests().0.iter().map(|request| request.kind).collect();
    assert_eq!(kinds, [RequestKind::Main, RequestKind::Sub, RequestKind::Compact, RequestKind::Side]);
}

#[test]
fn an_answer_by_what_was_asked_comes_before_the_turns_and_uses_none_of_them_up() {
    let by_name = |request: &testkit::scripted_model::ModelRequest| {
        let name = ["alice", "bob"].into_iter().find(|name| request.text_sent().contains(name))?;
        Some(Turn::say(&format!("hello {name}")))
    };
    let model = ScriptedModel::start(Script::new().main(Turn::say("first")).answered_by(by_name)).unwrap();
    let ask = |text: &str| {
        let body = json!({"messages": [user(text)], "tools": [{"name": "Bash"}]});
        messages(&model, &body).1["content"][0]["text"].clone()
    };
    let answers = ["I am bob", "I am alice", "I am bob", "I am nobody"].map(ask);
    assert_eq!(answers, ["hello bob", "hello alice", "hello bob", "first"].map(Value::from));
}

#[test]
fn a_stream_spells_the_same_message() {
    let model = ScriptedModel::start(Script::new().main(Turn::say("hi").and_bash("ls").using(970_000))).unwrap();
    let mut body = user("go");
    body["stream"] = json!(true);
    let (status, text) = ask(&model, "POST", "/v1/messages", &body);
    assert_eq!(status, 200);
    let events: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    assert_eq!(types, [&["message_start"][..], &block, &block, &["message_delta", "message_stop"]].concat());
    assert_eq!(events[2]["delta"]["text"], "hi");
    let input = events[5]["delta"]["partial_json"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(input).unwrap()["command"], "ls");
    assert_eq!(events[7]["delta"]["stop_reason"], "tool_use");
    assert_eq!(events[7]["usage"]["input_tokens"], 970_000);
}

#[test]
fn a_failure_comes_in_the_shape_of_the_api() {
    let model = ScriptedModel::start(Script::new().main(Turn::fail(529, "overloaded_error", "later"))).unwrap();
    let (status, body) = messages(&model, &user("go"));
    assert_eq!(status, 529);
    assert_eq!(body, json!({"type": "error", "error": {"type": "overloaded_error", "message": "later"}}));
}

#[test]
fn the_small_pages_answer_too() {
    let model = ScriptedModel::start(Script::new().counting(7)).unwrap();
    assert_eq!(ask(&model, "HEAD", "/", &Value::Null), (200, String::new()));
    assert_eq!(ask(&model, "GET", "/v1/models?limit=1000", &Value::Null).0, 200);
    assert_eq!(ask(&model, "GET", "/elsewhere", &Value::Null).0, 404);
    let (_, count) = ask(&model, "POST", "/v1/messages/count_tokens?beta=true", &user("x"));
    assert_eq!(serde_json::from_str::<Value>(&count).unwrap()["input_tokens"], 7);
}

#[test]
fn everything_sent_can_be_searched_and_tool_descriptions_are_not_in_it() {
    let model = ScriptedModel::start(Script::new()).unwrap();
    let body = json!({
        "system": [{"type": "text", "text": "be kind"}],
        "tools": [{"name": "Bash", "description": "never rm -rf"}],
        "messages": [
            {"role": "user", "content": "question"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a.txt"}]}]},
        ],
    });
    messages(&model, &body);
    let requests = model.requests();
    assert_eq!(requests.all_text_sent(), "be kind\nquestion\nBash\nls\na.txt\n");
    assert_eq!(requests.tool_results(), ["a.txt\n"]);
}

#[test]
fn the_json_form_is_the_same_script() {
    let json = json!({
        "main": [{"text": "t", "tools": [{"name": "Bash", "input": {"command": "ls"}}], "usage": {"input_tokens": 5},
                  "stop_reason": "max_tokens", "sleep": 0.5},
                 {"http": 529, "error_type": "overloaded_error", "message": "later"}],
        "sub": [{"text": "s"}], "compact": {"text": "c"}, "side": {"text": "x"}, "default": {"text": "d"}, "count_tokens": 3,
    });
    let first = Turn::say("t")
        .and_call("Bash", json!({"command": "ls"}))
        .using(5)
        .stopping_with("max_tokens")
        .after(Duration::from_millis(500));
    let built = Script::new()
        .main(first)
        .main(Turn::fail(529, "overloaded_error", "later"))
        .sub_agent(Turn::say("s"))
        .compact(Turn::say("c"))
        .side(Turn::say("x"))
        .otherwise(Turn::say("d"))
        .counting(3);
    assert_eq!(Script::from_json(&json), Ok(built));
}

#[test]
fn a_misspelt_script_is_refused_by_name() {
    let error = Script::from_json(&json!({"main": [{"txet": "t"}]})).unwrap_err();
    assert_eq!(error, "unknown key in turn: txet");
}

#[test]
fn dropping_the_model_ends_a_slow_answer_and_closes_the_port() {
    let script = Script::new().main(Turn::say("late").after(Duration::from_secs(3600)));
    let model = ScriptedModel::start(script).unwrap();
    let address = model.address();
    let mut stream = TcpStream::connect(address).unwrap();
    let body = user("go").to_string();
    write!(stream, "POST /v1/messages HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    poll::until("the request", PLENTY, || (!model.requests().0.is_empty()).then_some(())).unwrap();
    drop(model);
    let mut answer = Vec::new();
    // A reset says the same as an end of file.
    let _ = stream.read_to_end(&mut answer);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_model_nobody_talks_to_ends_by_itself() {
    let soon = Lifetime { idle: Duration::from_millis(50), total: PLENTY };
    let model = ScriptedModel::start_for(Script::new(), soon).unwrap();
    poll::until("the model to end", PLENTY, || (!model.is_serving()).then_some(())).unwrap();
}

#[test]
fn an_open_connection_that_says_nothing_does_not_keep_it_alive_past_its_life() {
    let short = Lifetime { idle: PLENTY, total: Duration::from_millis(50) };
    let model = ScriptedModel::start_for(Script::new(), short).unwrap();
    let _silent = TcpStream::connect(model.address());
    poll::until("the model to end", PLENTY, || (!model.is_serving()).then_some(())).unwrap();
}
