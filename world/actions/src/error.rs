//! Why an act did not happen.

use thiserror::Error;

#[derive(Debug, Error)]
pub enum ActionError {
    #[error("there is no agent `{0}`")]
    NoAgent(String),
    #[error("there is nothing to answer under `{0}`: it was answered or let go meanwhile")]
    NoCard(String),
    /// In words that say what is the case and what helps.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Store(#[from] store::Error),
}
