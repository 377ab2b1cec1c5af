//! The dispatcher: one thread that feeds the machine with what happened and
//! carries out what it decides. Everything else only reports to its channel.

mod checkpoints;
mod children;
mod proving;
mod waits;
mod watch;

use crate::checkpoint::{Checkpoints, Side};
use crate::child::{Doing, Running};
use crate::group_guard::GroupGuard;
use crate::job::Job;
use crate::log::Log;
use crate::run_store::RunStore;
use crate::{RunMessage, RunStatus, RunnerError, Tell, recover, work_state};
use engine::loops::{AgentEnd, Hook, Loop, LoopEffect, LoopEvent, Phase, Stop, WorkCount};
use model::run::{AgentOutput, Finish, Iteration, Run, RunMode, RunState, Tally};
use model::{ClientProcess, Ms};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use sys::signals;

const TICK: Duration = Duration::from_millis(250);
/// Lines that wait for the dispatcher; more hold the agent's pipe up.
const LINES: usize = 64;

/// A run that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    pub run: String,
    pub mode: RunMode,
    pub finish: Finish,
    pub why: String,
    pub tally: Tally,
    pub ms: i64,
    pub done: Option<u64>,
    pub left: Option<u64>,
    pub logs: PathBuf,
    pub branch: Option<String>,
}

/// Runs the job to its end.
pub fn run(job: &Job, tell: &dyn Tell) -> Result<RunSummary, RunnerError> {
    signals::ignore(libc::SIGPIPE);
    let (sender, receiver) = sync_channel(LINES);
    let signal = sender.clone();
    signals::listen(&[libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP], move |number| {
        let _ = signal.send(Doing::Signal(number));
    })
    .map_err(RunnerError::Signals)?;
    let mut dispatcher = Dispatcher::begin(job, tell, sender, receiver)?;
    dispatcher.play()
}

struct Dispatcher<'j> {
    job: &'j Job,
    tell: &'j dyn Tell,
    run_store: RunStore,
    log: Log,
    sender: SyncSender<Doing>,
    receiver: Receiver<Doing>,
    state: Loop,
    run: Run,
    /// The name the agent goes by.
    agent: String,
    /// The loop that started this one as its worker.
    parent: Option<ClientProcess>,
    guard: Option<GroupGuard>,
    now: Option<Now>,
    next_child: u64,
    heard: AgentOutput,
    /// When the agent said something last.
    spoke: Instant,
    began: Ms,
    commits_before: u64,
    restart: bool,
    checkpoints: Checkpoints,
    /// The commit that holds the tree as it was before this iteration.
    before: Option<String>,
    /// The task of this iteration or the one before, and what the agent ended without settling.
    task: Option<String>,
    forgotten: Option<String>,
    proving: proving::Proving,
    waiting: Option<waits::Waiting>,
    /// The wait that was said last: why, and until when.
    said_wait: Option<(String, Ms)>,
    question: Option<waits::PauseQuestion>,
    kept: Instant,
    asked: Instant,
    saved: Instant,
    shown: Instant,
}

/// What runs at this moment.
struct Now {
    child: Running,
    what: What,
    deadline: Option<Instant>,
    timed_out: bool,
    /// What an agent was ended for.
    ended_for: Option<AgentEnd>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Hook(Hook),
    Agent,
    Proof,
}

