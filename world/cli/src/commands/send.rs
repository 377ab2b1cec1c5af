//! `taut send`, `taut worker done`: what agents and people tell agents. What
//! the hook that saw the line has sent is found sent.

use super::effort;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{service, stdin};
use clap::{Args, Subcommand};
use host::paths::Places;

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
    Done(DoneArgs),
}

#[derive(Debug, Args)]
pub struct DoneArgs {
    /// What came of it; - reads it from stdin
    #[arg(long)]
    pub summary: Option<String>,
    /// It did not work out
    #[arg(long)]
    pub failed: bool,
    /// The same as --summary
    #[arg(value_name = "SUMMARY")]
    pub text: Vec<String>,
}

pub fn run(args: &SendArgs, printer: &Printer) -> Result<Exit, CliError> {
    let words = args.text.as_slice();
    let piped = words.is_empty() || words == ["-"];
    sent(effort::carry_out(piped.then(stdin::waiting).flatten(), printer))
}

pub fn worker(verb: &WorkerVerb, printer: &Printer) -> Result<Exit, CliError> {
    let WorkerVerb::Done(args) = verb;
    let told = args.summary.as_deref().is_some_and(|summary| summary != "-") || !args.text.is_empty();
    sent(effort::carry_out((!told).then(stdin::waiting).flatten(), printer))
}

/// Whoever sleeps in a pane is woken now rather than at the daemon's next look.
fn sent(done: Result<Exit, CliError>) -> Result<Exit, CliError> {
    if done.is_ok() {
        service::tell_daemon(&Places::from_process());
    }
    done
}
