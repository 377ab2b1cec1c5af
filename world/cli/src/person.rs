//! Commands for people: they need a real terminal, and refuse under an agent.

use crate::error::CliError;
use crate::printer::Printer;
use std::io::IsTerminal;

/// Refuses unless a person sits at a terminal.
pub fn required(command: &str) -> Result<(), CliError> {
    outside_agents(command)?;
    if std::io::stdin().is_terminal() { Ok(()) } else { Err(refusal(command)) }
}

/// Refuses under an agent, but not in a script of a person's. Agents run their
/// commands with these variables set; a repository can empty them, so the
/// processes above are looked at too.
pub fn outside_agents(command: &str) -> Result<(), CliError> {
    let marks = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "TAUT_AGENT_ID", "RALPH_AGENT_ID"];
    let under_agent = marks.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if under_agent || host::origin::is_under_client() { Err(refusal(command)) } else { Ok(()) }
}

fn refusal(command: &str) -> CliError {
    CliError::failed(format!("`taut {command}` is for people: it needs a real terminal"))
        .hint(format!("run `taut {command}` in your own terminal, outside any agent"))
}

/// Asks a question that is answered with yes or no; anything else is no.
pub fn agrees(question: &str) -> Result<bool, CliError> {
    Printer::ask(format!("{question} [y/N] "))?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
}
