//! The agent that an act is about.

use crate::ActionError;
use model::row::Agent;
use model::session::Session;
use store::Store;

/// An agent, with the session it is in.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetAgent {
    pub agent: Agent,
    /// `None` where no session is open.
    pub session: Option<Session>,
}

pub fn find(store: &Store, agent: &str) -> Result<TargetAgent, ActionError> {
    let row = store.agent(agent)?.ok_or_else(|| ActionError::NoAgent(agent.to_string()))?;
    let session = row.session.as_deref().map(|id| store.session(id)).transpose()?.flatten().filter(Session::open);
    Ok(TargetAgent { agent: row, session })
}
