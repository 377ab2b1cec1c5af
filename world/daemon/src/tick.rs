//! Work that comes back at intervals, in threads of its own so that no call ever waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Runs `run` every `every`, counted from the end of one run to the start of the next.
pub struct Tick {
    pub name: &'static str,
    pub every: Duration,
    pub run: Box<dyn FnMut() + Send>,
}

/// The threads of a daemon's ticks; they end when this does.
pub(crate) struct Ticking {
    over: Arc<(Mutex<bool>, Condvar)>,
    threads: Vec<JoinHandle<()>>,
}

/// A tick in the middle of its work gets so long to finish before the process ends without it.
const GRACE: Duration = Duration::from_secs(2);
const STACK_BYTES: usize = 512 << 10;

impl Ticking {
    pub fn start(ticks: Vec<Tick>) -> Self {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let threads = ticks.into_iter().filter_map(|tick| {
            let over = Arc::clone(&over);
            let builder = thread::Builder::new().name(tick.name.to_owned()).stack_size(STACK_BYTES);
            // Without a thread the work is left out; calls are answered all the same.
            builder.spawn(move || beat(tick, &over)).ok()
        });
        Self { threads: threads.collect(), over }
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        let (over, changed) = &*self.over;
        *over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        let deadline = Instant::now() + GRACE;
        for thread in self.threads.drain(..) {
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

fn beat(mut tick: Tick, (over, changed): &(Mutex<bool>, Condvar)) {
    let mut ended = over.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let waited = changed.wait_timeout_while(ended, tick.every, |ended| !*ended);
        let (now_ended, wait) = waited.unwrap_or_else(PoisonError::into_inner);
        if !wait.timed_out() {
            return;
        }
        drop(now_ended);
        // One failed run says nothing about the next; the panic hook has already told the log.
        let _ = catch_unwind(AssertUnwindSafe(|| (tick.run)()));
        ended = over.lock().unwrap_or_else(PoisonError::into_inner);
    }
}

#[cfg(test)]
mod tests {
    use super::{Tick, Ticking};
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn a_tick_comes_back_even_after_a_panic_and_ends_with_its_owner() {
        let (sender, beats) = mpsc::channel();
        let mut count = 0;
        let run = Box::new(move || {
            count += 1;
            sender.send(count).unwrap();
            assert!(count != 1, "the first run fails");
        });
        let ticking = Ticking::start(vec![Tick { name: "beat", every: Duration::from_millis(1), run }]);
        for wanted in 1..4 {
            assert_eq!(beats.recv_timeout(Duration::from_secs(5)), Ok(wanted));
        }
        drop(ticking);
        while beats.try_recv().is_ok() {}
        assert_eq!(beats.try_recv(), Err(mpsc::TryRecvError::Disconnected));
    }
}
