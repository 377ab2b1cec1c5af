//! The machine: one state, its events, and what the runner must do. Completion
//! is looked at before limits, and every way out goes through `finish`.

use super::hooks::{Hook, HookEnd, HookStage};
use super::verdict::{EndedAgent, Open, WorkCount, WorkState};
use super::{FailBehavior, LoopLimits};
use model::Ms;
use model::run::{AgentTrouble, Finish, RunMode, Tally};

/// So many iterations in a row that a hook skips are a spin.
const SKIP_PAUSE_MS: i64 = 100;
const LONGEST_SKIP_PAUSE_MS: i64 = 2_000;
/// A limit whose end was not told is looked at again after this, doubled each time.
const LIMIT_PAUSE_MS: i64 = 300_000;
const LONGEST_LIMIT_PAUSE_MS: i64 = 3_600_000;
const TRANSIENT_PAUSE_MS: i64 = 10_000;
const LONGEST_TRANSIENT_PAUSE_MS: i64 = 300_000;
/// So many transient errors in a row are none.
const MOST_TRANSIENTS: u64 = 10;

/// What does not change during a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    pub mode: RunMode,
    /// It works on the queue.
    pub queue: bool,
    pub limits: LoopLimits,
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
    before: Option<WorkState>,
    ended: Option<EndedAgent>,
    stop: Option<Stop>,
    pauses: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Fresh,
    Starting,
    /// Looking at the work before an iteration.
    Gate,
    Entering,
    Running,
    /// Looking at the work after an iteration.
    Judging,
    Leaving,
    Waiting,
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
}

