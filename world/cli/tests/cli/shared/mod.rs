//! `taut shared` on a real server: what is shown, asked, written and never said. Where there is no PostgreSQL, each test
//! says so.

mod connect;
mod hooks_away;
mod leaving;
mod migrate;
mod moving;
mod named_by_environment;
mod numbers;
mod passwords;
mod people;
mod status;
mod tasks;
mod trust;

use std::sync::{Once, OnceLock};
use testkit::postgres::{Cluster, OWNER};
use testkit::stage::{Stage, person, person_succeeds};

/// What a repository calls its queue.
const QUEUE: &str = "acme/shop";
/// Of `taut_agent` over TCP.
const PASSWORD: &str = "s3cret-of-the-team";

/// A database of its own on a server that all tests share.
struct Team {
    cluster: &'static Cluster,
    database: String,
}

impl Team {
    /// Empty, over a Unix socket, where everybody may be anybody.
    fn empty() -> Option<Self> {
        let cluster = Cluster::shared()?;
        Some(Self { cluster, database: cluster.database() })
    }

    /// With the schema `taut`.
    fn made() -> Option<Self> {
        let team = Self::empty()?;
        team.migrate();
        Some(team)
    }

    /// The same over TCP with TLS, where `taut_agent` has a password.
    fn encrypted() -> Option<Self> {
        static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
        let cluster = CLUSTER.get_or_init(|| Cluster::plan().tls().start()).as_ref()?;
        let team = Self { cluster, database: cluster.database() };
        team.migrate();
        // The role is of the whole server, and two who change it at once fail.
        static PASSWORDS: Once = Once::new();
        PASSWORDS.call_once(|| {
            team.sql(&format!("ALTER ROLE taut_agent PASSWORD '{PASSWORD}' VALID UNTIL 'infinity'"));
        });
        Some(team)
    }

    fn migrate(&self) {
        let stage = Stage::without_daemon();
        stage.succeed(&["shared", "migrate", &self.url(OWNER), "--yes"]);
    }

    fn url(&self, role: &str) -> String {
        self.cluster.url(role, &self.database)
    }

    fn agent(&self) -> String {
        self.url("taut_agent")
    }

    fn tcp(&self, host: &str) -> String {
        self.cluster.tcp_url(host, "taut_agent", &self.database)
    }

    fn sql(&self, statements: &str) -> String {
        self.cluster.sql(&self.database, statements)
    }

    /// A machine that takes part, in a repository that names its queue.
    fn machine(&self) -> Stage {
        let stage = named();
        person_succeeds(&stage, &["shared", "connect", &self.agent()], "y\n");
        stage
    }
}

/// A home, and a repository that says what its queue is called.
fn named() -> Stage {
    let stage = Stage::without_daemon();
    stage.write(".taut/config.toml", &format!("[shared]\nproject = \"{QUEUE}\"\n"));
    stage
}

fn config(stage: &Stage) -> String {
    stage.home_file(".config/taut/config.toml")
}

/// A person's command that ends with 1; what was said.
#[track_caller]
fn refused(stage: &Stage, args: &[&str], typed: &str) -> String {
    let (code, said) = person(stage, args, typed);
    assert_eq!(code, Some(1), "{args:?}: {said}");
    said
}

/// A server's own socket that nobody answers.
fn nobody(stage: &Stage) -> String {
    let folder = stage.sandbox.tmp().display().to_string().replace('/', "%2F");
    format!("postgresql://taut_agent@{folder}/taut")
}
