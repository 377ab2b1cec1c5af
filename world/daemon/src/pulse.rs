//! Whether whoever serves is still at work on the same thing: a mark it sets when it begins and takes away when it is
//! done. Setting it costs no system call while somebody watches, and one when the watcher has to be woken.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub(crate) struct Pulse {
    /// Milliseconds since `origin` at which the present work began, plus one; zero between two.
    began: AtomicU64,
    /// How often work has begun.
    count: AtomicU64,
    /// Who serves; whoever has another number has been replaced.
    term: AtomicU64,
    /// Nobody looks at the mark until told of new work.
    unwatched: AtomicBool,
    origin: Instant,
}

impl Pulse {
    pub fn new() -> Self {
        let zero = || AtomicU64::new(0);
        Self { began: zero(), count: zero(), term: zero(), unwatched: AtomicBool::new(false), origin: Instant::now() }
    }

    /// Work begins; `true` when the watcher has to be told.
    pub fn begin(&self, term: u64) -> bool {
        if self.term() == term {
            let now = u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
            self.began.store(now + 1, Ordering::Release);
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        self.unwatched.swap(false, Ordering::AcqRel)
    }

    pub fn end(&self, term: u64) {
        if self.term() == term {
            self.began.store(0, Ordering::Release);
        }
    }

    pub fn term(&self) -> u64 {
        self.term.load(Ordering::Acquire)
    }

    /// How long the present work has taken so far.
    pub fn at_work(&self) -> Option<Duration> {
        let began = Duration::from_millis(self.began.load(Ordering::Acquire).checked_sub(1)?);
        Some(self.origin.elapsed().saturating_sub(began))
    }

    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The next term begins, with nothing at work.
    pub fn replace(&self) -> u64 {
        let term = self.term.fetch_add(1, Ordering::AcqRel) + 1;
        self.began.store(0, Ordering::Release);
        term
    }

    /// Nobody looks any more; `false` where something is at work all the same.
    pub fn look_away(&self) -> bool {
        self.unwatched.store(true, Ordering::Release);
        self.at_work().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::Pulse;

    #[test]
    fn work_is_seen_from_its_beginning_to_its_end_and_only_of_who_serves() {
        let pulse = Pulse::new();
        assert!(pulse.at_work().is_none());
        assert!(!pulse.begin(0), "somebody watches");
        assert!(pulse.at_work().is_some());
        pulse.end(0);
        assert!(pulse.at_work().is_none() && pulse.look_away());
        assert!(pulse.begin(0), "the watcher has to be woken, once");
        assert!(!pulse.begin(0));
        assert_eq!(pulse.replace(), 1);
        assert!(pulse.at_work().is_none(), "what is left behind does not count");
        pulse.begin(0);
        assert!(pulse.at_work().is_none(), "nor does it when it comes back");
        pulse.begin(1);
        pulse.end(0);
        assert!(pulse.at_work().is_some());
    }
}
