//! Answering from elsewhere: from an answer that is stored to the client being told, beside the half second people are
//! promised.

use crate::home::BenchHome;
use crate::times::{Times, ratio};
use model::Ms;
use model::card::{ActionPlace, AnsweredBy, CardAnswer, CardState};
use serde_json::json;
use std::fs;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use store::{CardFilter, Store};

const PROMISED: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(10);
const SESSION: &str = "11111111-aaaa-4bbb-8ccc-222222222222";

pub fn run(quick: bool) -> Result<(), String> {
    measure(&crate::house()?, if quick { 10 } else { 50 }).map_err(|error| error.to_string())
}

fn measure(home: &BenchHome, rounds: usize) -> io::Result<()> {
    let client = FakeClient(Command::new("sleep").arg("300").spawn()?);
    settings(home)?;
    waiting(home, client.0.id())?;
    hook(home, client.0.id(), &json!({"hook_event_name": "SessionStart", "source": "startup"}))?;
    let mut store = Store::open(&home.state(), PATIENCE).map_err(io::Error::other)?;
    let (mut opened, mut told) = (Times::default(), Times::default());
    for nth in 0..rounds {
        let begun = Instant::now();
        let asked = json!({"hook_event_name": "PermissionRequest", "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": format!("touch {nth}")}});
        let mut holder = holder(home, client.0.id(), &asked)?;
        let card = loop {
            if let Some(card) = store.cards(&CardFilter::default()).map_err(io::Error::other)?.into_iter().next() {
                break card;
            }
            if begun.elapsed() > PATIENCE {
                return Err(io::Error::other("no card was opened"));
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        opened.add(begun.elapsed());
        let by = AnsweredBy { user: "bench".into(), place: ActionPlace::Page, at: Ms(1) };
        let begun = Instant::now();
        store.answer_card((&card.id, &card.digest), &CardAnswer::AllowOnce, &by).map_err(io::Error::other)?;
        let mut said = String::new();
        holder.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?.read_to_string(&mut said)?;
        told.add(begun.elapsed());
        holder.wait()?;
        if !said.contains("allow") {
            return Err(io::Error::other(format!("the client was told {said:?}")));
        }
        // What confirms it is not measured here: the next card is another's.
        store.step_card(&card.id, CardState::Given, CardState::Used, Ms(1)).map_err(io::Error::other)?;
    }
    println!("of the {} ms that are promised:", PROMISED.as_millis());
    for (name, times) in
        [("from the client's question to its card", opened), ("from an answer to the client being told", told)]
    {
        println!(
            "{name:<44} p50 {:>6.2} x   p99 {:>6.2} x   ({:>5.0} µs)",
            ratio(times.p50(), PROMISED),
            ratio(times.p99(), PROMISED),
            times.p50().as_secs_f64() * 1e6
        );
    }
    Ok(())
}

/// A process that stands for the client, and ends with the measurement.
struct FakeClient(Child);

impl Drop for FakeClient {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn settings(home: &BenchHome) -> io::Result<()> {
    let folder = home.home().join(".claude");
    fs::create_dir_all(folder.join("sessions"))?;
    let line = json!({"type": "command", "command": "/usr/bin/taut", "args": ["answer", "wait", "--agent", "claude-code"],
        "timeout": 86_400});
    let settings = json!({"hooks": {"PermissionRequest": [{"hooks": [line]}]}});
    fs::write(folder.join("settings.json"), settings.to_string())
}

fn waiting(home: &BenchHome, pid: u32) -> io::Result<()> {
    let state = json!({"pid": pid, "sessionId": SESSION, "kind": "interactive", "status": "waiting",
        "waitingFor": "permission prompt"});
    fs::write(home.home().join(format!(".claude/sessions/{pid}.json")), state.to_string())
}

fn payload(home: &BenchHome, fields: &serde_json::Value) -> Vec<u8> {
    let mut payload = json!({"session_id": SESSION, "cwd": home.project(),
        "transcript_path": home.home().join(".claude/projects/p/t.jsonl")});
    for (name, value) in fields.as_object().into_iter().flatten() {
        payload[name] = value.clone();
    }
    payload.to_string().into_bytes()
}

fn hook(home: &BenchHome, pid: u32, fields: &serde_json::Value) -> io::Result<()> {
    let mut command = home.taut();
    command.args(["hook", "--agent", "claude-code"]);
    started(command, pid, &payload(home, fields))?.wait().map(drop)
}

fn holder(home: &BenchHome, pid: u32, fields: &serde_json::Value) -> io::Result<Child> {
    let mut command = home.taut();
    command.args(["answer", "wait", "--agent", "claude-code"]);
    started(command, pid, &payload(home, fields))
}

fn started(mut command: Command, pid: u32, payload: &[u8]) -> io::Result<Child> {
    command.env("CLAUDE_PID", pid.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?.write_all(payload)?;
    Ok(child)
}
