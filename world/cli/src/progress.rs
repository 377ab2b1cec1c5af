//! The line that says what is going on where it takes longer than a moment: on stderr, for whoever watches at a terminal.

use crate::printer::Printer;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// What is over by then needs no line.
const FIRST: Duration = Duration::from_secs(1);

/// Does the work. After a second the line says what is done and for how long, until it is done.
pub fn during<T>(what: &str, printer: &Printer, work: impl FnOnce() -> T) -> T {
    if !Printer::has_listener() || Printer::is_dumb() {
        return work();
    }
    let begun = Instant::now();
    let columns = sys::terminal::columns().map_or(79, |columns| usize::from(columns).saturating_sub(1));
    let draw = || printer.draw(&format!("{what}: {} s", begun.elapsed().as_secs()), columns);
    ticking(FIRST, draw, || printer.wipe(), work)
}

/// Calls `tick` each time so much time has gone by while the work goes on, and `end` after it where it was called at all.
fn ticking<T>(each: Duration, tick: impl FnMut() + Send, end: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
    let (ended, ends) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || tick_until(&ends, each, tick, end));
        let done = work();
        drop(ended);
        done
    })
}

fn tick_until(ends: &Receiver<()>, each: Duration, mut tick: impl FnMut(), end: impl FnOnce()) {
    let mut ticked = false;
    while ends.recv_timeout(each) == Err(RecvTimeoutError::Timeout) {
        tick();
        ticked = true;
    }
    if ticked {
        end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn i2_work_that_takes_long_is_told_of_and_the_line_is_gone_afterwards() {
        let (told, tells) = channel();
        let wiped = AtomicUsize::new(0);
        // The work is over when it was told of twice.
        let work = || tells.iter().take(2).count();
        let tell = move || {
            let _ = told.send(());
        };
        let end = || {
            wiped.fetch_add(1, Ordering::Relaxed);
        };
        let done = ticking(Duration::ZERO, tell, end, work);
        assert_eq!((done, wiped.load(Ordering::Relaxed)), (2, 1));
    }

    #[test]
    fn i2_of_work_that_is_done_at_once_nothing_is_told() {
        let told = AtomicUsize::new(0);
        let tell = || {
            told.fetch_add(1, Ordering::Relaxed);
        };
        assert_eq!(ticking(Duration::from_secs(3_600), tell, tell, || 7), 7);
        assert_eq!(told.load(Ordering::Relaxed), 0);
    }
}
