//! `taut tmux`: what the agents do, shown in tmux: switched on, off, and the
//! line for the status bar.

use super::stored;
use crate::agent_settings;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text};
use clap::{Args, Subcommand};
use dash::view_model::{self, FleetSummary};
use engine::fleet::paint::{self, Theme};
use host::install::program::BuildPath;
use host::paths::PathVariables;
use host::tmux::{Pieces, TmuxError, TmuxServer, snippet, socket_of};
use model::row::AgentStatus;
use serde_json::{Value, json};
use service::workers::pane_painter::{self, PanePainter};
use std::time::Duration;

#[derive(Debug, Args)]
pub struct TmuxArgs {
    #[command(subcommand)]
    pub verb: Option<TmuxVerb>,
    #[command(flatten)]
    pub look: LookArgs,
}

#[derive(Debug, Args)]
pub struct LookArgs {
    /// Colours for a light terminal
    #[arg(long, global = true)]
    pub light: bool,
}

#[derive(Debug, Subcommand)]
pub enum TmuxVerb {
    /// Switch the display on in a running server
    Apply(ServerArgs),
    /// Take everything back: looks, hooks and settings
    Clear(ServerArgs),
    /// Print how many agents have which status, for the status bar
    Status(StatusArgs),
}

#[derive(Debug, Args)]
pub struct ServerArgs {
    /// The server's socket; else the server you are in, else every one with an agent in it
    #[arg(long, value_name = "PATH")]
    pub socket: Option<String>,
    /// Show what would be set, and set nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Accepted for scripts; this never asks
    #[arg(long, hide = true)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// In words instead of marks
    #[arg(long)]
    pub words: bool,
}

pub fn run(args: &TmuxArgs, printer: &Printer) -> Result<Exit, CliError> {
    let switch = if args.look.light { "light" } else { "on" };
    match &args.verb {
        None => {
            let text = snippet(&Pieces { program: &program(), switch });
            if printer.json() {
                printer.object(&json!({"snippet": text}))
            } else {
                printer.line(Text::lines(text.trim_end()))
            }
            Ok(Exit::Ok)
        }
        Some(TmuxVerb::Apply(wanted)) => apply(wanted, switch, printer),
        Some(TmuxVerb::Clear(wanted)) => clear(wanted, printer),
        Some(TmuxVerb::Status(wanted)) => Ok(status(wanted, printer)),
    }
}

fn apply(args: &ServerArgs, switch: &str, printer: &Printer) -> Result<Exit, CliError> {
    let program = program();
    let pieces = Pieces { program: &program, switch };
    for server in servers(args, printer)? {
        let socket = server.socket().to_string_lossy().into_owned();
        if args.dry_run {
            print_server(printer, &socket, "would be switched on", json!({"would_source": snippet(&pieces)}));
            if !printer.json() {
                printer.line(Text::lines(snippet(&pieces).trim_end()));
            }
            continue;
        }
        server.apply(&pieces).map_err(|error| CliError::failed("the display was not switched on").because(&error))?;
        paint_now(&mut PanePainter::default(), &socket);
        service::tell_daemon_of_a_switch(&PathVariables::from_process());
        print_server(printer, &socket, "switched on; `taut tmux clear` takes it back", json!({"applied": true}));
    }
    Ok(Exit::Ok)
}

fn clear(args: &ServerArgs, printer: &Printer) -> Result<Exit, CliError> {
    let failed = |error: TmuxError| CliError::failed("the display was not taken back").because(&error);
    for server in servers(args, printer)? {
        let socket = server.socket().to_string_lossy().into_owned();
        let changes = pane_painter::all_back(&server.panes().map_err(failed)?);
        if args.dry_run {
            let sentence =
                format!("would be taken back: {} painted panes and windows, hooks and settings", changes.len());
            print_server(printer, &socket, &sentence, json!({"would_clear": changes.len()}));
            continue;
        }
        server.switch_off().map_err(failed)?;
        // Looked at again: somebody may have painted until the switch was off.
        let panes = server.panes().map_err(failed)?;
        server.paint(&pane_painter::all_back(&panes), &panes).map_err(failed)?;
        server.unapply().map_err(failed)?;
        print_server(printer, &socket, "everything is as it was", json!({"cleared": true}));
    }
    Ok(Exit::Ok)
}

fn print_server(printer: &Printer, socket: &str, sentence: &str, mut object: Value) {
    if printer.json() {
        object.as_object_mut().map(|fields| fields.insert("socket".into(), json!(socket)));
        printer.object(&object);
    } else {
        printer.line(format!("{socket}: {sentence}"));
    }
}

