//! The one connection to the server, kept over rounds, and what was learned when it was made.

use crate::shared_target::shared_target;
use pipeline::SharedServer;
use shared_store::{FleetServer, MachineIdentity, Patience, Schema, ServerLink, Surroundings, Target, version};
use std::sync::Arc;
use store::{Error, ServerError, Store};

pub(crate) struct Contact {
    /// As it was configured when this was made.
    pub server: SharedServer,
    pub machine: MachineIdentity,
    /// The server's own id, from its first answer on.
    pub server_id: String,
    /// Of the schema there.
    pub version: u32,
    target: Target,
    schema: Schema,
    link: Option<ServerLink>,
}

impl Contact {
    /// Nothing is opened yet.
    ///
    /// # Errors
    /// `Refused` where what is configured cannot be used.
    pub fn new(server: &SharedServer, around: &Surroundings, store: &mut Store) -> Result<Self, Error> {
        let target = shared_target(server, around)?;
        let schema = Schema::named(&server.schema)?;
        let machine = crate::machine(server.label.as_deref(), store)?;
        let (server, server_id) = (server.clone(), String::new());
        Ok(Self { server, machine, server_id, version: 0, target, schema, link: None })
    }

    pub fn shown(&self) -> String {
        self.target.shown()
    }

    pub fn is_open(&self) -> bool {
        self.link.as_ref().is_some_and(ServerLink::is_open)
    }

    /// Whether it was opened just now: then whoever answers may be another than before.
    pub fn open(&mut self) -> Result<bool, ServerError> {
        if self.is_open() {
            return Ok(false);
        }
        let mut fresh = link(&self.target, &self.schema);
        let found = version(fresh.connection()?, &self.schema)?;
        fresh.bind(&found.id)?;
        (self.server_id, self.version, self.link) = (found.id, found.version, Some(fresh));
        Ok(true)
    }

    pub fn close(&mut self) {
        self.link = None;
    }

    pub fn fleet(&mut self) -> Result<FleetServer<'_>, ServerError> {
        let way = self.lend();
        let (shown, server) = (way.shown(), self.server_id.clone());
        let fleet = FleetServer::new(self.link.insert(way).connection()?, &self.schema);
        // Asked with everything that is said: the tables may be another server's by now, under the same connection.
        Ok(if server.is_empty() { fleet } else { fleet.of(&server, &shown) })
    }

    /// Lent to a queue for a round; it gives it back, unless it broke.
    pub fn lend(&mut self) -> ServerLink {
        let kept = self.link.take();
        kept.unwrap_or_else(|| {
            let way = link(&self.target, &self.schema);
            // In the middle of a round: for the server that it began with.
            if self.server_id.is_empty() { way } else { way.to(&self.server_id) }
        })
    }

    pub fn take_back(&mut self, link: Option<ServerLink>) {
        self.link = link;
    }
}

fn link(target: &Target, schema: &Schema) -> ServerLink {
    ServerLink::new(target.clone(), schema.clone(), Patience::default(), Arc::new(host::clock::now))
}
