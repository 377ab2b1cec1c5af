//! What came of an installation: the proof through the line that was just installed, and what is left to do.

use super::Setup;
use super::offer::Offer;
use crate::agent_settings::{self, InstallProof};
use crate::error::CliError;
use crate::mcp_registration;
use crate::printer::{Printer, text};
use agents::settings::DENIED_COMMAND;
use host::install::Installed;
use host::settings_file::SettingsSnapshot;
use serde_json::json;
use std::path::Path;

/// Tells the guard of a command that it must deny, and says how that went.
pub fn prove(setup: &Setup<'_>, offer: &Offer, done: &Installed) -> Result<(), CliError> {
    let (printer, program) = (setup.printer, Path::new(&offer.plan.command));
    let failed = |what: String| CliError::failed(what).hint("`taut doctor` finds out where it goes wrong");
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
    let written = SettingsSnapshot::read(offer.path()).ok();
    let review = written.and_then(|file| agent_settings::waiting(offer.dialect, &setup.places, &file));
    if printer.json() {
        printer.object(&json!({
            "agent": offer.dialect.id(),
            "mcp": offer.server.as_ref().map(|server| &server.file.path),
            "file": offer.path(),
            "events": offer.events(),
            "changed": offer.hooks.changes_anything(),
            "copy": done.copy,
            "command": offer.plan.command,
            "denied": DENIED_COMMAND,
            "reason": reason,
            "ignored_by_client": offer.ignored,
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

fn say(offer: &Offer, done: &Installed, printer: &Printer) {
    for note in &done.notes {
        printer.note(note);
    }
    if let Some(copy) = &done.copy {
        printer.line(printer.dim(format!("a copy of the file as it was: {}", copy.display())));
    }
    let word = match &offer.ignored {
        None if !offer.hooks.changes_anything() => printer.green("as it was, and it works:"),
        None => printer.green("installed in"),
        Some(_) => printer.yellow(format!("written, but not read by {} as it is:", offer.dialect.profile.name)),
    };
    printer.line(text!("{} {}", word, offer.path().display()));
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
