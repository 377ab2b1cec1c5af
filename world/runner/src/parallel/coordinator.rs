//! The coordinator's one thread: what happened comes in over a channel, what
//! comes next is decided by the engine, and carried out here.

use super::bounded::Cancel;
use super::git::Git;
use super::land::LoopBranch;
use super::merging::MergeEnd;
use super::outcome::{ParallelSummary, TaskOutcome};
use super::prepare::Unprepared;
use super::remote::Remote;
use super::remote_rest::RemoteRest;
use super::worker::Claim;
use crate::child::{Doing, Running};
use crate::job::Job;
use crate::log::Log;
use crate::run_store::RunStore;
use crate::{RunMessage, RunnerError, Tell, recover};
use engine::loops::{AlikeFailures, Coordination, CoordinatorStep, Hook, HookEnd, HookStage, WorkCount};
use model::run::{Finish, Run, RunWish};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};
use sys::signals;

const TICK: Duration = Duration::from_millis(200);
/// Leases are renewed this often.
pub(super) const KEEP_EVERY: Duration = Duration::from_secs(5);
/// Wishes are looked for, and the sums made, this often.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A worker that was told to end gets so long.
pub(super) const WORKER_GRACE: Duration = Duration::from_secs(15);
/// What is proven when all of it ends gets so long to land, and twice the time of a verification where that is longer.
const LANDING_GRACE: Duration = Duration::from_secs(120);
const LINES: usize = 256;

/// What a thread or a process reports.
pub(super) enum Happened {
    Child(Doing),
    Prepared {
        slot: usize,
        made: Result<(), Unprepared>,
    },
    Merged(MergeEnd),
    /// A line of something that the coordinator itself runs for a task.
    Line {
        slug: String,
        what: &'static str,
        text: String,
    },
}

/// The place of one worker.
pub(super) struct Slot {
    pub claim: Claim,
    pub stage: Stage,
}

pub(super) enum Stage {
    Preparing,
    Working(Running),
}

/// How far a wish to end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stopping {
    No,
    Soft,
    Hard,
}

pub(super) struct Coordinator<'j> {
    pub job: &'j Job,
    pub tell: &'j dyn Tell,
    pub run_store: RunStore,
    pub log: Log,
    pub run: Run,
    pub short: String,
    pub git: Git,
    pub target: LoopBranch,
    /// Where several machines work on the project.
    pub remote: Option<Remote>,
    pub remote_rest: RemoteRest,
    pub children: SyncSender<Doing>,
    pub sender: Sender<Happened>,
    receiver: Receiver<Happened>,
    pub slots: Vec<Option<Slot>>,
    /// Claimed already, and next to be started: tasks of conflicts.
    pub claimed: VecDeque<Claim>,
    /// Said to be done, in the order of the queue.
    pub to_merge: Vec<Claim>,
    pub merging: Option<Claim>,
    /// Branches whose conflict is somebody's task: the branch's own claim, and that task's slug.
    pub conflicts: Vec<(Claim, String)>,
    /// Of what is merged; a limit lets that come to its end.
    pub cancel: Cancel,
    /// Of work trees that are set up.
    pub cancel_setup: Cancel,
    pub stopping: Stopping,
    /// What the workers were told: a second soft word would kill what the first lets end.
    pub told: Stopping,
    pub paused: bool,
    /// A limit holds: nothing new is begun.
    pub ending: Option<(Finish, String)>,
    /// Since when only merges are waited for, at the end.
    landing_since: Option<Instant>,
    pub failures: AlikeFailures,
    /// Workers that have come to their first iteration.
    pub begun: BTreeSet<String>,
    pub outcomes: BTreeMap<String, TaskOutcome>,
    pub order: Vec<String>,
    pub next_child: u64,
    pub work: WorkCount,
    pub kept: Instant,
    pub looked: Instant,
    /// Nothing is claimed before.
    pub rest_until: Option<Instant>,
    /// Why nothing could be claimed at the last try, in words: said once.
    pub unclaimed: Option<String>,
}

/// Runs the queue with several workers to its end.
pub fn coordinate(job: &Job, tell: &dyn Tell) -> Result<ParallelSummary, RunnerError> {
    signals::ignore(libc::SIGPIPE);
    let mut coordinator = Coordinator::begin(job, tell)?;
    let (finish, why) = coordinator.play();
    coordinator.finish(finish, why)
}

