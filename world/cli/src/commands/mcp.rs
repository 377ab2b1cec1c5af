//! `taut mcp`: the agent's own commands as tools, for the client that starts this.

use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use mcp::McpServer;
use std::ffi::OsString;

pub fn run() -> Result<Exit, CliError> {
    let variables = &person::agent_around().profile.variables;
    // A client that gives no mark is one all the same: whoever calls the tools is no person.
    let marked = agents::ALL.around(person::is_set).is_some();
    let mark = variables.marks.first().filter(|_| !marked).map(|name| (OsString::from(name), OsString::from("1")));
    // The client gave them when it started the server; since then it may have begun another session.
    let server = McpServer {
        program: std::env::current_exe()?,
        version: env!("CARGO_PKG_VERSION"),
        set: mark.into_iter().collect(),
        unset: variables.tool_session.iter().map(OsString::from).collect(),
    };
    server.serve()?;
    Ok(Exit::Ok)
}
