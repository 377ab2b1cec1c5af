//! `taut send`, `taut worker done`: what agents and people tell agents. What
//! the hook that saw the line has sent is found sent.

use super::effort;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::stdin;
use clap::{Args, Subcommand};
use engine::fleet::text;
use engine::memory::command::AgentCommand;
use host::paths::PathVariables;
use store::{SessionFilter, Store};

#[derive(Debug, Args)]
pub struct SendArgs {
    /// An agent, a conversation, or a session whose conversation is meant
    pub to: String,
    /// What there is to say; - or nothing reads it from stdin
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub text: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum WorkerVerb {
    /// Report what came of the work to the conversation that started this worker
    Done(WorkerDoneArgs),
}

#[derive(Debug, Args)]
pub struct WorkerDoneArgs {
    /// What came of it; - reads it from stdin
    #[arg(long, conflicts_with = "text")]
    pub summary: Option<String>,
    /// It did not work out
    #[arg(long)]
    pub failed: bool,
    /// The same as --summary
    #[arg(value_name = "SUMMARY")]
    pub text: Vec<String>,
}

pub fn run(args: &SendArgs, printer: &Printer) -> Result<Exit, CliError> {
    let words = args.text.strip_prefix(&["--".to_string()]).unwrap_or(&args.text);
    sent(Spelled::of(words), printer)
}

pub fn worker(verb: &WorkerVerb, printer: &Printer) -> Result<Exit, CliError> {
    let WorkerVerb::Done(args) = verb;
    sent(Spelled::of(args.summary.as_ref().map_or(&args.text, std::slice::from_ref)), printer)
}

/// Where the words are.
enum Spelled {
    OnTheLine,
    OnStdin,
}

impl Spelled {
    fn of(words: &[String]) -> Self {
        if words.is_empty() || words == ["-"] { Self::OnStdin } else { Self::OnTheLine }
    }
}

/// Whoever sleeps in a pane is woken now rather than at the daemon's next look.
fn sent(spelled: Spelled, printer: &Printer) -> Result<Exit, CliError> {
    let line = effort::typed(match spelled {
        Spelled::OnTheLine => None,
        Spelled::OnStdin => stdin::waiting(),
    });
    let wrong = matches!(line.command, Some(Err(_)));
    let mut carried = effort::carried(&line).map_err(|error| if wrong { error.of_usage() } else { error })?;
    if let Some(Ok(AgentCommand::Send { to, .. })) = &line.command
        && is_away(to)
        && carried.said.starts_with("sent to agent ")
    {
        carried.said = format!("{} has no session now; the message waits for its next one", text::line(to, 80));
    }
    service::tell_daemon(&PathVariables::from_process());
    Ok(effort::say(carried, printer))
}

/// Whether no session of this agent is open; where that cannot be read, nothing is claimed.
fn is_away(agent: &str) -> bool {
    let filter =
        SessionFilter { agent: Some(agent.to_string()), only_open: true, limit: 1, ..SessionFilter::default() };
    let open = Store::open_existing_read_only(&PathVariables::from_process().state())
        .and_then(|store| store.sessions(&filter));
    open.is_ok_and(|open| open.is_empty())
}