#[derive(Debug, Clone, PartialEq)]
pub enum LoopEvent {
    Begin,
    /// It had begun before, and goes on: `started` has run.
    Resume,
    HookEnded(HookEnd),
    Looked(WorkState),
    AgentEnded(EndedAgent),
    WaitOver,
    Stop(Stop),
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
    /// What the agent still holds goes back to the queue.
    Release,
    Wait {
        until: Ms,
        why: String,
    },
    /// Breaks a wait off.
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
            before: None,
            ended: None,
            stop: None,
            pauses: 0,
        }
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
            (Phase::Fresh, LoopEvent::Begin) => self.to(Phase::Starting, vec![LoopEffect::RunHook(Hook::Started)]),
            (Phase::Fresh, LoopEvent::Resume) => self.to(Phase::Gate, vec![LoopEffect::Look]),
            (Phase::Starting, LoopEvent::HookEnded(_)) if self.stop.is_some() => self.finish_stopped(),
            (Phase::Starting, LoopEvent::HookEnded(end)) => match end.stage(Hook::Started, terms.on_hook_failure) {
                HookStage::Abort => self.finish(Finish::HookAbort, "the hook `started` asked to stop"),
                _ => self.to(Phase::Gate, vec![LoopEffect::Look]),
            },
            (Phase::Gate, LoopEvent::Looked(seen)) => self.gate(terms, seen, now),
            (Phase::Entering, LoopEvent::HookEnded(end)) => self.entered(terms, end, now),
            (Phase::Running, LoopEvent::AgentEnded(ended)) => self.agent_ended(ended),
            (Phase::Judging, LoopEvent::Looked(seen)) => self.judged(terms, seen),
            (Phase::Leaving, LoopEvent::HookEnded(end)) => self.left(terms, end, now),
            (Phase::Waiting, LoopEvent::WaitOver) => self.to(Phase::Gate, vec![LoopEffect::Look]),
            (Phase::Finishing, LoopEvent::HookEnded(_)) => {
                let finish = self.finish.unwrap_or(Finish::Error);
                self.to(
                    Phase::Over,
                    vec![LoopEffect::Release, LoopEffect::Deregister, LoopEffect::Save, LoopEffect::End(finish)],
                )
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
        self.to(Phase::Finishing, vec![LoopEffect::Release, LoopEffect::Save, LoopEffect::RunHook(Hook::Finished)])
    }

    fn stopped(&mut self, stop: Stop) -> Vec<LoopEffect> {
        let again = self.stop.is_some() && stop == Stop::Soft;
        let hard = again || stop != Stop::Soft;
        self.stop = self.stop.max(Some(if again { Stop::Hard } else { stop }));
        match self.phase {
            Phase::Waiting | Phase::Fresh => {
                let mut effects = vec![LoopEffect::Wake];
                effects.extend(self.finish_stopped());
                effects
            }
            Phase::Finishing if stop == Stop::TimeUp => Vec::new(),
            Phase::Finishing if again => vec![LoopEffect::Kill],
            Phase::Running | Phase::Starting | Phase::Entering | Phase::Leaving if hard => vec![LoopEffect::Kill],
            Phase::Running => {
                let words = "waiting for this iteration to end; press Ctrl+C again to kill it";
                vec![LoopEffect::Say(words.to_string())]
            }
            _ => Vec::new(),
        }
    }

    fn finish_stopped(&mut self) -> Vec<LoopEffect> {
        match self.stop {
            Some(Stop::TimeUp) => self.finish(Finish::Limit, "the time is up"),
            _ => self.finish(Finish::Manual, "stopped by hand"),
        }
    }

    /// Before an iteration: complete, stopped, a limit, or on with it.
    fn gate(&mut self, terms: &Terms, seen: WorkState, now: Ms) -> Vec<LoopEffect> {
        let judge_plan = terms.mode == RunMode::Building || self.tally.iterations > 0;
        if matches!(self.stop, Some(Stop::Soft | Stop::Hard)) {
            return self.finish_stopped();
        }
        self.tally.commits = seen.commits;
        let work = seen.work;
        let complete = judge_plan && seen.complete();
        self.seen = Some(seen.clone());
        self.before = Some(seen);
        if complete {
            return self.finish(Finish::Complete, "everything is done");
        }
        if let Some((finish, why)) = self.limit(terms, now) {
            return self.finish(finish, why);
        }
        match work {
            WorkCount::Counted { left: 1.., open: Open::Never, .. } => {
                self.finish(Finish::Stuck, "nothing that is left can be claimed: `taut task why` says why")
            }
            WorkCount::Counted { left: 1.., open: Open::At(until), .. } => {
                self.wait(terms, until.max(now.plus(SKIP_PAUSE_MS)), "no task can be claimed yet".to_string())
            }
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
        match end.stage(Hook::NextIteration, terms.on_hook_failure) {
            HookStage::Abort => self.finish(Finish::HookAbort, "the hook `next_iteration` asked to stop"),
            HookStage::Skip => {
                self.tally.skips += 1;
                if self.tally.skips >= terms.limits.max_skips {
                    let why = format!("the hook `next_iteration` skipped {} times in a row", self.tally.skips);
                    return self.finish(Finish::Stuck, why);
                }
                let pause = doubled(SKIP_PAUSE_MS, self.tally.skips, LONGEST_SKIP_PAUSE_MS);
                self.wait(terms, now.plus(pause), "the hook skipped this iteration".to_string())
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

    fn agent_ended(&mut self, ended: EndedAgent) -> Vec<LoopEffect> {
        self.tally.last_exit = ended.exit.or(Some(-1));
        self.tally.last_ms = ended.ms;
        self.tally.cost_micros += ended.heard.cost_micros;
        self.ended = Some(ended);
        self.to(Phase::Judging, vec![LoopEffect::Release, LoopEffect::Look])
    }

    fn judged(&mut self, terms: &Terms, seen: WorkState) -> Vec<LoopEffect> {
        self.tally.commits = seen.commits;
        let progressed = self.before.as_ref().is_none_or(|before| seen.progressed(before, terms.limits.progress));
        self.tally.idle = if progressed { 0 } else { self.tally.idle + 1 };
        self.seen = Some(seen);
        if self.stop == Some(Stop::Hard) {
            return self.finish_stopped();
        }
        self.to(Phase::Leaving, vec![LoopEffect::Save, LoopEffect::RunHook(Hook::PostIteration)])
    }

    /// After an iteration and its hook: what it means, completion first.
    fn left(&mut self, terms: &Terms, end: HookEnd, now: Ms) -> Vec<LoopEffect> {
        let (Some(seen), Some(ended)) = (self.seen.clone(), self.ended.take()) else {
            return self.finish(Finish::Error, "an iteration ended that never began");
        };
        if matches!(self.stop, Some(Stop::Soft | Stop::Hard)) {
            return self.finish_stopped();
        }
        if end.stage(Hook::PostIteration, terms.on_hook_failure) == HookStage::Abort {
            return self.finish(Finish::HookAbort, "the hook `post_iteration` asked to stop");
        }
        if seen.complete() {
            return self.finish(Finish::Complete, "everything is done");
        }
        if self.stop == Some(Stop::TimeUp) {
            return self.finish_stopped();
        }
        // A full context ends an agent the hard way, and is no failure.
        if ended.failed() && !seen.restart {
            return self.failed(terms, &ended, now);
        }
        (self.tally.failures, self.tally.transients, self.pauses) = (0, 0, 0);
        let most = terms.limits.idle(terms.queue);
        if most > 0 && self.tally.idle >= most {
            return self.finish(Finish::NoChanges, format!("nothing changed in {} iterations", self.tally.idle));
        }
        self.gate(terms, seen, now)
    }

    fn failed(&mut self, terms: &Terms, ended: &EndedAgent, now: Ms) -> Vec<LoopEffect> {
        match &ended.heard.trouble {
            Some(AgentTrouble::Limited { until }) => {
                self.uncount();
                self.pauses += 1;
                let pause = doubled(LIMIT_PAUSE_MS, self.pauses, LONGEST_LIMIT_PAUSE_MS);
                let until = until.filter(|until| *until > now).unwrap_or(now.plus(pause));
                self.wait(terms, until, "the usage limit is reached; it resets then".to_string())
            }
            Some(AgentTrouble::Transient { what }) if self.tally.transients < MOST_TRANSIENTS => {
                self.uncount();
                self.tally.transients += 1;
                let longest = terms.limits.transient_ms.min(LONGEST_TRANSIENT_PAUSE_MS);
                let pause = doubled(TRANSIENT_PAUSE_MS.min(longest), self.tally.transients, longest);
                self.wait(terms, now.plus(pause), format!("the service is not there ({what})"))
            }
            Some(AgentTrouble::Refused { what }) => {
                let why =
                    format!("the agent may not work: {what}. Log in or settle the account, then `taut loop resume`");
                self.finish(Finish::Error, why)
            }
            _ => {
                self.tally.failures += 1;
                let mut effects = vec![LoopEffect::PutAside { iteration: self.tally.iterations }];
                let how = ended.exit.map_or("was ended by a signal".to_string(), |code| format!("ended with {code}"));
                if self.tally.failures >= terms.limits.failures(terms.queue) {
                    let said = ended.heard.said.as_deref().map(|words| format!(": {words}")).unwrap_or_default();
                    effects.extend(self.finish(Finish::Error, format!("the agent {how}{said}")));
                    return effects;
                }
                effects.extend(match self.seen.clone() {
                    Some(seen) => self.gate(terms, seen, now),
                    None => self.finish(Finish::Error, format!("the agent {how}")),
                });
                effects
            }
        }
    }

    /// An iteration that never got to work is none.
    fn uncount(&mut self) {
        self.tally.iterations = self.tally.iterations.saturating_sub(1);
        self.tally.idle = self.tally.idle.saturating_sub(1);
    }

    /// A wait that outlasts the run is not begun.
    fn wait(&mut self, terms: &Terms, until: Ms, why: String) -> Vec<LoopEffect> {
        if self.deadline(terms).is_some_and(|deadline| until >= deadline) {
            return self.finish(Finish::Limit, format!("{why}, which is after the time that was allowed"));
        }
        self.to(Phase::Waiting, vec![LoopEffect::Save, LoopEffect::Wait { until, why }])
    }
}

fn doubled(first: i64, nth: u64, longest: i64) -> i64 {
    let doublings = u32::try_from(nth.clamp(1, 20) - 1).unwrap_or_default();
    first.saturating_mul(1_i64 << doublings).min(longest)
}
