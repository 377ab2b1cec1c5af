//! The shared store on a real server. Where there is none, each test says so.

mod connect;
mod credentials;
mod explain;
mod hostile;
mod hostile_member;
mod migrations;
mod months;
mod pooler;
mod record;
mod rights;
mod roles;
mod tls;
mod traps;
mod versions;

use shared_store::{Connection, Patience, Schema, Surroundings, Target, TargetWish};
use std::time::Duration;
use store::ServerError;
use testkit::postgres::{Cluster, OWNER};

/// For whoever is not there to see how long is waited: a busy machine takes longer than the product would.
const PLENTY: Patience = Patience { connect: Duration::from_secs(60), flight: Duration::from_secs(60) };

/// A new database on the cluster that all tests share, with the schema `taut` in it.
struct Server {
    cluster: &'static Cluster,
    database: String,
}

impl Server {
    fn empty() -> Option<Self> {
        let cluster = Cluster::shared()?;
        Some(Self { cluster, database: cluster.database() })
    }

    fn migrated() -> Option<Self> {
        let server = Self::empty()?;
        shared_store::migrate(&server.target(OWNER), &schema(), PLENTY).unwrap();
        Some(server)
    }

    fn target(&self, role: &str) -> Target {
        at(&self.cluster.url(role, &self.database))
    }

    fn connect(&self, role: &str) -> Connection {
        Connection::open(&self.target(role), PLENTY).unwrap()
    }

    /// A member's, as agents' machines connect.
    fn member(&self) -> Connection {
        self.connect("taut_agent")
    }

    fn sql(&self, statements: &str) -> String {
        self.cluster.sql(&self.database, statements)
    }
}

fn schema() -> Schema {
    Schema::named("taut").unwrap()
}

fn at(url: &str) -> Target {
    let wish = TargetWish { url: Some(url.to_owned()), ..TargetWish::default() };
    Target::resolve(&wish, &Surroundings::default()).unwrap()
}

/// A statement without parameters.
fn ask(sql: &str) -> shared_store::Statement {
    shared_store::Statement::new(sql, "taut", Vec::new())
}

/// The words of a refusal; anything else is not what the test is about.
fn refusal<T>(answer: Result<T, ServerError>) -> String {
    match answer {
        Err(ServerError::Refused(words)) => words,
        Err(ServerError::Away(words) | ServerError::Busy(words)) => panic!("it is away: {words}"),
        Ok(_) => panic!("it was let in"),
    }
}
