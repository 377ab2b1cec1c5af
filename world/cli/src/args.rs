//! The command line as users type it. `docs/cli.md` is made from this.

use clap::builder::PossibleValue;
use clap::{Args, Parser, Subcommand};
use grammar::{MessageArgs, WorkArgs};
use std::path::PathBuf;

/// Run a taut ship: a guard, a memory and a watch over coding agents.
#[derive(Debug, Parser)]
#[command(name = "taut", version)]
pub struct Taut {
    /// Print JSON: one object a line for lists, one object otherwise
    #[arg(long, global = true)]
    pub json: bool,
    /// When to use colours; `NO_COLOR` is heeded unless it says always
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: clap::ColorChoice,

    #[command(subcommand)]
    pub command: Option<TopCommand>,
}

#[derive(Debug, Subcommand)]
pub enum TopCommand {
    /// Answer one hook call of an agent (stdin: its JSON)
    ///
    /// `taut init` writes the line that calls it into the agent's settings. The answer goes to stdout in the agent's own form;
    /// it ends with 0 unless that form asks for another. `taut explain 'rm -rf build'` shows what it would say of a command.
    Hook {
        /// Whose call it is, by its id
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
    /// Put Taut's hooks into the settings of the agents that are here; shows the change and asks
    Init(InitArgs),
    /// Take Taut's hooks out of the agents' settings again, and nothing else
    Uninstall(UninstallArgs),
    /// Prove the whole path with a real event; say what is wrong and what fixes it
    Doctor(DoctorArgs),
    /// Watch a scripted agent meet Taut in a throw-away home
    Demo {
        #[command(subcommand)]
        verb: Option<crate::commands::demo::DemoVerb>,
    },
    /// The background process that makes hooks cheap
    Daemon {
        #[command(subcommand)]
        verb: DaemonVerb,
    },
    /// Call a method of the daemon's socket by hand (stdin: its JSON); without a daemon it is served in process
    Rpc(RpcArgs),
    /// Serve an agent's own commands as tools to the client that starts this (Model Context Protocol, on stdin and stdout)
    Mcp,
    /// List sessions, also those of the past; show or export one
    Sessions(crate::commands::sessions::SessionsArgs),
    /// Print one line for the client's status bar (stdin: its JSON), and keep what it says of the context
    Statusline,
    /// List agents and their status
    Agents(crate::commands::agents::AgentsArgs),
    /// Show what an agent has changed since its session began
    Diff(crate::commands::diff::DiffArgs),
    /// One agent of the fleet
    Agent {
        #[command(subcommand)]
        verb: crate::commands::agent::AgentVerb,
    },
    /// Answer what an agent waits for: a permission, a question, a plan; alone, list what waits (people only)
    Answer(crate::commands::answer::AnswerArgs),
    /// Say to an agent what is next: typed at its prompt where that can be, else as your note (people only)
    Say(crate::commands::say::SayArgs),
    #[command(flatten)]
    Messages(MessageArgs),
    /// Show the agents' statuses in tmux; alone, print the lines for tmux.conf
    Tmux(crate::commands::tmux::TmuxArgs),
    /// Watch the fleet live: agents, what they do, tasks, verdicts
    Top(crate::commands::top::TopArgs),
    /// Be told when an agent needs you, fails or is done
    Notify {
        #[command(subcommand)]
        verb: crate::commands::notify::NotifyVerb,
    },
    /// Show the fleet as a page in the browser, from this machine only
    Ui(crate::commands::ui::UiArgs),
    #[command(flatten)]
    Work(WorkArgs),
    /// Search what was said and done: prompts, notes, logs, commands, files
    Recall(crate::commands::recall::RecallArgs),
    /// What outlives a session: whether it is on, how much there is, forgetting it
    Memory {
        #[command(subcommand)]
        verb: Option<crate::commands::memory::MemoryVerb>,
    },
    /// List what happened: events, verdicts and reasons
    Events(crate::commands::events::EventsArgs),
    /// Some days at a glance: sessions, tools, what was stopped, time waited for you, cost and tokens
    Stats(crate::commands::stats::StatsArgs),
    /// Print the fleet in numbers, as Prometheus reads them
    Metrics,
    /// What a collector of yours is told of agents, as OpenTelemetry's logs
    Telemetry {
        #[command(subcommand)]
        verb: crate::commands::telemetry::TelemetryVerb,
    },
    /// Step through a session as it was
    Replay(crate::commands::replay::ReplayArgs),
    /// Say what a command would run, which rules look at it, and the verdict
    Explain(ExplainArgs),
    /// Judge the command on stdin: exit 0 lets it pass, 1 stops it
    Guard,
    /// Say which lines of scripts the guard would stop: exit 0 none, 1 some, 2 not all could be read
    Scan(crate::commands::scan::ScanArgs),
    /// The rules of the guard
    Policy {
        #[command(subcommand)]
        verb: PolicyVerb,
    },
    /// The configuration: where it is, what holds here, and edits that cannot break it
    Config {
        #[command(subcommand)]
        verb: crate::commands::config::ConfigVerb,
    },
    /// Let exactly one stopped call pass, once, by the code its denial shows (people only)
    Allow(AllowOnceArgs),
    /// Let the guard only watch for a while (people only)
    Pause(PauseArgs),
    /// Trust this project's own configuration as it stands (people only)
    Trust(TrustArgs),
    /// The queue: tasks that are claimed, held under a lease, and done once
    Task {
        #[command(subcommand)]
        verb: crate::commands::task::TaskVerb,
    },
    /// One queue, one fleet and one record for several machines, on a PostgreSQL server
    Shared {
        #[command(subcommand)]
        verb: crate::commands::shared::SharedVerb,
    },
    /// Run an agent again and again until its work is done
    Loop {
        #[command(subcommand)]
        verb: crate::commands::r#loop::LoopVerb,
    },
    /// Supervise one interactive agent in this terminal
    Run(crate::commands::run::SuperviseArgs),
    /// Go back to the files that were there before a command of an agent took some away; alone, list what is kept (people only)
    Undo(crate::commands::undo::UndoTreeArgs),
    /// Look after the database
    Db {
        #[command(subcommand)]
        verb: DbVerb,
    },
    /// Print the script that makes a shell complete commands, rules, agents, tasks and sessions
    Completions(crate::commands::completions::CompletionsArgs),
    /// What may follow what was typed, for the scripts of `taut completions`
    #[command(hide = true)]
    Complete(crate::commands::complete::CompleteArgs),
    /// Print the manual page, or write the pages of all commands into a folder
    Man(crate::commands::man::ManArgs),
    /// Say how this Taut was installed, what hooks call, and the commands that upgrade and remove it
    #[command(name = "self")]
    SelfInfo,
    /// Say which taut this is
    Version,
}

#[derive(Debug, Clone, Subcommand)]
pub enum DaemonVerb {
    /// Start it in the background, if none runs
    Start,
    /// Let it finish what it has and end
    Stop,
    /// Say whether it runs, since when, and which version
    Status,
    /// Show what it logged, and what went wrong in hooks that did without it
    Log(LogArgs),
    /// Run it in the foreground
    Run(RunArgs),
}

/// How much is logged says `TAUT_LOG` (error, warn, info or debug) when the daemon starts.
#[derive(Debug, Clone, Args)]
pub struct LogArgs {
    /// Go on printing as lines are added
    #[arg(long, short)]
    pub follow: bool,
    /// How many of the latest
    #[arg(long, short = 'n', default_value_t = 100)]
    pub limit: usize,
}

/// Where a daemon that a hook started keeps things: what the hook worked out,
/// not what the environment happens to say.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    #[arg(long, hide = true)]
    pub state: Option<PathBuf>,
    #[arg(long, hide = true)]
    pub home: Option<PathBuf>,
    #[arg(long, hide = true)]
    pub config: Option<PathBuf>,
}

