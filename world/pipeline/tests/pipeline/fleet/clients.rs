//! What clients say of themselves in their session files, beside their hooks (F1).

use crate::home::{Client, Living, PipelineHome};
use model::Ms;
use pipeline::{ClientWatch, WatchRound};
use serde_json::{Value, json};
use std::time::Duration;
use store::Store;

/// A worker in a client that keeps a session file, and who follows it.
struct Desk {
    stage: PipelineHome,
    client: Client,
    process: Option<Living>,
    watch: ClientWatch,
    /// Of its own, as a daemon's worker has one.
    store: Store,
    now: i64,
}

impl Desk {
    /// At work on a prompt.
    fn new() -> Self {
        let stage = PipelineHome::new();
        let process = Living::new();
        let client = stage.client("one").with("TAUT_AGENT_ID", "worker").of(process.pid());
        let watch = ClientWatch::new(agents::ALL);
        let store = Store::open_and_migrate(&stage.folder("state"), Duration::from_secs(5)).unwrap();
        let mut desk = Self { stage, client, process: Some(process), watch, store, now: 1_800_000_000_000 };
        desk.hook("UserPromptSubmit", json!({"prompt": "go"}));
        desk
    }

    fn hook(&mut self, event: &str, mut fields: Value) -> &'static str {
        let folder = self.stage.folder("claude");
        fields["transcript_path"] = json!(folder.join("projects/-acme").join(format!("{}.jsonl", self.client.session)));
        self.now += 100;
        // Each event is sent ten seconds after the last one; here time is told.
        self.stage.move_clock(self.now - 10_000);
        self.stage.send(&self.client, event, fields);
        self.status()
    }

    fn ask(&mut self, line: &str) -> &'static str {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": line}});
        let mut with_id = call.clone();
        with_id["tool_use_id"] = json!(line);
        self.hook("PreToolUse", with_id);
        self.hook("PermissionRequest", call)
    }

    fn status(&mut self) -> &'static str {
        self.stage.agent("worker").status.name()
    }

    /// What the client writes down after so many milliseconds, as it does it: by another file in the place of the last.
    fn says(&mut self, after: i64, status: &str, fields: Value) {
        self.now += after;
        let pid = self.pid();
        let mut text = json!({"pid": pid, "sessionId": self.client.session, "kind": "interactive",
            "status": status, "statusUpdatedAt": self.now});
        for (name, value) in fields.as_object().into_iter().flatten() {
            text[name] = value.clone();
        }
        self.stage.write(&format!("claude/sessions/{pid}.new"), &text.to_string());
        let folder = self.stage.folder("claude/sessions");
        std::fs::rename(folder.join(format!("{pid}.new")), folder.join(format!("{pid}.json"))).unwrap();
    }

    fn waits(&mut self) {
        self.says(100, "waiting", json!({"waitingFor": "permission prompt"}));
    }

    fn pid(&self) -> u32 {
        self.client.env.iter().find(|(name, _)| name == "CLAUDE_PID").unwrap().1.parse().unwrap()
    }

    /// One look, so many milliseconds later.
    fn look(&mut self, after: i64) -> WatchRound {
        self.now += after;
        self.watch.round(&mut self.store, Ms(self.now)).unwrap()
    }

    fn after_a_look(&mut self, after: i64) -> &'static str {
        self.look(after);
        self.status()
    }

    fn last_event(&mut self) -> (String, Value) {
        let event = self.stage.events().pop().unwrap();
        (event.event, event.detail)
    }
}

#[test]
fn f1_a_yes_is_work_and_a_no_is_done_at_the_first_look_after_it() {
    let mut desk = Desk::new();
    assert_eq!(desk.ask("make"), "attention");
    desk.waits();
    assert_eq!(desk.after_a_look(200), "attention");
    desk.says(5_000, "busy", json!({}));
    let round = desk.look(100);
    assert_eq!((round.turned, round.follows, desk.status()), (true, true, "working"));
    let told = json!({"doing": "busy", "status": {"from": "attention", "to": "working"}});
    assert_eq!(desk.last_event(), ("ClientState".into(), told));
    assert_eq!(desk.look(200), WatchRound { turned: false, follows: true }, "told once");
    desk.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "make"}));
    assert_eq!(desk.ask("make install"), "attention", "asked anew, whatever the file said before");
    assert_eq!(desk.after_a_look(200), "attention");
    desk.waits();
    desk.look(200);
    desk.says(5_000, "idle", json!({}));
    assert_eq!(desk.after_a_look(100), "done");
    let session = desk.stage.sessions().pop().unwrap();
    assert_eq!((session.state.name(), session.in_flight.len(), session.memo.asks.len()), ("idle", 0, 0));
    assert_eq!(desk.look(200), WatchRound::default(), "nobody is at work");
}

