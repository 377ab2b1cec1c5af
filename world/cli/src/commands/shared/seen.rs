//! How much of what is kept of servers whoever asks is shown: a person all of it, an agent what is of its project's queue.

use crate::commands::effort;
use crate::commands::reach::CallerReach;
use crate::error::CliError;
use crate::shared_queue;
use host::paths::PathVariables;
use serde_json::Value;
use store::{RefusedTurn, Store};

pub struct SeenQueues {
    reach: CallerReach,
    /// What the queue of its project is called, and was when that was last seen.
    own: Vec<String>,
}

impl SeenQueues {
    pub fn of(command: &str, store: &Store) -> Result<Self, CliError> {
        let places = PathVariables::from_process();
        let reach = CallerReach::of(command, store, effort::who(store, &places)?)?;
        let own = match &reach {
            CallerReach::Project(root) => {
                let named = shared_queue::settings(root, &places)?.map(|settings| settings.queue);
                named.into_iter().chain(store.queue_of(root)?).collect()
            }
            CallerReach::Everything | CallerReach::Agent(_) => Vec::new(),
        };
        Ok(Self { reach, own })
    }

    pub fn includes_turn(&self, turn: &RefusedTurn) -> bool {
        self.includes(&turn.queue, turn.agent.as_deref())
    }

    /// An event as it was sent.
    pub fn includes_event(&self, event: &Value) -> bool {
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        self.includes(text("project").unwrap_or_default(), text("agent"))
    }

    fn includes(&self, queue: &str, agent: Option<&str>) -> bool {
        match &self.reach {
            CallerReach::Everything => true,
            CallerReach::Project(_) => self.own.iter().any(|own| own == queue),
            CallerReach::Agent(own) => agent == Some(own),
        }
    }
}