impl RunArgs {
    pub fn over(&self, setting: pipeline::PipelineSetup) -> pipeline::PipelineSetup {
        pipeline::PipelineSetup {
            state: self.state.clone().unwrap_or(setting.state),
            home: self.home.clone().unwrap_or(setting.home),
            user_config: self.config.clone().unwrap_or(setting.user_config),
            ..setting
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum InitVerb {
    /// Write templates of the loop's hooks and prompts
    Loop(crate::commands::init_loop::InitLoopArgs),
}

#[derive(Debug, Args)]
pub struct InitArgs {
    #[command(subcommand)]
    pub what: Option<InitVerb>,
    /// Only for these agents, by their ids; without it for those that are found here
    #[arg(long, value_name = "IDS", value_delimiter = ',', conflicts_with = "all")]
    pub agent: Vec<String>,
    /// For every agent that is found here, with one question
    #[arg(long)]
    pub all: bool,
    /// Also agents that were never tried, only read about
    #[arg(long)]
    pub experimental: bool,
    /// The project's shared settings instead of your own
    #[arg(long, conflicts_with = "local")]
    pub project: bool,
    /// Your own settings in this project, which are not shared
    #[arg(long)]
    pub local: bool,
    /// Also write a preset's configuration into the project (implies --project)
    #[arg(long, value_name = "NAME", conflicts_with = "local", value_parser = presets())]
    pub preset: Option<String>,
    /// Also register `taut mcp`, the agent's own commands as tools, in your own settings
    #[arg(long)]
    pub mcp: bool,
    /// Also show `taut statusline` in your agent's status bar, under the line that is there
    #[arg(long, conflicts_with_all = ["project", "local", "preset"])]
    pub statusline: bool,
    /// Also let sessions remember, as `taut memory on` does; without it you are asked
    #[arg(long)]
    pub memory: bool,
    /// Show the change to each file line by line, before you are asked
    #[arg(long)]
    pub diff: bool,
    /// Show the change and make none
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Let the hooks call a program in a build folder, for work on Taut itself
    #[arg(long, hide = true)]
    pub allow_build_path: bool,
}

/// The presets by name; clap lists them, and names the nearest to one that is none.
fn presets() -> clap::builder::PossibleValuesParser {
    policy::presets::ALL
        .iter()
        .map(|preset| PossibleValue::new(preset.name).help(preset.about))
        .collect::<Vec<_>>()
        .into()
}

#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// Only of these agents, by their ids; without it of all that have them
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub agent: Vec<String>,
    /// The project's shared settings instead of your own
    #[arg(long, conflicts_with = "local")]
    pub project: bool,
    /// Your own settings in this project, which are not shared
    #[arg(long)]
    pub local: bool,
    /// Show the change to each file line by line, before you are asked
    #[arg(long)]
    pub diff: bool,
    /// Show the change and make none
    #[arg(long)]
    pub dry_run: bool,
    /// Answers nothing here: you are asked all the same
    #[arg(long, hide = true)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Look at these agents only, by their ids; without it at all that are found here
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub agent: Vec<String>,
    /// Also do what it advises where that is safe: renew hooks, close files to others, restart the daemon (people only)
    #[arg(long)]
    pub fix: bool,
    /// Do not ask before that
    #[arg(long, requires = "fix")]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct RpcArgs {
    /// The method, such as hooks.preToolUse. With `--json` the result says in `via` who served it
    pub method: String,
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

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The command line, quoted or as it would be typed; or - to read many, one a line
    #[arg(required = true)]
    pub command: Vec<String>,
    /// Judge as if run in this folder
    #[arg(long)]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum PolicyVerb {
    /// List the rules and what each does here
    List,
    /// Show one rule: what it looks at, why, and the better way
    Show {
        /// The rule's id, as `taut policy list` shows it
        rule: String,
    },
    /// Run every rule's own examples, or judge again what agents really did
    Test(crate::commands::policy::HistoryArgs),
    /// List what people decided about the guard, the newest first
    Log(crate::commands::policy::PolicyLogArgs),
    /// Look the configuration over: file, line and column of what is wrong
    Check,
    /// Let a rule pass, in your own configuration (people only)
    Allow(AllowArgs),
    /// List what is allowed here, until when and why
    Allows,
    /// Take an allowance back, in your own configuration (people only)
    Forget(ForgetArgs),
    /// Switch a pack of rules on or off, in your own configuration (people only)
    Pack {
        /// The pack's name
        name: String,
        switch: OnOff,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum OnOff {
    On,
    Off,
}

#[derive(Debug, Args)]
pub struct AllowArgs {
    /// The rule's id
    pub rule: String,
    /// Only for this path and what is below it: what the rule is about, or the folder the command runs in
    #[arg(long)]
    pub path: Option<String>,
    /// Only for commands that begin with these words
    #[arg(long)]
    pub command: Option<String>,
    /// Only for this agent
    #[arg(long)]
    pub agent: Option<String>,
    /// Why
    #[arg(long, default_value = "allowed by hand")]
    pub reason: String,
    /// For how long: 10m, 8h, 7d, up to 90d
    #[arg(long)]
    pub expires: Option<String>,
    /// Only for the next call it would stop, within half an hour
    #[arg(long, conflicts_with_all = ["path", "command", "agent", "expires"])]
    pub once: bool,
}

#[derive(Debug, Args)]
pub struct ForgetArgs {
    /// Its number, as `taut policy allows` shows it, or the rule's id
    pub what: String,
    /// The one for this path, where the rule has several
    #[arg(long)]
    pub path: Option<String>,
}

#[derive(Debug, Args)]
pub struct AllowOnceArgs {
    /// The code, as the denial and `taut events --denied` show it
    pub code: String,
}

#[derive(Debug, Args)]
pub struct PauseArgs {
    /// For how long: 90s, 10m, 2h; without it, say whether the guard is paused, and ask
    pub length: Option<String>,
    /// Why, for the record
    #[arg(long)]
    pub reason: Option<String>,
    /// End a pause
    #[arg(long)]
    pub off: bool,
}

#[derive(Debug, Args)]
pub struct TrustArgs {
    /// Say whether the project is trusted, and change nothing
    #[arg(long)]
    pub show: bool,
    /// Trust it no longer
    #[arg(long)]
    pub revoke: bool,
    /// Answers nothing here: you are asked all the same
    #[arg(long, hide = true)]
    pub yes: bool,
}
