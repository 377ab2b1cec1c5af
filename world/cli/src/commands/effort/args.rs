//! What users and agents type about the work itself: logs, statuses, efforts, sessions of work.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct TextArgs {
    /// The words; read from stdin when there are none
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub text: Vec<String>,
}

#[derive(Debug, Args)]
pub struct StartArgs {
    /// The skill, as it is invoked (implement, fix, …); a folder may stand before it
    #[arg(required = true, num_args = 1..=2, value_name = "SKILL")]
    pub skill: Vec<String>,
    /// The task it belongs to; the one this agent holds if not given
    #[arg(long)]
    pub task: Option<String>,
    /// Where its artifacts go: a folder of the project
    #[arg(long)]
    pub folder: Option<String>,
}

#[derive(Debug, Args)]
pub struct PhaseArgs {
    /// The phase to go to
    #[arg(required = true)]
    pub label: Vec<String>,
    /// What the user said, where this is a jump
    #[arg(long, alias = "user-approved")]
    pub approved: Option<String>,
}

#[derive(Debug, Args)]
pub struct EffortListArgs {
    /// Finished ones, and those of every project too
    #[arg(long)]
    pub all: bool,
    /// Only this agent's
    #[arg(long)]
    pub agent: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum EffortVerb {
    /// Begin an effort: one invocation of a skill (stdin: metadata as JSON)
    Start(StartArgs),
    /// Go to a phase; forward in order, or with somebody's word
    Phase(PhaseArgs),
    /// End the effort
    Finish(TextArgs),
    /// Show an effort: its phases, directives and artifacts
    Show {
        /// Its task or id; the current one if not given
        what: Option<String>,
    },
    /// List efforts
    List(EffortListArgs),
}

#[derive(Debug, Subcommand)]
pub enum SessionVerb {
    /// Begin an effort with a skill: this opens the session gate
    #[command(alias = "init")]
    Activate(StartArgs),
    /// Go on with an effort, this agent's own or another by name
    Continue {
        /// Its task or id
        what: Option<String>,
        /// Take it from an agent that works on it
        #[arg(long)]
        take: bool,
    },
    /// Store what you know for the next session (stdin: JSON)
    Dehydrate(TextArgs),
    /// Ask to be ended and started again with what is stored
    Restart(TextArgs),
    /// Find efforts by words of their task, skill or phase
    Find {
        /// What to look for
        text: Vec<String>,
    },
    /// Say where this agent stands: session, effort, counters
    Status,
    /// End the effort
    #[command(alias = "deactivate")]
    End(TextArgs),
    /// Go to a phase (the same as `taut effort phase`)
    #[command(hide = true)]
    Phase(PhaseArgs),
}
