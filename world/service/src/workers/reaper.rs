//! The daemon's reaper: leases that ran out are noticed though nobody claims, and cards whose holder was killed are
//! closed. A convenience, not the guarantee: every claim and `plan-status` reaps too, and who offers a card asks itself
//! whether its holder lives. It also looks whether anything is shared with other machines by now.

use super::WorkerStore;
use super::shared::SharedWorker;
use daemon::{Next, PeriodicTask, Wake};
use pipeline::PipelineSetup;
use pipeline::queue::{OnUnsure, Queue};
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(5);

pub fn task(setting: &PipelineSetup, mut shared: SharedWorker) -> PeriodicTask {
    let mut store = WorkerStore::new("reaper", &setting.state);
    PeriodicTask {
        name: "reaper",
        every: EVERY,
        run: Box::new(move || {
            shared.look();
            let _ = store.with(|store| Queue::new(store, host::clock_reading::moment).reap());
            // Also of a server that is configured no more, or not so that anybody could read it: nobody renews those.
            let _ =
                store.with(|store| Queue::new(store, host::clock_reading::moment).tell_unsure_in_time(OnUnsure::Tell));
            let _ = store.with(|store| actions::close_abandoned(store, host::clock::now()));
            Next::AsUsual
        }),
        wake: Wake::default(),
    }
}
