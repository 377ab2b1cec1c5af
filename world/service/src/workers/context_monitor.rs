//! Contexts of sessions that emit nothing are measured
//! too, so that their next hook warns them and every view shows it; and those
//! whose client died without a word are ended.

use daemon::{Next, PeriodicTask, Wake};
use pipeline::{Pipeline, PipelineSetup};
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(30);

pub fn task(setting: PipelineSetup) -> PeriodicTask {
    PeriodicTask {
        name: "monitor",
        every: EVERY,
        run: Box::new(move || {
            // Opened anew each time: twice a minute is too seldom to keep a connection for it.
            let mut pipeline = Pipeline::new(setting.clone());
            let now = host::clock::now();
            // Each for itself: what cannot be measured must not keep the dead from being ended.
            for done in [pipeline.watch(now), pipeline.reap_orphans(now)] {
                done.err().iter().for_each(|error| tracing::warn!("monitor: {error}"));
            }
            Next::AsUsual
        }),
        wake: Wake::default(),
    }
}