#[test]
fn f1_what_was_looked_at_is_answered_like_what_was_not() {
    let mut desk = Desk::new();
    desk.ask("make");
    desk.waits();
    desk.look(200);
    let now = Ms(desk.now);
    desk.stage.pipeline.store().unwrap().focus("worker", now).unwrap();
    assert_eq!(desk.status(), "checked");
    desk.says(1_000, "idle", json!({}));
    assert_eq!(desk.after_a_look(100), "done");
}

/// A client writes its state down a moment late: what it says of one dialog is no answer to the next.
#[test]
fn f1_a_file_that_lags_does_not_answer_the_next_question() {
    let mut desk = Desk::new();
    desk.ask("make");
    desk.waits();
    desk.look(5_000);
    desk.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "make"}));
    assert_eq!(desk.ask("make install"), "attention");
    assert_eq!(desk.after_a_look(50), "attention", "the first dialog is still written down");
    desk.says(50, "busy", json!({}));
    assert_eq!(desk.after_a_look(200), "attention", "that was the first one's answer");
    desk.waits();
    assert_eq!(desk.after_a_look(2_000), "attention");
    desk.says(1_000, "busy", json!({}));
    assert_eq!(desk.after_a_look(100), "working");
}

#[test]
fn f1_a_dialog_no_hook_tells_of_is_attention_and_esc_is_done() {
    let mut desk = Desk::new();
    desk.says(500, "busy", json!({}));
    assert_eq!(desk.after_a_look(2_000), "working");
    desk.says(100, "waiting", json!({"waitingFor": "dialog open"}));
    assert_eq!(desk.after_a_look(200), "working", "a hook may be about to tell of it");
    assert_eq!(desk.after_a_look(1_000), "attention");
    let cause = desk.stage.pipeline.store().unwrap().member("worker").unwrap().unwrap().cause.unwrap();
    assert_eq!((cause.event.as_str(), &cause.detail["for"]), ("ClientState", &json!("dialog")));
    let sub = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "s", "agent_id": "a1"});
    assert_eq!(desk.hook("PostToolUse", sub), "attention", "what a sub-agent goes on with is no answer");
    desk.says(100, "busy", json!({}));
    assert_eq!(desk.after_a_look(100), "working");
    desk.says(100, "idle", json!({}));
    assert_eq!(desk.after_a_look(1_000), "working", "between two turns a client is idle for a moment");
    assert_eq!(desk.after_a_look(1_000), "done");
}

#[test]
fn f1_a_file_that_is_not_this_clients_and_sessions_says_nothing() {
    for strange in [json!({"sessionId": "two"}), json!({"pid": 1}), json!({"kind": "print"}), json!({"status": "odd"})]
    {
        let mut desk = Desk::new();
        desk.ask("make");
        desk.says(5_000, "busy", strange.clone());
        assert_eq!(desk.after_a_look(5_000), "attention", "{strange}");
    }
    let mut desk = Desk::new();
    desk.ask("make");
    assert_eq!(desk.look(5_000), WatchRound { turned: false, follows: true }, "there is none");
    desk.stage.write(&format!("claude/sessions/{}.json", desk.pid()), "{\"pid\":");
    assert_eq!(desk.after_a_look(5_000), "attention", "half a file");
}

/// A client that was killed leaves its file behind.
#[test]
fn f1_a_client_that_died_at_work_is_an_error_that_says_so() {
    let mut desk = Desk::new();
    desk.says(100, "busy", json!({}));
    assert_eq!(desk.after_a_look(200), "working");
    desk.process.take();
    assert_eq!(desk.after_a_look(1_000), "working", "its last hook may be on its way");
    assert_eq!(desk.after_a_look(2_900), "working");
    assert_eq!(desk.after_a_look(200), "error");
    assert_eq!(desk.last_event().0, "ClientGone");
    let session = desk.stage.sessions().pop().unwrap();
    assert_eq!(session.end_reason.as_deref(), Some("client_gone"));
    let fleet = desk.stage.pipeline.store().unwrap().fleet().unwrap();
    let why = fleet.members.first().and_then(|one| one.cause.as_ref()).map(|cause| cause.event.as_str());
    assert_eq!(why, Some("ClientGone"), "whoever looks is told");
    assert_eq!(desk.look(200), WatchRound::default());
}

