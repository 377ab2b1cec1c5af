//! Reads the fleet in a thread of its own, so that no read ever holds up a key.
//! A change is a hint: what is shown is read again, at most ten times a second.

use super::ended;
use super::run::ViewNews;
use super::state::{Chunk, FleetSnapshot, ViewInput};
use crate::agent_place;
use crate::feed::{Feed, News as Heard};
use crate::view_model::{self, AgentRow, Verdict};
use model::Ms;
use model::row::Event;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::{EventFilter, Store, StoreHandle, TaskTotals};

/// Where the fleet is read from.
pub struct FleetSource {
    /// The state folder, in which a daemon may tell of changes.
    pub folder: PathBuf,
    /// Opens the database; nothing where there is none yet.
    pub open: Box<dyn Fn() -> Option<Store> + Send>,
}

/// What the keyboard's thread tells: the session whose events are wanted, and
/// how much of what was sent it has not taken yet. A terminal that stalls must
/// not let news pile up.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    session: Arc<Mutex<Option<String>>>,
    /// The sessions that ended are looked at.
    ended: Arc<AtomicBool>,
    untaken: Arc<AtomicUsize>,
}

/// More is not read while so much waits to be shown.
const MOST_UNTAKEN: usize = 4;

const FLEET_EVERY: Duration = Duration::from_millis(100);
const TASKS_EVERY: Duration = Duration::from_secs(1);
/// Even without news: a sweep is the truth.
const SWEEP_EVERY: Duration = Duration::from_secs(2);
/// How soon a timeline that was opened is read.
const ASK_EVERY: Duration = Duration::from_millis(40);
const VERDICTS: usize = 100;
const FIRST_EVENTS: usize = 500;
/// A session that runs faster than this is read in several goes.
const NEXT_EVENTS: usize = 2000;

/// All a frame shows, read at once.
pub fn snapshot(store: &Store) -> Result<FleetSnapshot, store::Error> {
    Ok(FleetSnapshot {
        rows: rows(store)?,
        verdicts: verdicts(store)?,
        tasks: store.task_totals()?,
        warnings: view_model::warnings(store)?,
        had_sessions: store.had_sessions()?,
    })
}

fn rows(store: &Store) -> Result<Vec<AgentRow>, store::Error> {
    let mut rows = view_model::rows(&store.fleet()?, Ms(sys::clock::wall_ms()));
    agent_place::find_terminals(&mut rows);
    Ok(rows)
}

fn verdicts(store: &Store) -> Result<Vec<Verdict>, store::Error> {
    let names = store.agent_names()?;
    let verdicts = store.verdicts(VERDICTS)?;
    Ok(verdicts.iter().map(|event| view_model::verdict(event, names.of(&event.agent))).collect())
}

impl Wanted {
    pub fn set(&self, session: Option<String>) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session;
    }

    pub fn set_ended(&self, wanted: bool) {
        self.ended.store(wanted, Ordering::Relaxed);
    }

    /// Something that the reader sent has been taken.
    pub fn took(&self, input: &ViewInput) {
        use ViewInput::{Ended, Notice, Snapshot, Timeline};
        if matches!(input, Snapshot(_) | Timeline(_) | Notice(_) | Ended(_)) {
            let less = |count: usize| Some(count.saturating_sub(1));
            let _ = self.untaken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
    }

    fn get(&self) -> Option<String> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn sends(&self) {
        self.untaken.fetch_add(1, Ordering::Relaxed);
    }

    fn stalls(&self) -> bool {
        self.untaken.load(Ordering::Relaxed) >= MOST_UNTAKEN
    }
}

/// Until nobody listens any more.
pub(super) fn start(source: FleetSource, wanted: Wanted, to: Sender<ViewNews>) {
    std::thread::spawn(move || {
        // Told even when the thread panics: a screen that no longer changes must not look alive.
        let _gone = Gone(to.clone());
        let mut reader = Reader::new(source, wanted, to);
        while reader.look().is_some() {}
    });
}

struct Gone(Sender<ViewNews>);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = self.0.send(ViewNews::ReaderGone);
    }
}

struct Reader {
    source: FleetSource,
    wanted: Wanted,
    to: Sender<ViewNews>,
    feed: Feed,
    store: StoreHandle,
    tasks: Vec<TaskTotals>,
    fleet_read: Option<Instant>,
    /// How long to leave the database and the processor to others after a read.
    pause: Duration,
    tasks_read: Option<Instant>,
    ended_read: Option<Instant>,
    /// The session that is followed, and its last event.
    followed: Option<(String, Option<String>)>,
}

impl Reader {
    fn new(source: FleetSource, wanted: Wanted, to: Sender<ViewNews>) -> Self {
        let feed = Feed::new(&source.folder);
        let (store, tasks) = (StoreHandle::default(), Vec::new());
        Self {
            source,
            wanted,
            to,
            feed,
            store,
            tasks,
            fleet_read: None,
            pause: FLEET_EVERY,
            tasks_read: None,
            ended_read: None,
            followed: None,
        }
    }

