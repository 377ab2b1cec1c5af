//! A working day on one database, told commit by commit, and what must be left of it after a cut.

use super::fingerprint;
use engine::queue::{Actor, Claimant, SESSION_EXITED, Speaker};
use model::effect::{Audience, Injection, Write};
use model::task::ClockReading;
use model::{Call, Environment, Ms};
use pipeline::queue::{Queue, Settled};
use pipeline::{Pipeline, PipelineSetup};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use store::{Durability, Retention, Store};
use tempfile::TempDir;
use testkit::disk::{Cut, Disk, Op, lay_out};

const PROJECT: &str = "/p";
const PATIENCE: Duration = Duration::from_secs(5);

/// What an acknowledgement is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// It outlives a power cut.
    Kept,
    /// It may be lost with the power, and with nothing less.
    Sound,
}

/// One acknowledged commit.
#[derive(Debug)]
pub struct Commit {
    pub what: String,
    pub promise: Promise,
    /// How much had happened on the disk when it began and when it was acknowledged.
    pub begun: usize,
    pub acknowledged: usize,
    pub holds: u64,
}

/// The story and every write it made.
#[derive(Debug)]
pub struct Told {
    pub ops: Vec<Op>,
    pub begun: usize,
    pub commits: Vec<Commit>,
}

pub struct Story {
    home: TempDir,
    disk: Disk,
    store: Store,
    pipeline: Pipeline,
    moment: ClockReading,
    commits: Vec<Commit>,
}

impl Story {
    /// Events, claims, results, releases, checkpoints and forgetting, in an order as a day has it.
    pub fn whole() -> Told {
        let mut story = Self::begin();
        story.events(6);
        story.plan(8);
        story.claim("w1");
        story.events(4);
        story.done("w1");
        story.claim("w1");
        story.claim("w2");
        story.checkpoint();
        story.release("w2");
        story.hooks_release("w1");
        story.events(8);
        story.spooled();
        story.events(4);
        story.claim("w3");
        story.prune();
        story.cut_log();
        story.done("w3");
        story.events(3);
        story.checkpoint();
        // After a whole checkpoint the next commit begins the log anew, over the old one.
        story.claim("w4");
        story.events(5);
        story.hooks_release("w4");
        story.checkpoint();
        story.events(2);
        story.end()
    }

    fn begin() -> Self {
        let home = tempfile::tempdir().unwrap();
        let state = state_folder(home.path());
        let disk = Disk::under(&state);
        let store = Store::open(&state, PATIENCE).unwrap();
        let setting = PipelineSetup {
            state: state.clone(),
            home: home.path().join("home"),
            user_config: home.path().join("home/config.toml"),
            patience: PATIENCE,
            dialects: agents::ALL,
        };
        let created = Commit {
            what: "created".into(),
            promise: Promise::Sound,
            begun: 0,
            acknowledged: disk.len(),
            holds: fingerprint::of(&state).unwrap(),
        };
        let moment = ClockReading { now: Ms(1_800_000_000_000), awake: 5_000, boot: "boot".into() };
        Self { home, disk, store, pipeline: Pipeline::new(setting), moment, commits: vec![created] }
    }

    fn end(self) -> Told {
        assert!(self.commits.len() > 40, "the story is worth telling");
        Told { ops: self.disk.ops(), begun: 0, commits: self.commits }
    }

    fn commit(&mut self, promise: Promise, what: &str, work: impl FnOnce(&mut Self)) {
        let begun = self.disk.len();
        self.moment.now = self.moment.now.plus(1_000);
        self.moment.awake += 1_000;
        work(self);
        let acknowledged = self.disk.len();
        let holds = fingerprint::of(&state_folder(self.home.path())).unwrap();
        let what = format!("{what} ({})", self.commits.len());
        self.commits.push(Commit { what, promise, begun, acknowledged, holds });
    }

    fn events(&mut self, many: usize) {
        for nth in 0..many {
            self.commit(Promise::Sound, "event", |story| {
                // Some take more than a page.
                let text = "x".repeat(if nth % 3 == 0 { 9_000 } else { 40 });
                let session = format!("s{}", story.commits.len());
                let told = Write::Injection(Injection { session, audience: Audience::Model, text });
                story.store.transact(Durability::Normal, |tx| tx.apply(&[told])).unwrap();
            });
        }
    }

    fn plan(&mut self, tasks: usize) {
        let lines: String = (0..tasks).map(|n| format!("{{\"id\":\"t{n}\",\"t\":\"T\"}}\n")).collect();
        self.commit(Promise::Kept, "plan", |story| {
            story.queue().plan_sync(PROJECT, &lines, &Speaker::Person).unwrap();
        });
    }

    fn claim(&mut self, agent: &str) {
        let claimant = Claimant::agent(agent, 600_000);
        self.commit(Promise::Kept, "claim", |story| {
            story.queue().claim_first(PROJECT, &claimant).unwrap().expect("there is a task");
        });
    }

    fn done(&mut self, agent: &str) {
        let slug = self.held_by(agent);
        let actor = Actor { agent: agent.into(), attempt: None, token: None, speaker: Speaker::Person };
        self.commit(Promise::Kept, "done", |story| {
            assert_eq!(story.queue().done(PROJECT, &slug, &actor, json!({"ok": slug})).unwrap(), Settled::Now);
        });
    }

    fn release(&mut self, agent: &str) {
        self.commit(Promise::Kept, "release", |story| {
            assert_eq!(story.queue().release_all(agent, SESSION_EXITED).unwrap().len(), 1);
        });
    }