#[test]
fn f1_a_client_without_a_name_that_died_is_still_listed_and_one_that_ended_is_not() {
    let mut desk = Desk::new();
    desk.hook("SessionEnd", json!({"reason": "other"}));
    desk.client.env.retain(|(name, _)| name != "TAUT_AGENT_ID");
    let listed = |desk: &mut Desk| {
        let fleet = desk.stage.pipeline.store().unwrap().fleet().unwrap();
        fleet.members.iter().filter(|one| !one.agent.named).map(|one| one.agent.status.name()).collect::<Vec<_>>()
    };
    desk.client.session = "two".into();
    desk.hook("UserPromptSubmit", json!({"prompt": "go"}));
    desk.hook("SessionEnd", json!({"reason": "other"}));
    assert_eq!(listed(&mut desk), [""; 0]);
    desk.client.session = "three".into();
    desk.hook("UserPromptSubmit", json!({"prompt": "go"}));
    desk.says(100, "busy", json!({}));
    desk.look(200);
    desk.process.take();
    desk.look(1_000);
    desk.look(3_000);
    assert_eq!(listed(&mut desk), ["error"]);
}

/// What was left behind, or given to another process since, is no sign of life, nor is it a crash of somebody unknown.
#[test]
fn f1_only_a_process_its_own_file_named_is_a_client_that_can_be_gone() {
    let mut desk = Desk::new();
    desk.look(200);
    desk.process.take();
    for _ in 0..5 {
        assert_eq!(desk.after_a_look(2_000), "working", "no file has named it");
    }
    desk.says(0, "idle", json!({}));
    assert_eq!(desk.after_a_look(2_000), "error", "named by what it left behind; idle says nothing of the dead");
}

#[test]
fn f1_a_client_that_died_with_nothing_to_do_is_over_and_no_error() {
    let mut desk = Desk::new();
    desk.says(100, "idle", json!({}));
    assert_eq!(desk.hook("Stop", json!({})), "done");
    desk.look(200);
    desk.look(5_000);
    assert!(desk.stage.sessions().pop().unwrap().open(), "it lives");
    desk.process.take();
    assert_eq!(desk.look(4_000), WatchRound::default(), "looked at seldom");
    desk.look(1_000);
    assert_eq!(desk.look(5_000), WatchRound { turned: true, follows: false });
    let session = desk.stage.sessions().pop().unwrap();
    assert_eq!((session.open(), session.end_reason.as_deref()), (false, Some("client_gone")));
    let agent = desk.stage.agent("worker");
    assert_eq!((agent.status.name(), agent.session), ("done", None));
    assert_eq!(desk.look(5_000), WatchRound::default(), "once");
}

#[test]
fn f1_a_clean_end_is_no_crash() {
    let mut desk = Desk::new();
    desk.says(100, "busy", json!({}));
    desk.look(200);
    desk.process.take();
    desk.look(1_000);
    assert_eq!(desk.hook("SessionEnd", json!({"reason": "other"})), "done");
    assert_eq!(desk.look(9_000), WatchRound::default());
    assert_eq!(desk.status(), "done");
}

#[test]
fn f1_an_orphan_that_was_at_work_is_an_error() {
    let mut desk = Desk::new();
    desk.process.take();
    let later = Ms(desk.now + 3 * 3_600_000);
    assert_eq!(desk.stage.pipeline.reap_orphans(later).unwrap(), 1);
    assert_eq!((desk.status(), desk.last_event().0.as_str()), ("error", "ClientGone"));
    assert_eq!(desk.stage.sessions().pop().unwrap().end_reason.as_deref(), Some("orphaned"));
}

#[test]
fn f1_a_daemon_is_needed_while_a_living_client_is_followed() {
    let mut desk = Desk::new();
    let needed = |desk: &mut Desk| ClientWatch::is_needed(desk.stage.pipeline.store().unwrap(), agents::ALL).unwrap();
    assert!(needed(&mut desk));
    desk.hook("Stop", json!({}));
    assert!(!needed(&mut desk), "at rest");
    desk.hook("UserPromptSubmit", json!({"prompt": "more"}));
    assert!(needed(&mut desk));
    desk.process.take();
    assert!(!needed(&mut desk), "gone");
}
