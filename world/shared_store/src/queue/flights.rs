//! Flights of the queue's statements, and what their failures mean for the verb that sent them.

use super::sql::queue_statement;
use crate::statement::begin;
use crate::{Connection, FlightError, InTransaction, Rows, Statement};
use model::Ms;
use serde_json::Value;
use store::ServerError;

/// Why a try of a verb did not come to its end.
#[derive(Debug)]
pub(crate) enum Trouble {
    Flight(FlightError),
    /// Somebody came between; nothing was written. How to say so, should it stay like this.
    Overtaken(String),
    Final(ServerError),
}

impl Trouble {
    /// Whether the whole verb is to be sent again.
    pub fn send_again(&self) -> bool {
        match self {
            Self::Flight(error) => error.send_again(),
            Self::Overtaken(_) => true,
            Self::Final(_) => false,
        }
    }

    /// Whether another's open transaction was in the way.
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::Flight(error) if error.is_locked())
    }

    /// Whether another server answers than the one that this was for: nothing of it was kept there.
    pub fn is_of_another_server(&self) -> bool {
        matches!(self, Self::Flight(error) if error.is_of_another_server())
    }
}

impl From<FlightError> for Trouble {
    fn from(error: FlightError) -> Self {
        Self::Flight(error)
    }
}

impl From<Trouble> for ServerError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Flight(error) => error.into(),
            Trouble::Overtaken(why) => Self::Busy(why),
            Trouble::Final(error) => error,
        }
    }
}

/// A connection during one try of a verb.
pub(crate) struct Flights<'a> {
    pub connection: &'a mut Connection,
    pub schema: &'a str,
    /// The server's own id, where it is known: what is written is kept by no other.
    pub server: Option<&'a str>,
    pub clock: &'a (dyn Fn() -> Ms + Send + Sync),
    /// When the last flight was sent.
    pub sent: Ms,
    /// Between `BEGIN` and its end.
    pub open: bool,
}

/// One statement of a flight: its name and its parameters.
pub(crate) struct Ask(Statement);

impl Flights<'_> {
    pub fn ask(&self, name: &str, parameters: Vec<Option<String>>) -> Ask {
        Ask(Statement::new(queue_statement(name), self.schema, parameters))
    }

    /// Sends all of them at once.
    pub fn fly<const N: usize>(&mut self, asks: [Ask; N]) -> Result<[Rows; N], Trouble> {
        let rows = self.fly_all(Vec::from(asks))?;
        rows.try_into().map_err(|_| Trouble::Flight(FlightError::Garbled))
    }

    pub fn fly_all(&mut self, asks: Vec<Ask>) -> Result<Vec<Rows>, Trouble> {
        self.sent = (self.clock)();
        let statements: Vec<Statement> = asks.into_iter().map(|Ask(statement)| statement).collect();
        let is_begun = self.open || statements.iter().any(|statement| statement.is_bare);
        let wrap = if is_begun { InTransaction::No } else { InTransaction::Yes };
        Ok(self.connection.flight(&statements, wrap)?)
    }

    /// The first statement of every transaction.
    pub fn guard(&self) -> Ask {
        self.ask("guard", vec![maybe(self.server)])
    }

    /// Statements that write: one guarded transaction, sent at once, so that nobody's lock is waited for without end.
    pub fn write<const N: usize>(&mut self, asks: [Ask; N]) -> Result<[Rows; N], Trouble> {
        let mut whole = vec![Ask::begin(), self.guard()];
        whole.extend(asks);
        whole.push(Ask::commit());
        let rows: Vec<Rows> = self.fly_all(whole)?.into_iter().skip(2).take(N).collect();
        rows.try_into().map_err(|_| Trouble::Flight(FlightError::Garbled))
    }

    /// One of them.
    pub fn write_one(&mut self, name: &str, parameters: Vec<Option<String>>) -> Result<Rows, Trouble> {
        let [rows] = self.write([self.ask(name, parameters)])?;
        Ok(rows)
    }

    /// One statement alone.
    pub fn one(&mut self, name: &str, parameters: Vec<Option<String>>) -> Result<Rows, Trouble> {
        let [rows] = self.fly([self.ask(name, parameters)])?;
        Ok(rows)
    }
}

impl Ask {
    /// Said aloud, because a server may be set up for another level by default, under which a statement would not see
    /// what was committed while it waited for a lock.
    pub fn begin() -> Self {
        Self::plain(begin!("READ COMMITTED READ WRITE"))
    }

    /// All statements see the same; what nobody waits for any more ends by itself.
    pub fn begin_reading() -> Self {
        Self::plain(concat!(begin!("REPEATABLE READ READ ONLY"), "; SET LOCAL statement_timeout = '12s'"))
    }

    pub fn commit() -> Self {
        Self::plain("COMMIT")
    }

    pub fn rollback() -> Self {
        Self::plain("ROLLBACK")
    }

    fn plain(sql: &str) -> Self {
        Self(Statement::bare(sql))
    }
}

/// A parameter. PostgreSQL has no text with a null character in it.
pub(crate) fn text(text: &str) -> Option<String> {
    Some(text.replace('\0', "\u{fffd}"))
}

pub(crate) fn maybe(value: Option<&str>) -> Option<String> {
    value.and_then(text)
}

/// A JSON parameter.
pub(crate) fn json(mut value: Value) -> Option<String> {
    without_nulls(&mut value);
    Some(value.to_string())
}

fn without_nulls(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{fffd}"),
        Value::Array(values) => values.iter_mut().for_each(without_nulls),
        Value::Object(values) => {
            if values.keys().any(|key| key.contains('\0')) {
                *values = std::mem::take(values)
                    .into_iter()
                    .map(|(key, value)| (key.replace('\0', "\u{fffd}"), value))
                    .collect();
            }
            values.values_mut().for_each(without_nulls);
        }
        _ => {}
    }
}
