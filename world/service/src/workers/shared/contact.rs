//! The one connection to the server, kept over rounds, and what was learned when it was made.

use crate::shared_target::shared_target;
use pipeline::SharedServer;
use shared_store::{
    Connection, FleetServer, MachineIdentity, Patience, Schema, ServerLink, Surroundings, Target, version,
};
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
        let schema = self.schema.clone();
        let found = version(self.connection()?, &schema)?;
        (self.server_id, self.version) = (found.id, found.version);
        Ok(true)
    }

    pub fn close(&mut self) {
        self.link = None;
    }

    pub fn fleet(&mut self) -> Result<FleetServer<'_>, ServerError> {
        let Self { target, schema, link: kept, .. } = self;
        let connection = kept.get_or_insert_with(|| link(target, schema)).connection()?;
        Ok(FleetServer::new(connection, schema))
    }

    /// Lent to a queue for a round; it gives it back, unless it broke.
    pub fn lend(&mut self) -> ServerLink {
        self.link.take().unwrap_or_else(|| link(&self.target, &self.schema))
    }

    pub fn take_back(&mut self, link: Option<ServerLink>) {
        self.link = link;
    }

    fn connection(&mut self) -> Result<&mut Connection, ServerError> {
        self.link.get_or_insert_with(|| link(&self.target, &self.schema)).connection()
    }
}

fn link(target: &Target, schema: &Schema) -> ServerLink {
    ServerLink::new(target.clone(), schema.clone(), Patience::default(), Arc::new(host::clock::now))
}
