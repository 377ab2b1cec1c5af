//! The loop: an agent run again and again until its work is done or a limit
//! holds. Pure: a state and an event give a state and effects; the runner acts.

mod hooks;
mod machine;
mod plan_file;
mod settings;
mod shell_file;
mod verdict;

pub use hooks::{Hook, HookEnd, Stage, VARIABLES, Variable, values};
pub use machine::{Effect, Event, Loop, Phase, Stop, Terms};
pub use plan_file::{Boxes, boxes};
pub use settings::{
    FailBehavior, Flags, HookSetting, Hooks, Limits, Progress, Settings, Source, Sources, duration, settings,
};
pub use shell_file::{Assignments, assignments};
pub use verdict::{Ended, Open, Seen, Work};

#[cfg(test)]
mod tests;
