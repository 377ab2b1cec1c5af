//! What users and agents type about the work itself and to each other.

use clap::{Args, Subcommand};

/// What an agent may want done, or look at.
#[derive(Debug, Clone, Subcommand)]
pub enum AgentArgs {
    #[command(flatten)]
    Messages(MessageArgs),
    #[command(flatten)]
    Work(WorkArgs),
}

#[derive(Debug, Clone, Subcommand)]
pub enum MessageArgs {
    /// Tell an agent, or a conversation, something: it is shown at its next hook
    Send(SendArgs),
    /// List messages between agents that wait
    Inbox(InboxArgs),
    /// A worker that another session has started
    Worker {
        #[command(subcommand)]
        verb: WorkerVerb,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub enum WorkArgs {
    /// Write down what you did, in the log of the effort
    Log(TextArgs),
    /// Say what this session is doing; without words, show how things stand here
    Status(TextArgs),
    /// Note a fact that lasts, for the sessions of this project
    Remember(RememberArgs),
    /// Take a fact back, by its id or by words of it
    Forget(ForgetFactArgs),
    /// List the facts that are noted here: id, scope, origin, age
    Facts,
    /// Take up unfinished work: an effort, or what a session noted before it ended
    Continue(ContinueArgs),
    /// Efforts: one for each invocation of a skill
    Effort {
        #[command(subcommand)]
        verb: EffortVerb,
    },
    /// An agent's effort, and what it leaves to the next
    Session {
        #[command(subcommand)]
        verb: SessionVerb,
    },
}

#[derive(Debug, Clone, Args)]
pub struct SendArgs {
    /// An agent, a conversation, or a session whose conversation is meant
    pub to: String,
    /// What there is to say; - or nothing reads it from stdin
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub text: Vec<String>,
}

#[derive(Debug, Clone, Args)]
pub struct InboxArgs {
    /// Those that were delivered too
    #[arg(long)]
    pub all: bool,
    /// Only those to or from this agent, or to its conversation
    #[arg(long)]
    pub agent: Option<String>,
}

#[derive(Debug, Clone, Subcommand)]
pub enum WorkerVerb {
    /// Report what came of the work to the conversation that started this worker
    Done(WorkerDoneArgs),
}

#[derive(Debug, Clone, Args)]
pub struct WorkerDoneArgs {
    /// What came of it; - reads it from stdin
    #[arg(long, conflicts_with = "text")]
    pub summary: Option<String>,
    /// It did not work out
    #[arg(long)]
    pub failed: bool,
    /// The same as --summary
    #[arg(value_name = "SUMMARY", trailing_var_arg = true, allow_hyphen_values = true)]
    pub text: Vec<String>,
}

#[derive(Debug, Clone, Args)]
pub struct TextArgs {
    /// The words; read from stdin when there are none
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub text: Vec<String>,
}

#[derive(Debug, Clone, Default, Args)]
pub struct DehydrateArgs {
    /// What this is about and what is done
    #[arg(long)]
    pub summary: Option<String>,
    /// What was done last
    #[arg(long, alias = "last-action", value_name = "ACTION")]
    pub last: Option<String>,
    /// What is to be done next; may be given several times
    #[arg(long, alias = "next-step", value_name = "STEP")]
    pub next: Vec<String>,
    /// A file that the next session must read; may be given several times
    #[arg(long, alias = "required-file", value_name = "PATH")]
    pub file: Vec<String>,
    /// How to go on
    #[arg(long, value_name = "TEXT")]
    pub handover: Option<String>,
    /// What the user said that must not be lost
    #[arg(long, value_name = "TEXT")]
    pub user_history: Option<String>,
    /// The same as one JSON object; read from stdin when nothing is given
    #[arg(value_name = "JSON", trailing_var_arg = true, allow_hyphen_values = true)]
    pub text: Vec<String>,
}

#[derive(Debug, Clone, Args)]
pub struct RememberArgs {
    /// For all projects (people only)
    #[arg(long, conflicts_with = "shared")]
    pub global: bool,
    /// For everyone who works on this project, in its .taut/memory.md (people only)
    #[arg(long)]
    pub shared: bool,
    /// The fact, in a sentence; - or nothing reads it from stdin
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub text: Vec<String>,
}

#[derive(Debug, Clone, Args)]
pub struct ForgetFactArgs {
    /// The id that `taut facts` shows, or words that only this fact has
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub what: Vec<String>,
}

#[derive(Debug, Clone, Args)]
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

#[derive(Debug, Clone, Args)]
pub struct PhaseArgs {
    /// The phase to go to
    #[arg(required = true)]
    pub label: Vec<String>,
    /// What the user said, where this is a jump
    #[arg(long, alias = "user-approved")]
    pub approved: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub struct ContinueArgs {
    /// Its id or the end of it, or the task; what was offered if not given
    pub what: Option<String>,
    /// Take it from an agent that works on it
    #[arg(long)]
    pub take: bool,
    /// Do not go on with it: it ends, and is not offered again
    #[arg(long, conflicts_with = "take")]
    pub no: bool,
}

#[derive(Debug, Clone, Args)]
pub struct EffortListArgs {
    /// Finished ones, and those of every project too
    #[arg(long)]
    pub all: bool,
    /// Only this agent's
    #[arg(long)]
    pub agent: Option<String>,
}

#[derive(Debug, Clone, Subcommand)]
pub enum EffortVerb {
    /// Begin an effort: one invocation of a skill (stdin: metadata as JSON)
    Start(StartArgs),
    /// Go to a phase; forward in order, or with somebody's word
    Phase(PhaseArgs),
    /// End the effort, or another by its id (the first word); what else is said goes into its log
    Finish(TextArgs),
    /// Show an effort: its phases, directives and artifacts
    Show {
        /// Its task, its id or the end of it; the current one if not given
        what: Option<String>,
        /// All of the newest hand-over note, with its age
        #[arg(long)]
        note: bool,
    },
    /// List efforts
    List(EffortListArgs),
}

#[derive(Debug, Clone, Subcommand)]
pub enum SessionVerb {
    /// Begin an effort with a skill: this opens the session gate
    #[command(alias = "init")]
    Activate(StartArgs),
    /// Go on with an effort, this agent's own or another by name
    Continue {
        /// Its task, its id or the end of it
        what: Option<String>,
        /// Take it from an agent that works on it
        #[arg(long)]
        take: bool,
    },
    /// Store what you know for the next session
    Dehydrate(DehydrateArgs),
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
