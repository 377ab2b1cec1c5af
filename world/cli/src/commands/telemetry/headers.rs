//! What goes with each request to a collector, a token most often: into a file of its own that only the user can read, and
//! never into the configuration or onto a screen.

use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use engine::telemetry::header_pairs;
use host::paths::PathVariables;
use serde_json::json;
use service::workers::telemetry;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Beside the user's configuration.
pub const FILE: &str = "secrets/otlp-headers";

/// As `OTEL_EXPORTER_OTLP_HEADERS` has them now.
pub fn said() -> Result<Option<String>, CliError> {
    let Some(headers) = host::origin::said_to_command("OTEL_EXPORTER_OTLP_HEADERS") else { return Ok(None) };
    let headers = headers.replace(' ', "%20");
    match header_pairs(&headers) {
        Ok(_) => Ok(Some(headers)),
        Err(wrong) => Err(CliError::usage(format!("OTEL_EXPORTER_OTLP_HEADERS cannot be used: {wrong}"))
            .hint("OTEL_EXPORTER_OTLP_HEADERS='name=value,name=value' taut telemetry on")),
    }
}

/// Whether the daemon reads the same from where they are: a file that it cannot use is written anew.
pub fn are_written(headers: &str) -> bool {
    let setting = service::setting(&PathVariables::from_process());
    telemetry::headers(&telemetry::section(&setting), &setting).ok() == header_pairs(headers).ok()
}

pub fn say_where(printer: &Printer) {
    if !printer.json() {
        printer.line(text!("The headers go into {}, which only you can read.", path().display()));
    }
}

/// Where nothing else is changed: they are asked about and written as the configuration is.
pub fn renew(headers: &str, dry_run: bool, printer: &Printer) -> Result<Exit, CliError> {
    let file = path();
    let made = |done: bool| {
        if printer.json() {
            printer.object(&json!({"file": file, "changed": done, "diff": ""}));
        } else if done {
            printer.line(text!("written to {}", file.display()));
        }
    };
    if dry_run {
        made(false);
        return Ok(Exit::Ok);
    }
    if !person::agrees("Write them there?")? {
        printer.note("nothing was changed");
        return Ok(Exit::Failed);
    }
    put(headers)?;
    made(true);
    Ok(Exit::Ok)
}

pub fn put(headers: &str) -> std::io::Result<()> {
    let file = path();
    if let Some(folder) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let fresh = file.with_extension("new");
    let _ = std::fs::remove_file(&fresh);
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    out.write_all(format!("{headers}\n").as_bytes())?;
    std::fs::rename(&fresh, file)
}

fn path() -> PathBuf {
    PathVariables::from_process().user_config().parent().unwrap_or(Path::new("/")).join(FILE)
}