impl<'j> Coordinator<'j> {
    fn begin(job: &'j Job, tell: &'j dyn Tell) -> Result<Self, RunnerError> {
        let git = Git::at(&job.folder);
        let Some(head) = git.commit("HEAD") else {
            let said = "workers need a git repository with a commit to branch from; `git commit` makes one".to_string();
            return Err(RunnerError::Git { what: "rev-parse HEAD".to_string(), said });
        };
        // Before anything is on record: a loop whose results could not get there does not begin.
        let checked_out = git.text(&["symbolic-ref", "-q", "--short", "HEAD"]).filter(|name| !name.is_empty());
        let remote = job.settings.push.as_deref();
        let goes_on = job.resumed.as_ref().and_then(|run| run.branch.clone());
        let own = goes_on.or_else(|| checked_out.clone());
        if let (Some(name), Some(branch)) = (remote, &own) {
            // It may take a while, and what waits for a network is not to look as if it hung.
            tell.show(&RunMessage::Note(format!("asks {name} for {branch}")));
        }
        let remote = remote.map(|name| Remote::of(&git, name, own.as_deref(), &job.state)).transpose()?;
        let mut run_store = RunStore::of(job)?;
        let left_by = run_store.store().unfinished_runs(&job.folder.to_string_lossy())?;
        let mut run = recover::take_over(job, &mut run_store, tell)?;
        // A run that goes on does so on the branch it began on, whatever is checked out by now.
        let own = run.branch.clone().or(checked_out);
        (run.branch, run.proves) = (own.clone(), true);
        run.base.get_or_insert(head);
        let short: String = run.id.chars().rev().take(8).collect::<Vec<_>>().into_iter().rev().collect();
        let stamp: String = run.started_at.rfc3339().chars().filter(char::is_ascii_digit).take(14).collect();
        let log = Log::open(Path::new(&job.terms.log_dir), &format!("{stamp}-{short}"))?;
        run.logs = Some(log.folder().to_string_lossy().into_owned());
        run_store.save(&run)?;
        let (sender, receiver) = channel();
        let children = forward(&sender)?;
        let past = Instant::now().checked_sub(KEEP_EVERY).unwrap_or_else(Instant::now);
        let target =
            LoopBranch { own, aside: format!("taut/{short}/_merged"), base: run.base.clone().unwrap_or_default() };
        let mut coordinator = Self {
            slots: (0..job.settings.workers).map(|_| None).collect(),
            job,
            tell,
            run_store,
            log,
            run,
            short,
            git,
            target,
            remote,
            remote_rest: RemoteRest::default(),
            children,
            sender,
            receiver,
            claimed: VecDeque::new(),
            to_merge: Vec::new(),
            merging: None,
            conflicts: Vec::new(),
            cancel: Cancel::default(),
            cancel_setup: Cancel::default(),
            stopping: Stopping::No,
            told: Stopping::No,
            paused: false,
            ending: None,
            landing_since: None,
            failures: AlikeFailures::default(),
            begun: BTreeSet::new(),
            outcomes: BTreeMap::new(),
            order: Vec::new(),
            next_child: 0,
            work: WorkCount::Unknown,
            kept: past,
            looked: past,
            rest_until: None,
            unclaimed: None,
        };
        coordinator.adopt(&left_by)?;
        Ok(coordinator)
    }

    fn play(&mut self) -> (Finish, String) {
        // A run that goes on has started before.
        let started = if self.job.resumed.is_some() { HookEnd::None } else { self.hook(Hook::Started) };
        if started.stage(Hook::Started, self.job.terms.on_hook_failure) == HookStage::Abort {
            return (Finish::HookAbort, "the hook `started` asked to stop".to_string());
        }
        loop {
            self.look();
            let pause = match self.step() {
                Err(over) => return over,
                Ok(pause) => pause,
            };
            self.merge_next();
            if let Ok(happened) = self.receiver.recv_timeout(pause) {
                self.take_in(happened);
                while let Ok(more) = self.receiver.try_recv() {
                    self.take_in(more);
                }
            }
            self.press();
        }
    }

    /// Begins what can be begun. Gives how long to wait, or how all of it ends.
    fn step(&mut self) -> Result<Duration, (Finish, String)> {
        loop {
            let now = host::clock::now();
            let state = self.coordination();
            self.bound_landing(&state);
            if let Some(over) = self.ending.clone() {
                return if state.working + state.merging == 0 { Err(over) } else { Ok(TICK) };
            }
            match engine::loops::coordinate(&state, &self.job.terms.limits, now) {
                CoordinatorStep::End { finish, why } => return Err((finish, why)),
                CoordinatorStep::Drain { finish, why, at_once } => {
                    self.end_with(finish, why, if at_once { Stopping::Hard } else { Stopping::Soft });
                }
                CoordinatorStep::Wait(_) => return Ok(TICK),
                CoordinatorStep::Start if self.waits_for_remote() => return Ok(TICK),
                CoordinatorStep::Start if self.rest_until.is_some_and(|until| Instant::now() < until) => {
                    return Ok(TICK);
                }
                CoordinatorStep::Start => {
                    if !self.start_next() {
                        self.rest_until = Some(Instant::now() + LOOK_EVERY);
                        self.looked = Instant::now();
                        return Ok(TICK);
                    }
                }
            }
        }
    }

