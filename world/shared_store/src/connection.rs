//! One connection to a server, with a small runtime of its own. Statements are sent in flights: all at once, one round
//! trip, each answered by rows of one text column, which is JSON.

use crate::server_error::FlightError;
use crate::statement::begin;
use crate::wire::Allowance;
use crate::{InTransaction, Patience, Rows, ServerTarget, Statement, dial};
use futures_util::TryStreamExt;
use serde_json::Value;
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use store::ServerError;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

/// How long the server is told goodbye: one that hears nothing is left.
const GOODBYE: Duration = Duration::from_millis(200);

/// How much of this machine's memory what a flight brings may take, about: a short text can hold a great many values.
const MOST_MEMORY: usize = 1 << 30;
const PART: usize = 128;

/// Said aloud, because a server may be set up for another level by default.
const BEGIN: &str = begin!("READ COMMITTED");

pub struct Connection {
    /// `None` once it was taken to be ended, in `drop`.
    runtime: Option<Runtime>,
    line: Option<Line>,
    patience: Patience,
    broken: bool,
}

/// What is at this end of a server.
pub(crate) struct Line {
    pub client: Client,
    pub driver: JoinHandle<()>,
    pub allowance: Allowance,
}

impl Connection {
    /// # Errors
    /// `Away` where nobody answers in time; `Refused`, with what helps, where the answer is no.
    pub fn open(target: &ServerTarget, patience: Patience) -> Result<Self, ServerError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|cause| ServerError::Away(format!("no connection can be made: {cause}")))?;
        match runtime.block_on(dial::dial(target, patience.connect)) {
            Ok(line) => Ok(Self { runtime: Some(runtime), line: Some(line), patience, broken: false }),
            Err(why) => {
                // A name that is still being looked up holds nobody up.
                runtime.shutdown_background();
                Err(why)
            }
        }
    }

    /// Whether it is of no use any more, and another is to be opened.
    pub fn is_broken(&self) -> bool {
        self.broken || self.line.as_ref().is_none_or(|line| line.client.is_closed())
    }

    /// Whether another is to be opened before the next verb.
    pub(crate) fn is_worn(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.allowance.is_worn())
    }

    /// It is of no use any more: another is to be opened.
    pub fn give_up(&mut self) {
        self.broken = true;
    }

    /// Sends all of them at once.
    ///
    /// # Errors
    /// Of the first that failed.
    pub fn flight(&mut self, statements: &[Statement], wrap: InTransaction) -> Result<Vec<Rows>, FlightError> {
        let whole = wrap == InTransaction::Yes;
        self.sent(statements, Wrap { before: whole.then_some(BEGIN), after: whole.then_some("COMMIT") })
    }

    /// A transaction of several flights, for what must look before it writes. Begun with the first of them, and undone
    /// unless it is committed.
    pub fn begin(&mut self) -> Transaction<'_> {
        Transaction { connection: self, state: TransactionState::Unsent }
    }

    /// Several statements without parameters or answers, as a file has them.
    pub(crate) fn script(&mut self, text: &str) -> Result<(), FlightError> {
        self.renew([text].into_iter());
        self.within(async |client| client.batch_execute(text).await.map_err(FlightError::from))
    }

    fn sent(&mut self, statements: &[Statement], wrap: Wrap) -> Result<Vec<Rows>, FlightError> {
        self.renew(
            statements.iter().flat_map(|one| one.parameters.iter().flatten().chain([&one.sql])).map(String::as_str),
        );
        self.within(async |client| {
            let left = Cell::new(MOST_MEMORY);
            let asked =
                futures_util::future::join_all(statements.iter().map(|statement| ask(client, statement, &left)));
            // Polled in this order, so that they are sent in it.
            let (before, asked, after) =
                futures_util::join!(plain(client, wrap.before), asked, plain(client, wrap.after));
            before?;
            let rows = asked.into_iter().collect::<Result<Vec<_>, _>>()?;
            after?;
            Ok(rows)
        })
    }

    /// What the next flight may read and write.
    fn renew<'t>(&self, texts: impl Iterator<Item = &'t str>) {
        if let Some(line) = &self.line {
            line.allowance.renew(texts);
        }
    }

    /// Runs it within the patience of a flight. After what leaves it open how the session stands nothing more is sent.
    fn within<T>(&mut self, work: impl AsyncFnOnce(&Client) -> Result<T, FlightError>) -> Result<T, FlightError> {
        let (Some(runtime), Some(line), false) = (&self.runtime, &self.line, self.broken) else {
            return Err(FlightError::Broken("it was broken before".to_string()));
        };
        let done = runtime.block_on(in_time(self.patience.flight, work(&line.client)));
        // Whoever drives the connection found that out, and the client only that it is over.
        let done = match &line.allowance {
            allowance if allowance.is_overread() => Err(FlightError::TooMuch),
            allowance if allowance.is_overwritten() => Err(FlightError::Garbled),
            _ => done,
        };
        if let Err(error) = &done {
            self.broken = error.is_broken();
        }
        done
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if let Some(Line { client, driver, .. }) = self.line.take() {
            // Without its client the driver says goodbye and ends.
            drop(client);
            if !self.broken {
                // Whoever does not hear it notices the closed socket.
                let _ = runtime.block_on(async { tokio::time::timeout(GOODBYE, driver).await });
            }
        }
        runtime.shutdown_background();
    }
}

