//! The sweep: each path is walked once to count its calls, then again and again with one of them failing.

use super::home::{House, State};
use super::kinds;
use super::paths::Path;
use super::verdict::Try;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use testkit::disk::Dice;
use testkit::faults::{self, FaultRun, Serving, SyscallFault, TracedCall};
use testkit::{poll, process};

const WORKERS: usize = 2;
const USUAL_SECONDS: u64 = 60;

/// One thing to try.
#[derive(Debug, Clone, Copy)]
struct Case {
    path: Path,
    fault: SyscallFault,
}

/// What is asked for in the environment.
struct Wanted {
    all: bool,
    until: Instant,
    seed: u64,
    only: Option<String>,
}

pub fn run() -> ExitCode {
    let wanted = Wanted::from_environment();
    let house = House::build();
    let cases = wanted.cases(&house);
    println!("faults: {} places and ways to fail, seed {}", cases.len(), wanted.seed);
    let (next, tried) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let broken: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !wanted.all && Instant::now() > wanted.until {
                        return;
                    }
                    let found = case.run(&house);
                    tried.fetch_add(1, Ordering::Relaxed);
                    for line in &found {
                        println!("faults: {line}");
                    }
                    broken.lock().unwrap().extend(found);
                }
            });
        }
    });
    let broken = broken.into_inner().unwrap();
    println!("faults: {} tried, {} broken (seed {})", tried.into_inner(), broken.len(), wanted.seed);
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Wanted {
    fn from_environment() -> Self {
        let word = |name: &str| std::env::var(name).ok();
        let number = |name: &str| word(name).and_then(|text| text.parse::<u64>().ok());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let only = word("FAULTS_ONLY");
        Self {
            all: word("FAULTS").as_deref() == Some("all") || only.as_ref().is_some_and(|only| only.contains(':')),
            until: Instant::now() + Duration::from_secs(number("FAULTS_SECONDS").unwrap_or(USUAL_SECONDS)),
            seed: number("FAULTS_SEED").unwrap_or(now),
            only,
        }
    }

    /// All there is to try, in an order by chance.
    fn cases(&self, house: &House) -> Vec<Case> {
        let mut cases = Vec::new();
        for path in Path::ALL {
            let calls = count(house, path);
            println!("faults: {} makes {} calls that may fail", path.name(), calls.len());
            for (nth, call) in (1..).zip(&calls) {
                if self.only.as_ref().is_some_and(|only| !fits(only, path, nth)) {
                    continue;
                }
                cases.extend(
                    kinds::of(call, path.is_hook())
                        .into_iter()
                        .map(|kind| Case { path, fault: SyscallFault { nth, kind } }),
                );
            }
        }
        let mut dice = Dice::new(self.seed);
        for at in (1..cases.len()).rev() {
            cases.swap(at, dice.below(at + 1));
        }
        cases
    }
}

/// `claim` is every place of that path, `claim:17` one.
fn fits(only: &str, path: Path, nth: usize) -> bool {
    match only.split_once(':') {
        Some((name, place)) => name == path.name() && place == nth.to_string(),
        None => only == path.name(),
    }
}

/// Walked without a fault, everything must be right.
fn count(house: &House, path: Path) -> Vec<TracedCall> {
    let (state, run, id) = walk(house, path, None);
    let wrong = Try { house, path, kind: None, id, run: &run }.wrong(&state.folder);
    assert_eq!(wrong, Vec::<String>::new(), "{} without a fault", path.name());
    assert!(run.finished.success(), "{} without a fault: {}", path.name(), run.finished.stderr_text());
    run.calls
}

fn walk(house: &House, path: Path, fault: Option<SyscallFault>) -> (State, FaultRun, String) {
    let number = house.number();
    let state = path.state(house, number);
    let id = format!("toolu_{number}.");
    let stdin = path.stdin(house, &id);
    let run = match path {
        Path::DaemonServes => serve(house, &state, &stdin, fault),
        _ => {
            let command = house.command(&state.folder, path.args());
            faults::run(command, stdin.as_bytes(), fault, path.limit()).unwrap()
        }
    };
    (state, run, id)
}

/// A daemon of its own, whose calls are met while it serves one hook. The hook itself works as it does.
fn serve(house: &House, state: &State, stdin: &str, fault: Option<SyscallFault>) -> FaultRun {
    let served = Path::DaemonServes;
    let mut command = house.reaching_daemon(&state.folder, &["daemon", "run"]);
    command.env("RALPH_AGENT_ID", "");
    let daemon = Serving::start(command, Duration::from_secs(60));
    let socket = state.folder.join("taut.sock");
    poll::until("the daemon to listen", Duration::from_secs(20), || {
        std::os::unix::net::UnixStream::connect(&socket).ok()
    })
    .unwrap();
    daemon.give(fault);
    let hook = house.reaching_daemon(&state.folder, served.args());
    let finished = process::run(hook, stdin.as_bytes(), served.limit()).unwrap();
    let (calls, met) = daemon.account();
    FaultRun { finished, calls, met }
}

impl Case {
    fn run(&self, house: &House) -> Vec<String> {
        let Self { path, fault } = *self;
        let (state, run, id) = walk(house, path, Some(fault));
        // Threads run in an order of their own, so that another call may stand in this place, or none.
        let Some(met) = run.met.as_ref().filter(|met| kinds::of(met, path.is_hook()).contains(&fault.kind)) else {
            return Vec::new();
        };
        let wrong = Try { house, path, kind: Some(fault.kind), id, run: &run }.wrong(&state.folder);
        let on = met.target.replace(&*house.sandbox.root().to_string_lossy(), "");
        let on = if on.is_empty() { (met.first as i32).to_string() } else { on };
        let place = format!("{}:{} {}({on}) {}", path.name(), fault.nth, met.name, kinds::name(fault.kind));
        wrong.into_iter().map(|what| format!("{place}: {what}")).collect()
    }
}
