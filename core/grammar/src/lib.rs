//! The commands an agent gives about its own work: one definition of what is
//! typed, for the arguments of the process and for the line that a hook reads.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod args;
mod command;
mod line;

pub use args::{
    AgentArgs, ContinueArgs, DehydrateArgs, EffortListArgs, EffortVerb, ForgetFactArgs, InboxArgs, MessageArgs,
    PhaseArgs, RememberArgs, SendArgs, SessionVerb, StartArgs, TextArgs, WorkArgs, WorkerDoneArgs, WorkerVerb,
};
pub use command::{AgentCommand, FactScope, HAND_OVER_EXAMPLE, HAND_OVER_USAGE, Start, Take, WorkerOutcome};
pub use line::AgentLine;
