//! From the command line to the command that serves it.

use crate::args::{InitVerb, Taut, TopCommand};
use crate::command_line::{self, cli_command};
use crate::commands;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook;
use crate::printer::Printer;
use clap::FromArgMatches;
use clap::error::ErrorKind;
use grammar::MessageArgs;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

pub fn open(args: Vec<OsString>) -> ExitCode {
    let begun = Instant::now();
    // Options that stand before it are none of a hook's: clap would end in 2 over one it does not like there.
    let mut words = args.iter().skip(1).filter(|word| !word.as_encoded_bytes().starts_with(b"-"));
    match (words.next().and_then(|word| word.to_str()), words.next().and_then(|word| word.to_str())) {
        // A host writes to its hooks; whoever asks at a terminal is a person.
        (Some("hook"), _) if asks_for_help(&args) && std::io::stdin().is_terminal() => {}
        (Some("hook"), _) => return ExitCode::from(hook::run(&args, None, begun)),
        (Some("answer"), Some("wait")) => return commands::answer::wait::run(&args, begun),
        _ => {}
    }
    let args = explained(by_name(args));
    // Some hosts drop the words of a hook line.
    if args.len() == 1
        && let Some(payload) = hook::bare_payload()
    {
        return ExitCode::from(hook::run(&args, Some(payload), begun));
    }
    // Rust ignores SIGPIPE; a listing cut short by `head` should end quietly instead.
    sys::signals::obey(libc::SIGPIPE);
    Printer::clean_panics();
    let parsed = cli_command().color(command_line::color(&args)).try_get_matches_from(&args);
    let taut = match parsed.and_then(|matches| Taut::from_arg_matches(&matches)) {
        Ok(taut) => taut,
        Err(error) => return usage(&error, &args),
    };
    let printer = Printer::new(taut.json, taut.color);
    match run(taut.command, &printer) {
        Ok(exit) => exit.into(),
        Err(error) => {
            printer.error(&error);
            error.exit().into()
        }
    }
}

fn run(command: Option<TopCommand>, printer: &Printer) -> Result<Exit, CliError> {
    match command {
        None => commands::overview::run(printer),
        Some(TopCommand::Hook { .. }) => Ok(Exit::Ok),
        Some(TopCommand::Demo { verb }) => commands::demo::run(verb.as_ref(), printer),
        Some(TopCommand::Init(args)) => match &args.what {
            Some(InitVerb::Loop(wanted)) => commands::init_loop::run(wanted, printer),
            None => {
                commands::memory_switch::before_init(&args)?;
                commands::memory_switch::at_init(&args, commands::init::run(&args, printer)?, printer)
            }
        },
        Some(TopCommand::Loop { verb }) => commands::r#loop::run(&verb, printer),
        Some(TopCommand::Run(args)) => commands::run::run(&args, printer),
        Some(TopCommand::Uninstall(args)) => commands::uninstall::run(&args, printer),
        Some(TopCommand::Doctor(args)) => commands::doctor::run(&args, printer),
        Some(TopCommand::Daemon { verb }) => commands::daemon::run(verb, printer),
        Some(TopCommand::Mcp) => commands::mcp::run(),
        Some(TopCommand::Rpc(args)) => commands::rpc::run(&args, printer),
        Some(TopCommand::Sessions(args)) => commands::sessions::run(&args, printer),
        Some(TopCommand::Statusline) => Ok(commands::statusline::run(printer)),
        Some(TopCommand::Work(args)) => commands::effort::run(args, printer),
        Some(TopCommand::Agents(args)) => commands::agents::run(&args, printer),
        Some(TopCommand::Agent { verb }) => commands::agent::run(&verb, printer),
        Some(TopCommand::Answer(args)) => commands::answer::run(&args, printer),
        Some(TopCommand::Messages(MessageArgs::Inbox(args))) => commands::inbox::run(&args, printer),
        Some(TopCommand::Messages(args)) => commands::send::run(args, printer),
        Some(TopCommand::Say(args)) => commands::say::run(&args, printer),
        Some(TopCommand::Tmux(args)) => commands::tmux::run(&args, printer),
        Some(TopCommand::Top(args)) => commands::top::run(&args, printer),
        Some(TopCommand::Notify { verb }) => commands::notify::run(&verb, printer),
        Some(TopCommand::Ui(args)) => commands::ui::run(&args, printer),
        Some(TopCommand::Recall(args)) => commands::recall::run(&args, printer),
        Some(TopCommand::Memory { verb }) => commands::memory::run(verb.as_ref(), printer),
        Some(TopCommand::Events(args)) => commands::events::run(&args, printer),
        Some(TopCommand::Metrics) => commands::metrics::run(printer),
        Some(TopCommand::Telemetry { verb }) => commands::telemetry::run(&verb, printer),
        Some(TopCommand::Stats(args)) => commands::stats::run(&args, printer),
        Some(TopCommand::Replay(args)) => commands::replay::run(&args, printer),
        Some(TopCommand::Diff(args)) => commands::diff::run(&args, printer),
        Some(TopCommand::Explain(args)) => commands::explain::run(&args, printer),
        Some(TopCommand::Guard) => commands::guard::run(printer),
        Some(TopCommand::Policy { verb }) => commands::policy::run(verb, printer),
        Some(TopCommand::Config { verb }) => commands::config::run(&verb, printer),
        Some(TopCommand::Allow(args)) => commands::allow::run(&args, printer),
        Some(TopCommand::Pause(args)) => commands::pause::run(&args, printer),
        Some(TopCommand::Trust(args)) => commands::trust::run(&args, printer),
        Some(TopCommand::Task { verb }) => commands::task::run(&verb, printer),
        Some(TopCommand::Shared { verb }) => commands::shared::run(&verb, printer),
        Some(TopCommand::Undo(args)) => commands::undo::run(&args, printer),
        Some(TopCommand::Db { verb }) => commands::db::run(verb, printer),
        Some(TopCommand::Scan(args)) => commands::scan::run(&args, printer),
        Some(TopCommand::Completions(args)) => Ok(commands::completions::run(&args, printer)),
        Some(TopCommand::Complete(args)) => Ok(commands::complete::run(&args, printer)),
        Some(TopCommand::Man(args)) => commands::man::run(&args, printer),
        Some(TopCommand::SelfInfo) => commands::self_info::run(printer),
        Some(TopCommand::Version) => commands::version::run(printer),
    }
}

