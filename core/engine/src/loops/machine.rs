//! The machine: one state, its events, and what the runner must do. Completion
//! is looked at before limits, and every way out goes through `finish`.

mod failure;
pub(super) use failure::{MAY_NOT_WORK, same_failure};
mod stops;

use super::hooks::{Hook, HookEnd, HookStage};
use super::verdict::{AgentEnd, EndedAgent, Open, ProofResult, WorkCount, WorkState};
use super::{FailBehavior, LoopLimits};
use crate::queue::SESSION_EXITED;
use model::Ms;
use model::run::{AgentOutput, Finish, Permissions, RunMode, Tally};

/// So many iterations in a row that a hook skips are a spin.
const SKIP_PAUSE_MS: i64 = 100;
const LONGEST_SKIP_PAUSE_MS: i64 = 2_000;
/// Nobody worked since the last iteration ended, and what that left was let go of then.
const LET_GO: LoopEffect = LoopEffect::Release { reason: SESSION_EXITED, counts: false };

/// What does not change during a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    pub mode: RunMode,
    /// It works on the queue.
    pub queue: bool,
    pub limits: LoopLimits,
    /// What the agent may do.
    pub permissions: Permissions,
    pub on_hook_failure: FailBehavior,
    pub project_dir: String,
    pub log_dir: String,
    pub plan_file: String,
    pub spec_dir: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    pub started_at: Ms,
    pub tally: Tally,
    pub phase: Phase,
    pub finish: Option<Finish>,
    /// In words, for the summary.
    pub why: String,
    pub seen: Option<WorkState>,
    /// Why the iteration that is over did not count.
    pub failure: Option<String>,
    before: Option<WorkState>,
    ended: Option<EndedAgent>,
    stop: Option<Stop>,
    /// Somebody wants it to wait after this iteration.
    pausing: bool,
    /// What the last proof said; `None` where the work has changed since.
    proof: Option<ProofResult>,
    /// Where the proof that is under way leads.
    then: Then,
    /// A pause before the next iteration, and why.
    rest: Option<(Ms, String)>,
    pauses: u64,
}

/// What follows a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The agent's proposals are settled: now the work is looked at.
    Judge,
    /// The changed plan was proven or not: the iteration ends.
    Leave,
    /// The plan looks complete before an iteration.
    Complete,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Fresh,
    Starting,
    /// Looking at the work before an iteration.
    Gate,
    Entering,
    Running,
    /// A command shows whether what is said to be done is.
    Proving,
    /// Looking at the work after an iteration.
    Judging,
    Leaving,
    Waiting,
    /// Until somebody says to go on.
    Paused,
    Finishing,
    Over,
}

/// Somebody wants the run to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// After this iteration.
    Soft,
    Hard,
    /// The wall time is over.
    TimeUp,
    /// The loop that started this one as its worker is gone.
    Orphaned,
}

