//! What the dispatcher starts: hooks and the agent, what they say, and their end.

use super::{Dispatcher, Now, What};
use crate::agent::{self, Name};
use crate::carried::{self, Carried, CarriedTask};
use crate::child::{Doing, End, Running};
use crate::hook::{self, Found};
use crate::{RunMessage, RunnerError};
use engine::loops::{AgentEnd, EndedAgent, Hook, HookEnd, LoopEvent, values};
use engine::redact::text_without_secrets;
use model::run::{AgentOutput, AgentTrouble};
use model::task::TaskStatus;
use std::io::ErrorKind;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

impl Dispatcher<'_> {
    pub(super) fn start_hook(&mut self, hook: Hook) -> Option<HookEnd> {
        if hook != Hook::PostIteration {
            self.log.turn_back();
        }
        if self.job.worker.is_some() && matches!(hook, Hook::Started | Hook::Finished) {
            // Those of the whole are its coordinator's.
            return Some(HookEnd::None);
        }
        if let Some(words) = hook::changed_since(self.job) {
            self.warn(words);
        }
        let given = values(hook, &self.state, &self.job.terms, host::clock::now());
        let (command, setting) = match hook::find(self.job, hook, given) {
            Found::None => return Some(HookEnd::None),
            Found::Held(why) => {
                self.warn(why);
                return Some(HookEnd::None);
            }
            Found::Ready(command, setting) => (*command, setting),
        };
        self.checkpoints.looked_away();
        self.log.line("loop", &format!("Running hook: {}", hook.name()));
        if setting.background {
            self.log.flush();
            hook::in_background(&command, setting, self.log.path());
            return Some(HookEnd::None);
        }
        self.next_child += 1;
        match Running::start(command, self.next_child, None, &self.sender) {
            Ok(child) => {
                let limit = Duration::from_millis(setting.timeout_ms);
                self.run_child(child, What::Hook(hook), Some(limit));
                None
            }
            Err(error) => {
                self.warn(format!("Hook {} could not be started: {error}", hook.name()));
                Some(HookEnd::Broken)
            }
        }
    }

    pub(super) fn start_agent(&mut self, iteration: u64) -> Option<LoopEvent> {
        if let Err(error) = self.log.turn_to(iteration) {
            self.warn(error.to_string());
        }
        (self.heard, self.began, self.spoke) = (AgentOutput::default(), host::clock::now(), Instant::now());
        (self.commits_before, self.said_wait) = (self.state.tally.commits, None);
        self.tell.show(&RunMessage::IterationStarted { iteration });
        let prompt = self.prompt();
        self.task = self.run.task.clone();
        self.next_child += 1;
        let name = Name { agent: &self.agent, run: &self.run.id };
        match agent::start(self.job, &prompt, &name, self.next_child, &self.sender) {
            Ok(child) => {
                self.run.leader = Some(child.leader);
                self.run_child(child, What::Agent, None);
                self.save();
                None
            }
            Err(error) => {
                let what = error.to_string();
                let gone = matches!(&error, RunnerError::Start { source, .. }
                    if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied));
                let trouble = gone.then(|| AgentTrouble::NotStarted { what: what.clone() });
                self.heard = AgentOutput { said: Some(what), failed: true, trouble, ..AgentOutput::default() };
                let heard = self.heard.clone();
                Some(LoopEvent::AgentEnded(EndedAgent { exit: Some(127), ms: 0, heard, by: AgentEnd::Itself }))
            }
        }
    }

    /// The prompt, with what the iteration before left.
    fn prompt(&self) -> String {
        let store = self.run_store.store();
        let task = self.task.as_deref().or(self.run.task.as_deref());
        let task = task.and_then(|slug| store.task(&self.job.project, slug).ok().flatten());
        let claimed = |task: &model::task::Task| {
            task.queued.hold.as_ref().is_some_and(|hold| Some(&hold.agent) == self.run.agent.as_ref())
        };
        let came_back = |task: &model::task::Task| task.queued.status == TaskStatus::Open;
        let task = task.as_ref().filter(|task| claimed(task) || came_back(task));
        let note = store.hand_over(&self.agent, &self.job.project).ok().flatten();
        let carried = Carried {
            task: task.map(|task| CarriedTask { task, claimed: claimed(task) }),
            failure: self.state.tally.last_failure.as_deref(),
            note: note.as_ref().filter(|note| note.at >= self.run.started_at),
        };
        carried::prompt(&self.job.prompt, &carried)
    }

    /// From now on it runs, and is ended with the loop whatever ends that.
    pub(super) fn run_child(&mut self, child: Running, what: What, limit: Option<Duration>) {
        self.checkpoints.looked_away();
        if let Some(guard) = &mut self.guard {
            guard.watch(child.leader);
        }
        let deadline = limit.map(|limit| Instant::now() + limit);
        self.now = Some(Now { child, what, deadline, timed_out: false, ended_for: None });
    }

    pub(super) fn line(&mut self, child: u64, text: &[u8], whole: bool) {
        if let Some(now) = self.now.as_ref().filter(|now| now.child.id == child) {
            self.take_in(now.what, text, whole);
        }
    }

    pub(super) fn child_ended(&mut self) -> Option<LoopEvent> {
        let now = self.now.take()?;
        let (what, timed_out, id, since) = (now.what, now.timed_out, now.child.id, now.child.since);
        let ended_for = now.ended_for;
        let mut lines = Vec::new();
        let mut others = Vec::new();
        // Lines of the child that are still under way belong to it.
        let End { code, killed } = {
            let receiver = &self.receiver;
            let mut late = LateLines { dispatcher_lines: &mut lines, others: &mut others };
            now.child.reap(|| late.take(receiver, id))
        };
        for (text, whole) in lines {
            self.take_in(what, &text, whole);
        }
        for doing in others {
            let _ = self.sender.try_send(doing);
        }
        if let Some(guard) = &mut self.guard {
            guard.forget();
        }
        let ms = i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX);
        match what {
            What::Agent => {
                self.run.leader = None;
                self.task =
                    self.task.take().or_else(|| self.run_store.last_task(&self.job.project, &self.agent, self.began));
                let by = ended_for.unwrap_or(if killed { AgentEnd::Asked } else { AgentEnd::Itself });
                if let Some(what) = self.run_store.stopped_for_lease(&self.agent, self.began) {
                    self.warn(format!("{what}; the task goes back, and nothing is counted"));
                    self.heard.failed = true;
                    self.heard.trouble = Some(AgentTrouble::Unsure { what });
                }
                let exit = if self.restart && killed { Some(0) } else { code };
                Some(LoopEvent::AgentEnded(EndedAgent { exit, ms, heard: self.heard.clone(), by }))
            }
            What::Proof => {
                // Its group is stopped like an agent's, which says nothing of the work either.
                let lost = self.run_store.stopped_for_lease(&self.agent, self.began);
                if let Some(what) = &lost {
                    self.warn(format!("{what}; the task goes back, and nothing is counted"));
                }
                self.proof_ended(code, timed_out && lost.is_none(), killed || lost.is_some())
            }
            What::Hook(hook) => Some(LoopEvent::HookEnded(self.hook_end(hook, code, timed_out))),
        }
    }

    fn take_in(&mut self, what: What, text: &[u8], whole: bool) {
        match what {
            What::Proof => {
                self.proving.printed.take(text);
                if self.proving.printed.is_to_be_logged() {
                    self.log.line("verify", String::from_utf8_lossy(text).trim_end());
                }
            }
            What::Agent => {
                self.log.bytes(text);
                self.spoke = Instant::now();
                if whole {
                    // An agent that only the user's configuration knows is heard like the usual one.
                    let dialect = agents::ALL.find(&self.job.settings.agent).unwrap_or(agents::DEFAULT);
                    let before = self.heard.said.clone();
                    (dialect.launch.hear)(&String::from_utf8_lossy(text), &mut self.heard);
                    if let Some(text) = self.heard.said.clone().filter(|_| self.heard.said != before) {
                        self.tell.show(&RunMessage::AgentSaid { worker: None, text });
                    }
                }
            }
            What::Hook(hook) => {
                let text = text_without_secrets(String::from_utf8_lossy(text).trim_end());
                self.log.line(&format!("hook {}", hook.name()), &text);
                self.tell.show(&RunMessage::HookLine { hook: hook.name(), text });
            }
        }
    }

    fn hook_end(&mut self, hook: Hook, code: Option<i32>, timed_out: bool) -> HookEnd {
        let name = hook.name();
        match (timed_out, code) {
            (true, _) => {
                let seconds = self.job.settings.hooks.each.get(&hook).map_or(0, |setting| setting.timeout_ms / 1000);
                self.warn(format!("Hook {name} timed out after {seconds}s"));
                HookEnd::TimedOut
            }
            (_, Some(code)) => {
                match code {
                    0 => self.log.line("loop", &format!("Hook {name} completed successfully")),
                    1 => self.warn(format!("Hook {name} returned warning (exit 1)")),
                    2 => self.warn(format!("Hook {name} requested abort (exit 2)")),
                    code => self.warn(format!("Hook {name} failed with exit code {code}")),
                }
                HookEnd::Code(code)
            }
            (_, None) => {
                self.warn(format!("Hook {name} was ended by a signal"));
                HookEnd::Broken
            }
        }
    }
}

/// What comes out of the channel while a child is buried.
struct LateLines<'l> {
    dispatcher_lines: &'l mut Vec<(Vec<u8>, bool)>,
    /// Signals and answers, which are for later.
    others: &'l mut Vec<Doing>,
}

impl LateLines<'_> {
    fn take(&mut self, receiver: &Receiver<Doing>, id: u64) {
        while let Ok(doing) = receiver.try_recv() {
            match doing {
                Doing::Line { child, text, whole } if child == id => self.dispatcher_lines.push((text, whole)),
                Doing::Signal(_) | Doing::Answer(_) => self.others.push(doing),
                Doing::Line { .. } | Doing::Ended { .. } => {}
            }
        }
    }
}
