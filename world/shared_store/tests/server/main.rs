//! The shared store on a real server. Where there is none, each test says so.

mod connect;
mod migrations;

use shared_store::{Connection, Patience, Schema, Surroundings, Target, TargetWish};
use testkit::postgres::{Cluster, OWNER};

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
        shared_store::migrate(&server.target(OWNER), &schema(), Patience::default()).unwrap();
        Some(server)
    }

    fn target(&self, role: &str) -> Target {
        at(&self.cluster.url(role, &self.database))
    }

    fn connect(&self, role: &str) -> Connection {
        Connection::open(&self.target(role), Patience::default()).unwrap()
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
