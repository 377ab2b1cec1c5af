//! Without hooks after a call: what came of it is read from the transcript at the session's next event (D2, G2, S8, F1).

use crate::home::{Client, PipelineHome, decision};
use model::Ms;
use model::row::Event;
use model::session::ResultsBy;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;

/// Which events a client fires.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fires {
    Everything,
    Plain,
}

/// One session, played twice: a client writes its transcript whatever hooks it has.
struct Played {
    stage: PipelineHome,
    client: Client,
    fires: Fires,
    transcript: String,
    requests: u32,
}

impl Played {
    fn new(fires: Fires) -> Self {
        let stage = PipelineHome::new();
        let client = stage.client("played");
        let transcript = stage.folder("").join("played.jsonl").to_string_lossy().into_owned();
        let mut played = Self { stage, client, fires, transcript, requests: 0 };
        played.fire("SessionStart", json!({"source": "startup"}));
        played.prompt();
        played
    }

    fn fire(&mut self, event: &str, mut fields: Value) -> pipeline::Response {
        fields["transcript_path"] = json!(self.transcript);
        let served = self.stage.send(&self.client, event, fields);
        self.stage.pipeline.late_results();
        served
    }

    fn prompt(&mut self) {
        self.fire("UserPromptSubmit", json!({"prompt": "go"}));
        self.request();
    }

    fn now(&mut self) -> Ms {
        // What is told late happened before.
        self.stage.events().iter().map(|event| event.at).max().unwrap()
    }

    fn write_at(&mut self, after: i64, mut line: Value) {
        line["timestamp"] = json!(self.now().plus(after).rfc3339());
        let mut file = OpenOptions::new().create(true).append(true).open(&self.transcript).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// The model is asked for its next answer.
    fn request(&mut self) {
        self.requests += 1;
        let (id, base) = (format!("r{}", self.requests), format!("r{}", self.requests - 1));
        self.write_at(3_000, json!({"type": "api-request", "id": id, "base": base, "querySource": "sdk"}));
    }

    /// The model calls a tool: a line of its answer, and the hook.
    fn call(&mut self, id: &str, tool: &str, input: &Value) -> Option<String> {
        let message =
            json!({"id": format!("m{}", self.requests), "content": [{"type": "tool_use", "id": id, "name": tool}]});
        let line = json!({"type": "assistant", "isSidechain": false, "message": message,
            "requestRef": format!("r{}", self.requests)});
        let served = self.fire("PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}));
        // The client writes a tenth of a second late.
        self.write_at(-50, line);
        decision(&served)
    }

    fn bash(&mut self, id: &str, command: &str) -> Option<String> {
        self.call(id, "Bash", &json!({"command": command}))
    }

    /// The call has come back; `Err` is what it failed with.
    fn back(&mut self, id: &str, tool: &str, input: &Value, result: Result<Value, &str>) {
        let call = json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "duration_ms": 2_000});
        let (event, field, value) = match &result {
            Ok(response) => ("PostToolUse", "tool_response", response.clone()),
            Err(error) => ("PostToolUseFailure", "error", json!(error)),
        };
        let block = json!({"type": "tool_result", "tool_use_id": id, "is_error": result.is_err(),
            "content": result.as_ref().err().copied().unwrap_or("said")});
        let told = result.unwrap_or_else(|error| json!(format!("Error: {error}")));
        let line = json!({"type": "user", "isSidechain": false, "message": {"role": "user", "content": [block]},
            "toolUseResult": told});
        self.write_at(2_000, line);
        if self.fires == Fires::Everything {
            let mut fields = call;
            fields[field] = value;
            self.fire(event, fields);
        }
    }

    /// What a hook denied is in the transcript too, and no event tells of it.
    fn denied(&mut self, id: &str) {
        let block = json!({"type": "tool_result", "tool_use_id": id, "is_error": true, "content": "hook error"});
        let message = json!({"role": "user", "content": [block]});
        self.write_at(
            10,
            json!({"type": "user", "isSidechain": false, "message": message, "toolDenialKind": "permission-rule"}),
        );
    }

    fn batch(&mut self, ids: &[&str]) {
        if self.fires == Fires::Everything {
            let calls: Vec<Value> = ids.iter().map(|id| json!({"tool_name": "Bash", "tool_use_id": id})).collect();
            self.fire("PostToolBatch", json!({"tool_calls": calls}));
        }
        self.request();
    }

