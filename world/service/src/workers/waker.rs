//! The daemon's waker: an idle session for which messages wait is woken by a
//! short line pasted into its terminal, when nothing can be disturbed by it.

use super::WorkerStore;
use actions::bell;
use actions::typing::AgentTerminal;
use daemon::{Next, PeriodicTask, Wake};
use engine::fleet::wake::{Idle, WakeDecision, counted, wake};
use model::Ms;
use model::fleet::Prompt;
use pipeline::PipelineSetup;
use std::path::Path;
use std::time::Duration;
use store::{Store, WakeCandidate};

/// A session that has only just come to rest is looked at again so soon.
const EVERY: Duration = Duration::from_secs(2);

pub fn task(setting: &PipelineSetup) -> PeriodicTask {
    let mut store = WorkerStore::new("waker", &setting.state);
    let state = setting.state.clone();
    PeriodicTask {
        name: "waker",
        every: EVERY,
        run: Box::new(move || {
            let _ = store.with(|store| round(store, &state));
            Next::AsUsual
        }),
        wake: Wake::default(),
    }
}

fn round(store: &mut Store, state: &Path) -> Result<(), store::Error> {
    for candidate in store.wakeable()? {
        try_to_wake(store, &candidate, state)?;
    }
    Ok(())
}

fn try_to_wake(store: &mut Store, candidate: &WakeCandidate, state: &Path) -> Result<(), store::Error> {
    // The screen is asked only when nothing else speaks against it.
    if let WakeDecision::Wait(_) = decide(candidate, Prompt::Empty, host::clock::now()) {
        return Ok(());
    }
    let counted = || counted(candidate.session.memo.woken, host::clock::now());
    let Some(terminal) = AgentTerminal::of(&candidate.session, state) else {
        // Nothing is typed, so nothing can be disturbed; the client itself waits until it is at rest.
        return if bell::ring(state, &candidate.session) { store.woken(&candidate.session, counted()) } else { Ok(()) };
    };
    let Ok((prompt, standing)) = terminal.prompt() else { return Ok(()) };
    let line = match decide(candidate, prompt, host::clock::now()) {
        WakeDecision::Paste { text } if terminal.paste(&text) => text,
        WakeDecision::Enter => standing,
        WakeDecision::Paste { .. } | WakeDecision::Wait(_) => return Ok(()),
    };
    // At once: a message that comes while Enter is still waited for was not woken for.
    store.woken(&candidate.session, counted())?;
    terminal.enter(&line);
    Ok(())
}

fn decide(candidate: &WakeCandidate, prompt: Prompt, now: Ms) -> WakeDecision {
    let session = &candidate.session;
    let idle = Idle {
        state: session.state,
        status: candidate.status,
        last_seen: session.last_seen_at,
        messages: candidate.messages,
        woken_at: candidate.woken_at,
        last: session.memo.woken,
        wakes: candidate.wakes,
        prompt,
    };
    wake(&idle, now)
}
