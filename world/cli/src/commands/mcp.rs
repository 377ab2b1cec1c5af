//! `taut mcp`: the agent's own commands as tools, for the client that starts this.

use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use mcp::McpServer;
use std::ffi::OsString;

pub fn run() -> Result<Exit, CliError> {
    // The client gave them when it started the server; since then it may have begun another session.
    let told = person::agent_around().profile.variables.tool_session;
    let server = McpServer {
        program: std::env::current_exe()?,
        version: env!("CARGO_PKG_VERSION"),
        unset: told.iter().map(OsString::from).collect(),
    };
    server.serve()?;
    Ok(Exit::Ok)
}
