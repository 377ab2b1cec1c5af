//! Work that comes back at intervals, in threads of its own so that no call ever waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Runs `run` every `every`, counted from the end of one run to the start of the next, and at once when woken.
pub struct PeriodicTask {
    pub name: &'static str,
    pub every: Duration,
    pub run: Box<dyn FnMut() -> Next + Send>,
    /// Kept by whoever notices that there is something to do.
    pub wake: Wake,
}

/// When a tick wants to run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    AsUsual,
    /// Sooner than usual: something is about to be due.
    In(Duration),
}

/// Wakes a tick. Never waits, costs a lock that nobody holds for long, and many wakes are one.
#[derive(Debug, Clone, Default)]
pub struct Wake(Arc<(Mutex<Call>, Condvar)>);

#[derive(Debug, Default)]
struct Call {
    woken: bool,
    over: bool,
}

/// The threads of a daemon's ticks; they end when this does.
pub(crate) struct Ticking {
    threads: Vec<(Wake, JoinHandle<()>)>,
}

/// A tick in the middle of its work gets so long to finish before the process ends without it.
const GRACE: Duration = Duration::from_secs(2);
const STACK_BYTES: usize = 512 << 10;

impl Wake {
    pub fn now(&self) {
        self.call(|call| call.woken = true);
    }

    /// Whoever waits for it is to end.
    pub fn end(&self) {
        self.call(|call| call.over = true);
    }

    fn call(&self, set: impl FnOnce(&mut Call)) {
        let (call, changed) = &*self.0;
        set(&mut call.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
    }

    /// Until it is woken, or so long; `false` when it is over.
    pub fn wait(&self, limit: Duration) -> bool {
        let (call, changed) = &*self.0;
        let call = call.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(call, limit, |call| !call.over && !call.woken);
        let (mut call, _) = waited.unwrap_or_else(PoisonError::into_inner);
        call.woken = false;
        !call.over
    }
}

impl Ticking {
    pub fn start(ticks: Vec<PeriodicTask>) -> Self {
        let threads = ticks.into_iter().filter_map(|tick| {
            let wake = tick.wake.clone();
            let builder = thread::Builder::new().name(tick.name.to_owned()).stack_size(STACK_BYTES);
            // Without a thread the work is left out; calls are answered all the same.
            Some((wake, builder.spawn(move || beat(tick)).ok()?))
        });
        Self { threads: threads.collect() }
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        self.threads.iter().for_each(|(wake, _)| wake.end());
        let deadline = Instant::now() + GRACE;
        for (_, thread) in self.threads.drain(..) {
            while !thread.is_finished() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(2));
            }
            if thread.is_finished() {
                // A tick's panics are caught inside, so there is nothing to learn here.
                let _ = thread.join();
            }
        }
    }
}

fn beat(mut tick: PeriodicTask) {
    let mut pause = tick.every;
    while tick.wake.wait(pause) {
        // One failed run says nothing about the next; the panic hook has already told the log.
        pause = match catch_unwind(AssertUnwindSafe(|| (tick.run)())) {
            Ok(Next::In(soon)) => soon.min(tick.every),
            Ok(Next::AsUsual) | Err(_) => tick.every,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Next, PeriodicTask, Ticking, Wake};
    use std::sync::mpsc;
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(3600);
    const PATIENCE: Duration = Duration::from_secs(5);

    #[test]
    fn a_tick_comes_back_even_after_a_panic_and_ends_with_its_owner() {
        let (sender, beats) = mpsc::channel();
        let mut count = 0;
        let run = Box::new(move || {
            count += 1;
            sender.send(count).unwrap();
            assert!(count != 1, "the first run fails");
            Next::AsUsual
        });
        let every = Duration::from_millis(1);
        let ticking = Ticking::start(vec![PeriodicTask { name: "beat", every, run, wake: Wake::default() }]);
        for wanted in 1..4 {
            assert_eq!(beats.recv_timeout(PATIENCE), Ok(wanted));
        }
        drop(ticking);
        while beats.try_recv().is_ok() {}
        assert_eq!(beats.try_recv(), Err(mpsc::TryRecvError::Disconnected));
    }

    #[test]
    fn a_nudge_wakes_a_tick_before_its_time_and_so_does_its_own_wish() {
        let (sender, beats) = mpsc::channel();
        let wake = Wake::default();
        let mut wishes = vec![Next::AsUsual, Next::In(Duration::ZERO)];
        let run = Box::new(move || {
            sender.send(()).unwrap();
            wishes.pop().unwrap_or(Next::AsUsual)
        });
        let tick = PeriodicTask { name: "beat", every: LONG, run, wake: wake.clone() };
        let _ticking = Ticking::start(vec![tick]);
        wake.now();
        assert_eq!(beats.recv_timeout(PATIENCE), Ok(()), "woken");
        assert_eq!(beats.recv_timeout(PATIENCE), Ok(()), "it wanted to come back at once");
        wake.now();
        assert_eq!(beats.recv_timeout(PATIENCE), Ok(()), "woken again");
    }
}
