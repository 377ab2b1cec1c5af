//! A build without PostgreSQL: everything but the connection is there, and nothing opens one.

use crate::{FlightError, InTransaction, Patience, Protection, Rows, ServerEnvironment, Statement, TargetWish};
use std::marker::PhantomData;
use store::ServerError;

/// No address leads anywhere: there is none of these.
#[derive(Debug, Clone)]
pub struct AbsentServerTarget(Never);

pub struct AbsentConnection(Never);

pub struct AbsentTransaction<'a> {
    never: Never,
    connection: PhantomData<&'a ()>,
}

#[derive(Debug, Clone)]
enum Never {}

impl AbsentServerTarget {
    /// # Errors
    /// Always: what is configured needs another build.
    pub fn resolve(_: &TargetWish, _: &ServerEnvironment) -> Result<Self, ServerError> {
        Err(ServerError::Refused(
            "this taut was built without the shared store: build it with its default features, or take `[shared]` out of \
             the configuration (`taut config edit`)"
                .to_string(),
        ))
    }

    pub fn shown(&self) -> String {
        match self.0 {}
    }

    pub fn protection(&self) -> Protection {
        match self.0 {}
    }

    pub fn knows_password(&self) -> bool {
        match self.0 {}
    }

    pub fn role(&self) -> String {
        match self.0 {}
    }
}

impl AbsentConnection {
    /// # Errors
    /// Never: no target leads here.
    pub fn open(target: &AbsentServerTarget, _: Patience) -> Result<Self, ServerError> {
        match target.0 {}
    }

    pub fn is_broken(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn is_worn(&self) -> bool {
        match self.0 {}
    }

    pub fn give_up(&mut self) {
        match self.0 {}
    }

    /// # Errors
    /// Never: there is no connection.
    pub fn flight(&mut self, _: &[Statement], _: InTransaction) -> Result<Vec<Rows>, FlightError> {
        match self.0 {}
    }

    pub fn begin(&mut self) -> AbsentTransaction<'_> {
        match self.0 {}
    }
}

/// As the one with PostgreSQL has: who lets go of a connection writes it the same way in both builds.
impl Drop for AbsentConnection {
    fn drop(&mut self) {
        match self.0 {}
    }
}

impl AbsentTransaction<'_> {
    /// # Errors
    /// Never: there is no connection.
    pub fn flight(&mut self, _: &[Statement]) -> Result<Vec<Rows>, FlightError> {
        match self.never {}
    }

    /// # Errors
    /// Never: there is no connection.
    pub fn commit(self) -> Result<(), FlightError> {
        match self.never {}
    }

    pub(crate) fn script(&mut self, _: &str) -> Result<(), FlightError> {
        match self.never {}
    }
}
