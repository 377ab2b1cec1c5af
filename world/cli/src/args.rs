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
    /// Put Taut's hooks into the agent's settings; shows the change and asks
    Init(InitArgs),
    /// Take Taut's hooks out of the agent's settings again, and nothing else
    Uninstall(UninstallArgs),
    /// Prove the whole path with a real event; say what is wrong and what fixes it
    Doctor,
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
pub struct InitArgs {
    /// The project's shared settings instead of your own
    #[arg(long, conflicts_with = "local")]
    pub project: bool,
    /// Your own settings in this project, which are not shared
    #[arg(long)]
    pub local: bool,
    /// Also write a preset's configuration into the project (implies --project)
    #[arg(long, value_name = "NAME", conflicts_with = "local")]
    pub preset: Option<String>,
    /// Show the change and make none
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Install a program that lies in a build folder, for work on Taut itself
    #[arg(long, hide = true)]
    pub allow_build_path: bool,
}

#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// The project's shared settings instead of your own
    #[arg(long, conflicts_with = "local")]
    pub project: bool,
    /// Your own settings in this project, which are not shared
    #[arg(long)]
    pub local: bool,
    /// Show the change and make none
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
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
