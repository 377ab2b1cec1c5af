//! A server with our schema, and machines that share it.

use engine::queue::{Actor, Claimant, Speaker};
use model::effect::Write;
use model::effort::{Addressee, MemoryWrite, Message};
use model::task::{Task, TaskPlan};
use model::{Call, Environment};
use pipeline::queue::{Claimed, Queue, QueueError, Settled};
use pipeline::{Pipeline, PipelineSetup, Response, SharedSettings};
use serde_json::{Value, json};
use service::workers::shared::{SharedReport, SharedRounds};
use service::{ProjectQueue, shared_target};
use shared_store::{Connection, Patience, Schema, Surroundings, Target, TargetWish};
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{Durability, MessageFilter, Store};
use tempfile::TempDir;
use testkit::postgres::{Cluster, OWNER};

/// For what is not waited for by the machines themselves.
pub const PLENTY: Patience = Patience { connect: Duration::from_secs(60), flight: Duration::from_secs(60) };
pub const QUEUE: &str = "acme/shop";

/// A new database with our schema.
pub struct Server {
    cluster: &'static Cluster,
    database: String,
}

/// A home with the daemon's rounds and the way of hooks in it.
pub struct Machine {
    root: TempDir,
    pub setting: PipelineSetup,
    pub pipeline: Pipeline,
    pub rounds: SharedRounds,
    label: String,
    calls: u64,
}

impl Server {
    /// `None` where there is no PostgreSQL, which is then said.
    pub fn start() -> Option<Self> {
        let cluster = Cluster::shared()?;
        let server = Self { cluster, database: cluster.database() };
        shared_store::migrate(&server.owned(), &Self::schema(), PLENTY).unwrap();
        Some(server)
    }

    pub fn schema() -> Schema {
        Schema::named("taut").unwrap()
    }

    /// As its owner reaches it.
    fn owned(&self) -> Target {
        let wish = TargetWish { url: Some(self.url(OWNER)), ..TargetWish::default() };
        Target::resolve(&wish, &Surroundings::default()).unwrap()
    }

    pub fn owner(&self) -> Connection {
        Connection::open(&self.owned(), PLENTY).unwrap()
    }

    pub fn url(&self, role: &str) -> String {
        self.cluster.url(role, &self.database)
    }

    pub fn sql(&self, statement: &str) -> String {
        self.cluster.sql(&self.database, statement).trim().to_string()
    }

    pub fn count(&self, table: &str) -> u64 {
        self.sql(&format!("SELECT count(*) FROM taut.{table}")).parse().unwrap()
    }

    /// All that anybody could read there.
    pub fn dump(&self) -> String {
        let tables = "SELECT string_agg(format('SELECT row_to_json(t)::text FROM taut.%I t', c.relname), ' UNION ALL ')
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'taut' AND c.relkind IN ('r', 'p')";
        self.sql(&self.sql(tables))
    }

    /// A role of this team alone, which works as `taut_agent` does.
    pub fn member(&self, of: &str) -> String {
        let role = format!("{of}_of_{}", self.database);
        self.sql(&format!("CREATE ROLE {role} LOGIN; GRANT taut_agent TO {role}"));
        role
    }

    /// A statement of a member's, as nobody's client would send it; whether it was taken.
    pub fn says(&self, role: &str, statement: &str) -> bool {
        self.cluster.sql_as(role, &self.database, statement).is_ok()
    }

    /// One that shares the queue, at this level of detail.
    pub fn machine(&self, label: &str, events: &str) -> Machine {
        let machine = Machine::new(label);
        machine.share(&self.url("taut_agent"), events);
        machine
    }
}

