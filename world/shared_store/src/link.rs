//! A connection that is opened when it is needed and opened anew when it broke, and verbs that are sent again whole.

use crate::queue::flights::{Ask, Flights, Trouble};
use crate::queue::server_id;
use crate::{Connection, Patience, Schema, Target};
use model::Ms;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::ServerError;

/// This machine's clock.
pub type LocalClock = Arc<dyn Fn() -> Ms + Send + Sync>;

/// At most so long is waited before a verb is sent again, so that two who met do not meet again.
const LONGEST_PAUSE: u64 = 20;
/// The same before a server that went away is called again.
const LONGEST_ABSENCE: u64 = 250;

/// The way to one server's schema.
pub struct ServerLink {
    target: Target,
    schema: Schema,
    patience: Patience,
    clock: LocalClock,
    connection: Option<Connection>,
    /// The server's own id, once it is known: nothing is said to another.
    server: Option<String>,
}

impl ServerLink {
    /// Nothing is opened yet.
    pub fn new(target: Target, schema: Schema, patience: Patience, clock: LocalClock) -> Self {
        Self { target, schema, patience, clock, connection: None, server: None }
    }

    /// For the server with this id, and no other.
    #[must_use]
    pub fn to(self, server: &str) -> Self {
        Self { server: Some(server.to_string()), ..self }
    }

    /// The server as people know it, without a secret.
    pub fn shown(&self) -> String {
        self.target.shown()
    }

    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// It is for the server with this id from now on.
    ///
    /// # Errors
    /// `Refused` where it was for another before; then it is closed.
    pub fn bind(&mut self, server: &str) -> Result<(), ServerError> {
        if self.server.as_ref().is_some_and(|known| known != server) {
            self.close();
            return Err(another(&self.shown()));
        }
        self.server = Some(server.to_string());
        Ok(())
    }

    /// The connection, opened where there is none, or it broke or brought very much.
    ///
    /// # Errors
    /// As of `Connection::open`; and `Refused` where another server answers than before.
    pub fn connection(&mut self) -> Result<&mut Connection, ServerError> {
        let alive = self.connection.take().filter(|connection| !connection.is_broken() && !connection.is_worn());
        let connection = match alive {
            Some(connection) => connection,
            None => self.opened()?,
        };
        Ok(self.connection.insert(connection))
    }

    /// Asked first who is there, where that is known of the connection before.
    fn opened(&self) -> Result<Connection, ServerError> {
        let mut connection = Connection::open(&self.target, self.patience)?;
        if let Some(known) = &self.server
            && server_id(&mut connection, &self.schema)?.as_ref() != Some(known)
        {
            return Err(another(&self.shown()));
        }
        Ok(connection)
    }

    /// Whether there is a connection that did not break.
    pub fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| !connection.is_broken())
    }

    /// Until it is needed again: a server that nobody asks may sleep.
    pub fn close(&mut self) {
        self.connection = None;
    }

    /// Runs a verb, and runs it again whole where the server undid it or the connection broke, for as long as one flight
    /// may take. A server that cannot be reached in the first place is not waited for.
    pub(crate) fn verb<T>(
        &mut self,
        mut work: impl FnMut(&mut Flights<'_>) -> Result<T, Trouble>,
    ) -> Result<T, ServerError> {
        let until = Instant::now() + self.patience.flight;
        let (mut reached, mut waited) = (false, false);
        loop {
            let (clock, server) = (Arc::clone(&self.clock), self.server.clone());
            let schema = self.schema.name().to_string();
            let longest = match self.connection() {
                Ok(connection) => {
                    reached = true;
                    match once(connection, (&schema, server.as_deref()), &clock, &mut work) {
                        Ok(done) => return Ok(done),
                        Err(trouble) if trouble.is_of_another_server() => {
                            self.close();
                            return Err(another(&self.shown()));
                        }
                        // Who holds a row for so long is not waited for: others wait for this machine meanwhile.
                        Err(trouble) if trouble.is_locked() && std::mem::replace(&mut waited, true) => {
                            return Err(trouble.into());
                        }
                        Err(trouble) if !trouble.send_again() || Instant::now() >= until => return Err(trouble.into()),
                        Err(_) => LONGEST_PAUSE,
                    }
                }
                Err(ServerError::Away(why)) if !reached || Instant::now() >= until => {
                    return Err(ServerError::Away(why));
                }
                Err(ServerError::Away(_)) => LONGEST_ABSENCE,
                Err(refused) => return Err(refused),
            };
            pause(longest);
        }
    }
}

/// Said by whoever finds that the server has changed under a connection or between two of them.
pub(crate) fn another(shown: &str) -> ServerError {
    ServerError::Refused(format!(
        "another server answers at {shown} than before, and was told nothing that was for the first; what is owed to that one \
         is kept, and said when it is there again"
    ))
}

fn once<T>(
    connection: &mut Connection,
    (schema, server): (&str, Option<&str>),
    clock: &LocalClock,
    work: &mut impl FnMut(&mut Flights<'_>) -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let mut flights = Flights { connection, schema, server, clock: clock.as_ref(), sent: Ms(0), open: false };
    let done = work(&mut flights);
    if flights.open && !flights.connection.is_broken() {
        // Where that fails, the connection is found broken, and another is opened.
        let _ = flights.fly([Ask::rollback()]);
    }
    done
}

/// A random part of so many milliseconds.
fn pause(longest: u64) {
    let mut byte = [0];
    // Without randomness the whole is waited.
    let part = sys::random::fill(&mut byte).map_or(255, |()| u64::from(byte[0]));
    std::thread::sleep(Duration::from_millis(longest * part / 255));
}
