//! Looks after the thread that serves: one that is stuck is left behind, and another begins in its place.

use crate::pulse::SameWork;
use crate::run::DaemonEnd;
use crate::serve::{News, Serving, Shared};
use crate::service::Service;
use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Work that takes longer is stuck: a locked database takes 300 ms at most, and a client waits for 600.
const STUCK_AFTER: Duration = Duration::from_millis(400);

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Without new work for so long, nobody looks until there is some.
const LOOK_AWAY_AFTER: Duration = Duration::from_secs(1);

/// With more threads left behind than this the process is of no use any more.
const MOST_LEFT_BEHIND: usize = 8;

/// Reading a line goes as deep as its nesting.
const STACK_BYTES: usize = 8 << 20;

pub(crate) struct Watcher<F> {
    make: Arc<F>,
    shared: Arc<Shared>,
    send: Sender<News>,
    news: Receiver<News>,
    left_behind: Vec<u64>,
}

impl<S: Service, F: Fn() -> S + Send + Sync + 'static> Watcher<F> {
    pub fn new(make: F, shared: Arc<Shared>) -> Self {
        let (send, news) = mpsc::channel();
        Self { make: Arc::new(make), shared, send, news, left_behind: Vec::new() }
    }

    /// Has somebody serve until there is a reason to end.
    pub fn run(&mut self) -> io::Result<DaemonEnd> {
        self.begin(0)?;
        let (mut count, mut since) = (0, Instant::now());
        let (mut same, mut looked) = (SameWork::default(), Instant::now());
        loop {
            let idle = since.elapsed() >= LOOK_AWAY_AFTER && self.shared.pulse.look_away();
            let news = if idle {
                self.news.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                self.news.recv_timeout(LOOK_EVERY)
            };
            match news {
                Ok(News::Work) => since = Instant::now(),
                Ok(News::Ended { term, how }) if term == self.shared.pulse.term() => return how,
                Ok(News::Ended { term, .. }) => self.came_back(term),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(DaemonEnd::Stuck),
            }
            if self.shared.pulse.count() != count {
                (count, since) = (self.shared.pulse.count(), Instant::now());
            }
            let passed = mem::replace(&mut looked, Instant::now()).elapsed();
            if same.look(&self.shared.pulse, passed, LOOK_EVERY) >= STUCK_AFTER && !self.replace()? {
                return Ok(DaemonEnd::Stuck);
            }
        }
    }

    /// Another takes over; `false` when that is no help.
    fn replace(&mut self) -> io::Result<bool> {
        let stuck = self.shared.pulse.term();
        {
            // Whoever is stuck with this in its hands leaves nothing to take over.
            let Ok(mut server) = self.shared.server.try_lock() else { return Ok(false) };
            let folders = server.leave_behind(stuck).join(", ");
            tracing::error!("stuck on a call from {folders}: it is left behind, and others are served");
        }
        self.left_behind.push(stuck);
        if self.left_behind.len() > MOST_LEFT_BEHIND {
            return Ok(false);
        }
        let term = self.shared.pulse.replace();
        self.begin(term)?;
        Ok(true)
    }

    fn came_back(&mut self, term: u64) {
        self.left_behind.retain(|left| *left != term);
        self.shared.stalled.came_back(term);
    }

    fn begin(&self, term: u64) -> io::Result<()> {
        let (make, shared, news) = (Arc::clone(&self.make), Arc::clone(&self.shared), self.send.clone());
        let builder = thread::Builder::new().name(format!("serving {term}")).stack_size(STACK_BYTES);
        builder.spawn(move || Serving { service: make(), shared, term, news }.run()).map(drop)
    }
}
