//! Looking after what runs: its limits, its leases, its parent, and what others ask of the run.

use super::{Dispatcher, Now, What};
use crate::{RunMessage, group_guard};
use engine::loops::{LoopEvent, Phase, Stop};
use model::ClientProcess;
use model::fact::Life;
use model::run::{RunProgress, RunState, RunWish};
use std::time::{Duration, Instant};

const AGENT_GRACE: Duration = Duration::from_secs(5);
const HOOK_GRACE: Duration = Duration::from_secs(1);
/// Leases are renewed and requests looked for this often.
const KEEP_EVERY: Duration = Duration::from_secs(5);
/// Wishes and the parent are looked at this often.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// What the agent does now is kept this often.
const SAVE_EVERY: Duration = Duration::from_secs(2);
/// The last words that others see of an agent.
const MOST_SAID: usize = 400;

impl Dispatcher<'_> {
    pub(super) fn tick(&mut self) -> Option<LoopEvent> {
        let now = host::clock::now();
        if let Some(event) = self.waited(now) {
            return Some(event);
        }
        self.show(now);
        if self.asked.elapsed() >= ASK_EVERY {
            self.asked = Instant::now();
            if let Some(event) = self.asked_for() {
                return Some(event);
            }
        }
        let over = self.state.deadline(&self.job.terms).is_some_and(|deadline| now >= deadline);
        if let Some(event) = self.press(over) {
            return Some(event);
        }
        if self.kept.elapsed() >= KEEP_EVERY {
            self.kept = Instant::now();
            self.keep();
        }
        if self.saved.elapsed() >= SAVE_EVERY && self.now.as_ref().is_some_and(|now| now.what == What::Agent) {
            self.save_progress();
        }
        None
    }

    /// Whoever asked for something outside, or is gone.
    fn asked_for(&mut self) -> Option<LoopEvent> {
        if self.parent.is_some_and(|parent| !lives(parent)) {
            self.parent = None;
            self.warn("the loop that started this one is gone".to_string());
            return Some(LoopEvent::Stop(Stop::Orphaned));
        }
        // A database that is busy is asked again in a second.
        Some(match self.run_store.take_wish(&self.run.id)? {
            RunWish::Stop => LoopEvent::Stop(Stop::Soft),
            RunWish::Kill => LoopEvent::Stop(Stop::Hard),
            RunWish::Pause => LoopEvent::Pause,
            RunWish::GoOn => LoopEvent::GoOn,
        })
    }

    /// Ends what runs longer than it may.
    fn press(&mut self, time_is_up: bool) -> Option<LoopEvent> {
        let silent = i64::try_from(self.spoke.elapsed().as_millis()).unwrap_or(i64::MAX);
        let running = self.now.as_mut()?;
        running.child.press(if running.what == What::Agent { AGENT_GRACE } else { HOOK_GRACE });
        if running.child.is_killing() {
            return None;
        }
        if running.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            running.timed_out = true;
            running.child.kill();
            return None;
        }
        if time_is_up && matches!(running.what, What::Agent | What::Proof) {
            return Some(LoopEvent::Stop(Stop::TimeUp));
        }
        if running.what == What::Agent {
            let ran = i64::try_from(running.child.since.elapsed().as_millis()).unwrap_or(i64::MAX);
            running.ended_for = self.state.overrun(&self.job.terms, &self.heard, ran, silent);
            if running.ended_for.is_some() {
                running.child.kill();
            }
        }
        None
    }

    /// The agent lives, so its leases do; and it may have asked for a fresh start.
    fn keep(&mut self) {
        let Some(Now { child, what, .. }) = &mut self.now else { return };
        if matches!(what, What::Hook(_)) {
            return;
        }
        if self.run.agent.is_some() {
            // A database that is busy now is asked again soon; the lease is longer than that.
            let _ = self.run_store.keep(&self.agent, child.leader);
        }
        if *what == What::Agent && !child.is_killing() && self.run_store.wants_restart(&self.agent, self.began) {
            self.restart = true;
            child.kill();
            self.tell.show(&RunMessage::Note("the agent asked for a fresh context".to_string()));
        }
        self.log.flush();
    }

    /// Only where something changed that others see.
    fn save_progress(&mut self) {
        self.saved = Instant::now();
        let live = self.progress();
        let spent = self.state.tally.cost_micros.saturating_add(self.heard.cost_micros.max(0));
        if live != self.run.live || (self.state.phase == Phase::Running && spent != self.run.tally.cost_micros) {
            self.save();
        }
    }

    pub(super) fn progress(&self) -> RunProgress {
        let state = state_of(self.state.phase);
        let works = matches!(state, RunState::Running | RunState::Verifying);
        let wait = self.waiting.as_ref();
        // Cut afterwards: half a secret is not seen for one.
        let said = self.heard.said.as_deref();
        let said = said.map(|said| model::text::line(&engine::redact::text_without_secrets(said), MOST_SAID));
        RunProgress {
            state,
            until: wait.map(|wait| wait.until),
            waits_for: wait.map(|wait| wait.why.clone()),
            task: if works { self.task.clone().or_else(|| self.held()) } else { None },
            tool: self.heard.tool.clone().filter(|_| works),
            said: said.or_else(|| self.run.live.said.clone()),
        }
    }

    fn held(&self) -> Option<String> {
        let agent = self.run.agent.as_ref()?;
        let held = self.run_store.store().holders().ok()?;
        held.into_iter().find(|(holder, _)| holder == agent).map(|(_, slug)| slug)
    }
}

/// What others see of a phase.
pub(super) fn state_of(phase: Phase) -> RunState {
    match phase {
        Phase::Fresh | Phase::Starting => RunState::Starting,
        Phase::Proving => RunState::Verifying,
        Phase::Waiting => RunState::Waiting,
        Phase::Paused => RunState::Paused,
        Phase::Over => RunState::Over,
        _ => RunState::Running,
    }
}

/// Whose worker this process is, where the one that started it says so.
pub(super) fn parent() -> Option<ClientProcess> {
    std::env::var(crate::PARENT).ok().as_deref().and_then(group_guard::parse)
}

/// A process of which nothing can be told lives.
fn lives(process: ClientProcess) -> bool {
    match host::probe::life(process.pid) {
        Some(Life::Gone) => false,
        Some(Life::Alive { started }) => process.started == 0 || started == process.started,
        None => true,
    }
}
