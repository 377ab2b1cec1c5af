//! `taut mcp`: the agent's own commands as tools, for the client that starts this.

use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use mcp::McpServer;
use std::ffi::OsString;
use std::io::IsTerminal;

pub fn run() -> Result<Exit, CliError> {
    if std::io::stdin().is_terminal() {
        return Err(CliError::usage(
            "`taut mcp` serves tools to an agent's client, which starts it and speaks its protocol on stdin",
        )
        .hint("`taut init --mcp` registers it with the client"));
    }
    let memory = super::judge_here(None).map(|judge| judge.project_policy().policy.sections.memory.enabled);
    let variables = &person::agent_around().profile.variables;
    // A client that gives no mark is one all the same: whoever calls the tools is no person.
    let marked = agents::ALL.around(person::is_set).is_some();
    let mark = variables.marks.first().filter(|_| !marked).map(|name| (OsString::from(name), OsString::from("1")));
    // The client gave them when it started the server; since then it may have begun another session.
    let server = McpServer {
        program: std::env::current_exe()?,
        version: env!("CARGO_PKG_VERSION"),
        remembers: !matches!(memory, Ok(Some(false))),
        set: mark.into_iter().collect(),
        unset: variables.tool_session.iter().map(OsString::from).collect(),
    };
    server.serve()?;
    Ok(Exit::Ok)
}