/// For a bar: says nothing rather than fail, and paints where no daemon does.
fn status(args: &StatusArgs, printer: &Printer) -> Exit {
    let here = std::env::var("TMUX").ok().and_then(|tmux| socket_of(&tmux).map(str::to_owned));
    let summary = match stored() {
        Ok(Some(store)) => store
            .fleet()
            .map(|glance| FleetSummary::of(&view_model::rows(&glance, host::clock::now())))
            .unwrap_or_default(),
        _ => FleetSummary::default(),
    };
    let counts: Vec<_> = summary.0.iter().map(|(status, count)| (*status, *count)).collect();
    let panes = here.as_ref().and_then(|socket| TmuxServer::at(socket).panes().ok()).unwrap_or_default();
    if printer.json() {
        printer.object(&object(&summary));
    } else if args.words || Printer::has_reader() {
        printer.line(paint::words(&counts));
    } else {
        printer.line(paint::summary(&counts, Theme::parse(&panes.switch).unwrap_or(Theme::Dark)));
    }
    if let Some(socket) = here.filter(|_| !panes.switch.is_empty()) {
        // What a daemon painted before it was started anew is nobody's but ours.
        let painted = panes.panes.iter().any(|pane| !pane.painted.is_empty());
        if !a_daemon_paints() || painted && !claimed(&socket) {
            paint_now(&mut PanePainter::default(), &socket);
        } else if !painted && claimed(&socket) {
            // Switched on by hand, as by a `source-file`, which no daemon hears of.
            service::tell_daemon_of_a_switch(&PathVariables::from_process());
        }
    }
    Exit::Ok
}

/// Every status with its number, and what the fleet is shown as.
fn object(summary: &FleetSummary) -> Value {
    let mut fields: serde_json::Map<String, Value> =
        AgentStatus::ALL.iter().map(|status| (status.name().to_owned(), json!(summary.count(*status)))).collect();
    if let Some(worst) = summary.worst() {
        fields.insert("worst".into(), json!(worst.name()));
    }
    fields.into()
}

/// Once, and once more when something that waits is due in a moment.
fn paint_now(painter: &mut PanePainter, socket: &str) {
    for _ in 0..2 {
        let Ok(Some(store)) = stored() else { return };
        let Ok(claims) = pane_painter::claims(&store) else { return };
        let wanted = claims.get(socket).map(Vec::as_slice).unwrap_or_default();
        let Some(due) = painter.paint(socket, wanted) else { return };
        std::thread::sleep(Duration::from_millis(due.since(host::clock::now()).cast_unsigned()));
    }
}

/// Whether any agent is known to be in this server.
fn claimed(socket: &str) -> bool {
    let claims = stored().ok().flatten().and_then(|store| pane_painter::claims(&store).ok());
    claims.is_none_or(|claims| claims.contains_key(socket))
}

fn a_daemon_paints() -> bool {
    const PATIENCE: Duration = Duration::from_millis(200);
    !service::without_daemon() && daemon::Client::new(&PathVariables::from_process().state(), PATIENCE).status().is_ok()
}

/// A server that is named has to be there; of those that are only known, one
/// that is gone has nothing to apply and nothing to take back.
fn servers(args: &ServerArgs, printer: &Printer) -> Result<Vec<TmuxServer>, CliError> {
    let here = std::env::var("TMUX").ok().and_then(|tmux| socket_of(&tmux).map(str::to_owned));
    if let Some(socket) = args.socket.clone().or(here) {
        return Ok(vec![TmuxServer::at(socket)]);
    }
    let claims = stored()?.map(|store| pane_painter::claims(&store)).transpose()?.unwrap_or_default();
    if claims.is_empty() {
        let error = CliError::not_found("you are not in tmux, and no agent is in a tmux server that is known");
        return Err(error.hint("run it inside tmux, or name the server: `taut tmux apply --socket <path>`"));
    }
    let (gone, there): (Vec<TmuxServer>, Vec<TmuxServer>) = claims
        .into_keys()
        .map(TmuxServer::at)
        .partition(|server| matches!(server.pane_ids(), Err(TmuxError::Gone { .. })));
    for server in gone {
        printer.note(format!("{}: no server listens there any more; it is left out", server.socket().display()));
    }
    Ok(there)
}

/// This program, as a server started elsewhere finds it. Where its path would
/// need quoting inside a tmux format, the search path has to do.
fn program() -> String {
    let plain = |path: &String| path.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-+".contains(letter));
    let program = agent_settings::program(&PathVariables::from_process(), BuildPath::Allowed);
    program.ok().map(|program| program.path).filter(plain).unwrap_or_else(|| "taut".to_string())
}
