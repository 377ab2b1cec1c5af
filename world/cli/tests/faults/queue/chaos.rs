//! The run: sixteen workers on five hundred tasks, and somebody who kills.

use super::{verdict, worker};
use crate::dice::Dice;
use serde_json::json;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use testkit::{Sandbox, process};

const WORKERS: usize = 16;
const TASKS: usize = 500;
/// How long there is killing, and how long the survivors get to finish.
const KILLING: Duration = Duration::from_secs(25);
const FINISHING: Duration = Duration::from_secs(240);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Daemon {
    /// It runs, and is killed and started again.
    Killed,
    Absent,
}

pub struct Chaos {
    sandbox: Sandbox,
    daemon: Daemon,
    seed: u64,
}

impl Chaos {
    pub fn begin(daemon: Daemon) -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_taut").into()).unwrap();
        let sandbox = match daemon {
            Daemon::Killed => sandbox,
            Daemon::Absent => sandbox.with_env("TAUT_NO_DAEMON", "1"),
        };
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Self { sandbox, daemon, seed: now.as_nanos() as u64 }
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub fn run(&self) -> String {
        self.plan();
        let mut dice = Dice::new(self.seed);
        let mut workers: Vec<Child> = (0..WORKERS).map(|nth| self.worker(nth)).collect();
        let mut kills = 0;
        let until = Instant::now() + KILLING;
        while Instant::now() < until && self.left() > 0 {
            self.keep_daemon(&mut dice);
            let nth = dice.below(WORKERS);
            kill(&mut workers[nth], dice.one_in(2));
            workers[nth] = self.worker(nth);
            kills += 1;
            std::thread::sleep(Duration::from_millis(20 + dice.below(120) as u64));
        }
        let deadline = Instant::now() + FINISHING;
        while self.left() > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(500));
        }
        workers.iter_mut().for_each(|worker| kill(worker, true));
        let told = verdict::reach(&self.sandbox, TASKS);
        format!("{TASKS} tasks, {WORKERS} workers, {kills} kills, {told}")
    }

    /// Every task waits for up to three earlier ones.
    fn plan(&self) {
        let mut dice = Dice::new(self.seed ^ 0x5eed);
        let line = |nth: usize, dice: &mut Dice| {
            let deps: Vec<String> = match nth {
                0..16 => Vec::new(),
                _ => (0..dice.below(4)).map(|_| slug(nth - 1 - dice.below(nth.min(60)))).collect(),
            };
            json!({"id": slug(nth), "t": "T", "p": dice.below(4), "deps": deps})
        };
        let text: String = (0..TASKS).map(|nth| format!("{}\n", line(nth, &mut dice))).collect();
        let done = self.sandbox.taut(&["task", "plan-sync"], text.as_bytes()).unwrap();
        assert!(done.success(), "{}", done.stderr_text());
    }

    fn worker(&self, nth: usize) -> Child {
        let mut command = self.sandbox.command(std::env::current_exe().unwrap());
        command
            .env(worker::MARK, format!("worker{nth}"))
            .env(worker::TAUT, self.sandbox.bin())
            .env(worker::ACCEPTED, self.sandbox.root().join("accepted"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0);
        command.spawn().unwrap()
    }

    fn keep_daemon(&self, dice: &mut Dice) {
        if self.daemon == Daemon::Absent || !dice.one_in(10) {
            return;
        }
        let status = self.sandbox.taut(&["daemon", "status", "--json"], b"").unwrap().stdout_text();
        let pid = serde_json::from_str::<serde_json::Value>(&status).ok().and_then(|status| status["pid"].as_i64());
        if let Some(pid) = pid.and_then(|pid| i32::try_from(pid).ok()) {
            // SAFETY: a plain signal to the daemon of this sandbox.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        let mut start = self.sandbox.command(self.sandbox.bin());
        start.args(["daemon", "start"]);
        let _ = process::run(start, b"", Duration::from_secs(20));
    }

    /// How many tasks are not done yet.
    fn left(&self) -> i64 {
        let told = self.sandbox.taut(&["task", "plan-status", "--json"], b"").unwrap();
        let counts: serde_json::Value = serde_json::from_str(&told.stdout_text()).unwrap_or_default();
        counts["done"].as_i64().map_or(1, |done| TASKS as i64 - done)
    }
}

fn slug(nth: usize) -> String {
    format!("t/{nth:03}")
}

/// The worker alone, so that its command goes on without it, or both at once.
fn kill(worker: &mut Child, with_command: bool) {
    let pid = i32::try_from(worker.id()).unwrap();
    // SAFETY: plain signals to a process and a group that this run started and has not waited for.
    unsafe { libc::kill(if with_command { -pid } else { pid }, libc::SIGKILL) };
    let _ = worker.wait();
}