/// A line that is to be explained is typed as it is, with its own options.
fn explained(args: Vec<OsString>) -> Vec<OsString> {
    let at = args.iter().skip(1).take_while(|word| word.as_encoded_bytes().starts_with(b"-")).count() + 1;
    match args.split_at_checked(at + 1) {
        Some((before, words)) if args.get(at).is_some_and(|word| word == "explain") => {
            before.iter().cloned().chain(commands::explain::options_first(words)).collect()
        }
        _ => args,
    }
}

fn asks_for_help(args: &[OsString]) -> bool {
    args.iter().any(|word| word == "--help" || word == "-h")
}

/// Called by another name, it is another command: the aliases are links.
fn by_name(mut args: Vec<OsString>) -> Vec<OsString> {
    let name = args.first().and_then(|path| Path::new(path).file_name()).map(ToOwned::to_owned);
    let alias = [("task", "task"), ("fresher", "loop")]
        .into_iter()
        .find(|(alias, _)| name.as_ref().is_some_and(|name| name == alias));
    if let Some((_, command)) = alias {
        // `fresher init` is the one word that is not a way to run the loop.
        let init = command == "loop" && args.get(1).is_some_and(|word| word == "init");
        if init {
            args.insert(2, "loop".into())
        } else {
            args.insert(1, command.into())
        }
        // What usage texts call it: "task task claim" is nothing that anybody can type.
        if let Some(program) = args.first_mut() {
            *program = "taut".into();
        }
    }
    args
}

/// What `taut run` was to run, where the two dashes before it were left out.
fn supervised(typed: &[OsString]) -> Option<String> {
    let words = typed.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>();
    let [_, run, line @ ..] = words.as_slice() else { return None };
    (run == "run" && !line.iter().any(|word| word == "--")).then(|| line.join(" "))
}

/// Help and version are not errors; everything else clap says is one of usage.
fn usage(error: &clap::Error, typed: &[OsString]) -> ExitCode {
    Printer::usage(error, typed);
    if let Some(line) = supervised(typed).filter(|_| error.kind() == ErrorKind::UnknownArgument) {
        Printer::hint(format!("taut run -- {line}"));
    }
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Ok.into(),
        _ => Exit::Usage.into(),
    }
}
