//! What is asked of a server besides its queue: who is there, messages, the record. Over a connection that somebody else
//! keeps.

use crate::link::another;
use crate::{Connection, InTransaction, Rows, Schema, Statement, queue_statement};
use store::ServerError;

/// A statement that was beaten by another's is sent so often.
pub(crate) const TRIES: usize = 3;

/// The fleet's part of a server.
pub struct FleetServer<'c> {
    connection: &'c mut Connection,
    schema: &'c Schema,
    /// Its own id, and what people call it, where it must be this one.
    known: Option<(String, String)>,
}

/// A statement, and its parameters.
pub(crate) type Asked = (&'static str, Vec<Option<String>>);

impl<'c> FleetServer<'c> {
    pub fn new(connection: &'c mut Connection, schema: &'c Schema) -> Self {
        Self { connection, schema, known: None }
    }

    /// Only where this one answers anything is kept, or told. `shown` is what people call it.
    #[must_use]
    pub fn of(self, server: &str, shown: &str) -> Self {
        Self { known: Some((server.to_string(), shown.to_string())), ..self }
    }

    /// The rows that one statement answers.
    pub(crate) fn ask(&mut self, sql: &'static str, values: Vec<Option<String>>) -> Result<Rows, ServerError> {
        Ok(self.flight(&[(sql, values)])?.into_iter().next().unwrap_or_default())
    }

    pub(crate) fn statement(&self, sql: &str, values: &[Option<String>]) -> Statement {
        Statement::new(sql, self.schema.name(), values.to_vec())
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        self.connection
    }

    /// Each of them is idempotent, so they are sent again whole. One guarded transaction, so that nobody's lock is waited
    /// for without end, and nothing is kept by another server than the one it is for.
    pub(crate) fn flight(&mut self, asked: &[Asked]) -> Result<Vec<Rows>, ServerError> {
        let server = self.known.as_ref().map(|(server, _)| server.clone());
        let mut statements = vec![self.statement(queue_statement("guard"), &[server])];
        statements.extend(asked.iter().map(|(sql, values)| self.statement(sql, values)));
        self.sent(&statements, InTransaction::Yes).map(|rows| rows.into_iter().skip(1).collect())
    }

    /// One that takes as long as it takes, and is over when it is done, whether anybody still waits or not. Sent once: others
    /// may wait behind it. It names the schema of everything.
    pub(crate) fn unhurried(&mut self, sql: &'static str) -> Result<(), ServerError> {
        let statement = self.statement(sql, &[]);
        Ok(self.connection.flight(&[statement], InTransaction::No).map(drop)?)
    }

    fn sent(&mut self, statements: &[Statement], wrap: InTransaction) -> Result<Vec<Rows>, ServerError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.connection.flight(statements, wrap) {
                Err(error) if tries < TRIES && error.send_again() && !error.is_broken() => {}
                Err(error) if error.is_of_another_server() => {
                    // Whoever opens the next one asks who is there.
                    self.connection.give_up();
                    return Err(another(self.known.as_ref().map_or("its address", |(_, shown)| shown)));
                }
                answer => return Ok(answer?),
            }
        }
    }
}

/// JSON for a server, which knows no text with a zero byte.
pub(crate) fn json_text(value: &impl serde::Serialize) -> Option<String> {
    let text = serde_json::to_string(value).unwrap_or_default();
    Some(if text.contains("\\u0000") { without_zeros(&text) } else { text })
}

/// A backslash that is itself written with one begins no escape.
fn without_zeros(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let is_zero = escape.starts_with("\\u0000");
        let (kept, left) = escape.split_at_checked(if is_zero { 6 } else { 2 }).unwrap_or((escape, ""));
        out.push_str(if is_zero { " " } else { kept });
        rest = left;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f9_a_zero_byte_is_taken_out_of_what_is_sent_and_a_word_that_looks_like_one_is_not() {
        let sent = json_text(&["a\0b", "printf '\\u0000'", "\\", "\\\0"]).unwrap();
        let read: Vec<String> = serde_json::from_str(&sent).unwrap();
        assert_eq!(read, ["a b", "printf '\\u0000'", "\\", "\\ "]);
    }
}
