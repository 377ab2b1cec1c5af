//! What must be so after a fault: the answer that was given, and what is found when everything works again.

use super::home::{HELD, House, TASKS, WORKER};
use super::paths::Path;
use model::task::TaskStatus;
use serde_json::Value;
use std::time::Duration;
use store::{EventFilter, Store, TaskFilter};
use testkit::Ending;
use testkit::faults::{FaultKind, FaultRun};

/// One try, as it ended.
pub struct Try<'h> {
    pub house: &'h House,
    pub path: Path,
    pub kind: Option<FaultKind>,
    pub id: String,
    pub run: &'h FaultRun,
}

impl Try<'_> {
    /// Everything that is wrong, a sentence each.
    pub fn wrong(&self, state: &std::path::Path) -> Vec<String> {
        let mut wrong = Vec::new();
        if !self.killed() {
            wrong.extend(self.ending());
            wrong.extend(self.decision());
        }
        match Store::open(state, Duration::from_secs(5)) {
            Err(_) if self.path == Path::FirstGuard && !state.join(store::DATABASE).exists() => {}
            Err(cause) => wrong.push(format!("the database does not open afterwards: {cause}")),
            Ok(store) => wrong.extend(self.found(store)),
        }
        wrong
    }

    fn killed(&self) -> bool {
        self.kind == Some(FaultKind::Kill) && self.run.finished.ending == Ending::Signal(libc::SIGKILL)
    }

    fn succeeded(&self) -> bool {
        self.run.finished.ending == Ending::Code(0)
    }

    /// D4: a hook ends with 0; a command with a code that is documented. D6: in time.
    fn ending(&self) -> Option<String> {
        let ended = &self.run.finished;
        let lawful: &[i32] = match self.path {
            path if path.is_hook() => &[0],
            // A file that cannot be looked at is told to be missing.
            Path::Check => &[0, 1, 2],
            _ => &[0, 1],
        };
        match ended.ending {
            Ending::Code(code) if lawful.contains(&code) => {}
            Ending::TimedOut => return Some(format!("no answer within {:?}", self.path.limit())),
            other => return Some(format!("ended with {other:?}: {}", ended.stderr_text().trim())),
        }
        (ended.took > self.path.limit()).then(|| format!("answered after {:?}", ended.took))
    }

    /// D5, T1: no verdict is not a pass.
    fn decision(&self) -> Option<String> {
        if !self.path.is_guard() {
            return None;
        }
        let text = self.run.finished.stdout_text();
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        let decision = said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default();
        let stops = matches!(decision, "deny" | "ask");
        (!stops).then(|| format!("the guard let it pass: {text:?} {}", self.run.finished.stderr_text().trim()))
    }

    fn found(&self, mut store: Store) -> Vec<String> {
        let mut wrong = Vec::new();
        if let Err(cause) = store.ingest_spool() {
            wrong.push(format!("the spool cannot be taken in afterwards: {cause}"));
        }
        match store.check() {
            Ok(report) => wrong.extend(report.problems),
            Err(cause) => wrong.push(format!("the database cannot be checked afterwards: {cause}")),
        }
        wrong.extend(self.events(&store));
        if self.path != Path::FirstGuard {
            wrong.extend(self.tasks(&store));
        }
        wrong
    }

    /// T4: what was answered is stored, counted as lost, or said to be lost.
    fn events(&self, store: &Store) -> Option<String> {
        let events = match store.events(&EventFilter::default()) {
            Ok(events) => events,
            Err(cause) => return Some(format!("events cannot be listed: {cause}")),
        };
        let before = if self.path == Path::FirstGuard { 0 } else { self.house.events };
        if events.len() < before {
            return Some(format!("{} events are left of {before}", events.len()));
        }
        let stored = match self.path {
            // Others write into the shared one.
            Path::DaemonGuard => events.iter().any(|event| event.key.contains(&self.id)),
            // Where its input could not be read, it has another key.
            _ => events.len() > before,
        };
        let counted = store::unstored(store.path().parent().expect("it lies in a folder")).events > 0;
        // A daemon that can write nothing at all has no log to say it in.
        let mute = self.path == Path::DaemonServes && matches!(self.kind, Some(FaultKind::Lasting(_)));
        let said = mute || !self.run.finished.stderr_text().is_empty();
        let answered = self.path.is_hook() && !self.killed();
        (answered && !stored && !counted && !said)
            .then(|| "the event is neither stored, nor counted as lost, nor said to be".to_owned())
    }

    /// Q2, Q3: no task lost, none done twice, and what was acknowledged is so.
    fn tasks(&self, store: &Store) -> Vec<String> {
        let mut wrong = Vec::new();
        let project = self.house.sandbox.project().canonicalize().unwrap().to_string_lossy().into_owned();
        let tasks = match store.tasks(&project, &TaskFilter::default()) {
            Ok(tasks) => tasks,
            Err(cause) => return vec![format!("tasks cannot be listed: {cause}")],
        };
        if tasks.len() != TASKS {
            return vec![format!("{} tasks are left of {TASKS}", tasks.len())];
        }
        let held = tasks.iter().find(|task| task.plan.slug == HELD).expect("it is there");
        let status = held.queued.status;
        let acknowledged = match self.path {
            Path::Done => Some(TaskStatus::Done),
            Path::Release => Some(TaskStatus::Open),
            _ => None,
        };
        match acknowledged {
            Some(wanted) if self.succeeded() && status != wanted => {
                wrong.push(format!("acknowledged as {}, and is {}", wanted.name(), status.name()));
            }
            Some(wanted) if status != wanted && status != TaskStatus::Active => {
                wrong.push(format!("neither as before nor as wanted: {}", status.name()));
            }
            None if self.path != Path::End && status != TaskStatus::Active => {
                wrong.push(format!("somebody else's task became {}", status.name()));
            }
            _ => {}
        }
        if self.path == Path::Claim && self.succeeded() {
            let text = self.run.finished.stdout_text();
            let claimed: Value = serde_json::from_str(&text).unwrap_or_default();
            let told = claimed["id"].as_str().unwrap_or_default();
            let theirs = tasks.iter().find(|task| task.plan.slug == told);
            let holder = theirs.and_then(|task| task.queued.hold.as_ref()).map(|hold| hold.agent.as_str());
            if holder != Some(WORKER) {
                wrong.push(format!("acknowledged as claimed and held by {holder:?}: {text:?}"));
            }
        }
        wrong
    }
}
