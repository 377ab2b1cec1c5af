//! A stand-in for the `taut` program: the fast client and the daemon with a service that only echoes.
//!
//! It carries the product's name because the fast client answers to no other. The tests run it as hook, as starter and
//! as daemon; what it is told beyond the product's own command line comes in `PROBE_*` variables.

use daemon::{Build, DaemonLaunch, DaemonOptions, PeriodicTask, RpcFault, Service, Wake};
use model::{Answer, Call};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Answers with what it was sent, after noting the request in a file, as the store would.
struct Echo {
    notes: File,
}

impl Service for Echo {
    fn hook_batch(&mut self, calls: Vec<Call>) -> Vec<Answer> {
        let noted: String = calls.iter().map(|call| format!("{}\n", call.request)).collect();
        self.notes.write_all(noted.as_bytes()).expect("the notes can be written");
        calls.iter().map(answer).collect()
    }

    fn rpc(&mut self, method: &str, params: Value) -> Result<Value, RpcFault> {
        match method {
            "echo" => Ok(params),
            "panic" => panic!("as asked"),
            other => Err(RpcFault::new("unknown_method", format!("there is no method {other}"))),
        }
    }
}

fn answer(call: &Call) -> Answer {
    let stdin = String::from_utf8_lossy(&call.stdin);
    match call.agent.as_str() {
        "quiet" => Answer::default(),
        "panic" => panic!("as asked"),
        "loud" => Answer { stdout: stdin.repeat(64), stderr: stdin.into_owned(), exit: 7 },
        agent => {
            let env: Vec<_> = call.env.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let seen = json!({
                "agent": agent, "cwd": call.cwd, "parent": call.parent, "env": env, "bytes": call.stdin.len(),
                "request": call.request, "stdin": stdin.chars().take(100).collect::<String>(),
            });
            Answer { stdout: format!("{seen}\n"), stderr: String::new(), exit: 0 }
        }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let folder = PathBuf::from(std::env::var_os("TAUT_HOME").expect("the tests set TAUT_HOME"));
    match args.as_slice() {
        ["hook", ..] => in_process(),
        ["daemon", "run"] => run(&folder),
        ["daemon", "start"] => start(&folder),
        ["daemon", "stop"] => report(daemon::stop(&folder, Duration::from_secs(5))),
        _ => ExitCode::from(2),
    }
}

/// Where the product would do the work itself, this says what the fast client left it.
fn in_process() -> ExitCode {
    let left = fast_client::taken().map(|taken| {
        json!({
            "bytes": taken.stdin.len(), "complete": taken.complete, "asked": taken.asked,
            "request": daemon::request_text(&taken.request),
        })
    });
    println!("{}", json!({ "in_process": true, "taken": left }));
    ExitCode::SUCCESS
}

fn run(folder: &Path) -> ExitCode {
    let mut options = DaemonOptions::new(folder, build());
    options.look_every = Duration::from_millis(number("PROBE_LOOK_MS").unwrap_or(20));
    if let Some(idle) = number("PROBE_IDLE_MS") {
        options.idle_exit = Duration::from_millis(idle);
    }
    if let Some(every) = number("PROBE_PANIC_MS") {
        let run = Box::new(|| panic!("a worker, as asked"));
        let every = Duration::from_millis(every);
        options.ticks.push(PeriodicTask { name: "failing", every, run, wake: Wake::default() });
    }
    let notes = OpenOptions::new().append(true).create(true).open(folder.join("notes"));
    match notes {
        Ok(notes) => report(daemon::run(options, move || Echo { notes: notes.try_clone().expect("a copy") })),
        Err(cause) => {
            eprintln!("{cause}");
            ExitCode::FAILURE
        }
    }
}

fn start(folder: &Path) -> ExitCode {
    report(daemon::start(&DaemonLaunch {
        folder: folder.to_owned(),
        program: std::env::current_exe().expect("a program knows itself"),
        args: vec!["daemon".into(), "run".into()],
        env: std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PROBE_")).collect(),
        build: build(),
        patience: Duration::from_secs(10),
    }))
}

fn build() -> Build {
    let schema = number("PROBE_SCHEMA").and_then(|schema| schema.try_into().ok());
    Build::of_this(schema.unwrap_or(1))
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn report<T: std::fmt::Debug, E: std::fmt::Display>(result: Result<T, E>) -> ExitCode {
    match result {
        Ok(done) => {
            println!("{done:?}");
            ExitCode::SUCCESS
        }
        Err(cause) => {
            eprintln!("{cause}");
            ExitCode::FAILURE
        }
    }
}