impl<'j> Dispatcher<'j> {
    fn begin(
        job: &'j Job,
        tell: &'j dyn Tell,
        sender: SyncSender<Doing>,
        receiver: Receiver<Doing>,
    ) -> Result<Self, RunnerError> {
        let mut run_store = RunStore::of(job)?;
        let mut run = recover::take_over(job, &mut run_store, tell)?;
        let short = run.short().to_string();
        let stamp: String = run.started_at.rfc3339().chars().filter(char::is_ascii_digit).take(14).collect();
        let log = Log::open(std::path::Path::new(&job.terms.log_dir), &format!("{stamp}-{short}"))?;
        run.logs = Some(log.folder().to_string_lossy().into_owned());
        let state = Loop::new(run.started_at, run.tally.clone());
        run.proves = proving::proves(job, &run, &run_store);
        run_store.save(&run)?;
        let checkpoints = checkpoints::begin(job, &run_store, &run.id);
        let past = Instant::now();
        Ok(Self {
            agent: run.agent_name(),
            job,
            tell,
            run_store,
            log,
            sender,
            receiver,
            state,
            run,
            parent: watch::parent(),
            guard: GroupGuard::start().ok(),
            now: None,
            next_child: 0,
            heard: AgentOutput::default(),
            spoke: past,
            began: host::clock::now(),
            commits_before: 0,
            restart: false,
            checkpoints,
            before: None,
            task: None,
            forgotten: None,
            proving: proving::Proving::default(),
            waiting: None,
            said_wait: None,
            question: None,
            kept: past,
            asked: past,
            saved: past,
            shown: past,
        })
    }

    fn play(&mut self) -> Result<RunSummary, RunnerError> {
        let first = if self.job.resumed.is_some() { LoopEvent::Resume } else { LoopEvent::Begin };
        let mut todo: VecDeque<LoopEffect> = self.step(first);
        loop {
            while let Some(effect) = todo.pop_front() {
                if let LoopEffect::End(finish) = effect {
                    return Ok(self.summary(finish));
                }
                if let Some(event) = self.act(effect) {
                    let more = self.step(event);
                    todo.extend(more);
                }
            }
            if let Some(event) = self.wait() {
                todo = self.step(event);
            }
        }
    }

    fn step(&mut self, event: LoopEvent) -> VecDeque<LoopEffect> {
        let (empty, before) = (Loop::new(self.run.started_at, Tally::default()), self.state.phase);
        let (state, effects) =
            std::mem::replace(&mut self.state, empty).step(&self.job.terms, event, host::clock::now());
        self.state = state;
        if before == Phase::Leaving && self.state.phase != before {
            // The iteration is over with its last hook, and so is its log.
            self.log.turn_back();
        }
        if watch::state_of(self.state.phase) == RunState::Running && self.run.live.state != RunState::Running {
            self.save();
        }
        effects.into()
    }

    /// Carries one effect out. Gives the event that follows at once, if one does.
    fn act(&mut self, effect: LoopEffect) -> Option<LoopEvent> {
        match effect {
            LoopEffect::RunHook(hook) => self.start_hook(hook).map(LoopEvent::HookEnded),
            LoopEffect::Look => Some(LoopEvent::Looked(self.look())),
            LoopEffect::Checkpoint { iteration } => {
                self.before = self.checkpoint(iteration, Side::Before);
                None
            }
            LoopEffect::PutAside { iteration } => {
                self.put_aside(iteration);
                None
            }
            LoopEffect::StartAgent { iteration } => self.start_agent(iteration),
            LoopEffect::Kill => {
                if let Some(now) = &mut self.now {
                    now.child.kill();
                }
                None
            }
            LoopEffect::Prove => self.prove(),
            LoopEffect::Release { reason, counts } => {
                self.release(reason, counts);
                None
            }
            LoopEffect::ClaimAgain => {
                if let Some(worker) = &self.job.worker {
                    // Refused where it rests, is given up, or is proven.
                    let (project, ms) = (&self.job.project, model::task::LEASE_MS);
                    let _ = self.run_store.claim_one(project, &worker.task, &worker.agent, ms);
                }
                None
            }
            LoopEffect::Record => {
                self.record();
                None
            }
            LoopEffect::Wait { until, why, kind } => {
                self.begin_wait(until, why, kind);
                None
            }
            LoopEffect::Pause => {
                self.begin_pause();
                None
            }
            LoopEffect::Wake => {
                (self.waiting, self.question) = (None, None);
                None
            }
            LoopEffect::Say(words) => {
                self.tell.show(&RunMessage::Note(words));
                None
            }
            LoopEffect::Save => {
                self.save();
                None
            }
            LoopEffect::Deregister => {
                // A worker was registered by its coordinator, which merges before it takes it off the list.
                if let Some(agent) = self.run.agent.clone().filter(|_| self.job.worker.is_none())
                    && let Err(error) = self.run_store.deregister(&agent)
                {
                    self.warn(format!("the worker could not be taken off the list: {error}"));
                }
                None
            }
            LoopEffect::End(_) => None,
        }
    }

