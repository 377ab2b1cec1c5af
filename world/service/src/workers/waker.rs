//! The daemon's waker: an idle session for which messages wait is woken by a
//! short line pasted into its pane, when nothing can be disturbed by it.

use super::WorkerStore;
use agents::CapturedScreen;
use agents::dialect::ScreenDialect;
use daemon::{Next, PeriodicTask, Wake};
use engine::fleet::wake::{Idle, WakeDecision, counted, is_ours, unspaced, wake};
use host::tmux::{self, CapturedPane, TmuxServer};
use model::Ms;
use model::fleet::Prompt;
use model::session::Session;
use pipeline::PipelineSetup;
use std::time::{Duration, Instant};
use store::{Store, WakeCandidate};

/// A session that has only just come to rest is looked at again so soon.
const EVERY: Duration = Duration::from_secs(2);

/// An Enter that comes with the text is taken for a pasted line break.
const BEFORE_ENTER: Duration = Duration::from_millis(300);

/// So long a client may take to show what was pasted.
const SHOWN_WITHIN: Duration = Duration::from_secs(4);

/// An Enter that was lost is noticed by the text still standing there.
const AFTER_ENTER: Duration = Duration::from_millis(700);

pub fn task(setting: &PipelineSetup) -> PeriodicTask {
    let mut store = WorkerStore::new("waker", &setting.state);
    PeriodicTask {
        name: "waker",
        every: EVERY,
        run: Box::new(move || {
            let _ = store.with(round);
            Next::AsUsual
        }),
        wake: Wake::default(),
    }
}

fn round(store: &mut Store) -> Result<(), store::Error> {
    for candidate in store.wakeable()? {
        try_to_wake(store, &candidate)?;
    }
    Ok(())
}

fn try_to_wake(store: &mut Store, candidate: &WakeCandidate) -> Result<(), store::Error> {
    // The screen is asked only when nothing else speaks against it.
    if let WakeDecision::Wait(_) = decide(candidate, Prompt::Empty, host::clock::now()) {
        return Ok(());
    }
    let Some(pane) = Pane::of(&candidate.session) else { return Ok(()) };
    let (prompt, standing) = pane.prompt();
    let line = match decide(candidate, prompt, host::clock::now()) {
        WakeDecision::Paste { text } if pane.paste(&text) => unspaced(&text),
        WakeDecision::Enter => standing,
        WakeDecision::Paste { .. } | WakeDecision::Wait(_) => return Ok(()),
    };
    // At once: a message that comes while Enter is still waited for was not woken for.
    store.woken(&candidate.session, counted(candidate.session.memo.woken, host::clock::now()))?;
    pane.enter(&line);
    Ok(())
}

fn decide(candidate: &WakeCandidate, prompt: Prompt, now: Ms) -> WakeDecision {
    let session = &candidate.session;
    let idle = Idle {
        state: session.state,
        status: candidate.status,
        last_seen: session.last_seen_at,
        pane: session.pane.as_deref(),
        messages: candidate.messages,
        woken_at: candidate.woken_at,
        last: session.memo.woken,
        wakes: candidate.wakes,
        prompt,
    };
    wake(&idle, now)
}

/// The pane of a session, and the client that must be in it.
struct Pane<'a> {
    server: TmuxServer,
    number: &'a str,
    client: model::ClientProcess,
    dialect: &'static ScreenDialect,
}

impl<'a> Pane<'a> {
    fn of(session: &'a Session) -> Option<Self> {
        let (socket, number) = session.pane.as_deref().and_then(tmux::address)?;
        let agent = session.memo.dialect.as_deref().and_then(|id| agents::ALL.find(id)).unwrap_or(agents::DEFAULT);
        // A screen that nobody can read is left alone.
        let dialect = agent.screen.as_ref()?;
        Some(Self { server: TmuxServer::at(socket), number, client: session.client?, dialect })
    }

    /// What it shows, if what is sent there reaches this session's client and nobody else.
    fn screen(&self) -> Option<CapturedPane> {
        let seen = self.server.glimpse(self.number).ok()?;
        (seen.takes_keys && tmux::runs_in(self.client, &seen)).then_some(seen)
    }

    /// What the input line is, and what stands in it.
    fn prompt(&self) -> (Prompt, String) {
        let Some(seen) = self.screen() else { return (Prompt::Unknown, String::new()) };
        let typed = (self.dialect.typed)(read(&seen)).unwrap_or_default();
        match (self.dialect.prompt)(read(&seen)) {
            Prompt::Typed if is_ours(&typed) => (Prompt::Ours, typed),
            other => (other, typed),
        }
    }

    fn paste(&self, text: &str) -> bool {
        self.server.paste(self.number, text).is_ok()
    }

    /// Enter follows only where exactly our own line stands. A busy client
    /// shows it late; one that never does, or that shows more, gets no Enter.
    fn enter(&self, line: &str) {
        let stands = || self.screen().and_then(|seen| (self.dialect.typed)(read(&seen))).as_deref() == Some(line);
        let shown_by = Instant::now() + SHOWN_WITHIN;
        std::thread::sleep(BEFORE_ENTER);
        while !stands() {
            if Instant::now() >= shown_by {
                return;
            }
            std::thread::sleep(BEFORE_ENTER);
        }
        for _ in 0..2 {
            if !stands() || self.server.enter(self.number).is_err() {
                return;
            }
            std::thread::sleep(AFTER_ENTER);
        }
    }
}

fn read(seen: &CapturedPane) -> CapturedScreen<'_> {
    CapturedScreen { text: &seen.text, cursor: seen.cursor }
}
