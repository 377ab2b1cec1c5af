//! What is sent to a server at once, and how long that is waited for.

use serde_json::Value;
use std::time::Duration;

/// What one statement answered: a JSON value a row.
pub type Rows = Vec<Value>;

/// How long a server is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For all its hosts together, until the first answer.
    pub connect: Duration,
    pub flight: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), flight: Duration::from_secs(10) }
    }
}

/// Whether the statements of a flight are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InTransaction {
    /// Each stands for itself, unless they begin and end one themselves. What means PostgreSQL's own functions, operators
    /// and types is in a transaction.
    No,
    /// A failure of any undoes all.
    Yes,
}
