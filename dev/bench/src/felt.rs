//! What a person feels: the time from the model's answer to its next request inside the real client, with no hooks, with
//! a program that does nothing on the events Taut may register, with Taut's plain set and with all of its events.
//!
//! The client spends most of it on firing an event, whoever answers; so the differences are what to read.

use crate::times::{Times, ratio};
use serde_json::{Value, json};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use testkit::{ClientLaunch, RealClient, RequestKind, Sandbox, Script, Turn};

/// What is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Registered {
    Nothing,
    NoOp,
    Plain,
    All,
}

const VARIANTS: [(Registered, &str); 4] = [
    (Registered::Nothing, "no hooks"),
    (Registered::NoOp, "a program that does nothing, all events"),
    (Registered::Plain, "Taut, the plain set"),
    (Registered::All, "Taut, all events"),
];

/// The first calls of a client are slower, whatever is registered.
const WARM_UP: usize = 3;

pub fn run(quick: bool) -> Result<(), String> {
    let (rounds, calls) = if quick { (2, 12) } else { (6, 30) };
    measure(&crate::program()?, rounds, calls).map_err(|error| error.to_string())
}

fn measure(program: &Path, rounds: usize, calls: usize) -> io::Result<()> {
    let client = RealClient::installed()?;
    for (name, at_once) in [("one call", 1), ("four calls at once", 4)] {
        let mut times: [Times; 4] = Default::default();
        for round in 0..rounds {
            for place in 0..VARIANTS.len() {
                // Another order each time: what the machine does besides falls on all alike.
                let which = (place + round) % VARIANTS.len();
                let (Some((registered, _)), Some(times)) = (VARIANTS.get(which), times.get_mut(which)) else {
                    continue;
                };
                times.extend(session(program, &client, *registered, calls, at_once)?);
            }
        }
        println!("from the model's answer to its next request, {name}:");
        let [base, ..] = &times;
        for ((_, name), times) in VARIANTS.iter().zip(&times) {
            let more = (times.p50().as_secs_f64() - base.p50().as_secs_f64()) * 1e3;
            let (ratio, own) = (ratio(times.p50(), base.p50()), times.p50().as_secs_f64() * 1e3);
            println!("{name:<44} p50 {ratio:>6.2} x   ({own:>6.1} ms, {more:>+6.1} ms)");
        }
    }
    Ok(())
}

fn session(
    program: &Path,
    client: &RealClient,
    registered: Registered,
    calls: usize,
    at_once: usize,
) -> io::Result<Times> {
    let sandbox = Sandbox::with_copy_of(program)?;
    std::os::unix::fs::symlink(client.program(), sandbox.root().join("bin/claude"))?;
    register(&sandbox, registered)?;
    let asked: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let heard = Arc::clone(&asked);
    let script = Script::new().answered_by(move |request| {
        let mut asked = heard.lock().ok().filter(|_| request.kind == RequestKind::Main)?;
        asked.push(Instant::now());
        if asked.len() > calls {
            return Some(Turn::say("done"));
        }
        Some((1..at_once).fold(Turn::bash("true"), |turn, _| turn.and_bash("true")))
    });
    let run = ClientLaunch::new(&sandbox, script).run(client)?;
    if !run.success() {
        return Err(io::Error::other(format!("the client ended with {:?}: {}", run.ending, run.stderr)));
    }
    if matches!(registered, Registered::Plain | Registered::All) {
        sandbox.taut(&["daemon", "stop"], b"")?;
    }
    let asked = asked.lock().map_err(|_| io::Error::other("the model failed"))?;
    let mut times = Times::default();
    for pair in asked.windows(2).skip(WARM_UP) {
        if let [before, after] = pair {
            times.add(after.duration_since(*before));
        }
    }
    Ok(times)
}

fn register(sandbox: &Sandbox, registered: Registered) -> io::Result<()> {
    if registered == Registered::Nothing {
        return Ok(());
    }
    // The daemon stands as it does for a user whose first session is long ago.
    let done = sandbox.taut(&["init", "--yes"], b"")?;
    if !done.success() {
        return Err(io::Error::other(done.stderr_text()));
    }
    let path = sandbox.claude_dir().join("settings.json");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
    if registered != Registered::Plain
        && let Some(hooks) = settings.get_mut("hooks").and_then(Value::as_object_mut)
    {
        let line = hooks.get("UserPromptSubmit").cloned().unwrap_or_default();
        for event in ["PostToolUse", "PostToolUseFailure", "PostToolBatch"] {
            hooks.insert(event.into(), line.clone());
        }
        if registered == Registered::NoOp {
            let nothing = json!([{"hooks": [{"type": "command", "command": "/bin/true", "args": ["x"]}]}]);
            hooks.values_mut().for_each(|entries| *entries = nothing.clone());
        }
        std::fs::write(&path, settings.to_string())?;
    }
    if registered != Registered::NoOp {
        sandbox.taut(&["daemon", "start"], b"")?;
    }
    Ok(())
}