impl Machine {
    /// One that shares nothing.
    pub fn new(label: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        for (repository, queue) in [("acme", QUEUE), ("private", "acme/private")] {
            let folder = root.path().join(repository);
            std::fs::create_dir_all(folder.join(".git")).unwrap();
            std::fs::create_dir_all(folder.join(".taut")).unwrap();
            std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            std::fs::write(folder.join(".taut/config.toml"), format!("[shared]\nproject = \"{queue}\"\n")).unwrap();
        }
        let setting = PipelineSetup {
            state: root.path().join("state"),
            home: root.path().join("home"),
            user_config: root.path().join("home/.config/taut/config.toml"),
            patience: Duration::from_secs(5),
            dialects: agents::ALL,
        };
        std::fs::create_dir_all(setting.user_config.parent().unwrap()).unwrap();
        let (pipeline, rounds) = (Pipeline::new(setting.clone()), SharedRounds::of_daemon(&setting));
        Self { root, setting, pipeline, rounds, label: label.into(), calls: 0 }
    }

    /// The user's own file says so from now on.
    pub fn share(&self, url: &str, events: &str) {
        let label = &self.label;
        let text = format!(
            "[shared]\nurl = \"{url}\"\nprojects = [\"{QUEUE}\"]\nlabel = \"{label}\"\nevents = \"{events}\"\n"
        );
        std::fs::write(&self.setting.user_config, text).unwrap();
    }

    pub fn folder(&self, repository: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(repository)
    }

    pub fn store(&mut self) -> &mut Store {
        self.pipeline.store().unwrap()
    }

    /// A connection of its own, as the worker has one.
    pub fn own_store(&self) -> Store {
        Store::open_and_migrate(&self.setting.state, self.setting.patience).unwrap()
    }

    /// A round that must go well.
    pub fn round(&mut self) -> SharedReport {
        let report = self.try_round();
        assert_eq!(report.error, None);
        report
    }

    pub fn try_round(&mut self) -> SharedReport {
        let server = self.rounds.server().expect("a server is configured");
        let mut store = self.own_store();
        self.rounds.round(&mut store, &server).unwrap()
    }

    /// A connection that broke is found to be broken by the first round only.
    pub fn rounds_until(&mut self, is_so: impl Fn(&SharedReport) -> bool) -> SharedReport {
        let found = (0..5).map(|_| self.try_round()).find(is_so);
        found.expect("one of some rounds is so")
    }

    /// The daemon is another process from now on; what was in memory is gone.
    pub fn restart(&mut self) {
        self.rounds = SharedRounds::of_daemon(&self.setting);
    }

    pub fn hook(&mut self, by: (&str, &str), event: &str, fields: Value) -> Response {
        let call = self.call(by, event, fields);
        self.pipeline.handle(call)
    }

    /// What a hook of an agent sends.
    pub fn call(&mut self, (agent, repository): (&str, &str), event: &str, fields: Value) -> Call {
        self.calls += 1;
        let cwd = self.folder(repository);
        let mut payload = json!({"session_id": format!("s-{agent}"), "transcript_path": "/t/s.jsonl", "cwd": cwd,
            "hook_event_name": event});
        for (key, value) in fields.as_object().into_iter().flatten() {
            payload[key] = value.clone();
        }
        let env = [("TAUT_AGENT_ID", agent), ("CLAUDE_PID", &std::process::id().to_string())];
        Call {
            request: format!("request-{}", self.calls),
            agent: agents::DEFAULT.id().into(),
            stdin: payload.to_string().into_bytes(),
            cwd: cwd.to_string_lossy().into_owned(),
            env: Environment(env.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect()),
            parent: None,
            at: host::clock::now(),
        }
    }

    /// A session of an agent begins there.
    pub fn begin(&mut self, agent: &str, repository: &str) {
        self.hook((agent, repository), "SessionStart", json!({"source": "startup"}));
    }

    pub fn end(&mut self, agent: &str, repository: &str) -> Response {
        self.hook((agent, repository), "SessionEnd", json!({"reason": "other"}))
    }

    pub fn bash(&mut self, (agent, repository): (&str, &str), command: &str) -> Response {
        let fields =
            json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": format!("t{}", self.calls)});
        self.hook((agent, repository), "PreToolUse", fields)
    }

