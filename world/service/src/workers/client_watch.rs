//! Follows what clients say of themselves, so that a status is true at once where no hook tells: a dialog that was
//! answered, a turn that was interrupted, a client that died.

use super::WorkerStore;
use daemon::{Next, PeriodicTask, Wake};
use pipeline::{ClientWatch, PipelineSetup};
use std::time::{Duration, Instant};

/// While somebody is at work or waits for their user; what is looked at is whether a file is another.
const SOON: Duration = Duration::from_millis(200);

/// While nobody is, and nothing wakes it: what others have written without the daemon.
const EVERY: Duration = Duration::from_secs(5);

/// Where nothing wakes it: whether the database is another is looked at so often.
const UNWOKEN: Duration = Duration::from_secs(1);

/// `told` are those who carry on what it finds.
pub fn task(setting: &PipelineSetup, told: Vec<Wake>) -> PeriodicTask {
    let mut store = WorkerStore::new("client watch", &setting.state);
    let mut watch = ClientWatch::new(setting.dialects);
    PeriodicTask {
        name: "client-watch",
        every: EVERY,
        run: Box::new(move || {
            let round = store.with(|store| watch.round(store, host::clock::now())).unwrap_or_default();
            if round.turned {
                told.iter().for_each(Wake::now);
            }
            if round.follows { Next::In(SOON) } else { Next::AsUsual }
        }),
        wake: Wake::default(),
    }
}

/// Follows them for as long as nobody else does, and never ends. People are told of nothing here: whoever sees to that
/// finds what is stored.
pub(crate) fn follow(setting: &PipelineSetup, is_served: impl Fn() -> bool) {
    let mut store = WorkerStore::new("client watch", &setting.state);
    let mut watch = ClientWatch::new(setting.dialects);
    let mut asked: Option<(Instant, bool)> = None;
    loop {
        let (at, served) =
            asked.filter(|(at, _)| at.elapsed() < EVERY).unwrap_or_else(|| (Instant::now(), is_served()));
        asked = Some((at, served));
        // A view is open before anything has happened, and makes no database.
        if served || !setting.state.join(store::DATABASE).exists() {
            std::thread::sleep(EVERY);
            continue;
        }
        let round = store.with(|store| watch.round(store, host::clock::now())).unwrap_or_default();
        std::thread::sleep(if round.follows { SOON } else { UNWOKEN });
    }
}
