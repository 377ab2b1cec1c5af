//! Whether whoever serves is still at work on the same thing: a mark it sets when it begins and takes away when it is
//! done. Setting it costs no system call while somebody watches, and one when the watcher has to be woken.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

pub(crate) struct Pulse {
    at_work: AtomicBool,
    /// How often work has begun.
    count: AtomicU64,
    /// Who serves; whoever has another number has been replaced.
    term: AtomicU64,
    /// Nobody looks at the mark until told of new work.
    unwatched: AtomicBool,
}

/// How long the same work was seen at work, look after look.
///
/// Time in which the watcher itself did not run does not count: a process that was stopped, or a machine that was, has
/// nobody stuck in it.
#[derive(Default)]
pub(crate) struct SameWork {
    count: u64,
    seen_for: Duration,
}

impl Pulse {
    pub fn new() -> Self {
        let (zero, no) = (|| AtomicU64::new(0), || AtomicBool::new(false));
        Self { at_work: no(), count: zero(), term: zero(), unwatched: no() }
    }

    /// Work begins; `true` when the watcher has to be told.
    pub fn begin(&self, term: u64) -> bool {
        if self.term() == term {
            self.count.fetch_add(1, Ordering::Relaxed);
            self.at_work.store(true, Ordering::Release);
        }
        self.unwatched.swap(false, Ordering::AcqRel)
    }

    pub fn end(&self, term: u64) {
        if self.term() == term {
            self.at_work.store(false, Ordering::Release);
        }
    }

    pub fn term(&self) -> u64 {
        self.term.load(Ordering::Acquire)
    }

    pub fn is_at_work(&self) -> bool {
        self.at_work.load(Ordering::Acquire)
    }

    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The next term begins, with nothing at work.
    pub fn replace(&self) -> u64 {
        let term = self.term.fetch_add(1, Ordering::AcqRel) + 1;
        self.at_work.store(false, Ordering::Release);
        term
    }

    /// Nobody looks any more; `false` where something is at work all the same.
    pub fn look_away(&self) -> bool {
        self.unwatched.store(true, Ordering::Release);
        !self.is_at_work()
    }
}

impl SameWork {
    /// Looks again, `passed` after the last look, which was to be `every` after it; how long it has been the same work.
    pub fn look(&mut self, pulse: &Pulse, passed: Duration, every: Duration) -> Duration {
        let count = pulse.count();
        if pulse.is_at_work() && count == self.count {
            self.seen_for += passed.min(every * 2);
        } else {
            *self = Self { count, seen_for: Duration::ZERO };
        }
        self.seen_for
    }
}

#[cfg(test)]
mod tests {
    use super::{Pulse, SameWork};
    use std::time::Duration;

    #[test]
    fn work_is_seen_from_its_beginning_to_its_end_and_only_of_who_serves() {
        let pulse = Pulse::new();
        assert!(!pulse.is_at_work());
        assert!(!pulse.begin(0), "somebody watches");
        assert!(pulse.is_at_work());
        pulse.end(0);
        assert!(!pulse.is_at_work() && pulse.look_away());
        assert!(pulse.begin(0), "the watcher has to be woken, once");
        assert!(!pulse.begin(0));
        assert_eq!(pulse.replace(), 1);
        assert!(!pulse.is_at_work(), "what is left behind does not count");
        pulse.begin(0);
        assert!(!pulse.is_at_work(), "nor does it when it comes back");
        pulse.begin(1);
        pulse.end(0);
        assert!(pulse.is_at_work());
    }

    #[test]
    fn a_process_that_was_stopped_has_nobody_stuck_in_it() {
        let (pulse, every) = (Pulse::new(), Duration::from_millis(50));
        let mut same = SameWork::default();
        pulse.begin(0);
        assert_eq!(same.look(&pulse, every, every), Duration::ZERO, "seen for the first time");
        assert_eq!(same.look(&pulse, every, every), every);
        let stopped = Duration::from_secs(3600);
        assert_eq!(same.look(&pulse, stopped, every), every * 3, "a late look counts as two");
        pulse.end(0);
        assert_eq!(same.look(&pulse, every, every), Duration::ZERO);
        pulse.begin(0);
        assert_eq!(same.look(&pulse, every, every), Duration::ZERO, "other work");
        assert_eq!(same.look(&pulse, every, every), every);
    }
}
