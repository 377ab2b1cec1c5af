//! The daemon's monitor: contexts of sessions that emit nothing are measured
//! too, so that their next hook warns them and every view shows it.

use daemon::Tick;
use pipeline::{Setting, Way};
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(30);

pub fn tick(setting: Setting) -> Tick {
    Tick {
        name: "monitor",
        every: EVERY,
        run: Box::new(move || {
            // Opened anew each time: twice a minute is too seldom to keep a connection for it.
            let _ = Way::new(setting.clone()).watch(host::clock::now());
        }),
    }
}
