//! Two machines with their daemons on one real server: each sees the other's agents, a word reaches the one it is for, and a
//! machine that is silent is said to be.

use serde_json::Value;
use shared_store::{Patience, Schema, Surroundings, Target, TargetWish};
use std::time::Duration;
use testkit::postgres::{Cluster, OWNER};
use testkit::stage::{PLENTY, Stage};
use testkit::{AgentStep, FakeAgent, poll};

struct Server {
    cluster: &'static Cluster,
    database: String,
}

impl Server {
    fn start() -> Option<Self> {
        let cluster = Cluster::shared()?;
        let database = cluster.database();
        let wish = TargetWish { url: Some(cluster.url(OWNER, &database)), ..TargetWish::default() };
        let owner = Target::resolve(&wish, &Surroundings::default()).unwrap();
        shared_store::migrate(&owner, &Schema::named("taut").unwrap(), Patience { connect: PLENTY, flight: PLENTY })
            .unwrap();
        Some(Self { cluster, database })
    }

    /// A machine that takes part from the start of its daemon on, with a role of its own.
    fn machine(&self, label: &str) -> Stage {
        let stage = Stage::new();
        stage.write(".taut/config.toml", "[shared]\nproject = \"acme/shop\"\n");
        let role = self.role(label);
        self.cluster.sql(&self.database, &format!("CREATE ROLE {role} LOGIN; GRANT taut_agent TO {role}"));
        let url = self.cluster.url(&role, &self.database);
        stage.configure(&format!("[shared]\nurl = \"{url}\"\nprojects = [\"acme/shop\"]\nlabel = \"{label}\"\n"));
        stage.and_daemon()
    }

    fn role(&self, label: &str) -> String {
        format!("{}_of_{}", label.replace('-', "_"), self.database)
    }
}

/// What the agents of that machine are, as `taut agents` says it.
fn of_machine(stage: &Stage, label: &str) -> Vec<Value> {
    let rows = stage.list(&["agents", "--json"]);
    rows.into_iter().filter(|row| row["machine"] == label).collect()
}

/// At work: before its first prompt it is there, too, and has nothing to do.
fn until_seen(stage: &Stage, label: &str, name: &str) -> Value {
    let working = |row: &Value| row["name"] == name && row["status"] == "working";
    let seen = || of_machine(stage, label).into_iter().find(working);
    poll::until("the other machine's agent to be seen at work", PLENTY, seen).unwrap()
}

/// Whether its next prompt brings it these words.
fn is_told(agent: &mut FakeAgent, words: &str) -> bool {
    let calls = agent.play(&[AgentStep::prompt("go on")]).unwrap();
    calls.iter().any(|call| call.finished.stdout_text().contains(words))
}

#[test]
fn f9_two_machines_see_each_others_agents_and_a_word_reaches_the_one_it_is_for() {
    let Some(server) = Server::start() else { return };
    let (one, two) = (server.machine("vm-1"), server.machine("vm-2"));
    let (mut ann, mut bob) = (one.working("ann"), two.working("bob"));
    let seen = until_seen(&one, "vm-2", "bob");
    assert_eq!((&seen["project"], &seen["stale"]), (&"acme/shop".into(), &false.into()), "{seen}");
    until_seen(&two, "vm-1", "ann");
    let sent = two.succeed(&["send", "ann@vm-1", "the build is green"]);
    assert!(sent.contains("sent to ann@vm-1 on another machine"), "{sent}");
    let told = || is_told(&mut ann, "the build is green").then_some(());
    poll::until("the word to arrive", PLENTY, told).unwrap();
    assert!(!is_told(&mut ann, "the build is green"), "told once");
    one.succeed(&["send", "bob@vm-2", "so it is"]);
    poll::until("the answer to arrive", PLENTY, || is_told(&mut bob, "so it is").then_some(())).unwrap();
}

#[test]
fn f9_a_machine_whose_daemon_was_killed_is_said_to_be_silent_and_since_when() {
    let Some(server) = Server::start() else { return };
    let (one, two) = (server.machine("vm-1"), server.machine("vm-2"));
    let (_ann, _bob) = (one.working("ann"), two.working("bob"));
    until_seen(&one, "vm-2", "bob");
    let daemon = two.daemon_pid().unwrap();
    testkit::stage::signal(daemon, libc::SIGKILL).unwrap();
    poll::until("its end", PLENTY, || (!testkit::stage::lives(&daemon.to_string())).then_some(())).unwrap();
    // Nothing is heard of it any more, not even what it said at last, and two minutes pass.
    let sessions = format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{}'", server.role("vm-2"));
    let unheard = || (server.cluster.sql(&server.database, &sessions) == "0").then_some(());
    poll::until("its session to end", PLENTY, unheard).unwrap();
    let past = "UPDATE taut.machines SET seen_at = seen_at - interval '2 minutes' WHERE label = 'vm-2'";
    server.cluster.sql(&server.database, past);
    let stale = || of_machine(&one, "vm-2").into_iter().find(|row| row["stale"] == true);
    let row = poll::until("the silence to be noticed", Duration::from_secs(180), stale).unwrap();
    assert_eq!(row["name"], "bob");
    let shown = one.succeed(&["agents"]);
    let line = shown.lines().find(|line| line.contains("bob")).unwrap();
    assert!(line.starts_with("vm-2") && line.contains("not heard of since"), "{shown}");
    assert!(!shown.lines().any(|line| line.contains("ann") && line.contains("not heard of")), "{shown}");
}
