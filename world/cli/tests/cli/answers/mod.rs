//! Answering from elsewhere without the real client: a process that stands for it, its session file, and the holder.

mod holder;
mod races;
mod switch;

use agents::settings::{GuardFailure, KnownClient, SettingsPlan};
use model::Ms;
use model::card::{ActionPlace, AnsweredBy, Card, CardAnswer, CardState};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use store::{CardFilter, Store};
use testkit::poll;
use testkit::stage::{LIMIT, PLENTY, Stage};

pub const SESSION: &str = "11111111-aaaa-4bbb-8ccc-222222222222";

/// A client that runs, its settings with answering switched on, and its session as its first line has stored it.
pub struct FakeClient {
    pub stage: Stage,
    process: Child,
}

/// A holder at work.
pub struct Held {
    child: Child,
}

/// What a holder left.
#[derive(Debug, PartialEq, Eq)]
pub struct HeldEnd {
    pub code: Option<i32>,
    pub said: String,
    pub wrong: String,
}

/// Nothing was printed, and the client reads that as nothing.
pub const SILENT: HeldEnd = HeldEnd { code: Some(0), said: String::new(), wrong: String::new() };

impl FakeClient {
    pub fn new() -> Self {
        let client = Self::switched_off();
        client.settings(|text| (agents::DEFAULT.settings.waiting.as_ref().unwrap().edit)(text, &plan()).unwrap().text);
        client
    }

    pub fn switched_off() -> Self {
        let stage = Stage::without_daemon();
        // Long enough for any test, and gone by itself where one is killed.
        let process = Command::new("sleep").arg("300").spawn().unwrap();
        let client = Self { stage, process };
        client.settings(|text| (agents::DEFAULT.settings.edit)(text, &plan()).unwrap().text);
        client.tells(&json!({"hook_event_name": "SessionStart", "source": "startup"}));
        client
    }

    pub fn settings(&self, change: impl FnOnce(&str) -> String) {
        let file = self.stage.sandbox.claude_dir().join("settings.json");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|_| "{}\n".into());
        std::fs::write(file, change(&text)).unwrap();
    }

    /// An event of the client's, by the first line.
    pub fn tells(&self, fields: &Value) -> String {
        let pid = self.process.id().to_string();
        let done = self.stage.hook(&self.stage.payload(fields), &[("CLAUDE_PID", &pid)]);
        assert!(done.success(), "{}", done.stderr_text());
        done.stdout_text()
    }

    pub fn session_file(&self) -> PathBuf {
        self.stage.sandbox.claude_dir().join(format!("sessions/{}.json", self.process.id()))
    }

    /// The client says that it does this, in a file that is replaced as a whole.
    pub fn says(&self, status: &str) {
        self.says_of(SESSION, status);
    }

    pub fn says_of(&self, session: &str, status: &str) {
        let file = self.session_file();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let mut state =
            json!({"pid": self.process.id(), "sessionId": session, "kind": "interactive", "status": status});
        if status == "waiting" {
            state["waitingFor"] = "permission prompt".into();
        }
        let fresh = file.with_extension("fresh");
        std::fs::write(&fresh, state.to_string()).unwrap();
        std::fs::rename(fresh, file).unwrap();
    }

    /// The payload of a call that the client asks its person about.
    pub fn asks(&self, tool: &str, input: &Value) -> Vec<u8> {
        let fields = json!({"hook_event_name": "PermissionRequest", "permission_mode": "default", "tool_name": tool, "tool_input": input});
        self.stage.payload(&fields)
    }

    pub fn asks_for(&self, command: &str) -> Vec<u8> {
        self.asks("Bash", &json!({"command": command}))
    }

    pub fn holder_line(&self) -> Command {
        let mut command = self.stage.command(&["answer", "wait", "--agent", "claude-code"]);
        command.env("CLAUDE_PID", self.process.id().to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn holds(&self, payload: &[u8]) -> Held {
        Held::start(self.holder_line(), payload)
    }

    /// A dialog stands, and a holder beside it has its card out.
    pub fn holds_a_card(&self, command: &str) -> (Held, Card) {
        self.says("waiting");
        let held = self.holds(&self.asks_for(command));
        let card = self.card_of(&held);
        (held, card)
    }

    pub fn card_of(&self, held: &Held) -> Card {
        poll::until("a card", PLENTY, || self.cards().into_iter().find(|card| card.holder.pid == held.child.id()))
            .unwrap()
    }

    pub fn store(&self) -> Store {
        Store::open(&self.stage.sandbox.taut_home(), LIMIT).unwrap()
    }

    pub fn cards(&self) -> Vec<Card> {
        self.store().cards(&CardFilter { over: true, ..CardFilter::default() }).unwrap()
    }

    pub fn state(&self, card: &Card) -> CardState {
        self.store().card(&card.id).unwrap().unwrap().state
    }

    /// Whether this answer is the one that counts.
    pub fn answers(&self, card: &Card, answer: &CardAnswer) -> bool {
        self.store().answer_card((&card.id, &card.digest), answer, &by_ada()).unwrap()
    }

    /// As by a signal that nobody can catch.
    pub fn dies(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for FakeClient {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Held {
    pub fn start(mut line: Command, payload: &[u8]) -> Self {
        let mut child = line.spawn().unwrap();
        // One that does not want to read more is free to go.
        let _ = child.stdin.take().unwrap().write_all(payload);
        Self { child }
    }

    pub fn signal(&self, signal: i32) {
        testkit::stage::signal(i32::try_from(self.child.id()).unwrap(), signal).unwrap();
    }

    pub fn ends(mut self) -> HeldEnd {
        let ended = poll::until("the holder to end", PLENTY, || self.child.try_wait().unwrap());
        if ended.is_err() {
            let _ = self.child.kill();
        }
        let output = self.child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        HeldEnd {
            code: ended.ok().and_then(|status| status.code()),
            said: text(&output.stdout),
            wrong: text(&output.stderr),
        }
    }
}

pub fn plan() -> SettingsPlan {
    SettingsPlan {
        command: "/opt/tools/taut".into(),
        client: KnownClient::Unknown,
        on_failure: GuardFailure::Continue,
        allow: Vec::new(),
        results: model::session::ResultsBy::Hooks,
    }
}

pub fn by_ada() -> AnsweredBy {
    AnsweredBy { user: "ada".into(), place: ActionPlace::Terminal, at: Ms(1) }
}

/// The decision that a client reads.
pub fn decision(end: &HeldEnd) -> Value {
    let answer: Value = serde_json::from_str(&end.said).unwrap_or_else(|error| panic!("{error}: {end:?}"));
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PermissionRequest", "{answer}");
    assert_eq!((end.code, end.wrong.as_str()), (Some(0), ""));
    answer["hookSpecificOutput"]["decision"].clone()
}

/// A moment in which a holder that was to end would have.
pub const A_FEW_LOOKS: Duration = Duration::from_millis(400);
