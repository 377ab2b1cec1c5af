//! What a collector is told (X3), as one on this machine hears it: one that takes it, lies, hangs, floods or refuses.

use crate::notify::agree;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use testkit::AgentStep;
use testkit::need;
use testkit::stage::{DAEMON, Stage, assert_denied};

const PLENTY: Duration = Duration::from_secs(60);
const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
const TOKEN: &str = "collector-token-of-ada";
const TAKEN: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

/// How a collector answers.
#[derive(Debug, Clone, Copy)]
enum Reply {
    Says(&'static str),
    /// Nothing, for as long as anybody listens.
    Hangs,
    /// It has taken all, and is gone before it says so.
    Dies,
    Floods,
}

/// A collector that answers each request with the next of these, and takes all after.
struct Collector {
    port: u16,
    heard: Receiver<(String, Value)>,
}

impl Collector {
    fn answering(replies: &'static [Reply]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, heard) = channel();
        thread::spawn(move || {
            let mut replies = replies.iter().copied();
            while let Ok((stream, _)) = listener.accept() {
                let Some((head, body, stream)) = request(stream) else { continue };
                if sender.send((head, serde_json::from_slice(&body).unwrap())).is_err() {
                    return;
                }
                let reply = replies.next().unwrap_or(Reply::Says(TAKEN));
                thread::spawn(move || answer(stream, reply));
            }
        });
        Self { port, heard }
    }

    fn section(&self, more: &str) -> String {
        format!("[telemetry]\notlp = true\nendpoint = \"http://127.0.0.1:{}\"\n{more}", self.port)
    }

    fn next(&self) -> (String, Value) {
        self.heard.recv_timeout(PLENTY).expect("the collector was told nothing")
    }
}

fn request(stream: TcpStream) -> Option<(String, Vec<u8>, TcpStream)> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? <= 2 {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    (!head.is_empty()).then(|| (head, body, reader.into_inner()))
}

fn answer(mut stream: TcpStream, reply: Reply) {
    match reply {
        Reply::Says(text) => drop(stream.write_all(text.as_bytes())),
        Reply::Dies => {}
        Reply::Hangs => drop(stream.read(&mut [0])),
        Reply::Floods => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let piece = vec![b'x'; 1 << 20];
            // Until nobody reads it any more.
            for _ in 0..100 {
                if stream.write_all(&piece).is_err() {
                    return;
                }
            }
        }
    }
}