    /// What is stored of results, by call: what a person sees of them.
    fn results(&mut self) -> Vec<Value> {
        let events = self.stage.events().into_iter();
        let results = events.filter(|event| event.event.starts_with("PostToolUse"));
        let shown = |event: Event| {
            json!([
                event.event,
                event.tool,
                event.detail["call"],
                event.detail["input"],
                event.detail["wrote"],
                event.detail["response"],
                event.detail["error"],
                event.session.is_some(),
                event.verdict.name()
            ])
        };
        let mut shown: Vec<Value> = results.map(shown).collect();
        shown.sort_by_key(|one| one[2].to_string());
        shown
    }

    fn stands(&mut self) -> Value {
        let session = self.stage.current(&self.client);
        let agent = self.stage.agent(&session.agent);
        json!([session.state.name(), session.in_flight, agent.status.name(), session.memo.failed_tool])
    }
}

/// A day in small: one call, a failure, a batch, a written file, the end.
fn play(fires: Fires) -> Played {
    let mut played = Played::new(fires);
    let ls = json!({"command": "ls"});
    played.bash("t1", "ls");
    played.back("t1", "Bash", &ls, Ok(json!({"stdout": "a\nb", "stderr": ""})));
    played.batch(&["t1"]);
    played.bash("t2", "ls");
    played.back("t2", "Bash", &ls, Err("Exit code 1\nbad"));
    played.batch(&["t2"]);
    let write = json!({"file_path": "/w/n.txt", "content": "x"});
    played.bash("t3", "ls");
    played.call("t4", "Write", &write);
    played.back("t4", "Write", &write, Ok(json!({"type": "create", "filePath": "/w/n.txt"})));
    played.back("t3", "Bash", &ls, Ok(json!({"stdout": "late"})));
    played.batch(&["t3", "t4"]);
    played
}

#[test]
fn d2_the_record_of_results_is_the_same_with_and_without_the_events_after_calls() {
    let (mut told, mut read) = (play(Fires::Everything), play(Fires::Plain));
    for played in [&mut told, &mut read] {
        played.fire("Stop", json!({"stop_hook_active": false}));
    }
    assert_eq!(read.results().len(), 4);
    assert_eq!(told.results(), read.results());
    assert_eq!(told.stands(), read.stands());
    for played in [&mut told, &mut read] {
        let mut results = played.stage.events();
        results.retain(|event| event.event.starts_with("PostToolUse"));
        for event in results {
            let call = event.detail["call"].as_str().unwrap().to_string();
            assert_eq!(event.answer, model::Answer::default(), "nobody reads an answer");
            let asked = played
                .stage
                .events()
                .into_iter()
                .find(|one| one.event == "PreToolUse" && one.detail["call"].as_str() == Some(&call));
            assert!(event.at > asked.unwrap().at, "{call}");
        }
    }
    // The hook of a failure is told no duration that is kept; what the transcript tells is from the call to its result.
    let lasted = |played: &mut Played| {
        let found = played
            .stage
            .events()
            .into_iter()
            .find(|event| event.detail["call"] == "t1" && event.event == "PostToolUse");
        found.unwrap().detail["duration_ms"].clone()
    };
    assert_eq!((lasted(&mut told), lasted(&mut read)), (json!(2_000), json!(2_000)));
    assert_eq!(read.stage.current(&read.client.clone()).memo.results, Some(ResultsBy::Transcript));
    assert_eq!(told.stage.current(&told.client.clone()).memo.results, Some(ResultsBy::Hooks));
}

#[test]
fn f1_a_status_is_late_by_one_event_at_most() {
    let (mut told, mut read) = (Played::new(Fires::Everything), Played::new(Fires::Plain));
    for played in [&mut told, &mut read] {
        played.bash("t1", "ls");
        played.back("t1", "Bash", &json!({"command": "ls"}), Err("Exit code 1"));
        played.batch(&["t1"]);
        played.bash("t2", "ls");
    }
    assert_eq!(told.stands(), read.stands(), "the call is out, and the failed one is marked");
    assert_eq!(read.stands(), json!(["tool_active", ["t2"], "working", true]));
    for played in [&mut told, &mut read] {
        played.back("t2", "Bash", &json!({"command": "ls"}), Ok(json!({})));
        played.batch(&["t2"]);
        played.fire("Stop", json!({"stop_hook_active": false}));
    }
    assert_eq!(told.stands(), read.stands());
    assert_eq!(read.stands(), json!(["idle", [], "done", false]));
}

