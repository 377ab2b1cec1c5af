//! The daemon's reaper: leases that ran out are noticed though nobody claims.
//! A convenience, not the guarantee: every claim and `plan-status` reaps too.

use daemon::{Next, Nudge, Tick};
use pipeline::Setting;
use pipeline::queue::Queue;
use std::path::Path;
use std::time::Duration;
use store::Store;

const EVERY: Duration = Duration::from_secs(5);

pub fn tick(state: &Path) -> Tick {
    let state = state.to_path_buf();
    let mut store: Option<Store> = None;
    Tick {
        name: "reaper",
        every: EVERY,
        run: Box::new(move || {
            if store.as_ref().is_none_or(Store::stale) {
                store = Store::open_and_migrate(&state, Setting::HOOK_PATIENCE).ok();
            }
            let Some(open) = &mut store else { return Next::AsUsual };
            // A connection that failed is not kept: the file may be damaged or gone.
            if Queue::new(open, host::awake::moment).reap().is_err() {
                store = None;
            }
            Next::AsUsual
        }),
        nudge: Nudge::default(),
    }
}