    fn look(&mut self) -> engine::loops::WorkState {
        let mut seen = work_state::seen(self.job, &mut self.run_store, &self.run, host::clock::now());
        self.run_store.take_news().into_iter().for_each(|words| self.warn(words));
        self.checkpoints.looked(seen.head.clone(), seen.tree);
        if self.state.phase == Phase::Judging {
            seen.restart = self.restart || self.run_store.ran_full(&self.agent, self.began);
            seen.forgotten = self.forgotten.take();
        }
        self.restart = false;
        seen
    }

    /// Until something happened that the machine must know.
    fn wait(&mut self) -> Option<LoopEvent> {
        let left = self.waiting.as_ref().map(|wait| wait.until.0.saturating_sub(host::clock::now().0).max(0));
        let pause = left.map_or(TICK, |ms| TICK.min(Duration::from_millis(ms.cast_unsigned())));
        match self.receiver.recv_timeout(pause) {
            Ok(Doing::Signal(libc::SIGINT)) => return Some(LoopEvent::Stop(Stop::Soft)),
            Ok(Doing::Signal(libc::SIGQUIT)) => return Some(LoopEvent::Pause),
            Ok(Doing::Signal(_)) => return Some(LoopEvent::Stop(Stop::Hard)),
            Ok(Doing::Answer(answer)) => return self.answered(answer),
            Ok(Doing::Line { child, text, whole }) => self.line(child, &text, whole),
            Ok(Doing::Ended { child }) if self.now.as_ref().is_some_and(|now| now.child.id == child) => {
                return self.child_ended();
            }
            Ok(Doing::Ended { .. }) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        self.tick()
    }

    fn release(&mut self, reason: &str, counts: bool) {
        let Some(agent) = self.run.agent.clone() else { return };
        // Its hook may have come first, in the iteration that is judged.
        let since = (self.state.phase == Phase::Judging).then_some(self.began);
        let released = match counts {
            true => self.run_store.release_for(&agent, reason),
            false => self.run_store.hand_back(&agent, reason, since),
        };
        match released {
            // Nothing was forgotten by who was kept from working.
            Ok(slugs) if !counts => {
                for slug in slugs {
                    self.log.line("loop", &format!("task {slug} goes back and is not counted: {reason}"));
                }
            }
            Ok(slugs) => {
                self.forgotten = slugs.first().cloned();
                for slug in slugs {
                    self.warn(format!("agent {agent} {reason}, failing task {slug}"));
                }
            }
            Err(error) => self.warn(format!("tasks could not be released, their leases will lapse: {error}")),
        }
        if counts && self.forgotten.is_none() && self.run_store.left_unsettled(&agent, self.began) {
            self.forgotten = self.task.clone();
        }
    }

    fn record(&mut self) {
        let after = self.checkpoint(self.state.tally.iterations, Side::After);
        let tally = &self.state.tally;
        let heard = std::mem::take(&mut self.heard);
        let made = tally.commits.saturating_sub(self.commits_before);
        let failure = self.state.failure.clone();
        let iteration = Iteration {
            run: self.run.id.clone(),
            number: tally.iterations,
            started_at: self.began,
            ended_at: host::clock::now(),
            exit: tally.last_exit,
            commits: made,
            cost_micros: heard.cost_micros,
            outcome: if failure.is_none() && tally.last_exit == Some(0) { "ended" } else { "failed" }.to_string(),
            log: self.log.path().to_string_lossy().into_owned(),
            before: self.before.clone(),
            after,
            tokens: heard.tokens,
            task: self.task.clone(),
            said: heard.said,
            denied: heard.denied,
            failure,
        };
        let said = RunMessage::IterationEnded {
            iteration: iteration.number,
            exit: iteration.exit,
            commits: made,
            cost_micros: iteration.cost_micros,
            ms: tally.last_ms,
        };
        self.log.flush();
        if let Err(error) = self.run_store.save_iteration(&iteration) {
            self.warn(format!("this iteration could not be recorded: {error}"));
        }
        self.tell.show(&said);
        if !iteration.denied.is_empty() {
            self.warn(format!("the agent was not let do: {}", iteration.denied.join(", ")));
        }
    }

    /// A database that cannot be written costs resuming, not the run.
    fn save(&mut self) {
        self.run.tally = self.state.tally.clone();
        if self.state.phase == Phase::Running {
            // Whoever goes on after a kill knows what was spent by then.
            let (cost, tokens) = (self.heard.cost_micros.max(0), self.heard.tokens);
            self.run.tally.cost_micros = self.run.tally.cost_micros.saturating_add(cost);
            self.run.tally.tokens = self.run.tally.tokens.saturating_add(tokens);
        }
        self.run.live = self.progress();
        self.saved = Instant::now();
        (self.run.done, self.run.left) = self.counted();
        if self.state.phase == Phase::Over {
            (self.run.finish, self.run.finished_at) = (self.state.finish, Some(host::clock::now()));
            self.run.why = Some(self.state.why.clone());
        }
        if let Err(error) = self.run_store.save(&self.run) {
            self.warn(format!("the run could not be saved: {error}"));
        }
    }

    fn show(&mut self, now: Ms) {
        if self.shown.elapsed() < TICK {
            return;
        }
        self.shown = Instant::now();
        if self.state.phase == Phase::Paused {
            return;
        }
        if let Some(wait) = &self.waiting {
            let seconds = (wait.until.0 - now.0) / 1000;
            if seconds > 0 {
                self.tell.show(&RunMessage::Countdown { seconds, why: wait.why.clone() });
            }
            return;
        }
        let (done, left) = self.counted();
        self.tell.show(&RunMessage::Status(RunStatus {
            iteration: self.state.tally.iterations,
            elapsed_ms: now.since(self.run.started_at),
            cost_micros: self.state.tally.cost_micros + self.heard.cost_micros,
            context_tokens: self.heard.context_tokens,
            done,
            left,
            tool: self.heard.tool.clone(),
            task: self.run.task.clone().or_else(|| self.run.live.task.clone()),
            tokens: self.state.tally.tokens + self.heard.tokens,
            said: self.heard.said.clone(),
        }));
    }

    fn counted(&self) -> (Option<u64>, Option<u64>) {
        match self.state.seen.as_ref().map(|seen| seen.work) {
            Some(WorkCount::Counted { left, done, .. }) => (Some(done), Some(left)),
            _ => (None, None),
        }
    }

    fn summary(&mut self, finish: Finish) -> RunSummary {
        self.log.run_line("loop", &format!("finished: {} ({})", finish.name(), self.state.why));
        self.log.flush();
        self.run_store.settle();
        self.tell.show(&RunMessage::Finished { finish, why: self.state.why.clone() });
        let (done, left) = self.counted();
        RunSummary {
            run: self.run.id.clone(),
            mode: self.job.mode,
            finish,
            why: self.state.why.clone(),
            tally: self.state.tally.clone(),
            ms: host::clock::now().since(self.run.started_at),
            done,
            left,
            logs: self.log.folder().to_path_buf(),
            branch: self.run.branch.clone(),
        }
    }

    fn warn(&mut self, words: String) {
        self.log.line("warning", &words);
        self.tell.show(&RunMessage::Warning(words));
    }
}
