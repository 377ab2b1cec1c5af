//! The hook: whatever happens here, the agent goes on working. It never exits 2
//! by accident, never prints what was not decided, and never hangs.

use crate::{service, stdin};
use daemon::Client;
use entry::limits;
use host::paths::Places;
use model::{Answer, Call, Environment};
use pipeline::{Served, Way};
use std::ffi::OsString;
use std::io::Write;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What is left for the work in process once stdin and daemon had their time.
const OWN_TIME: Duration = Duration::from_millis(600);
const OWN_TIME_SESSION_END: Duration = Duration::from_millis(400);

pub fn run(args: &[OsString]) -> u8 {
    let answer = std::panic::catch_unwind(|| answer(args)).unwrap_or_default();
    let _ = std::io::stderr().lock().write_all(answer.stderr.as_bytes());
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(answer.stdout.as_bytes()).and_then(|()| out.flush());
    answer.exit
}

fn answer(args: &[OsString]) -> Answer {
    quieten();
    let places = Places::from_process();
    let call = call(args);
    let in_process = std::env::var_os("TAUT_NO_DAEMON").is_some_and(|value| !value.is_empty() && value != "0");
    let asked = entry::taken().is_some_and(|taken| taken.asked);
    if !in_process && !asked {
        let limit = Duration::from_millis(u64::from(daemon_time(&call)));
        if let Ok(answer) = Client::new(&places.state(), limit).hook(&call) {
            return answer;
        }
    }
    work(call, &places)
}

/// A panic is caught and answered; its message belongs to the log, not to the
/// agent's screen.
fn quieten() {
    std::panic::set_hook(Box::new(|info| {
        let _ = writeln!(std::io::stderr(), "taut: {info}");
    }));
}

/// Does the work here. A thread does it, so that a disk that hangs cannot hang
/// the agent: what the stateless rules said is known early and answered then.
fn work(call: Call, places: &Places) -> Answer {
    let limit = if is_session_end(&call) { OWN_TIME_SESSION_END } else { OWN_TIME };
    let deadline = Instant::now() + limit;
    let (send, receive) = mpsc::channel();
    let setting = service::setting(places);
    std::thread::spawn(move || {
        let early = send.clone();
        let served = Way::new(setting).handle_with(call, |answer| {
            let _ = early.send(Said::Early(answer));
        });
        let _ = send.send(Said::Last(served));
    });
    let mut answer = Answer::default();
    loop {
        match receive.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Said::Early(early)) => answer = early,
            Ok(Said::Last(served)) => {
                service::after_in_process(&served);
                return with_troubles(served);
            }
            Err(_) => {
                answer.stderr.push_str("taut: the database did not answer in time; the event may not be stored\n");
                return answer;
            }
        }
    }
}

enum Said {
    Early(Answer),
    Last(Served),
}

fn with_troubles(served: Served) -> Answer {
    let mut answer = served.answer;
    for trouble in served.troubles {
        answer.stderr.push_str(&format!("taut: {trouble}\n"));
    }
    answer
}

fn call(args: &[OsString]) -> Call {
    let (stdin, request) = match entry::taken() {
        Some(taken) => (taken.stdin.to_vec(), daemon::request_text(&taken.request)),
        None => (stdin::read(), daemon::request_text(&host::clock::random())),
    };
    let cwd = std::env::current_dir().unwrap_or_default();
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, _)| Environment::allows(name));
    Call {
        request,
        agent: agent(args),
        stdin,
        cwd: cwd.to_string_lossy().into_owned(),
        env: Environment(env.collect()),
        parent: Some(std::os::unix::process::parent_id()),
        at: host::clock::now(),
    }
}

/// `--agent X` or `--agent=X`; anything else on the line is left alone.
fn agent(args: &[OsString]) -> String {
    let mut words = args.iter().skip(2).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if word == "--agent" {
            return words.next().unwrap_or_default().into_owned();
        }
        if let Some(name) = word.strip_prefix("--agent=") {
            return name.to_string();
        }
    }
    agents::claude_code::NAME.to_string()
}

fn daemon_time(call: &Call) -> u32 {
    if is_session_end(call) { limits::DAEMON_SESSION_END_MS } else { limits::DAEMON_MS }
}

/// Cheap and good enough: a SessionEnd is small and names itself.
fn is_session_end(call: &Call) -> bool {
    let head = call.stdin.get(..call.stdin.len().min(limits::SEARCHED_BYTES)).unwrap_or_default();
    head.windows(12).any(|window| window == b"\"SessionEnd\"")
}