fn records(body: &Value) -> Vec<Value> {
    body["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().cloned().unwrap_or_default()
}

fn attribute(record: &Value, name: &str) -> Value {
    let all = record["attributes"].as_array().cloned().unwrap_or_default();
    all.into_iter().find(|one| one["key"] == name).map(|one| one["value"].clone()).unwrap_or_default()
}

fn ids(body: &Value) -> Vec<String> {
    records(body).iter().map(|one| attribute(one, "taut.id")["stringValue"].as_str().unwrap().to_owned()).collect()
}

fn daemon_with(config: &str) -> Stage {
    let stage = Stage::new();
    stage.configure(config);
    let stage = stage.and_daemon();
    // From now on: what was before is not told.
    testkit::poll::until("the worker to begin", PLENTY, || {
        let status = stage.succeed(&["telemetry", "status", "--json"]);
        let begun = || is_begun(&stage);
        (status.contains("\"on\":true") && begun()).then_some(())
    })
    .unwrap();
    stage
}

/// Whether it has a cursor.
fn is_begun(stage: &Stage) -> bool {
    let store = store::Store::open_existing_read_only(&stage.sandbox.taut_home()).ok();
    store.is_some_and(|store| store.telemetry().is_ok_and(|cursor| cursor.is_some()))
}

fn deny(stage: &Stage, id: &str) {
    let call = json!({"session_id": "client-7", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": id,
        "tool_input": {"command": format!("rm -rf / # {SECRET}")}});
    assert_denied(&stage.hook(&stage.payload(&call), DAEMON), id);
}

fn status(stage: &Stage) -> Value {
    serde_json::from_str(&stage.succeed(&["telemetry", "status", "--json"])).unwrap()
}

fn until(stage: &Stage, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    testkit::poll::until(what, PLENTY, || Some(status(stage)).filter(&is_so)).unwrap()
}

#[test]
fn x3_a_collector_is_told_verdicts_by_the_clients_own_session_and_never_a_secret() {
    if need::is_missing("curl") {
        return;
    }
    let collector = Collector::answering(&[]);
    let more = "level = \"full\"\nheaders_file = \"otlp\"\nresource = \"team=shop\"\nservice = \"agents\"\n";
    let stage = Stage::new();
    let file = stage.sandbox.home().join(".config/taut/otlp");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, format!("Authorization=Bearer%20{TOKEN}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    stage.configure(&collector.section(more));
    let stage = stage.and_daemon();
    testkit::poll::until("the worker to begin", PLENTY, || is_begun(&stage).then_some(())).unwrap();
    deny(&stage, "t1");
    let (head, body) = collector.next();
    assert!(head.starts_with("POST /v1/logs HTTP/1.1") && head.contains(&format!("Bearer {TOKEN}\r\n")), "{head}");
    let told = records(&body);
    let verdict = told.iter().find(|one| one["eventName"] == "taut.verdict").unwrap();
    assert_eq!(attribute(verdict, "session.id")["stringValue"], "client-7");
    assert_eq!(attribute(verdict, "taut.verdict")["stringValue"], "deny");
    assert!(attribute(verdict, "taut.reason").is_object() && attribute(verdict, "taut.detail").is_object());
    let resource = &body["resourceLogs"][0]["resource"];
    assert_eq!(attribute(resource, "service.name")["stringValue"], "agents");
    assert_eq!(attribute(resource, "team")["stringValue"], "shop");
    assert!(!body.to_string().contains(SECRET) && !body.to_string().contains(stage.sandbox.home().to_str().unwrap()));
    let said = until(&stage, "the answer to be counted", |said| said["sent"] != 0);
    assert!(said["error"].is_null() && !said.to_string().contains(TOKEN), "{said}");
}

#[test]
fn x3_what_is_not_taken_now_is_sent_again_with_the_same_ids_and_what_is_refused_is_dropped_and_counted() {
    if need::is_missing("curl") {
        return;
    }
    let collector = Collector::answering(&[
        Reply::Dies,
        Reply::Says("HTTP/1.1 429 Too Many\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n"),
        Reply::Says("HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n"),
        Reply::Says("HTTP/1.1 400 x\r\n\r\nnot\u{1b}[31m yet"),
        Reply::Says(
            "HTTP/1.1 200 OK\r\n\r\n{\"partialSuccess\":{\"rejectedLogRecords\":\"1\",\"errorMessage\":\"too old, sorry\"}}",
        ),
    ]);
    let stage = daemon_with(&collector.section(""));
    deny(&stage, "t1");
    let tries: Vec<_> = (0..4).map(|_| ids(&collector.next().1)).collect();
    assert!(!tries[0].is_empty() && tries.iter().all(|one| *one == tries[0]), "the same under the same ids: {tries:?}");
    let said = until(&stage, "the refusal to be counted", |said| said["refused"] != 0);
    assert!(said["error"].as_str().unwrap().contains("not taken and are dropped: it answered 400: not"), "{said}");
    assert_eq!(said["sent"], 0);
    deny(&stage, "t2");
    let next = ids(&collector.next().1);
    assert!(next.iter().all(|id| !tries[0].contains(id)), "what was dropped does not come back");
    let said = until(&stage, "the partial answer to be counted", |said| said["rejected"] == 1);
    assert!(said["error"].is_null(), "{said}");
}

#[test]
fn x3_who_held_which_task_and_how_long_a_person_was_waited_for_reach_a_collector() {
    if need::is_missing("curl") {
        return;
    }
    let collector = Collector::answering(&[]);
    let stage = daemon_with(&collector.section(""));
    stage.task_ok("", &["create", "login", "The login page"]);
    let w1 = stage.task_ok("", &["agent", "register"]).trim().to_owned();
    stage.task_ok(&w1, &["claim", "login"]);
    stage.task_ok("", &["agent", "deregister", &w1]);
    stage.task_ok("w2", &["claim", "login", "--lease", "0"]);
    stage.task_ok("w3", &["claim", "login"]);
    stage.task_ok("w3", &["done", "login"]);
    let asks = AgentStep::Event {
        event: "PermissionRequest",
        fields: json!({"tool_name": "Bash", "tool_input": {"command": "make"}}),
    };
    stage.working("ada").play(&[asks, AgentStep::bash("make")]).unwrap();
    let mut told = BTreeMap::new();
    // One claim each, and what became of it, however they are divided.
    while told.len() < 7 {
        for record in records(&collector.next().1) {
            told.insert(attribute(&record, "taut.id")["stringValue"].to_string(), record);
        }
    }
    let said = |name: &str, agent: &str, what: &str| {
        let of = |one: &&Value| one["eventName"] == name && attribute(one, "taut.agent")["stringValue"] == agent;
        attribute(told.values().find(of).unwrap_or_else(|| panic!("{name} of {agent}: {told:?}")), what)
    };
    assert_eq!(said("taut.wait", "ada", "taut.status")["stringValue"], "attention");
    assert!(said("taut.wait", "ada", "taut.length_ms").is_object());
    for (agent, attempt, ended) in
        [(w1.as_str(), "1", "taut.handover"), ("w2", "2", "taut.lease.lapsed"), ("w3", "3", "taut.lease.ended")]
    {
        for name in ["taut.lease.claimed", ended] {
            assert_eq!(said(name, agent, "taut.task")["stringValue"], "login");
            assert_eq!(said(name, agent, "taut.attempt")["intValue"], attempt);
        }
    }
}

#[test]
fn x3_a_collector_that_hangs_or_floods_blocks_nobody() {
    if need::is_missing("curl") {
        return;
    }
    // Twice in a row, so that what is said of it stands for as long as it takes to be seen.
    let collector = Collector::answering(&[Reply::Floods, Reply::Hangs, Reply::Hangs]);
    let stage = daemon_with(&collector.section(""));
    deny(&stage, "t1");
    collector.next();
    until(&stage, "the flood to be left", |said| said["sent"] != 0);
    deny(&stage, "t2");
    collector.next();
    // While it hangs, calls are judged and commands answer.
    deny(&stage, "t3");
    let said = until(&stage, "the silence to be given up", |said| said["error"].is_string());
    assert!(
        said["error"].as_str().unwrap().contains("too long") || said["error"].as_str().unwrap().contains("running"),
        "{said}"
    );
    until(&stage, "what waited to be sent", |said| said["sent"].as_u64() >= Some(3));
}

#[test]
fn x3_without_it_nobody_is_connected_to_and_a_repository_cannot_ask_for_it() {
    let collector = Collector::answering(&[]);
    let stage = Stage::new();
    let project = stage.sandbox.project().join(".taut");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join("config.toml"), collector.section("")).unwrap();
    agree(&stage, &["trust"]);
    let stage = stage.and_daemon();
    deny(&stage, "t1");
    assert_eq!(status(&stage)["on"], false);
    let pid = stage.daemon_pid().unwrap();
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let names: Vec<_> = threads.filter_map(|one| fs::read_to_string(one.path().join("comm")).ok()).collect();
    assert!(!names.iter().any(|name| name.contains("telemetry")), "{names:?}");
    assert!(collector.heard.try_recv().is_err());
}

#[test]
fn x3_switching_it_on_writes_down_what_the_environment_says_and_keeps_headers_to_oneself() {
    let stage = Stage::new()
        .with_env("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example:4318")
        .with_env("OTEL_EXPORTER_OTLP_HEADERS", &format!("api-key={TOKEN},Authorization=Basic abc"))
        .with_env("OTEL_RESOURCE_ATTRIBUTES", "team=shop")
        .with_env("OTEL_SERVICE_NAME", "agents");
    agree(&stage, &["telemetry", "on", "--level", "full"]);
    let config = stage.home_file(".config/taut/config.toml");
    for line in [
        "otlp = true", "endpoint = \"https://collector.example:4318\"", "resource = \"team=shop\"",
        "service = \"agents\"", "level = \"full\"",
    ] {
        assert!(config.contains(line), "{line}: {config}");
    }
    assert!(!config.contains(TOKEN));
    let file = stage.sandbox.home().join(".config/taut/secrets/otlp-headers");
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("api-key={TOKEN},Authorization=Basic%20abc\n"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let said = stage.succeed(&["telemetry", "status"]);
    assert!(said.contains("https://collector.example:4318/v1/logs (full)") && !said.contains(TOKEN), "{said}");
    agree(&stage, &["telemetry", "off"]);
    assert!(stage.succeed(&["telemetry", "status"]).contains("nothing is sent"));
    for wrong in ["http://elsewhere.example", "ftp://x", "https://ada:hunter2@c.example"] {
        let (code, said) = testkit::stage::person(&Stage::new(), &["telemetry", "on", wrong], "y\n");
        assert!(code == Some(2) && !said.contains("hunter2@"), "{wrong}: {said}");
    }
}

#[test]
fn x3_the_token_of_one_collector_is_not_told_to_the_next_and_what_is_typed_has_the_last_word() {
    let file = "headers_file = \"secrets/otlp-headers\"";
    let first = Stage::new()
        .with_env("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "https://first.example/logs")
        .with_env("OTEL_EXPORTER_OTLP_HEADERS", &format!("api-key={TOKEN}"));
    agree(&first, &["telemetry", "on"]);
    assert!(first.home_file(".config/taut/config.toml").contains(file));
    // The same collector by the same address keeps what is sent beside it.
    let config = first.home_file(".config/taut/config.toml");
    let stage = Stage::new();
    stage.configure(&config);
    agree(&stage, &["telemetry", "on", "--level", "full"]);
    assert!(stage.home_file(".config/taut/config.toml").contains(file));
    agree(&stage, &["telemetry", "on", "https://second.example:4318"]);
    let config = stage.home_file(".config/taut/config.toml");
    assert!(!config.contains("headers_file") && !config.contains("first.example"), "{config}");
    let said = stage.succeed(&["telemetry", "status"]);
    assert!(said.contains("https://second.example:4318/v1/logs"), "{said}");
    // Neither does a variable of another one.
    let stage = Stage::new().with_env("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "https://first.example/logs");
    agree(&stage, &["telemetry", "on", "http://127.0.0.1:4318"]);
    let said = stage.succeed(&["telemetry", "status"]);
    assert!(said.contains("http://127.0.0.1:4318/v1/logs"), "{said}");
}