    /// The end of a session releases what its agent holds, in the hook itself.
    fn hooks_release(&mut self, agent: &str) {
        let slug = self.held_by(agent);
        self.commit(Promise::Sound, "hook start", |story| {
            story.hook(agent, "SessionStart", json!({"source": "startup"}))
        });
        self.commit(Promise::Sound, "hook tool", |story| {
            let input = json!({"command": "ls"});
            story.hook(agent, "PreToolUse", json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": "t"}));
        });
        self.commit(Promise::Kept, "hook end", |story| story.hook(agent, "SessionEnd", json!({"reason": "other"})));
        let task = self.store.task(PROJECT, &slug).unwrap().unwrap();
        assert!(task.queued.hold.is_none(), "the hook released it");
    }

    /// An event the database could not take is taken in: its line is deleted next, so it must be kept.
    fn spooled(&mut self) {
        let state = state_folder(self.home.path());
        let event = self.store.events(&store::EventFilter { limit: 1, ..Default::default() }).unwrap().remove(0);
        let again = model::row::Event { id: "spooled".into(), key: "spooled".into(), ..event };
        store::spool(&state, &again).unwrap();
        self.commit(Promise::Kept, "spool", |story| {
            assert_eq!(story.store.ingest_spool().unwrap().events, 1);
        });
    }

    fn prune(&mut self) {
        self.commit(Promise::Sound, "prune", |story| {
            let keep = Retention { events_ms: 0, rows: 3, ..Retention::default() };
            story.store.prune(story.moment.now, &keep).unwrap();
        });
    }

    /// By another connection, as the daemon does it: nothing is committed, everything moves.
    fn checkpoint(&mut self) {
        self.commit(Promise::Sound, "checkpoint", |story| {
            let log = story.other().checkpoint().unwrap();
            assert_eq!(log.pages, log.moved);
        });
    }

    /// As a process without a daemon does it: the log is cut to nothing.
    fn cut_log(&mut self) {
        for _ in 0..30 {
            self.events(2);
        }
        self.commit(Promise::Sound, "settle", |story| {
            story.other().settle().unwrap();
            let log = state_folder(story.home.path()).join("taut.db-wal");
            assert_eq!(std::fs::metadata(log).unwrap().len(), 0, "the log was long enough to be cut");
        });
    }

    fn hook(&mut self, agent: &str, event: &str, fields: Value) {
        let mut payload = json!({"session_id": format!("host-{agent}"), "cwd": PROJECT, "hook_event_name": event});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let served = self.pipeline.handle(Call {
            request: format!("request-{}", self.commits.len()),
            agent: "claude-code".into(),
            stdin: payload.to_string().into_bytes(),
            cwd: PROJECT.into(),
            env: Environment([("RALPH_AGENT_ID".to_owned(), agent.to_owned())].into()),
            parent: None,
            at: self.moment.now,
        });
        assert_eq!(served.troubles, Vec::<String>::new());
    }

    fn held_by(&self, agent: &str) -> String {
        let holders = self.store.holders().unwrap();
        holders.into_iter().find(|(holder, _)| holder == agent).expect("it holds one").1
    }

    fn queue(&mut self) -> Queue<'_, impl Fn() -> ClockReading> {
        let moment = self.moment.clone();
        Queue::new(&mut self.store, move || moment.clone())
    }

    fn other(&self) -> Store {
        Store::open(&state_folder(self.home.path()), PATIENCE).unwrap()
    }
}

impl Told {
    /// What a cut after `at` operations breaks, in a sentence.
    pub fn broken_by(&self, ops: &[Op], at: usize, cut: Cut) -> Result<(), String> {
        let say = |what: String| format!("{what}; cut {at} of {}, {cut:?}", ops.len());
        let home = tempfile::tempdir().unwrap();
        let folder = state_folder(home.path());
        lay_out(&ops[..at], cut, &folder).unwrap();
        let store = Store::open(&folder, PATIENCE).map_err(|cause| say(format!("it does not open: {cause}")))?;
        let report = store.check().map_err(|cause| say(format!("it cannot be checked: {cause}")))?;
        if !report.problems.is_empty() {
            return Err(say(format!("{:?}", report.problems)));
        }
        let whole: String = fingerprint::look(&folder)
            .and_then(|conn| conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)))
            .map_err(|cause| say(format!("integrity cannot be checked: {cause}")))?;
        if whole != "ok" {
            return Err(say(whole));
        }
        let holds = fingerprint::of(&folder).map_err(|cause| say(format!("it cannot be read: {cause}")))?;
        let promised =
            |commit: &Commit| commit.acknowledged <= at && (cut == Cut::Process || commit.promise == Promise::Kept);
        let least = self.commits.iter().rposition(promised).unwrap_or(0);
        let most = self.commits.iter().rposition(|commit| commit.begun < at).unwrap_or(0);
        if self.commits[least..=most].iter().any(|commit| commit.holds == holds) {
            return Ok(());
        }
        let found = self.commits.iter().rfind(|commit| commit.holds == holds);
        let found = found.map_or("no commit", |commit| commit.what.as_str());
        Err(say(format!("promised was {}, and what is left is {found}", self.commits[least].what)))
    }
}

/// Private, as Taut makes it.
pub fn state_folder(home: &Path) -> std::path::PathBuf {
    use std::os::unix::fs::DirBuilderExt;
    let folder = home.canonicalize().unwrap().join("state");
    std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&folder).unwrap();
    folder
}
