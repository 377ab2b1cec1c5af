//! Takes in what was put by, brings back what a damaged
//! file holds, forgets what is old, keeps the log of the database short, and
//! says in the daemon's own log what came of it.

use super::WorkerStore;
use daemon::{Next, PeriodicTask, Wake};
use pipeline::PipelineSetup;
use std::path::Path;
use std::time::{Duration, Instant};
use store::{ClockJump, Error, Retention, Store, Unstored};
use tracing::Level;

const EVERY: Duration = Duration::from_secs(1);

/// In rounds.
const TIDY_EVERY: u64 = 30;

/// In rounds: efforts grow stale in hours.
const END_STALE_EVERY: u64 = 1_800;

/// Steps of forgetting in one round.
const MOST_STEPS: usize = 20;

/// A number that rises is said this often.
const SAY_EVERY: Duration = Duration::from_secs(60);

/// On a connection and a thread of its own: a checkpoint inline would be felt
/// by the hook that happens to come then.
pub fn task(setting: PipelineSetup) -> PeriodicTask {
    let store = WorkerStore::new("store", &setting.state);
    let mut maintenance = Maintenance { setting, store, round: 0, said: LastReport::default() };
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
    said: LastReport,
}

/// What the log was told already.
#[derive(Default)]
struct LastReport {
    unstored: Unstored,
    at: Option<Instant>,
    jumps: Option<Vec<ClockJump>>,
}

impl Maintenance {
    fn round(&mut self) {
        let state = &self.setting.state;
        self.said.unstored(state, &store::unstored(state));
        let tidy = self.round.is_multiple_of(TIDY_EVERY);
        let stale = self.round.is_multiple_of(END_STALE_EVERY);
        let said = &mut self.said;
        // What failed is logged there, and tried again in the next round.
        let _: Result<(), Error> = self.store.with(|store| {
            self.round += 1;
            // Each for itself: what cannot be taken in must not keep the log from being cut.
            let mut done = vec![take_in(store, &self.setting)];
            if tidy {
                // Summed before it is forgotten.
                done.extend([salvage(store), sum(store), forget(store, said)]);
            }
            if stale {
                done.push(pipeline::end_all_stale(store, &self.setting, host::clock::now()).map(drop));
            }
            done.push(store.checkpoint().map(drop));
            done.into_iter().collect()
        });
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
        tracing::info!("{text}");
    }
    taken.words.iter().for_each(|word| tracing::info!("{word}"));
    Ok(())
}

fn salvage(store: &mut Store) -> Result<(), Error> {
    store.salvage()?.iter().for_each(|salvaged| tracing::info!("{salvaged}"));
    Ok(())
}

fn sum(store: &mut Store) -> Result<(), Error> {
    for _ in 0..MOST_STEPS {
        if store.sum_events(&host::clock::day_number)?.left == 0 {
            break;
        }
    }
    Ok(())
}

fn forget(store: &mut Store, said: &mut LastReport) -> Result<(), Error> {
    for _ in 0..MOST_STEPS {
        if !store.prune(host::clock::now(), &Retention::default())?.more {
            break;
        }
    }
    said.jumps(store.clock_jumps()?);
    Ok(())
}

impl LastReport {
    fn unstored(&mut self, state: &Path, now: &Unstored) {
        let rises = *now != self.unstored && !now.is_empty();
        let due = rises && self.at.is_none_or(|at| at.elapsed() >= SAY_EVERY);
        // A full disk takes no line either: it is said as soon as there is room.
        let text = format!("{now}; `taut db check` notes that you have seen it");
        if due && crate::log::add(state, Level::WARN, &text).is_ok() {
            (self.unstored, self.at) = (*now, Some(Instant::now()));
        }
    }

    /// Those that are new; all of them were told when they came, before this daemon.
    fn jumps(&mut self, now: Vec<ClockJump>) {
        let known = self.jumps.get_or_insert_with(|| now.clone());
        for jump in now.iter().filter(|jump| !known.contains(jump)) {
            tracing::warn!("{jump}; nothing is forgotten for it");
        }
        *known = now;
    }
}
