//! One agent of a machine: its hooks, its tasks and its messages, all by the program, started anew for each word. It writes
//! down what it was told, and may be killed or stopped anywhere.

use super::super::seat::Place;
use super::LEASE;
use crate::dice::Dice;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use testkit::{AgentStep, Ending, FakeAgent};

pub const TAUT: &str = "SHARED_FAULTS_TAUT";
/// Agents of other machines, as they are written to.
pub const PEERS: &str = "SHARED_FAULTS_PEERS";
/// What every message begins with.
pub const MARK: &str = "note-of-";

const NOTHING_TO_DO: Duration = Duration::from_millis(80);
/// Nobody waits longer, whatever was done to the server and to everybody else.
const HELD_UP: Duration = Duration::from_secs(60);

struct Worker {
    place: Place,
    taut: PathBuf,
    peers: Vec<String>,
    agent: FakeAgent,
    dice: Dice,
    written: usize,
}

pub fn run() {
    let taut = PathBuf::from(std::env::var_os(TAUT).unwrap_or_default());
    let peers = std::env::var(PEERS).unwrap_or_default();
    let mut worker = Worker {
        place: Place::here(),
        agent: FakeAgent::here(&taut),
        taut,
        peers: peers.split_whitespace().map(String::from).collect(),
        dice: Dice::new(u64::from(std::process::id()) * 0x9e37_79b9),
        written: 0,
    };
    worker.play(AgentStep::start());
    while !worker.place.is_over() {
        match worker.task(&["claim", "--lease", &LEASE.to_string(), "--json"]) {
            Some(claimed) if claimed.status.success() => worker.work(&claimed.stdout),
            _ => worker.idle(),
        }
    }
    // For certain, once: what is denied is in the record of every machine.
    worker.destroy();
    worker.play(AgentStep::end());
}

impl Worker {
    /// Messages are told at a prompt, also where there is nothing to do.
    fn idle(&mut self) {
        if self.dice.one_in(6) {
            self.play(AgentStep::prompt("what is there to do"));
        }
        std::thread::sleep(NOTHING_TO_DO);
    }

    fn work(&mut self, claimed: &[u8]) {
        let Ok(task) = serde_json::from_slice::<Value>(claimed) else { return };
        let (Some(slug), Some(attempt)) = (task["id"].as_str(), task["attempt"].as_i64()) else { return };
        self.live();
        if self.dice.one_in(20) {
            self.task(&["renew", slug, "--lease", &LEASE.to_string()]);
        }
        if self.dice.one_in(25) {
            // As a loop does after a crash of its agent: claimable at once.
            self.task(&["fail", slug, "--reason", "session exited without completing task"]);
            return;
        }
        let (result, number) = (format!(r#"{{"commit":"{slug}#{attempt}"}}"#), attempt.to_string());
        let done = self.task(&["done", slug, "--attempt", &number, "--result", &result, "--json"]);
        let word = done.as_ref().map_or("unheard", heard);
        self.place.note(&format!("{word} {slug} {attempt}"));
    }

    /// What an agent does between a claim and its end.
    fn live(&mut self) {
        std::thread::sleep(Duration::from_millis(self.dice.below(200) as u64));
        if self.dice.one_in(2) {
            self.play(AgentStep::prompt("go on"));
        }
        if self.dice.one_in(4) {
            self.play(AgentStep::bash("ls"));
        }
        if self.dice.one_in(8) {
            self.destroy();
        }
        if self.dice.one_in(3) {
            self.write();
        }
        if self.dice.one_in(3) {
            // As the last step of a machine that will be gone, beside its daemon.
            self.taut(&["shared", "sync"]);
        }
    }

    /// Or would, if nobody were in the way.
    fn destroy(&mut self) {
        if !self.play(AgentStep::bash("rm -rf ~")) {
            self.place.note("let-through rm-rf 0");
        }
    }

    /// To an agent of another machine. Where nobody there was heard of yet, nothing is sent.
    fn write(&mut self) {
        let Some(peer) = self.peers.get(self.dice.below(self.peers.len())).cloned() else { return };
        self.written += 1;
        let text = format!("{MARK}{}-{}-{}", self.place.name, std::process::id(), self.written);
        let sent = self.taut(&["send", &peer, &text]);
        if sent.is_some_and(|sent| sent.status.success()) {
            self.place.note(&format!("sent {text} 0"));
        }
    }

    /// Whether something of it was denied.
    fn play(&mut self, step: AgentStep) -> bool {
        let calls = self.agent.play(&[step]).unwrap_or_default();
        for call in &calls {
            if call.finished.ending == Ending::TimedOut {
                self.place.note(&format!("held-up {} 0", call.event));
            } else if !call.finished.success() {
                self.place.note(&format!("failed-hook {} {}", call.event, call.finished.code().unwrap_or(-1)));
            }
            for text in told(&call.finished.stdout_text()) {
                self.place.note(&format!("told {text} 0"));
            }
        }
        calls.iter().any(testkit::HookCall::denies)
    }

    fn task(&self, args: &[&str]) -> Option<Output> {
        self.taut(&[&["task"], args].concat())
    }

    /// In this worker's own group: it is killed and stopped with its command, or without it.
    fn taut(&self, args: &[&str]) -> Option<Output> {
        let began = Instant::now();
        let done = Command::new(&self.taut).args(args).stdin(Stdio::null()).output().ok();
        if began.elapsed() > HELD_UP {
            self.place.note(&format!("held-up {} 0", args[0]));
        }
        done
    }
}

/// What a `taut task done --json` was told.
fn heard(done: &Output) -> &'static str {
    let said = serde_json::from_slice::<Value>(&done.stdout).unwrap_or_default();
    match (done.status.code(), said["did"].as_str()) {
        (Some(0), Some("done")) if done.stderr.is_empty() => "done",
        (Some(0), Some("kept")) => "kept",
        (Some(0), _) => "already",
        (Some(2), _) => "refused",
        _ => "unheard",
    }
}

/// The messages in what a hook answered, each once.
fn told(answer: &str) -> BTreeSet<String> {
    let is_of_mark = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let starts = answer.match_indices(MARK).map(|(at, _)| &answer[at..]);
    starts.map(|rest| rest.chars().take_while(|c| is_of_mark(*c)).collect()).collect()
}
