//! The hook: whatever happens here, the agent goes on working. It never exits 2
//! by accident, never prints what was not decided, and never hangs.

use crate::{service, stdin};
use daemon::Client;
use entry::limits;
use host::paths::Places;
use model::effect::After;
use model::{Answer, Call};
use pipeline::{Served, Way};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What is left for the work in process once stdin and daemon had their time, less the time to put it by.
const OWN_TIME: Duration = Duration::from_millis(500);
const OWN_TIME_SESSION_END: Duration = Duration::from_millis(300);

/// Nothing is answered before the guard has judged, as long as the whole limit allows it. Only where the
/// threshold has not used up the shares of stdin and daemon is there more than the own share.
const JUDGING_TIME: Duration = Duration::from_millis(1_700);

/// What putting an event by for later may take when the database did not answer.
const PUT_BY_TIME: Duration = Duration::from_millis(100);

/// What keeping the log short may take once the answer is out.
const SETTLING_TIME: Duration = Duration::from_millis(100);

pub fn run(args: &[OsString]) -> u8 {
    let Given { answer, working, tell } = std::panic::catch_unwind(|| answer(args)).unwrap_or_default();
    let _ = std::io::stderr().lock().write_all(answer.stderr.as_bytes());
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(answer.stdout.as_bytes()).and_then(|()| out.flush());
    if let Some(places) = tell {
        service::tell_in_background(&places);
    }
    if let Some(working) = working {
        // The answer is out; the log is kept short while there is time left.
        let _ = working.recv_timeout(SETTLING_TIME);
    }
    answer.exit
}

/// An answer, and what is left to do once it is out.
#[derive(Default)]
struct Given {
    answer: Answer,
    /// Says when the work in process is over.
    working: Option<mpsc::Receiver<Said>>,
    /// Somebody is to be told, and there is no daemon to do it.
    tell: Option<Places>,
}

fn answer(args: &[OsString]) -> Given {
    quieten();
    let begun = Instant::now();
    let places = host::origin::places();
    let call = call(args);
    let asked = entry::taken().is_some_and(|taken| taken.asked);
    if !service::without_daemon() && !asked {
        let limit = Duration::from_millis(u64::from(daemon_time(&call)));
        if let Ok(answer) = Client::new(&places.state(), limit).hook(&call) {
            return Given { answer, ..Given::default() };
        }
    }
    let alone = entry::taken().is_none() && !is_session_end(&call);
    let judging = if alone { JUDGING_TIME } else { Duration::ZERO };
    work(call, &places, begun + judging)
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
fn work(call: Call, places: &Places, judged_by: Instant) -> Given {
    let limit = if is_session_end(&call) { OWN_TIME_SESSION_END } else { OWN_TIME };
    let deadline = Instant::now() + limit;
    let (send, receive) = mpsc::channel();
    let setting = service::setting(places);
    std::thread::spawn(move || {
        let mut way = Way::new(setting);
        let early = send.clone();
        let served = way.handle_with(call, |served| {
            let _ = early.send(Said::Early(served));
        });
        let _ = send.send(Said::Last(served));
        way.settle();
    });
    let mut known = Served::default();
    let mut until = deadline.max(judged_by);
    loop {
        match receive.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Said::Early(early)) => (known, until) = (early, deadline),
            Ok(Said::Last(served)) => {
                service::after_in_process(&served, places);
                let tell = served.after.contains(&After::Tell).then(|| places.clone());
                return Given { answer: with_troubles(served), working: Some(receive), tell };
            }
            Err(_) => {
                return Given { answer: with_troubles(put_by(known, places.state())), ..Given::default() };
            }
        }
    }
}

enum Said {
    /// What stands if nothing can be stored.
    Early(Served),
    Last(Served),
}

/// The database did not answer in time. The event is put by, in a thread of its
/// own because the disk may hang; should the work get done after all, the two
/// have one key and count once.
fn put_by(mut served: Served, state: PathBuf) -> Served {
    served.troubles.push("the database did not answer in time".to_string());
    let (send, receive) = mpsc::channel();
    let row = served.event.clone();
    std::thread::spawn(move || {
        let kept = row.map(|row| store::spool(&state, &row).map_err(|error| error.to_string()));
        let _ = send.send(kept);
    });
    served.troubles.push(match receive.recv_timeout(PUT_BY_TIME) {
        Ok(Some(Ok(()))) => "the event is put by and will be stored later".to_string(),
        Ok(Some(Err(why))) => why,
        Ok(None) | Err(_) => "the event may be lost".to_string(),
    });
    served
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
    Call {
        request,
        agent: agent(args),
        stdin,
        cwd: cwd.to_string_lossy().into_owned(),
        env: host::origin::environment(),
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
