//! What a command does where no daemon has done it: the same round, until what was owed is said or time is up.

use crate::workers::shared::{SharedReport, SharedRounds};
use host::paths::PathVariables;
use pipeline::PipelineSetup;
use policy::config::sections::SharedEvents;
use std::time::{Duration, Instant};
use store::{Error, OutboxStanding, OwedAt, Store};

/// How long a sync goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncWish {
    /// One round.
    Once,
    /// Until nothing is owed any more, at most for so long.
    Wait(Duration),
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// All rounds together; the error is that of the last.
    pub done: SharedReport,
    /// What still waits to be said, to this server and besides.
    pub owed: OwedAt,
    /// Events that still wait to be sent.
    pub events_waiting: u64,
    /// A server is configured at all.
    pub is_shared: bool,
}

impl SyncReport {
    /// Everything that this server is owed was said. What is another's, or another version's to say, is waited for in vain.
    pub fn is_through(&self) -> bool {
        let OutboxStanding { turns, messages, .. } = self.owed.standing;
        self.done.error.is_none() && turns + messages == 0 && self.events_waiting == 0
    }
}

/// Before a server that went away is called again.
const PAUSE: Duration = Duration::from_millis(500);

/// Says what is owed to the server that is configured. Nothing is done, or opened, where none is.
///
/// # Errors
/// Of this machine's own store.
pub fn sync(places: &PathVariables, wish: SyncWish) -> Result<SyncReport, Error> {
    sync_in(&crate::setting(places), wish)
}

/// The same for a process that was told where things are kept.
///
/// # Errors
/// As of [`sync`].
pub fn sync_in(setting: &PipelineSetup, wish: SyncWish) -> Result<SyncReport, Error> {
    let mut rounds = SharedRounds::of_command(setting);
    let mut report = SyncReport::default();
    let Some(server) = rounds.server() else { return Ok(report) };
    let mut store = Store::open_and_migrate(&setting.state, PipelineSetup::HOOK_PATIENCE)?;
    // What cannot be taken in now is kept for later, and `taut doctor` says so.
    let _ = pipeline::take_in(&mut store, setting);
    report.is_shared = true;
    let begun = Instant::now();
    loop {
        let done = rounds.round(&mut store, &server)?;
        report.add(done);
        report.owed = owed(&store, rounds.met())?;
        // A server that is sent nothing of the record is not what they wait for.
        report.events_waiting = if server.events == SharedEvents::None { 0 } else { store.unshipped()?.0 };
        let left = match wish {
            SyncWish::Once => Duration::ZERO,
            SyncWish::Wait(limit) => limit.saturating_sub(begun.elapsed()),
        };
        if report.is_through() || left.is_zero() {
            rounds.close();
            return Ok(report);
        }
        std::thread::sleep(PAUSE.min(left));
    }
}

/// By the server that was met now, or last. All of it, where none ever was.
fn owed(store: &Store, met: Option<&str>) -> Result<OwedAt, Error> {
    let last = || Ok::<_, Error>(store.shared_state()?.map(|state| state.server).filter(|id| !id.is_empty()));
    let server = match met {
        Some(met) => Some(met.to_string()),
        None => last()?,
    };
    match server {
        Some(server) => store.owed_at(&server),
        None => Ok(OwedAt { standing: store.outbox_standing()?, ..OwedAt::default() }),
    }
}

impl SyncReport {
    fn add(&mut self, round: SharedReport) {
        let before = std::mem::take(&mut self.done);
        let joined = |mut first: Vec<String>, then: Vec<String>| {
            first.extend(then);
            first
        };
        self.done = SharedReport {
            said: before.said + round.said,
            refused: joined(before.refused, round.refused),
            renewed: before.renewed + round.renewed,
            lost: joined(before.lost, round.lost),
            expired: joined(before.expired, round.expired),
            messages_sent: before.messages_sent + round.messages_sent,
            messages_received: before.messages_received + round.messages_received,
            events_sent: before.events_sent + round.events_sent,
            ..round
        };
    }
}
