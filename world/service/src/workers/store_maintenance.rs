//! Takes in what was put by, brings back what a damaged
//! file holds, forgets what is old, keeps the log of the database short, and
//! says in the daemon's own log what came of it.

use super::WorkerStore;
use daemon::{Next, PeriodicTask, Wake};
use pipeline::PipelineSetup;
use std::path::Path;
use std::time::{Duration, Instant};
use store::{ClockJump, Error, Retention, Store, Unstored};

const EVERY: Duration = Duration::from_secs(1);

/// In rounds.
const TIDY_EVERY: u64 = 30;

/// Steps of forgetting in one round.
const MOST_STEPS: usize = 20;

/// A number that rises is said this often.
const SAY_EVERY: Duration = Duration::from_secs(60);

/// On a connection and a thread of its own: a checkpoint inline would be felt
/// by the hook that happens to come then.
pub fn task(setting: PipelineSetup) -> PeriodicTask {
    let store = WorkerStore::new(&setting.state);
    let mut maintenance = Maintenance { setting, store, round: 0, said: Said::default() };
    let run = Box::new(move || {
        maintenance.round();
        Next::AsUsual
    });
    PeriodicTask { name: "store", every: EVERY, run, wake: Wake::default() }
}

struct Maintenance {
    setting: PipelineSetup,
    store: WorkerStore,
    round: u64,
    said: Said,
}

/// What the log was told already.
#[derive(Default)]
struct Said {
    unstored: Unstored,
    at: Option<Instant>,
    jumps: Option<Vec<ClockJump>>,
    trouble: String,
}

impl Maintenance {
    fn round(&mut self) {
        let state = &self.setting.state;
        self.said.unstored(state, &store::unstored(state));
        let tidy = self.round.is_multiple_of(TIDY_EVERY);
        let said = &mut self.said;
        let done = self.store.with(|store| {
            self.round += 1;
            // Each for itself: what cannot be taken in must not keep the log from being cut.
            let mut done = vec![take_in(store, &self.setting)];
            if tidy {
                done.extend([salvage(store, state), forget(store, state, said)]);
            }
            done.push(store.checkpoint().map(drop));
            done.into_iter().collect()
        });
        match done {
            Err(trouble) => self.said.trouble(state, &trouble),
            Ok(()) => self.said.trouble.clear(),
        }
    }
}

fn take_in(store: &mut Store, setting: &PipelineSetup) -> Result<(), Error> {
    let taken = pipeline::take_in(store, setting)?;
    if taken.ingested.events + taken.ingested.unreadable > 0 {
        let (events, unreadable) = (taken.ingested.events, taken.ingested.unreadable);
        let text = format!(
            "took in {events} events that were put by, carried out what {} of them were to do; {unreadable} could not be read",
            taken.carried_out
        );
        line(&setting.state, &text);
    }
    taken.words.iter().for_each(|word| line(&setting.state, word));
    Ok(())
}

fn salvage(store: &mut Store, state: &Path) -> Result<(), Error> {
    store.salvage()?.iter().for_each(|salvaged| line(state, &salvaged.to_string()));
    Ok(())
}

fn forget(store: &mut Store, state: &Path, said: &mut Said) -> Result<(), Error> {
    for _ in 0..MOST_STEPS {
        if !store.prune(host::clock::now(), &Retention::default())?.more {
            break;
        }
    }
    said.jumps(state, store.clock_jumps()?);
    Ok(())
}

impl Said {
    fn unstored(&mut self, state: &Path, now: &Unstored) {
        let rises = *now != self.unstored && !now.is_empty();
        let due = rises && self.at.is_none_or(|at| at.elapsed() >= SAY_EVERY);
        // A full disk takes no line either: it is said as soon as there is room.
        let text = format!("{now}; `taut db check` notes that you have seen it");
        if due && daemon::log_line(state, &text).is_ok() {
            (self.unstored, self.at) = (*now, Some(Instant::now()));
        }
    }

    /// Those that are new; all of them were told when they came, before this daemon.
    fn jumps(&mut self, state: &Path, now: Vec<ClockJump>) {
        let known = self.jumps.get_or_insert_with(|| now.clone());
        for jump in now.iter().filter(|jump| !known.contains(jump)) {
            line(state, &format!("{jump}; nothing is forgotten for it"));
        }
        *known = now;
    }

    fn trouble(&mut self, state: &Path, trouble: &Error) {
        let text = trouble.to_string();
        if text != self.trouble {
            line(state, &format!("the database could not be looked after: {text}"));
            self.trouble = text;
        }
    }
}

/// In the daemon's log. A full disk must not stop the daemon.
fn line(state: &Path, text: &str) {
    let _ = daemon::log_line(state, text);
}