/// Several flights that are one: committed together, or not at all.
pub struct Transaction<'a> {
    connection: &'a mut Connection,
    state: TransactionState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TransactionState {
    Unsent,
    Open,
    /// A statement failed: only undoing it is left.
    Failed,
    Over,
}

impl Transaction<'_> {
    /// # Errors
    /// Of the first statement that failed; then nothing of the transaction can be kept.
    pub fn flight(&mut self, statements: &[Statement]) -> Result<Vec<Rows>, FlightError> {
        self.still_whole()?;
        let before = (self.state == TransactionState::Unsent).then_some(BEGIN);
        let answer = self.connection.sent(statements, Wrap { before, after: None });
        self.state = if answer.is_ok() { TransactionState::Open } else { TransactionState::Failed };
        answer
    }

    /// # Errors
    /// Where it is not known to be kept; after an error of a flight it is not.
    pub fn commit(mut self) -> Result<(), FlightError> {
        self.still_whole()?;
        let ended = match self.state {
            TransactionState::Unsent => Ok(()),
            _ => self.connection.script("COMMIT"),
        };
        self.state = if ended.is_ok() { TransactionState::Over } else { TransactionState::Failed };
        ended
    }

    pub(crate) fn script(&mut self, text: &str) -> Result<(), FlightError> {
        if self.state == TransactionState::Unsent {
            self.flight(&[])?;
        }
        self.still_whole()?;
        let done = self.connection.script(text);
        if done.is_err() {
            self.state = TransactionState::Failed;
        }
        done
    }

    fn still_whole(&self) -> Result<(), FlightError> {
        match self.state {
            TransactionState::Unsent | TransactionState::Open => Ok(()),
            // The server's own word for it.
            TransactionState::Failed | TransactionState::Over => Err(FlightError::Said {
                state: "25P02".to_string(),
                words: "a statement before failed, so nothing of the transaction is kept".to_string(),
            }),
        }
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let open = matches!(self.state, TransactionState::Open | TransactionState::Failed);
        if open && !self.connection.is_broken() && self.connection.script("ROLLBACK").is_err() {
            self.connection.broken = true;
        }
    }
}

/// What is sent around the statements of a flight, in the same breath.
struct Wrap {
    before: Option<&'static str>,
    after: Option<&'static str>,
}

async fn in_time<T>(most: Duration, work: impl Future<Output = Result<T, FlightError>>) -> Result<T, FlightError> {
    tokio::time::timeout(most, work).await.unwrap_or(Err(FlightError::Late))
}

async fn plain(client: &Client, text: Option<&str>) -> Result<(), tokio_postgres::Error> {
    match text {
        Some(text) => client.batch_execute(text).await,
        None => Ok(()),
    }
}

async fn ask(client: &Client, statement: &Statement, left: &Cell<usize>) -> Result<Rows, FlightError> {
    if statement.is_bare {
        client.batch_execute(&statement.sql).await?;
        return Ok(Rows::new());
    }
    let typed = statement.parameters.iter().map(|text| (text, Type::TEXT));
    let mut rows = pin!(client.query_typed_raw(&statement.sql, typed).await?);
    let mut values = Rows::new();
    while let Some(row) = rows.try_next().await? {
        values.push(value(&row, left)?);
    }
    Ok(values)
}

fn value(row: &Row, left: &Cell<usize>) -> Result<Value, FlightError> {
    let text: &str = row.try_get(0).map_err(|_| FlightError::Garbled)?;
    left.set(left.get().checked_sub(text.len() + parts(text) * PART).ok_or(FlightError::TooMuch)?);
    serde_json::from_str(text).map_err(|_| FlightError::Garbled)
}

/// How many values and keys a text of JSON has, about: what parts them counts, and not within texts, which anybody writes.
fn parts(json: &str) -> usize {
    let (mut count, mut in_text, mut escaped) = (1, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b',' | b':' | b'[' | b'{' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn x2_what_stands_in_a_text_is_no_value_of_its_own() {
        assert_eq!(parts("null"), 1);
        assert_eq!(parts(r#"{"a": [1, 2], "b": {}}"#), 1 + 4 + 3);
        assert_eq!(parts(r#"",:[{\",:[{\\""#), 1);
        assert_eq!(parts(r#"["\\", 1]"#), 3);
    }
}
