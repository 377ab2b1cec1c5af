//! Commands for people: they need a real terminal, and refuse under an agent.

use crate::error::CliError;
use crate::printer::Printer;
use agents::Dialect;
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
    let named = ["TAUT_AGENT_ID", "RALPH_AGENT_ID"].into_iter().any(is_set);
    if named || agents::ALL.around(is_set).is_some() || host::origin::is_under_client() {
        Err(refusal(command))
    } else {
        Ok(())
    }
}

/// The agent this process runs inside of, or the usual one.
pub fn agent_around() -> &'static Dialect {
    agents::ALL.around(is_set).unwrap_or(agents::DEFAULT)
}

/// The id that the agent gives to its own tools; empty where there is none.
pub fn host_session() -> String {
    let names = agent_around().profile.variables.tool_session;
    names.iter().find_map(|name| std::env::var(name).ok()).unwrap_or_default()
}

/// Who sits at the terminal, for the record.
pub fn name() -> String {
    let named =
        ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    named.unwrap_or_else(|| format!("user {}", sys::outside::user()))
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
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
