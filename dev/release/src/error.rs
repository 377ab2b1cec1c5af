//! What can go wrong while packages are made or checked.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum PackError {
    #[error("cannot read or write {}: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
    #[error("cannot make or read an archive: {0}")]
    Archive(#[from] io::Error),
    #[error("{}: {why}", path.display())]
    Program { path: PathBuf, why: &'static str },
    #[error("`{given}` is no target; there are: {known}")]
    NoTarget { given: String, known: String },
    #[error("there is no target for this machine; name one: --binary <target>=<program>")]
    NoHost,
    #[error("manual pages and completions are written by a program that runs here; add one: --binary <program>")]
    NobodyWrites,
    #[error("{what} cannot be read: {why}")]
    Unreadable { what: String, why: String },
}

impl PackError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |cause| Self::File { path: path.to_owned(), cause }
    }

    pub(crate) fn unreadable(what: &str, why: impl ToString) -> Self {
        Self::Unreadable { what: what.to_owned(), why: why.to_string() }
    }
}
