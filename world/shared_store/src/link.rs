//! A connection that is opened when it is needed and opened anew when it broke, and verbs that are sent again whole.

use crate::queue::flights::{Ask, Flights, Trouble};
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
}

impl ServerLink {
    /// Nothing is opened yet.
    pub fn new(target: Target, schema: Schema, patience: Patience, clock: LocalClock) -> Self {
        Self { target, schema, patience, clock, connection: None }
    }

    /// The server as people know it, without a secret.
    pub fn shown(&self) -> String {
        self.target.shown()
    }

    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The connection, opened where there is none or it broke.
    ///
    /// # Errors
    /// As of `Connection::open`.
    pub fn connection(&mut self) -> Result<&mut Connection, ServerError> {
        let alive = self.connection.take().filter(|connection| !connection.is_broken());
        let connection = match alive {
            Some(connection) => connection,
            None => Connection::open(&self.target, self.patience)?,
        };
        Ok(self.connection.insert(connection))
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
        let mut reached = false;
        loop {
            let clock = Arc::clone(&self.clock);
            let schema = self.schema.name().to_string();
            let longest = match self.connection() {
                Ok(connection) => {
                    reached = true;
                    match once(connection, &schema, &clock, &mut work) {
                        Ok(done) => return Ok(done),
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

fn once<T>(
    connection: &mut Connection,
    schema: &str,
    clock: &LocalClock,
    work: &mut impl FnMut(&mut Flights<'_>) -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let mut flights = Flights { connection, schema, clock: clock.as_ref(), sent: Ms(0), open: false };
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
