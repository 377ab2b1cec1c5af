//! One worker: claims, works a little, finishes; writes down every result that was accepted.

use crate::dice::Dice;
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

pub const MARK: &str = "QUEUE_FAULTS_WORKER";
pub const TAUT: &str = "QUEUE_FAULTS_TAUT";
pub const ACCEPTED: &str = "QUEUE_FAULTS_ACCEPTED";

/// Seconds; short, so that what the dead held comes back soon.
pub const LEASE: &str = "3";

pub fn run() {
    let agent = std::env::var(MARK).unwrap_or_default();
    let mut dice = Dice::new(u64::from(std::process::id()) * 0x9e37_79b9);
    loop {
        match taut(&agent, &["claim", "--lease", LEASE, "--json"]) {
            Some(output) if output.status.success() => work(&agent, &mut dice, &output.stdout),
            _ => std::thread::sleep(Duration::from_millis(40)),
        }
    }
}

fn work(agent: &str, dice: &mut Dice, claimed: &[u8]) {
    let Ok(task) = serde_json::from_slice::<Value>(claimed) else { return };
    let (Some(slug), Some(attempt)) = (task["id"].as_str(), task["attempt"].as_i64()) else { return };
    std::thread::sleep(Duration::from_millis(dice.below(15) as u64));
    if dice.one_in(5) {
        taut(agent, &["renew", slug, "--lease", LEASE]);
    }
    if dice.one_in(25) {
        // As a loop does after a crash of its agent: claimable at once.
        taut(agent, &["fail", slug, "--reason", "session exited without completing task"]);
        return;
    }
    let result = format!(r#"{{"commit":"{slug}#{attempt}"}}"#);
    let attempt = attempt.to_string();
    let done = taut(agent, &["done", slug, "--attempt", &attempt, "--result", &result]);
    if done.is_some_and(|done| done.status.success() && done.stderr.is_empty()) {
        accept(slug, &attempt);
    }
}

/// One short line, in one write: lines of several workers do not mix.
fn accept(slug: &str, attempt: &str) {
    let path = std::env::var_os(ACCEPTED).unwrap_or_default();
    if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
        let _ = file.write_all(format!("{slug} {attempt}\n").as_bytes());
    }
}

fn taut(agent: &str, args: &[&str]) -> Option<Output> {
    let mut command = Command::new(std::env::var_os(TAUT)?);
    command.arg("task").args(args).env("RALPH_AGENT_ID", agent).stdin(Stdio::null());
    command.output().ok()
}
