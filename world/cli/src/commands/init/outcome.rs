//! What came of an installation: the proof through the line that was just installed, and what is left to do.

use super::Setup;
use super::offer::Offer;
use crate::agent_settings::{self, InstallProof, as_cli_error, misread};
use crate::error::CliError;
use crate::mcp_registration;
use crate::printer::{Printer, text};
use agents::settings::DENIED_COMMAND;
use host::install::Installed;
use host::settings_file::SettingsSnapshot;
use serde_json::json;
use std::path::PathBuf;

/// Tells the guard of a command that it must deny, and says how that went.
pub fn prove(setup: &Setup<'_>, offer: &Offer, done: &Installed) -> Result<(), CliError> {
    let printer = setup.printer;
    let failed = |what: String| CliError::failed(what).hint("`taut doctor` finds out where it goes wrong");
    let written = SettingsSnapshot::read(offer.path()).map_err(|error| as_cli_error(&error))?;
    let program = as_the_client_reads(setup, offer, &written)?;
    let program = program.as_path();
    let InstallProof { denial, stderr, .. } = agent_settings::prove(offer.dialect, program)
        .map_err(|error| failed("the hooks are installed, but the proof could not be run".into()).because(&error))?;
    let Some(reason) = denial else {
        let said = if stderr.trim().is_empty() { "it said nothing".to_owned() } else { stderr.trim().to_owned() };
        return Err(failed(format!("the hooks are installed, but `{}` was not denied: {said}", DENIED_COMMAND)));
    };
    if offer.server.is_some() {
        mcp_registration::prove(offer.dialect, program)
            .map_err(|why| failed(format!("the server is registered, but {why}")))?;
    }
    let review = agent_settings::waiting(offer.dialect, &setup.places, &written);
    if printer.json() {
        printer.object(&json!({
            "agent": offer.dialect.id(),
            "mcp": offer.server.as_ref().map(|server| &server.file.path),
            "file": offer.path(),
            "events": offer.events(),
            "changed": offer.hooks.changes_anything(),
            "copy": done.copy,
            "command": offer.plan.command,
            "program": setup.program.path,
            "copy_of": setup.program.copy.as_ref().map(|copy| &copy.from),
            "denied": DENIED_COMMAND,
            "reason": reason,
            "review": review.map(|(events, how)| json!({"waiting": events, "how": how})),
        }));
        return Ok(());
    }
    say(offer, done, printer);
    if setup.many {
        printer.line(format!("  proof: `{DENIED_COMMAND}` is denied through the installed line"));
    } else {
        printer.line("");
        printer
            .line(format!("Proof, through the installed line: an agent that wants to run `{DENIED_COMMAND}` is told"));
        for line in reason.lines() {
            printer.line(text!("  {} {}", printer.red("│"), line));
        }
    }
    if let Some((_, how)) = review {
        printer.line(text!("{} {}", printer.yellow("one step is left:"), how));
    }
    Ok(())
}

/// The program that the written file makes the client start before a tool runs. A client that drops the file, or runs no
/// hooks, starts nothing, and then the line alone proves nothing.
fn as_the_client_reads(setup: &Setup<'_>, offer: &Offer, written: &SettingsSnapshot) -> Result<PathBuf, CliError> {
    let (name, shown) = (offer.dialect.profile.name, written.path.display());
    let unguarded = |why: String| {
        CliError::failed(format!("the hooks are written, but nothing is guarded: {why}"))
            .hint(format!("mend {shown} and run `taut init` again; `taut doctor` shows whether it works"))
    };
    let found = (offer.dialect.settings.inspect)(written.text()).map_err(|error| misread(&written.path, &error))?;
    if let Some(error) = found.ignored_for {
        return Err(unguarded(format!("{shown}:{}:{}: {}", error.line, error.column, error.why)));
    }
    if found.hooks_disabled {
        return Err(unguarded(format!("{shown} switches hooks off, and {name} runs none")));
    }
    let gate = found.entries.iter().find(|entry| entry.event == offer.dialect.gate_event);
    let gate = gate.ok_or_else(|| unguarded(format!("{shown} has no {} hook", offer.dialect.gate_event)))?;
    Ok(agent_settings::started_by(&gate.program, &setup.places))
}

fn say(offer: &Offer, done: &Installed, printer: &Printer) {
    for note in &done.notes {
        printer.note(note);
    }
    if let Some(copy) = &done.copy {
        printer.line(printer.dim(format!("a copy of the file as it was: {}", copy.display())));
    }
    let word = if offer.hooks.changes_anything() { "installed in" } else { "as it was, and it works:" };
    printer.line(text!("{} {}", printer.green(word), offer.path().display()));
    if let Some(server) = &offer.server {
        printer.line(text!("{} {}, and it answers", printer.green("server registered in"), server.file.path.display()));
    }
}

pub fn say_what_follows(printer: &Printer) {
    printer.line("");
    printer.line("A small daemon starts with the next session and makes hooks cheap; it ends by itself when idle.");
    printer
        .line("`taut daemon stop` ends it, `TAUT_NO_DAEMON=1` keeps it away, `taut uninstall` takes all of this back.");
}
