//! The command line as users type it. `docs/cli.md` is made from this.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Run a taut ship: a guard, a memory and a watch over coding agents.
#[derive(Debug, Parser)]
#[command(name = "taut", version, disable_help_subcommand = true)]
pub struct Taut {
    /// Print JSON: one object a line for lists, one object otherwise
    #[arg(long, global = true)]
    pub json: bool,

    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer one hook call of an agent (stdin: its JSON)
    Hook,
    /// Watch a scripted agent meet Taut in a throw-away home
    Demo,
    /// The background process that makes hooks cheap
    Daemon {
        #[command(subcommand)]
        verb: DaemonVerb,
    },
    /// Call a method of the daemon's socket by hand (stdin: its JSON)
    Rpc(RpcArgs),
    /// List sessions: state, agent, project, age
    Sessions(SessionsArgs),
    /// List agents and their status
    Agents,
    /// List what happened: events, verdicts and reasons
    Events(EventsArgs),
    /// Look after the database
    Db {
        #[command(subcommand)]
        verb: DbVerb,
    },
    /// Say which taut this is
    Version,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub enum DaemonVerb {
    /// Start it in the background, if none runs
    Start,
    /// Let it finish what it has and end
    Stop,
    /// Say whether it runs, since when, and which version
    Status,
    /// Run it in the foreground
    Run,
}

#[derive(Debug, Args)]
pub struct RpcArgs {
    /// The method, such as hooks.preToolUse
    pub method: String,
}

#[derive(Debug, Args)]
pub struct SessionsArgs {
    /// Ended ones too
    #[arg(long)]
    pub all: bool,
    /// Only this agent's
    #[arg(long)]
    pub agent: Option<String>,
}

#[derive(Debug, Args)]
pub struct EventsArgs {
    /// Go on printing as events arrive
    #[arg(long, short)]
    pub follow: bool,
    /// How many of the latest
    #[arg(long, short = 'n', default_value_t = 20)]
    pub limit: usize,
    /// Only this agent's
    #[arg(long)]
    pub agent: Option<String>,
    /// Only this session's (our id, or the id the session is known by)
    #[arg(long)]
    pub session: Option<String>,
    /// Only what was stopped
    #[arg(long)]
    pub denied: bool,
}

#[derive(Debug, Subcommand)]
pub enum DbVerb {
    /// Check the database, and repair it if it is damaged
    Check,
    /// Copy the database to a file, consistently, while it is in use
    Backup {
        /// The file to write
        to: PathBuf,
    },
    /// Say where the database is
    Path,
}
