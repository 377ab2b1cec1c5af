//! One connection to a server, with a small runtime of its own. Statements are sent in flights: all at once, one round
//! trip, each answered by rows of one text column, which is JSON.

use crate::Statement;
use serde_json::Value;
use std::time::Duration;
use store::ServerError;
use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

/// What one statement answered: a JSON value a row.
pub type Rows = Vec<Value>;

pub struct Connection {
    runtime: Runtime,
    client: Client,
    patience: Duration,
}

impl Connection {
    /// Sends all of them at once. With `transaction`, they are one: a failure of any undoes all.
    ///
    /// # Errors
    /// Of the first that failed.
    pub fn flight(&mut self, statements: &[Statement], transaction: bool) -> Result<Vec<Rows>, FlightError> {
        let client = &self.client;
        let flight = async {
            let begin = async { if transaction { client.batch_execute("BEGIN").await } else { Ok(()) } };
            let asked = futures_util::future::join_all(statements.iter().map(|statement| ask(client, statement)));
            let commit = async { if transaction { client.batch_execute("COMMIT").await } else { Ok(()) } };
            // Polled in this order, so that they are sent in it.
            let (begun, asked, committed) = futures_util::join!(begin, asked, commit);
            begun?;
            let rows = asked.into_iter().collect::<Result<Vec<_>, _>>()?;
            committed?;
            Ok::<_, tokio_postgres::Error>(rows)
        };
        let patience = self.patience;
        match self.runtime.block_on(async { tokio::time::timeout(patience, flight).await }) {
            Ok(Ok(rows)) => rows.iter().map(|rows| rows.iter().map(value).collect()).collect(),
            Ok(Err(cause)) => Err(FlightError::Server(cause)),
            Err(_) => Err(FlightError::Late),
        }
    }
}

/// What went wrong with a flight.
#[derive(Debug, thiserror::Error)]
pub enum FlightError {
    #[error(transparent)]
    Server(#[from] tokio_postgres::Error),
    #[error("it did not answer in time")]
    Late,
    #[error("it answered with something that is no JSON")]
    Garbled,
}

impl From<FlightError> for ServerError {
    fn from(error: FlightError) -> Self {
        Self::Away(error.to_string())
    }
}

async fn ask(client: &Client, statement: &Statement) -> Result<Vec<Row>, tokio_postgres::Error> {
    let typed: Vec<(&(dyn ToSql + Sync), Type)> =
        statement.parameters.iter().map(|text| (text as &(dyn ToSql + Sync), Type::TEXT)).collect();
    client.query_typed(&statement.sql, &typed).await
}

fn value(row: &Row) -> Result<Value, FlightError> {
    let text: &str = row.try_get(0).map_err(|_| FlightError::Garbled)?;
    serde_json::from_str(text).map_err(|_| FlightError::Garbled)
}