    /// Nothing new is begun.
    pub(super) fn end_for(&mut self, finish: Finish, why: &str) {
        if self.ending.is_none() {
            self.say(&format!("{}: {why}; what runs is ended first", finish.name()));
            self.ending = Some((finish, why.to_string()));
        }
    }

    /// Nothing new is begun; workers end, and what is proven lands.
    pub(super) fn end_with(&mut self, finish: Finish, why: String, how: Stopping) {
        self.end_for(finish, &why);
        self.stop_workers(how);
    }

    pub(super) fn ends(&self) -> bool {
        self.ending.is_some() || self.stopping != Stopping::No
    }

    /// What is proven lands before the end, but not for ever. The rest is on record: whoever goes on merges it.
    fn bound_landing(&mut self, state: &Coordination) {
        if !self.ends() || state.working > 0 {
            return;
        }
        let verify = Duration::from_millis(self.job.settings.verify_ms.max(0).cast_unsigned());
        let since = *self.landing_since.get_or_insert_with(Instant::now);
        if since.elapsed() > verify.saturating_mul(2).max(LANDING_GRACE) {
            self.cancel.now();
            self.to_merge.clear();
        }
    }

    fn coordination(&self) -> Coordination {
        let waits = self.claimed.len() + self.to_merge.len() + usize::from(self.merging.is_some());
        // What is claimed and not begun is begun before anything else is claimed.
        let work = match self.work {
            WorkCount::Counted { done, .. } if !self.claimed.is_empty() && self.stopping == Stopping::No => {
                WorkCount::Counted { left: 1, done, open: engine::loops::Open::Now }
            }
            work => work,
        };
        let unbegun = self.slots.iter().flatten().filter(|slot| !self.begun.contains(&slot.claim.agent)).count();
        Coordination {
            working: self.slots.iter().flatten().count(),
            merging: waits,
            workers: self.slots.len(),
            work,
            iterations: self.run.tally.iterations,
            iterations_given: self.run.tally.iterations + unbegun as u64,
            cost_micros: self.run.tally.cost_micros,
            started_at: self.run.started_at,
            stopping: self.stopping != Stopping::No,
            paused: self.paused,
            same_failures: self.failures.count(),
            last_failure: self.failures.last().map(String::from),
        }
    }

    fn take_in(&mut self, happened: Happened) {
        match happened {
            Happened::Child(Doing::Signal(libc::SIGINT)) => {
                let how = if self.stopping == Stopping::No { Stopping::Soft } else { Stopping::Hard };
                self.stop(how);
            }
            Happened::Child(Doing::Signal(libc::SIGQUIT)) => {
                self.wish(if self.paused { RunWish::GoOn } else { RunWish::Pause });
            }
            Happened::Child(Doing::Signal(_)) => self.stop(Stopping::Hard),
            // Nothing is asked here.
            Happened::Child(Doing::Answer(_)) => {}
            Happened::Child(Doing::Line { child, text, .. }) => self.worker_line(child, &text),
            Happened::Child(Doing::Ended { child }) => self.worker_ended(child),
            Happened::Prepared { slot, made } => self.prepared(slot, made),
            Happened::Merged(end) => self.merged(end),
            Happened::Line { slug, what, text } => {
                self.log.line(&format!("{what} {slug}"), text.trim_end());
            }
        }
    }

    pub(super) fn worktrees(&self) -> PathBuf {
        self.job.state.join("worktrees").join(&self.short)
    }

    pub(super) fn say(&mut self, words: &str) {
        self.log.line("loop", words);
        self.tell.show(&RunMessage::Note(words.to_string()));
    }

    pub(super) fn warn(&mut self, words: &str) {
        self.log.line("warning", words);
        self.tell.show(&RunMessage::Warning(words.to_string()));
    }
}

/// What a worker is called on the screen.
pub(super) fn name(slot: usize) -> String {
    format!("w{}", slot + 1)
}

/// Signals and the lines and ends of children, into the one channel.
fn forward(into: &Sender<Happened>) -> Result<SyncSender<Doing>, RunnerError> {
    let (children, doings) = sync_channel(LINES);
    let signal = into.clone();
    signals::listen(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT], move |number| {
        let _ = signal.send(Happened::Child(Doing::Signal(number)));
    })
    .map_err(RunnerError::Signals)?;
    let into = into.clone();
    std::thread::spawn(move || {
        while let Ok(doing) = doings.recv() {
            if into.send(Happened::Child(doing)).is_err() {
                return;
            }
        }
    });
    Ok(children)
}
