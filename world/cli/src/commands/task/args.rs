//! `taut task …` as users type it, with the flags that older scripts know.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum TaskVerb {
    /// Take a plan over from stdin: JSON Lines with the keys id, t, d, p, cat, spec, ref, deps, steps, verify
    PlanSync(PlanSyncArgs),
    /// Take tasks over from a plan of another tool: Markdown, GitHub issues, beads
    Import(ImportArgs),
    /// Write the tasks as a plan: JSON Lines that `plan-sync` reads, Markdown, or beads
    Export(ExportArgs),
    /// Count the tasks by where they stand
    PlanStatus,
    /// Show what can be claimed next, and what is held
    Peek(PeekArgs),
    /// Claim a task: the first that is eligible, or the one named
    Claim(ClaimArgs),
    /// Renew the lease of a task you hold
    Renew(RenewArgs),
    /// Say that a task you hold is done
    Done(TaskDoneArgs),
    /// Give a task back that you could not finish
    Fail(FailArgs),
    /// Mark a step of a task as done
    StepDone(StepArgs),
    /// List tasks, by priority and age
    List(TaskListArgs),
    /// Show one task
    Show(ShowArgs),
    /// Make a task
    Create(CreateArgs),
    /// Change a task that is not done
    Update(UpdateArgs),
    /// Delete tasks; they stay in the history
    Delete(DeleteArgs),
    /// Show what a task waits for, all the way down
    Deps(IdArgs),
    /// Make a task wait for another
    Block(BlockArgs),
    /// Make a task wait for another no more
    Unblock(BlockArgs),
    /// Workers: register, list, deregister
    Agent {
        #[command(subcommand)]
        verb: TaskAgentVerb,
    },
    /// Say why nothing can be claimed
    Why,
    /// Put a quarantined or resting task back into the queue
    Requeue(IdArgs),
    /// Show every attempt on a task and how it ended
    History(IdArgs),
    /// Print changes of tasks as they happen
    Watch(WatchArgs),
}

#[derive(Debug, Subcommand)]
pub enum TaskAgentVerb {
    /// Register a worker and print its id
    Register(RegisterArgs),
    /// List workers
    List,
    /// Release what a worker holds and mark it as stopped
    Deregister(IdArgs),
}

#[derive(Debug, Args)]
pub struct IdArgs {
    pub id: String,
}

#[derive(Debug, Args)]
pub struct PlanSyncArgs {
    /// Leave tasks that came from the same documents and are planned no more
    #[arg(long)]
    pub keep_missing: bool,
    /// Delete them without asking
    #[arg(long, conflicts_with = "keep_missing")]
    pub yes: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The file, or - for stdin
    pub file: String,
    /// What it is: markdown, github (`gh issue list --json number,title,body,labels,state,url`), beads (`bd export`),
    /// jsonl, or auto by its looks
    #[arg(long, default_value = "auto", value_parser = ["auto", "markdown", "github", "beads", "jsonl"])]
    pub from: String,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// jsonl (what `plan-sync` reads; without what is done), markdown or beads
    #[arg(long, default_value = "jsonl", value_parser = ["jsonl", "markdown", "beads"])]
    pub to: String,
}

#[derive(Debug, Args)]
pub struct PeekArgs {
    /// How many claimable ones
    #[arg(short = 'n', default_value_t = 5)]
    pub count: usize,
    /// As markdown
    #[arg(long)]
    pub markdown: bool,
}

/// Who acts: the environment says, unless these do.
#[derive(Debug, Args)]
pub struct ActorArgs {
    /// Act for this agent (default: TAUT_AGENT_ID, RALPH_AGENT_ID, AGENT_ID, else where this runs)
    #[arg(long)]
    pub agent: Option<String>,
    /// Act for this attempt: the number `claim` printed
    #[arg(long)]
    pub attempt: Option<i64>,
    /// The token `claim` printed: lets another than the claiming agent act
    #[arg(long)]
    pub token: Option<String>,
}

