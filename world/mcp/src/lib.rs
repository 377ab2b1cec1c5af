//! `taut mcp`: an agent's own commands as tools of the Model Context Protocol, over stdin and stdout.
//!
//! Each call runs `taut` itself, below the server and so below the client that started it. Who acts, what it may do, what it
//! is refused and how its answer is cleaned is therefore what it would be had the agent typed the command, and it is found out
//! anew at each call: the sessions of a client change while its server lives.

mod call;
mod frames;
mod server;
mod tools;

use frames::StdioTransport;
use rmcp::service::serve_server;
use server::ToolServer;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// What may still run when the client is gone is left behind after this long.
const FAREWELL: Duration = Duration::from_millis(200);

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct McpServer {
    /// The program that carries the calls out: this one.
    pub program: PathBuf,
    pub version: &'static str,
    /// Whether the user wants something remembered here.
    pub remembers: bool,
    /// What its calls get besides what it was started with.
    pub set: Vec<(OsString, OsString)>,
    /// Variables that told which session there was when the server was started, and no longer do.
    pub unset: Vec<OsString>,
}

impl McpServer {
    /// Serves until stdin ends.
    pub fn serve(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().max_blocking_threads(8).build()?;
        runtime.block_on(async {
            // A client that leaves before it has said who it is leaves nothing undone.
            if let Ok(running) = serve_server(ToolServer::new(self), StdioTransport::open()).await {
                let _ = running.waiting().await;
            }
        });
        runtime.shutdown_timeout(FAREWELL);
        Ok(())
    }
}
