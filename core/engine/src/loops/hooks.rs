//! Hooks of the loop: their names, what their exit codes mean, and which
//! variables each is given. The one table of these; the docs are tested against it.

use super::FailBehavior;
use super::machine::{Loop, Terms};
use model::Ms;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hook {
    Started,
    NextIteration,
    PostIteration,
    Finished,
}

/// How a hook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEnd {
    /// There is none, it is switched off, or it runs on in the background.
    None,
    Code(i32),
    TimedOut,
    /// By a signal, or it could not be started.
    Broken,
}

/// What an ended hook means for the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookStage {
    GoOn,
    Skip,
    Abort,
}

/// A variable, without its prefix, and the hooks that get it.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    pub name: &'static str,
    pub about: &'static str,
    pub hooks: &'static [Hook],
}

const ALL: &[Hook] = &Hook::ALL;
const ITERATION: &[Hook] = &[Hook::NextIteration, Hook::PostIteration];
const NUMBERED: &[Hook] = &[Hook::NextIteration, Hook::PostIteration, Hook::Finished];
const STARTED: &[Hook] = &[Hook::Started];
const FINISHED: &[Hook] = &[Hook::Finished];

/// Each comes as `FRESHER_<name>` and `TAUT_<name>`.
pub const VARIABLES: &[Variable] = &[
    Variable { name: "MODE", about: "planning or building", hooks: ALL },
    Variable { name: "ITERATION", about: "number of the iteration, from 1", hooks: NUMBERED },
    Variable { name: "MAX_ITERATIONS", about: "configured maximum, 0 is unlimited", hooks: ALL },
    Variable { name: "PROJECT_DIR", about: "absolute path of the project", hooks: ALL },
    Variable { name: "LOG_DIR", about: "folder of the logs", hooks: ALL },
    Variable { name: "STARTED_AT", about: "when the loop began, ISO 8601", hooks: ALL },
    Variable { name: "PLAN_FILE", about: "path of the plan", hooks: STARTED },
    Variable { name: "SPEC_DIR", about: "path of the specifications", hooks: STARTED },
    Variable { name: "LAST_EXIT_CODE", about: "exit code of the last iteration", hooks: ITERATION },
    Variable { name: "LAST_DURATION", about: "its duration in seconds", hooks: ITERATION },
    Variable { name: "COMMITS_MADE", about: "commits made so far", hooks: ITERATION },
    Variable { name: "FINISH_TYPE", about: "how the loop ended", hooks: FINISHED },
    Variable { name: "TOTAL_ITERATIONS", about: "iterations completed", hooks: FINISHED },
    Variable { name: "TOTAL_COMMITS", about: "commits made", hooks: FINISHED },
    Variable { name: "DURATION", about: "duration of the loop in seconds", hooks: FINISHED },
];

impl Hook {
    pub const ALL: [Self; 4] = [Self::Started, Self::NextIteration, Self::PostIteration, Self::Finished];

    /// The name of its file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::NextIteration => "next_iteration",
            Self::PostIteration => "post_iteration",
            Self::Finished => "finished",
        }
    }
}

impl HookEnd {
    /// 2 aborts, 1 skips an iteration; the rest is only said, unless failures abort.
    pub fn stage(self, hook: Hook, behavior: FailBehavior) -> HookStage {
        match self {
            _ if hook == Hook::Finished => HookStage::GoOn,
            Self::Code(2) => HookStage::Abort,
            Self::Code(1) if hook == Hook::NextIteration => HookStage::Skip,
            Self::None | Self::Code(0 | 1) => HookStage::GoOn,
            Self::Code(_) | Self::TimedOut | Self::Broken if behavior == FailBehavior::Abort => HookStage::Abort,
            Self::Code(_) | Self::TimedOut | Self::Broken => HookStage::GoOn,
        }
    }
}

/// What a hook is told of the run: the variables of the table, without prefix.
pub fn values(hook: Hook, run: &Loop, terms: &Terms, now: Ms) -> Vec<(&'static str, String)> {
    let given = VARIABLES.iter().filter(|variable| variable.hooks.contains(&hook));
    given
        .filter_map(|variable| value(variable.name, hook, run, terms, now).map(|value| (variable.name, value)))
        .collect()
}

fn value(name: &str, hook: Hook, run: &Loop, terms: &Terms, now: Ms) -> Option<String> {
    let tally = &run.tally;
    Some(match name {
        "MODE" => terms.mode.name().to_string(),
        // Before an iteration it is the one that is about to begin.
        "ITERATION" if hook == Hook::NextIteration => (tally.iterations + 1).to_string(),
        "ITERATION" => tally.iterations.to_string(),
        "MAX_ITERATIONS" => terms.limits.max_iterations.to_string(),
        "PROJECT_DIR" => terms.project_dir.clone(),
        "LOG_DIR" => terms.log_dir.clone(),
        "STARTED_AT" => run.started_at.rfc3339(),
        "PLAN_FILE" => terms.plan_file.clone(),
        "SPEC_DIR" => terms.spec_dir.clone(),
        "LAST_EXIT_CODE" => tally.last_exit.unwrap_or_default().to_string(),
        "LAST_DURATION" => (tally.last_ms / 1000).to_string(),
        "COMMITS_MADE" | "TOTAL_COMMITS" => tally.commits.to_string(),
        "FINISH_TYPE" => run.finish?.name().to_string(),
        "TOTAL_ITERATIONS" => tally.iterations.to_string(),
        "DURATION" => (now.since(run.started_at) / 1000).to_string(),
        _ => return None,
    })
}
