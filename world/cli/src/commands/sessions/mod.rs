//! `taut sessions`: who works on what, who worked on what, and what happened in it.

mod export;
pub mod find;
mod list;
mod query;
mod show;

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SessionsArgs {
    #[command(subcommand)]
    verb: Option<SessionsVerb>,
    #[command(flatten)]
    wanted: ListArgs,
}

#[derive(Debug, Subcommand)]
enum SessionsVerb {
    /// One session: what it is, and what happened in it
    Show(ShowArgs),
    /// Print one session as a document to keep
    Export(ExportArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Ended ones too. Whoever asks for a state, a day or what happened is shown them without this
    #[arg(long)]
    all: bool,
    /// Only this agent's
    #[arg(long)]
    agent: Option<String>,
    /// Only of the project of this folder
    #[arg(long, value_name = "PATH")]
    project: Option<PathBuf>,
    /// Only those that stand so: open, ended, idle, active, tool_active, created, or by their agent's status
    #[arg(long)]
    state: Option<String>,
    /// Only those in which this tool was used
    #[arg(long)]
    tool: Option<String>,
    /// Only those in which this rule stopped or warned
    #[arg(long)]
    rule: Option<String>,
    /// Only those that were there since then: 2d, 3w, 2026-11-01
    #[arg(long)]
    since: Option<String>,
    /// Only those that began before then: 2d, 3w, 2026-11-01
    #[arg(long)]
    until: Option<String>,
    /// Only those that were there on this day: today, yesterday, 2026-11-01
    #[arg(long, conflicts_with_all = ["since", "until"])]
    day: Option<String>,
    /// Only those in which this was said or done, as `taut recall` finds it
    #[arg(long, value_name = "WORDS")]
    text: Option<String>,
    /// urgency, seen, started, agent or cost
    #[arg(long, default_value = "urgency")]
    sort: String,
    /// The other way round
    #[arg(long)]
    reverse: bool,
    /// By project
    #[arg(long)]
    group: bool,
    /// How many at the most
    #[arg(long, short = 'n')]
    limit: Option<usize>,
    /// The page after the one that named this
    #[arg(long, value_name = "KEY")]
    after: Option<String>,
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// Its id, ours or the one it is known by, or how that begins; or an agent's name for its newest
    session: String,
    /// How many entries of the timeline, the latest of them
    #[arg(long, short = 'n', default_value_t = 50)]
    limit: usize,
    /// Only entries of this kind: prompt, tool, session, sub_agent, notice, other, or told: what the model was told
    #[arg(long)]
    kind: Option<String>,
    /// Only calls of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only deny, ask or warn, or any of them
    #[arg(long)]
    verdict: Option<String>,
    /// Only where this rule stopped or warned
    #[arg(long)]
    rule: Option<String>,
    /// Only entries in which this stands
    #[arg(long)]
    text: Option<String>,
    /// What was before the entry that the last page named
    #[arg(long, value_name = "KEY")]
    before: Option<String>,
}

#[derive(Debug, Args)]
struct ExportArgs {
    /// Its id, ours or the one it is known by, or how that begins; or an agent's name for its newest
    session: String,
    /// As Markdown, which is what is printed without `--json`
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

pub fn run(args: &SessionsArgs, printer: &Printer) -> Result<Exit, CliError> {
    match &args.verb {
        None => list::run(&args.wanted, printer),
        Some(SessionsVerb::Show(args)) => show::run(args, printer),
        Some(SessionsVerb::Export(args)) => export::run(args, printer),
    }
}