    /// What a command does with the queue of the shared project.
    fn queue<T>(&mut self, work: impl FnOnce(&mut Queue<'_>, &str) -> Result<T, QueueError>) -> Result<T, QueueError> {
        let project = self.folder("acme").to_string_lossy().into_owned();
        let server = self.rounds.server().expect("a server is configured");
        let around = shared_target::around_daemon(&self.setting.home);
        let mut store = self.own_store();
        let mut queue =
            ProjectQueue::new(&SharedSettings { server, queue: QUEUE.into() }, &around, &mut store).unwrap();
        let mut queue: Queue<'_> = Queue::new(&mut store, host::clock_reading::moment as fn() -> _).on(&mut queue);
        work(&mut queue, &project)
    }

    pub fn plan(&mut self, slug: &str) {
        self.plan_as(TaskPlan { slug: slug.into(), title: format!("do {slug}"), ..TaskPlan::default() });
    }

    pub fn plan_as(&mut self, plan: TaskPlan) {
        self.queue(|queue, project| queue.create(project, &plan, &Speaker::Person)).unwrap();
    }

    pub fn claim(&mut self, agent: &str) -> Option<Claimed> {
        let session = self.session_of(agent);
        let claimant = Claimant { session, ..Claimant::agent(agent, 600_000) };
        self.queue(|queue, project| queue.claim_first(project, &claimant)).unwrap()
    }

    pub fn done(&mut self, agent: &str, slug: &str) -> Result<Settled, QueueError> {
        self.done_with(agent, slug, json!({"commit": "c0ffee"}))
    }

    pub fn done_with(&mut self, agent: &str, slug: &str, result: Value) -> Result<Settled, QueueError> {
        let actor = Actor { agent: agent.into(), attempt: None, token: None, speaker: Speaker::agent(agent) };
        self.queue(|queue, project| queue.done(project, slug, &actor, result))
    }

    pub fn renew(&mut self, agent: &str, slug: &str) -> Result<Task, QueueError> {
        let actor = Actor { agent: agent.into(), attempt: None, token: None, speaker: Speaker::agent(agent) };
        self.queue(|queue, project| queue.renew(project, slug, &actor, 600_000))
    }

    pub fn session_of(&mut self, agent: &str) -> Option<String> {
        self.store().agent(agent).unwrap().and_then(|agent| agent.session)
    }

    /// As a hook or a command writes it.
    pub fn write(&mut self, message: Message) {
        let write = [Write::Memory(MemoryWrite::Message(message))];
        self.store().transact(Durability::Full, |tx| tx.apply(&write)).unwrap();
    }

    pub fn message(&self, kind: &str, to: Option<Addressee>, body: &str) -> Message {
        let now = host::clock::now();
        let (kind, body) = (kind.into(), body.into());
        Message { id: host::clock::uuid(now), at: now, kind, from_agent: Some("api".into()), to, session: None, body }
    }

    /// What waits here to be told: who says so, its kind and its text.
    pub fn waiting(&mut self, agent: &str) -> Vec<(String, String, String)> {
        let filter = MessageFilter { agent: Some(agent.into()), ..MessageFilter::default() };
        let rows = self.store().addressed_messages(&filter).unwrap();
        let told =
            |row: store::MessageRow| (row.message.from_agent.unwrap_or_default(), row.message.kind, row.message.body);
        rows.into_iter().map(told).collect()
    }

    /// The id that the server knows this machine by.
    pub fn id(&mut self) -> String {
        self.store().known_machine().unwrap().expect("an id was drawn")
    }

    pub fn notices(&mut self) -> Vec<String> {
        let state = self.store().shared_state().unwrap().unwrap_or_default();
        state.notices.into_iter().map(|(_, text)| text).collect()
    }

    /// Another machine with a copy of everything that this one keeps.
    pub fn copied(&self, label: &str) -> Self {
        let copy = Self::new(label);
        copy_files(&self.setting.state, &copy.setting.state);
        let config = std::fs::read_to_string(&self.setting.user_config).unwrap();
        std::fs::write(&copy.setting.user_config, config.replace(&self.label, label)).unwrap();
        copy
    }
}

fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// In pieces, so that nobody takes this file for one with a secret in it.
pub fn token() -> String {
    ["ghp_", "16C7e42F292c6912E7", "710c838347Ae178B4a"].concat()
}
