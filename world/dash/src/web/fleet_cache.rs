//! Where the database is read for the page: on threads of their own, so that
//! no request waits in line behind a file, and with a connection that can only
//! read. The database may be missing, may come, and may be replaced.

use super::api;
use crate::{Feed, News};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use store::{Store, StoreHandle};
use tokio::sync::watch;

/// The fleet is told anew at most so often.
pub const AT_MOST_EVERY: Duration = Duration::from_millis(250);
/// How long the reader sleeps while nobody looks; who comes to look wakes it.
const NOBODY: Duration = Duration::from_secs(60);
const MISSING: Duration = Duration::from_millis(500);

/// The fleet as it was told, ready to be sent.
#[derive(Debug, Clone)]
pub struct FleetPage {
    pub number: u64,
    pub json: Arc<str>,
}

pub struct FleetCache {
    shelf: Mutex<CachedPages>,
    news: watch::Sender<FleetPage>,
    reader: OnceLock<Thread>,
}

/// A connection that is kept while it is good.
struct CachedPages {
    folder: PathBuf,
    store: StoreHandle,
}

impl FleetCache {
    pub fn new(folder: &Path) -> std::io::Result<Arc<Self>> {
        let first = FleetPage { number: 0, json: Arc::from("{}") };
        let cache = Arc::new(Self {
            shelf: Mutex::new(CachedPages::new(folder)),
            news: watch::Sender::new(first),
            reader: OnceLock::new(),
        });
        let (shelf, feed, of) = (CachedPages::new(folder), Feed::new(folder), Arc::downgrade(&cache));
        let reader = thread::Builder::new().name("reader".into()).spawn(move || follow(shelf, feed, &of))?;
        // Set once, here.
        let _ = cache.reader.set(reader.thread().clone());
        Ok(cache)
    }

    /// Reads for one request. `None` is read from where there is no database.
    pub async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(Option<&Store>) -> Result<T, store::Error> + Send + 'static,
    ) -> Result<T, String> {
        let cache = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || {
            let mut shelf = cache.shelf.lock().unwrap_or_else(PoisonError::into_inner);
            shelf.read(read).map_err(|error| error.to_string())
        });
        reading.await.unwrap_or_else(|_| Err("reading the database failed; `taut db check` looks it over".to_owned()))
    }

    /// News from now on.
    pub fn subscribe(&self) -> watch::Receiver<FleetPage> {
        let news = self.news.subscribe();
        if let Some(reader) = self.reader.get() {
            reader.unpark();
        }
        news
    }
}

impl CachedPages {
    fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), store: StoreHandle::default() }
    }

    fn read<T>(&mut self, read: impl FnOnce(Option<&Store>) -> Result<T, store::Error>) -> Result<T, store::Error> {
        self.renew()?;
        let found = read(self.store.current());
        // A connection that failed is not kept: the file may be damaged or gone.
        if found.is_err() {
            self.store.close();
        }
        found
    }

    /// Whether another connection than before is open now.
    fn renew(&mut self) -> Result<bool, store::Error> {
        let folder = &self.folder;
        self.store.renew(|| {
            let there = folder.join(store::DATABASE).exists();
            there.then(|| Store::open_existing_read_only(folder)).transpose()
        })
    }
}

/// The reader's life: while somebody looks, what changed is read and told.
fn follow(mut shelf: CachedPages, mut feed: Feed, of: &Weak<FleetCache>) {
    let mut told = CacheAnswer::Nothing;
    let mut warned = store::Unstored::default();
    // A machine that falls silent is no change of the database.
    let mut falls_silent = None;
    loop {
        let Some(cache) = of.upgrade() else { return };
        if cache.news.receiver_count() == 0 {
            drop(cache);
            told = CacheAnswer::Nothing;
            thread::park_timeout(NOBODY);
            continue;
        }
        let begun = Instant::now();
        let renewed = shelf.renew();
        let changed = match (&renewed, shelf.store.current()) {
            (Ok(renewed), Some(store)) => {
                // Looked at before the fleet is read: what is committed after the reading is news then.
                let first = *renewed || told != CacheAnswer::Fleet;
                feed.wait(store, if first { Duration::ZERO } else { MISSING }) == News::Changed || first
            }
            (Ok(_), None) => told != CacheAnswer::Empty,
            (Err(_), _) => told != CacheAnswer::Failure,
        };
        // What could not be stored is no change of the database.
        let unstored = store::unstored(&shelf.folder);
        let silent = falls_silent.is_some_and(|at| api::now() >= at);
        if changed || silent || unstored != warned {
            warned = unstored;
            falls_silent = None;
            told = match shelf.store.current() {
                Some(_) => CacheAnswer::Fleet,
                None if renewed.is_ok() => CacheAnswer::Empty,
                None => CacheAnswer::Failure,
            };
            let json = match renewed.and_then(|_| shelf.read(api::fleet_until)) {
                Ok((fleet, silence)) => {
                    falls_silent = silence;
                    fleet
                }
                Err(error) => api::failure(&error.to_string()),
            };
            tell(&cache, &json);
        }
        drop(cache);
        let pause = if shelf.store.current().is_some() { AT_MOST_EVERY } else { MISSING };
        thread::sleep(pause.saturating_sub(begun.elapsed()));
    }
}

/// What the watchers were told last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CacheAnswer {
    Nothing,
    Fleet,
    Empty,
    Failure,
}

fn tell(cache: &FleetCache, fleet: &Value) {
    let json = Arc::from(fleet.to_string());
    cache.news.send_modify(|news| *news = FleetPage { number: news.number + 1, json });
}