#[derive(Debug, Args)]
pub struct ClaimArgs {
    /// This task and no other
    pub id: Option<String>,
    /// Seconds until the lease lapses unless it is renewed
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(i64).range(0..=86_400))]
    pub lease: i64,
    /// Claim for this agent
    #[arg(long)]
    pub agent: Option<String>,
    /// As markdown
    #[arg(long)]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct RenewArgs {
    pub id: String,
    /// Seconds from now
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(i64).range(0..=86_400))]
    pub lease: i64,
    #[command(flatten)]
    pub actor: ActorArgs,
}

#[derive(Debug, Args)]
pub struct TaskDoneArgs {
    pub id: String,
    /// A JSON object with at least `commit`, handed to those who wait for this task
    #[arg(long)]
    pub result: Option<String>,
    #[command(flatten)]
    pub actor: ActorArgs,
}

#[derive(Debug, Args)]
pub struct FailArgs {
    pub id: String,
    /// Why; kept in the history
    #[arg(long, default_value = "")]
    pub reason: String,
    #[command(flatten)]
    pub actor: ActorArgs,
}

#[derive(Debug, Args)]
pub struct StepArgs {
    pub id: String,
    /// Counted from 1
    pub seq: i64,
}

#[derive(Debug, Args)]
pub struct TaskListArgs {
    /// Only these, separated by commas: open, active, done, quarantined, deleted
    #[arg(long)]
    pub status: Option<String>,
    /// Done and deleted ones too
    #[arg(long)]
    pub all: bool,
    /// Only what this agent holds
    #[arg(long)]
    pub assignee: Option<String>,
    /// As markdown
    #[arg(long)]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    pub id: String,
    /// With the results of the tasks it waited for
    #[arg(long)]
    pub with_deps: bool,
}

/// What a task may say, where it says anything.
#[derive(Debug, Args)]
pub struct FieldArgs {
    /// 0 critical, 1 high, 2 medium, 3 low
    #[arg(short, long)]
    pub priority: Option<String>,
    /// bug, feat, test, refactor, doc, docs or chore
    #[arg(short, long)]
    pub category: Option<String>,
    #[arg(short, long)]
    pub description: Option<String>,
    /// A JSON list of texts
    #[arg(short, long)]
    pub steps: Option<String>,
    /// The document it comes from
    #[arg(short = 'r', long)]
    pub spec: Option<String>,
    #[arg(long = "ref")]
    pub reference: Option<String>,
    /// Tasks that must be done first, separated by commas
    #[arg(long)]
    pub deps: Option<String>,
    /// The command that must pass in the tree before a loop lets this task be done, in place of the loop's own
    /// (people only)
    #[arg(long, value_name = "COMMAND")]
    pub verify: Option<String>,
}

#[derive(Debug, Args)]
pub struct CreateArgs {
    pub id: String,
    pub title: String,
    #[command(flatten)]
    pub fields: FieldArgs,
}

#[derive(Debug, Args)]
pub struct UpdateArgs {
    pub id: String,
    #[arg(long)]
    pub title: Option<String>,
    /// open, done, quarantined or deleted
    #[arg(long)]
    pub status: Option<String>,
    #[command(flatten)]
    pub fields: FieldArgs,
}

#[derive(Debug, Args)]
pub struct DeleteArgs {
    pub id: Option<String>,
    /// All with one of these, separated by commas
    #[arg(long, conflicts_with = "id")]
    pub status: Option<String>,
    /// Of those, only from this document
    #[arg(long, requires = "status")]
    pub spec: Option<String>,
    /// Of those, only of this category
    #[arg(long, requires = "status")]
    pub category: Option<String>,
    /// Everything in this project; needs --confirm
    #[arg(long, conflicts_with_all = ["id", "status"])]
    pub all: bool,
    #[arg(long)]
    pub confirm: bool,
}

#[derive(Debug, Args)]
pub struct BlockArgs {
    pub id: String,
    /// The task to wait for
    #[arg(long)]
    pub by: String,
}

#[derive(Debug, Args)]
pub struct RegisterArgs {
    /// The worker's process (default: the one that runs this command)
    #[arg(long)]
    pub pid: Option<u32>,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// End when nothing is open or active any more
    #[arg(long)]
    pub until_done: bool,
}
