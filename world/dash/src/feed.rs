//! The feed of changes: pushed by the daemon where one runs, looked for where
//! none does. What it tells is only that something changed; the truth is read
//! from the store.

use daemon::Watch;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::Store;

/// What came of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    Changed,
    Quiet,
}

/// A view's ear. Owns no database: the view looks with its own connection.
pub struct Feed {
    folder: PathBuf,
    watch: Option<Watch>,
    /// A daemon that was not there is not asked for at every look.
    try_again: Instant,
    seen: Option<i64>,
}

/// How often the database itself is asked whether anybody committed. Commands
/// and hooks without a daemon commit unseen by it.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const RECONNECT_EVERY: Duration = Duration::from_secs(2);

impl Feed {
    /// Of the state folder; a daemon is not started for it.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), watch: None, try_again: Instant::now(), seen: None }
    }

    /// Waits for a change, at most for `limit`.
    pub fn wait(&mut self, store: &Store, limit: Duration) -> News {
        let deadline = Instant::now() + limit;
        loop {
            if let Ok(version) = store.data_version()
                && let Some(before) = self.seen.replace(version)
                && before != version
            {
                return News::Changed;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return News::Quiet;
            }
            self.listen(left.min(LOOK_EVERY));
        }
    }

    /// Until the daemon says something or the time is over.
    fn listen(&mut self, limit: Duration) {
        if self.watch.is_none() && Instant::now() >= self.try_again {
            self.try_again = Instant::now() + RECONNECT_EVERY;
            self.watch = Watch::open(&self.folder).ok();
        }
        match &mut self.watch {
            Some(watch) => {
                if watch.wait(limit).is_err() {
                    self.watch = None;
                }
            }
            None => std::thread::sleep(limit),
        }
    }
}