    /// One look at the database; nothing when nobody wants to know any more.
    fn look(&mut self) -> Option<()> {
        if self.wanted.stalls() {
            std::thread::sleep(ASK_EVERY);
            return Some(());
        }
        let mut handle = std::mem::take(&mut self.store);
        if handle.renew(|| Ok::<_, Infallible>((self.source.open)())) == Ok(true) {
            self.feed = Feed::new(&self.source.folder);
            self.fleet_read = None;
        }
        let Some(store) = handle.current() else {
            self.tell(ViewInput::Snapshot(FleetSnapshot::default()))?;
            std::thread::sleep(SWEEP_EVERY);
            return Some(());
        };
        let heard = self.feed.wait(store, ASK_EVERY);
        let looked = self.read(store, heard);
        self.store = handle;
        match looked {
            Ok(more) => more,
            Err(cause) => {
                self.tell(ViewInput::Notice(format!("the database cannot be read: {cause}")))?;
                std::thread::sleep(SWEEP_EVERY);
                Some(())
            }
        }
    }

    fn read(&mut self, store: &Store, heard: Heard) -> Result<Option<()>, store::Error> {
        if self.read_ended(store)?.is_none() {
            return Ok(None);
        }
        let wanted = self.wanted.get();
        let opened = wanted.as_ref() != self.followed.as_ref().map(|(session, _)| session);
        let age = self.fleet_read.map(|at| at.elapsed());
        if heard == Heard::Changed || age.is_none_or(|age| age >= SWEEP_EVERY) {
            // Many changes at once are one.
            std::thread::sleep(age.map(|age| self.pause.saturating_sub(age)).unwrap_or_default());
            self.fleet_read = Some(Instant::now());
            let begun = Instant::now();
            let snapshot = self.snapshot(store)?;
            // On a machine that is busy with agents, looking at them must not be a large part of the work.
            self.pause = (begun.elapsed() * 3).clamp(FLEET_EVERY, SWEEP_EVERY);
            if self.tell(ViewInput::Snapshot(snapshot)).is_none() {
                return Ok(None);
            }
        } else if !opened {
            return Ok(Some(()));
        }
        if opened {
            self.followed = wanted.map(|session| (session, None));
        }
        self.follow(store)
    }

    fn snapshot(&mut self, store: &Store) -> Result<FleetSnapshot, store::Error> {
        if self.tasks_read.is_none_or(|at| at.elapsed() >= TASKS_EVERY) {
            self.tasks_read = Some(Instant::now());
            self.tasks = store.task_totals()?;
        }
        Ok(FleetSnapshot {
            rows: rows(store)?,
            verdicts: verdicts(store)?,
            tasks: self.tasks.clone(),
            warnings: view_model::warnings(store)?,
            had_sessions: store.had_sessions()?,
        })
    }

    /// The sessions that ended, while somebody looks at them: it reads every session's row, so it is not done for others.
    fn read_ended(&mut self, store: &Store) -> Result<Option<()>, store::Error> {
        if !self.wanted.ended.load(Ordering::Relaxed) {
            self.ended_read = None;
            return Ok(Some(()));
        }
        if self.ended_read.is_some_and(|at| at.elapsed() < SWEEP_EVERY) {
            return Ok(Some(()));
        }
        let rows = ended::read(store)?;
        self.ended_read = Some(Instant::now());
        Ok(self.tell(ViewInput::Ended(rows)))
    }

    /// Only what is new of the session that is followed.
    fn follow(&mut self, store: &Store) -> Result<Option<()>, store::Error> {
        let Some((session, last)) = &mut self.followed else { return Ok(Some(())) };
        let filter = EventFilter {
            session: Some(session.clone()),
            since_key: last.clone(),
            limit: if last.is_some() { NEXT_EVENTS } else { FIRST_EVENTS },
            ..EventFilter::default()
        };
        let events: Vec<Event> = store.events(&filter)?;
        let first = last.is_none();
        if let Some(event) = events.last() {
            *last = Some(event.key.clone());
        } else if !first {
            return Ok(Some(()));
        }
        let session = session.clone();
        Ok(self.tell(ViewInput::Timeline(Chunk { session, events })))
    }

    fn tell(&self, input: ViewInput) -> Option<()> {
        self.wanted.sends();
        self.to.send(ViewNews::Input(input)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_a_screen_that_stalls_is_sent_no_more_until_it_takes_some() {
        let wanted = Wanted::default();
        let news = ViewInput::Snapshot(FleetSnapshot::default());
        wanted.took(&news);
        (0..MOST_UNTAKEN).for_each(|_| wanted.sends());
        assert!(wanted.stalls());
        wanted.took(&ViewInput::Resize { width: 80, height: 24 });
        assert!(wanted.stalls(), "a key or a size is not the reader's");
        wanted.took(&news);
        assert!(!wanted.stalls());
    }
}
