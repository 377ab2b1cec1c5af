//! Keeps the index of what can be recalled up with the store, in short steps
//! after answers were given, and forgets there what is old. On connections of
//! its own: it only reads the store, so no hook ever waits for it.

use super::WorkerStore;
use daemon::{Next, PeriodicTask, Wake};
use pipeline::{MemorySwitches, PipelineSetup};
use std::time::{Duration, Instant};
use store::recall::{RecallIndex, has_room};
use store::{Error, Store};

/// Many events are one look.
const EVERY: Duration = Duration::from_secs(2);

/// One step of a long way, and the rest between two of them: whoever works on this machine comes first.
const STEP: Duration = Duration::from_millis(100);
const REST: Duration = Duration::from_millis(200);

const FORGET_EVERY: Duration = Duration::from_secs(3600);
const DAY_MS: i64 = 86_400_000;

pub fn task(setting: &PipelineSetup) -> PeriodicTask {
    let mut store = WorkerStore::new("recall", &setting.state);
    let mut indexer = RecallIndexer { setting: setting.clone(), index: None, seen: None, settled: false, forgot: None };
    PeriodicTask {
        name: "recall",
        every: EVERY,
        run: Box::new(move || {
            let done = store.with(|store| indexer.round(store));
            if done.is_err() {
                // Whatever failed there is opened anew.
                indexer.index = None;
            }
            if matches!(done, Ok(true)) { Next::In(REST) } else { Next::AsUsual }
        }),
        wake: Wake::default(),
    }
}

struct RecallIndexer {
    setting: PipelineSetup,
    index: Option<RecallIndex>,
    /// The store's version at the last look: nobody has written since.
    seen: Option<i64>,
    /// Looked at once more since: a fact is written to its file after the event that says so.
    settled: bool,
    forgot: Option<Instant>,
}

impl RecallIndexer {
    /// One step. Whether there is more to do.
    fn round(&mut self, store: &Store) -> Result<bool, Error> {
        if !has_room(&self.setting.state) {
            self.index = None;
            return Ok(false);
        }
        let kept = self.index.take().filter(|index| !index.is_stale());
        let version = store.data_version()?;
        let is_due = self.forgot.is_none_or(|at| at.elapsed() >= FORGET_EVERY);
        let unchanged = self.seen == Some(version);
        if kept.is_some() && unchanged && self.settled && !is_due {
            self.index = kept;
            return Ok(false);
        }
        let index = self.index.insert(kept.map_or_else(|| RecallIndex::open(&self.setting.state), Ok)?);
        let mut switches = MemorySwitches::new(&self.setting);
        let caught = pipeline::catch_up(index, store, &mut switches, STEP)?;
        if is_due {
            let kept_ms = i64::from(switches.keep_days()) * DAY_MS;
            let old = store.retention_time(host::clock::now())?.plus(-kept_ms);
            if index.forget_older(old, STEP)? {
                self.forgot = Some(Instant::now());
            }
        }
        // What was added says that it goes on; rows that cannot be read now must not keep this busy for ever.
        let more = caught.behind > 0 && caught.added > 0;
        self.seen = (!more).then_some(version);
        self.settled = unchanged;
        Ok(more || self.forgot.is_none())
    }
}
