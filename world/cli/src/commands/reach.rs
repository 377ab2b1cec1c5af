//! How far whoever runs a command sees. A person sees everything; what was said to the agents of a project is nothing for
//! those of another.

use super::effort;
use crate::error::CliError;
use crate::person;
use host::paths::PathVariables;
use model::session::Session;
use pipeline::queue::TaskCaller;
use store::Store;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallerReach {
    Everything,
    Project(String),
    Agent(String),
}

impl CallerReach {
    pub fn of(command: &str, store: &Store, caller: TaskCaller) -> Result<Self, CliError> {
        if person::outside_agents(command).is_ok() { Ok(Self::Everything) } else { Self::own(store, caller) }
    }

    /// One that belongs to no project sees what is its own, and so does one that bears a name and whose session is not
    /// known.
    fn own(store: &Store, caller: TaskCaller) -> Result<Self, CliError> {
        // Variables can say anything; the processes above are what they are.
        let known = match caller.session {
            Some(id) => Some(id),
            None => effort::by_processes(store, &PathVariables::from_process())?.session,
        };
        let session = known.map(|id| store.session(&id)).transpose()?.flatten();
        Ok(match session {
            Some(session) if !session.project.is_empty() => Self::Project(session.project),
            Some(session) => Self::Agent(session.agent),
            None if person::is_marked() => Self::Agent(caller.agent),
            None => Self::Everything,
        })
    }

    pub fn includes(&self, session: &Session) -> bool {
        match self {
            Self::Everything => true,
            Self::Project(project) => session.project == *project,
            Self::Agent(agent) => session.agent == *agent,
        }
    }
}