/// What ends a wait before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitKind {
    Time,
    /// A task that somebody adds, finishes or lets go of.
    Tasks,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LoopEvent {
    Begin,
    /// It had begun before, and goes on: `started` has run.
    Resume,
    HookEnded(HookEnd),
    Looked(WorkState),
    AgentEnded(EndedAgent),
    Proven(ProofResult),
    WaitOver,
    Stop(Stop),
    /// After this iteration.
    Pause,
    GoOn,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LoopEffect {
    RunHook(Hook),
    Look,
    /// The tree as it stands is kept in a ref, so that one can go back to it.
    Checkpoint {
        iteration: u64,
    },
    StartAgent {
        iteration: u64,
    },
    /// What a failed iteration left may be taken out of the way.
    PutAside {
        iteration: u64,
    },
    /// Ends whatever runs now, with its whole group.
    Kill,
    /// What is said to be done is put to the proof.
    Prove,
    /// What the agent still holds goes back to the queue, with this reason. Where it does not count, neither does what a
    /// hook let go of in this iteration.
    Release {
        reason: &'static str,
        counts: bool,
    },
    /// A worker goes on with its one task, before anybody else begins it in the same tree.
    ClaimAgain,
    /// The iteration that is over is kept as a row of its own.
    Record,
    Wait {
        until: Ms,
        why: String,
        kind: WaitKind,
    },
    /// Waits until somebody says to go on or to stop.
    Pause,
    /// Breaks a wait or a pause off.
    Wake,
    Say(String),
    /// The run as it stands is kept.
    Save,
    Deregister,
    End(Finish),
}

impl Loop {
    pub fn new(started_at: Ms, tally: Tally) -> Self {
        Self {
            started_at,
            tally,
            phase: Phase::Fresh,
            finish: None,
            why: String::new(),
            seen: None,
            failure: None,
            before: None,
            ended: None,
            stop: None,
            pausing: false,
            proof: None,
            then: Then::Judge,
            rest: None,
            pauses: 0,
        }
    }

    /// Whether it ends after what runs now, or is about to.
    pub fn ends_soon(&self) -> bool {
        self.stop.is_some() || self.finish.is_some()
    }

    /// When the wall time is over; the ceiling holds where nothing else does.
    pub fn deadline(&self, terms: &Terms) -> Option<Ms> {
        let limits = &terms.limits;
        let shortest = limits.max_ms.into_iter().chain(limits.ceiling_ms).min()?;
        Some(self.started_at.plus(shortest))
    }

    pub fn step(mut self, terms: &Terms, event: LoopEvent, now: Ms) -> (Self, Vec<LoopEffect>) {
        let effects = match (self.phase, event) {
            (Phase::Over, _) => Vec::new(),
            (_, LoopEvent::Stop(stop)) => self.stopped(stop),
            (_, LoopEvent::Pause) => self.pause_asked(),
            (_, LoopEvent::GoOn) => self.go_on(),
            (Phase::Fresh, LoopEvent::Begin) => self.to(Phase::Starting, vec![LoopEffect::RunHook(Hook::Started)]),
            (Phase::Fresh, LoopEvent::Resume) => self.to(Phase::Gate, vec![LoopEffect::Look]),
            (Phase::Starting, LoopEvent::HookEnded(_)) if self.stop.is_some() => self.finish_stopped(),
            (Phase::Starting, LoopEvent::HookEnded(end)) => match end.stage(Hook::Started, terms.on_hook_failure) {
                HookStage::Abort => self.finish(Finish::HookAbort, "the hook `started` asked to stop"),
                _ => self.to(Phase::Gate, vec![LoopEffect::Look]),
            },
            (Phase::Gate, LoopEvent::Looked(seen)) => self.gate(terms, seen, now),
            (Phase::Entering, LoopEvent::HookEnded(end)) => self.entered(terms, end, now),
            (Phase::Running, LoopEvent::AgentEnded(ended)) => self.agent_ended(terms, ended),
            (Phase::Proving, LoopEvent::Proven(proof)) => self.proven(terms, proof, now),
            (Phase::Judging, LoopEvent::Looked(seen)) => self.judged(terms, seen),
            (Phase::Leaving, LoopEvent::HookEnded(end)) => self.left(terms, end, now),
            (Phase::Waiting, LoopEvent::WaitOver) => self.to(Phase::Gate, vec![LoopEffect::Look]),
            (Phase::Finishing, LoopEvent::HookEnded(_)) => {
                let finish = self.finish.unwrap_or(Finish::Error);
                self.to(Phase::Over, vec![LET_GO, LoopEffect::Deregister, LoopEffect::Save, LoopEffect::End(finish)])
            }
            // An answer to a question that is no longer asked.
            _ => Vec::new(),
        };
        (self, effects)
    }

    fn to(&mut self, phase: Phase, effects: Vec<LoopEffect>) -> Vec<LoopEffect> {
        self.phase = phase;
        effects
    }

    /// The one way out.
    fn finish(&mut self, finish: Finish, why: impl Into<String>) -> Vec<LoopEffect> {
        self.finish = Some(finish);
        self.why = why.into();
        if finish == Finish::Complete {
            (self.tally.same_failure, self.tally.last_failure) = (0, None);
        }
        self.to(Phase::Finishing, vec![LET_GO, LoopEffect::Save, LoopEffect::RunHook(Hook::Finished)])
    }

    /// Before an iteration: complete, stopped, a limit, a rest, or on with it.
    fn gate(&mut self, terms: &Terms, seen: WorkState, now: Ms) -> Vec<LoopEffect> {
        let rest = self.rest.take();
        if self.is_stopping() {
            return self.finish_stopped();
        }
        self.tally.commits = seen.commits;
        let judge_plan = terms.mode == RunMode::Building || self.tally.iterations > 0;
        let (work, complete) = (seen.work, judge_plan && seen.complete());
        self.seen = Some(seen.clone());
        self.before = Some(seen);
        if complete && self.is_proven(terms) {
            return self.finish(Finish::Complete, "everything is done");
        }
        if complete && self.proof.is_none() {
            return self.prove(Then::Complete);
        }
        if let Some((finish, why)) = self.limit(terms, now) {
            return self.finish(finish, why);
        }
        match (work, rest) {
            (WorkCount::Counted { left: 1.., open: Open::Never, .. }, _) => {
                self.finish(Finish::Stuck, "nothing that is left can be claimed: `taut task why` says why")
            }
            (WorkCount::Counted { left: 1.., open: Open::At(until), .. }, _) => {
                let until = until.max(now.plus(SKIP_PAUSE_MS));
                self.wait(terms, until, "no task can be claimed yet".to_string(), WaitKind::Tasks)
            }
            (_, Some((until, why))) => self.wait(terms, until, why, WaitKind::Time),
            _ if self.pausing => self.pause(),
            _ => self.to(Phase::Entering, vec![LoopEffect::RunHook(Hook::NextIteration)]),
        }
    }

    fn limit(&self, terms: &Terms, now: Ms) -> Option<(Finish, String)> {
        let limits = &terms.limits;
        if limits.max_iterations > 0 && self.tally.iterations >= limits.max_iterations {
            return Some((Finish::MaxIterations, format!("{} iterations were allowed", limits.max_iterations)));
        }
        if limits.max_cost_micros.is_some_and(|most| self.tally.cost_micros >= most) {
            return Some((Finish::Budget, "the budget is spent".to_string()));
        }
        let over = self.stop == Some(Stop::TimeUp) || self.deadline(terms).is_some_and(|deadline| now >= deadline);
        over.then(|| (Finish::Limit, "the time is up".to_string()))
    }

    fn entered(&mut self, terms: &Terms, end: HookEnd, now: Ms) -> Vec<LoopEffect> {
        if self.stop.is_some() {
            return self.finish_stopped();
        }
        self.failure = None;
        match end.stage(Hook::NextIteration, terms.on_hook_failure) {
            HookStage::Abort => self.finish(Finish::HookAbort, "the hook `next_iteration` asked to stop"),
            HookStage::Skip => {
                self.tally.skips += 1;
                if self.tally.skips >= terms.limits.max_skips {
                    let why = format!("the hook `next_iteration` skipped {} times in a row", self.tally.skips);
                    return self.finish(Finish::Stuck, why);
                }
                let pause = failure::doubled(SKIP_PAUSE_MS, self.tally.skips, LONGEST_SKIP_PAUSE_MS);
                self.wait(terms, now.plus(pause), "the hook skipped this iteration".to_string(), WaitKind::Time)
            }
            HookStage::GoOn => {
                self.tally.skips = 0;
                self.tally.iterations += 1;
                let iteration = self.tally.iterations;
                let effects =
                    vec![LoopEffect::Save, LoopEffect::Checkpoint { iteration }, LoopEffect::StartAgent { iteration }];
                self.to(Phase::Running, effects)
            }
        }
    }

    fn agent_ended(&mut self, terms: &Terms, ended: EndedAgent) -> Vec<LoopEffect> {
        self.tally.last_exit = ended.exit.or(Some(-1));
        self.tally.last_ms = ended.ms;
        self.tally.cost_micros = self.tally.cost_micros.saturating_add(ended.heard.cost_micros.max(0));
        self.tally.tokens += ended.heard.tokens;
        self.ended = Some(ended);
        // What it said to be done is settled before what it holds goes back.
        if terms.queue && !self.is_killing() { self.prove(Then::Judge) } else { self.judge() }
    }

    fn judge(&mut self) -> Vec<LoopEffect> {
        let trouble = self.ended.as_ref().and_then(EndedAgent::kept_from_working);
        // A proof that was stopped says nothing of the work.
        let counts = trouble.is_none() && !matches!(self.proof, Some(ProofResult::Stopped));
        let release = LoopEffect::Release { reason: failure::release_reason(trouble), counts };
        let ends = self.ends_soon() || trouble.is_some_and(failure::ends_run);
        let again = (!ends).then_some(LoopEffect::ClaimAgain);
        let effects = [Some(release), again, Some(LoopEffect::Look)].into_iter().flatten().collect();
        self.to(Phase::Judging, effects)
    }

    fn prove(&mut self, then: Then) -> Vec<LoopEffect> {
        self.then = then;
        self.to(Phase::Proving, vec![LoopEffect::Prove])
    }

    fn proven(&mut self, terms: &Terms, proof: ProofResult, now: Ms) -> Vec<LoopEffect> {
        if let ProofResult::Failed { end } = &proof {
            self.failure = Some(end.clone());
            if self.then == Then::Complete {
                self.tally.last_failure = Some(end.clone());
            }
        }
        self.proof = Some(proof);
        match (self.then, self.seen.clone()) {
            (Then::Judge, _) => self.judge(),
            (Then::Complete, Some(seen)) if !self.is_stopping() => self.gate(terms, seen, now),
            (Then::Leave, _) if !self.is_killing() => self.leave(),
            (Then::Leave, _) => self.recorded_end(),
            (Then::Complete, _) => self.finish_stopped(),
        }
    }

    /// A queue's tasks are proven one by one; a plan is by the last proof of all of it.
    fn is_proven(&self, terms: &Terms) -> bool {
        let passed = matches!(self.proof, Some(ProofResult::NotAsked | ProofResult::Passed));
        terms.queue || terms.mode == RunMode::Planning || passed
    }

    fn judged(&mut self, terms: &Terms, seen: WorkState) -> Vec<LoopEffect> {
        self.tally.commits = seen.commits;
        let progressed = self.before.as_ref().is_none_or(|before| seen.progressed(before, terms.limits.progress));
        let changed = self.before.as_ref().is_none_or(|before| seen.progressed(before, super::Progress::Any));
        self.tally.idle = if progressed { 0 } else { self.tally.idle + 1 };
        if self.failure.is_none() {
            let of_agent = self.ended.as_ref().and_then(|ended| ended.failure(&seen, &terms.limits));
            let asked = self.ended.as_ref().is_some_and(|ended| ended.by == AgentEnd::Asked);
            self.failure = of_agent.or_else(|| self.stopped_for().filter(|_| asked && !seen.restart));
        }
        self.seen = Some(seen);
        if self.is_killing() {
            return self.recorded_end();
        }
        if changed && !terms.queue && terms.mode == RunMode::Building {
            return self.prove(Then::Leave);
        }
        self.leave()
    }

    fn leave(&mut self) -> Vec<LoopEffect> {
        let effects = vec![LoopEffect::Record, LoopEffect::Save, LoopEffect::RunHook(Hook::PostIteration)];
        self.to(Phase::Leaving, effects)
    }

    fn recorded_end(&mut self) -> Vec<LoopEffect> {
        let mut effects = vec![LoopEffect::Record];
        effects.extend(self.finish_stopped());
        effects
    }

    /// After an iteration and its hook: what it means, completion first.
    fn left(&mut self, terms: &Terms, end: HookEnd, now: Ms) -> Vec<LoopEffect> {
        let (Some(seen), Some(ended)) = (self.seen.clone(), self.ended.take()) else {
            return self.finish(Finish::Error, "an iteration ended that never began");
        };
        if self.is_stopping() {
            return self.finish_stopped();
        }
        if end.stage(Hook::PostIteration, terms.on_hook_failure) == HookStage::Abort {
            return self.finish(Finish::HookAbort, "the hook `post_iteration` asked to stop");
        }
        if seen.complete() && self.is_proven(terms) {
            return self.finish(Finish::Complete, "everything is done");
        }
        if self.stop == Some(Stop::TimeUp) {
            return self.finish_stopped();
        }
        if ended.by == AgentEnd::Budget {
            return self.finish(Finish::Budget, "the budget was spent within this iteration");
        }
        if self.tally.idle > 0 && ended.is_held_up_by_denials() && !seen.restart {
            return self.finish(Finish::NoChanges, ended.denials(terms.permissions));
        }
        // A full context ends an agent the hard way, and is no failure.
        if (ended.failed() || seen.forgotten.is_some()) && !seen.restart {
            return self.failed(terms, &ended, now);
        }
        (self.tally.failures, self.tally.transients, self.pauses) = (0, 0, 0);
        match self.failure.clone() {
            None => (self.tally.same_failure, self.tally.last_failure) = (0, None),
            // What is said to be done must pass; a plan that is half done need not yet.
            Some(words) if terms.queue || seen.complete() => self.note_failure(words),
            Some(words) => self.tally.last_failure = Some(words),
        }
        if let Some(why) = self.breaker(terms) {
            return self.finish(Finish::Error, why);
        }
        let most = terms.limits.idle(terms.queue);
        if most > 0 && self.tally.idle >= most {
            return self.finish(Finish::NoChanges, format!("nothing changed in {} iterations", self.tally.idle));
        }
        self.gate(terms, seen, now)
    }

    /// What an agent that runs is to be ended for, if anything: its budget, its time, its silence.
    pub fn overrun(&self, terms: &Terms, heard: &AgentOutput, ran_ms: i64, silent_ms: i64) -> Option<AgentEnd> {
        let limits = &terms.limits;
        let cost = self.tally.cost_micros.saturating_add(heard.cost_micros.max(0));
        if limits.max_cost_micros.is_some_and(|most| cost >= most) {
            return Some(AgentEnd::Budget);
        }
        if limits.max_iteration_ms.is_some_and(|most| ran_ms >= most) {
            return Some(AgentEnd::TooLong);
        }
        // A tool may take its time without a word.
        let silent = heard.tool.is_none() && limits.max_silence_ms.is_some_and(|most| silent_ms >= most);
        silent.then_some(AgentEnd::Silence)
    }

    /// A wait that outlasts the run is not begun.
    fn wait(&mut self, terms: &Terms, until: Ms, why: String, kind: WaitKind) -> Vec<LoopEffect> {
        if self.pausing {
            return self.pause();
        }
        if self.deadline(terms).is_some_and(|deadline| until >= deadline) {
            return self.finish(Finish::Limit, format!("{why}, which is after the time that was allowed"));
        }
        self.to(Phase::Waiting, vec![LoopEffect::Wait { until, why, kind }, LoopEffect::Save])
    }
}
