//! The loop: an agent run again and again until its work is done or a limit
//! holds. Pure: a state and an event give a state and effects; the runner acts.

mod hooks;
mod machine;
mod parallel;
mod plan_file;
mod settings;
mod shell_file;
mod verdict;

pub use hooks::{Hook, HookEnd, HookStage, VARIABLES, Variable, values};
pub use machine::{Loop, LoopEffect, LoopEvent, Phase, Stop, Terms, WaitKind};
pub use parallel::{
    AfterWorker, AlikeFailures, Conflict, ConflictLeft, Coordination, CoordinatorStep, DONE, Waiting, after_worker,
    conflict_left, conflict_task, coordinate, ends_all, lands_now, safe_name, work_of_worker,
};
pub use plan_file::{Boxes, boxes};
pub use policy::config::sections::{FailBehavior, FailedTree, MergeStyle, Progress, WorkSource};
pub use policy::config::types::duration;
pub use settings::{
    Flags, HookSetting, Hooks, LoopLimits, LoopSettings, Sources, UnreadVariable, VariableOrigin, settings,
};
pub use shell_file::{Assignments, assignments};
pub use verdict::{AgentEnd, EndedAgent, Open, ProofResult, WorkCount, WorkState};

#[cfg(test)]
mod tests;
