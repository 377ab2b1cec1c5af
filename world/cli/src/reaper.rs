//! The daemon's reaper: leases that ran out are noticed though nobody claims.
//! A convenience, not the guarantee: every claim and `plan-status` reaps too.

use daemon::{Next, PeriodicTask, Wake};
use pipeline::PipelineSetup;
use pipeline::queue::Queue;
use std::path::Path;
use std::time::Duration;
use store::Store;

const EVERY: Duration = Duration::from_secs(5);

pub fn tick(state: &Path) -> PeriodicTask {
    let state = state.to_path_buf();
    let mut store: Option<Store> = None;
    PeriodicTask {
        name: "reaper",
        every: EVERY,
        run: Box::new(move || {
            if store.as_ref().is_none_or(Store::stale) {
                store = Store::open_and_migrate(&state, PipelineSetup::HOOK_PATIENCE).ok();
            }
            let Some(open) = &mut store else { return Next::AsUsual };
            // A connection that failed is not kept: the file may be damaged or gone.
            if Queue::new(open, host::clock_reading::moment).reap().is_err() {
                store = None;
            }
            Next::AsUsual
        }),
        wake: Wake::default(),
    }
}