#[test]
fn g2_a_strike_stays_closed_within_its_batch_and_opens_with_the_next_one() {
    for fires in [Fires::Everything, Fires::Plain] {
        let mut played = Played::new(fires);
        let push = "git push --force";
        assert_eq!(played.bash("t1", push).as_deref(), Some("deny"));
        played.denied("t1");
        played.bash("t2", "ls");
        played.back("t2", "Bash", &json!({"command": "ls"}), Ok(json!({})));
        assert_eq!(played.bash("t3", push).as_deref(), Some("deny"), "the same answer of the model");
        played.denied("t3");
        played.batch(&["t1", "t2", "t3"]);
        assert_eq!(played.bash("t4", push), None, "it has read why");
        assert_eq!(played.bash("t5", push), None);
    }
}

#[test]
fn g2_a_denial_of_the_same_answer_is_not_opened_by_an_older_one_that_was_read() {
    let mut played = Played::new(Fires::Plain);
    assert_eq!(played.bash("t1", "git push --force").as_deref(), Some("deny"));
    played.denied("t1");
    played.batch(&["t1"]);
    assert_eq!(played.bash("t2", "git reset --hard").as_deref(), Some("deny"));
    played.denied("t2");
    assert_eq!(played.bash("t3", "git push --force"), None);
    assert_eq!(played.bash("t4", "git reset --hard").as_deref(), Some("deny"), "its own denial was not read");
    played.denied("t4");
    played.batch(&["t2", "t3", "t4"]);
    assert_eq!(played.bash("t5", "git reset --hard"), None);
}

/// A call that its user refuses, or stops, has come back and has not failed.
#[test]
fn s8_a_call_that_was_refused_is_no_longer_out_and_nothing_failed() {
    let mut played = Played::new(Fires::Plain);
    played.bash("t1", "ls");
    played.denied("t1");
    played.batch(&["t1"]);
    played.bash("t2", "ls");
    assert_eq!(played.stands(), json!(["tool_active", ["t2"], "working", false]));
    assert_eq!(played.results(), Vec::<Value>::new());
}

#[test]
fn f3_a_message_reaches_a_session_without_events_after_calls_at_its_next_call() {
    let mut played = Played::new(Fires::Plain);
    let ls = json!({"command": "ls"});
    for id in ["t1", "t2"] {
        played.bash(id, "ls");
        played.back(id, "Bash", &ls, Ok(json!({})));
        played.batch(&[id]);
    }
    let session = played.stage.current(&played.client.clone());
    let words = model::effect::Injection {
        session: session.id.clone(),
        audience: model::effect::Audience::Model,
        text: "the build is red".into(),
    };
    let put = model::effect::Write::Injection(words);
    played
        .stage
        .pipeline
        .store()
        .unwrap()
        .transact(store::Durability::Normal, |tx| tx.apply(std::slice::from_ref(&put)))
        .unwrap();
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t3"});
    let served = played.fire("PreToolUse", call.clone());
    assert!(served.answer.stdout.contains("the build is red"), "{}", served.answer.stdout);
    let mut again = call;
    again["tool_use_id"] = json!("t4");
    assert_eq!(played.fire("PreToolUse", again).answer.stdout, "", "once");
}

#[test]
fn d2_hostile_transcripts_leave_the_record_as_it_is() {
    for text in [
        "",
        "{\n",
        "[]\n",
        "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\"}]}}\n",
    ] {
        let mut played = Played::new(Fires::Plain);
        played.bash("t1", "ls");
        std::fs::write(&played.transcript, text).unwrap();
        played.fire("Stop", json!({"stop_hook_active": false}));
        assert_eq!(played.stands()[0], "idle", "{text}");
    }
    let mut gone = Played::new(Fires::Plain);
    gone.bash("t1", "ls");
    std::fs::remove_file(&gone.transcript).unwrap();
    std::fs::create_dir(&gone.transcript).unwrap();
    gone.fire("Stop", json!({"stop_hook_active": false}));
    assert_eq!(gone.results(), Vec::<Value>::new());
}
