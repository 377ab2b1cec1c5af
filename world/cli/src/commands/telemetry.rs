//! `taut telemetry`: whether a collector of the user's own is told what agents cannot report of themselves. The daemon has an
//! environment of our own making, so what `OTEL_…` variables say to this command is written into the user's configuration.

mod headers;

use super::notify::change_config;
use super::{ago, counted, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use crate::user_config::{self, ConfigChange};
use clap::{Args, Subcommand, ValueEnum};
use host::paths::PathVariables;
use policy::config::sections::{SharedEvents, TelemetrySection};
use serde_json::json;
use service::workers::telemetry;
use std::time::Duration;
use toml_edit::{Item, TableLike, value};

const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Subcommand)]
pub enum TelemetryVerb {
    /// Send verdicts, waits, leases and hand-overs to a collector (OTLP logs; changes your own configuration; people only)
    ///
    /// What `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_LOGS_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS`,
    /// `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME` say now is written down; headers go into a file that only you can read.
    On(TelemetryOnArgs),
    /// Send nothing any more
    Off(TelemetryOffArgs),
    /// Say whether it is on, what was sent, and what went wrong
    Status,
}

#[derive(Debug, Args)]
pub struct TelemetryOnArgs {
    /// The collector, without `/v1/logs`: https://…, or http:// to this machine
    pub endpoint: Option<String>,
    /// How much is sent: verdicts, rules and lengths, or reasons and details besides, redacted
    #[arg(long, value_enum)]
    pub level: Option<TelemetryDetail>,
    /// Show the change and make none
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct TelemetryOffArgs {
    /// Show the change and make none
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum TelemetryDetail {
    Summary,
    Full,
}

pub fn run(verb: &TelemetryVerb, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        TelemetryVerb::On(args) => on(args, printer),
        TelemetryVerb::Off(args) => off(args, printer),
        TelemetryVerb::Status => status(printer),
    }
}

fn on(args: &TelemetryOnArgs, printer: &Printer) -> Result<Exit, CliError> {
    if !args.dry_run {
        person::required("telemetry on")?;
    }
    let said = |name: &str| host::origin::said_to_command(name);
    let headers = headers::said()?;
    // What is typed is meant, whatever the surroundings say of another collector.
    let logs_endpoint = said("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT").filter(|_| args.endpoint.is_none());
    let plain = [
        ("endpoint", args.endpoint.clone().or_else(|| said("OTEL_EXPORTER_OTLP_ENDPOINT"))),
        ("logs_endpoint", logs_endpoint),
        ("resource", said("OTEL_RESOURCE_ATTRIBUTES")),
        ("service", said("OTEL_SERVICE_NAME")),
    ];
    let mut is_anew = true;
    let change = user_config::plan(|config| {
        let section = user_config::section(config, "telemetry")?;
        let before = address(section);
        let was_on = is_on(section);
        section.insert("otlp", value(true));
        if args.endpoint.is_some() {
            // It would have the last word.
            section.remove("logs_endpoint");
        }
        for (key, found) in &plain {
            found.as_ref().map(|found| section.insert(key, value(found.as_str())));
        }
        if headers.is_some() {
            section.insert("headers_file", value(headers::FILE));
        } else if address(section) != before {
            // They hold the token of the collector before.
            section.remove("headers_file");
        }
        if let Some(level) = args.level {
            section.insert("level", value(level.word().name()));
        }
        is_anew = !was_on || address(section) != before;
        if !["endpoint", "logs_endpoint"].iter().any(|key| section.contains_key(key)) {
            return Err(
                CliError::usage("where the collector is was not said").hint("taut telemetry on http://127.0.0.1:4318")
            );
        }
        Ok(())
    })?;
    checked(&change)?;
    let first = || {
        if let Some(headers) = &headers {
            headers::put(headers)?;
        }
        // What waits for this collector already goes on waiting.
        if let Some(mut store) = stored()?
            && (is_anew || store.telemetry()?.is_none())
        {
            store.begin_telemetry(host::clock::now())?;
        }
        Ok(())
    };
    let renewed = headers.as_deref().filter(|headers| !headers::are_written(headers));
    let is_changed = !change.diff().is_empty();
    if renewed.is_some() {
        headers::say_where(printer);
    }
    let exit = match renewed {
        Some(headers) if !is_changed => headers::renew(headers, args.dry_run, printer)?,
        _ => change_config(&change, args.dry_run, "it is so already; nothing to change", printer, first)?,
    };
    if exit == Exit::Ok && !args.dry_run && (is_changed || renewed.is_some()) {
        start_again(printer)?;
    }
    Ok(exit)
}

/// Whether anything was sent so far.
fn is_on(section: &dyn TableLike) -> bool {
    let is_none = section.get("level").and_then(Item::as_str) == Some(SharedEvents::None.name());
    section.get("otlp").and_then(Item::as_bool) == Some(true) && !is_none
}

/// Where the section sends to, as it is spelled.
fn address(section: &dyn TableLike) -> Option<String> {
    let said = |key: &str| section.get(key).and_then(Item::as_str).map(|url| url.trim_end_matches('/').to_owned());
    said("logs_endpoint").or_else(|| said("endpoint").map(|base| format!("{base}/v1/logs")))
}

fn off(args: &TelemetryOffArgs, printer: &Printer) -> Result<Exit, CliError> {
    if !args.dry_run {
        person::required("telemetry off")?;
    }
    let change = user_config::plan(|config| {
        if config.get("telemetry").is_some_and(|section| section.get("otlp").is_some()) {
            user_config::section(config, "telemetry")?.insert("otlp", value(false));
        }
        Ok(())
    })?;
    let exit = change_config(&change, args.dry_run, "it is off already; nothing to change", printer, || Ok(()))?;
    if exit == Exit::Ok && !args.dry_run {
        start_again(printer)?;
        if let Some(mut store) = stored()? {
            store.end_telemetry()?;
        }
    }
    Ok(exit)
}

/// What would be written is what the daemon can read.
fn checked(change: &ConfigChange) -> Result<(), CliError> {
    let wrong = policy::config::check(change.after(), &change.file.display().to_string()).err().unwrap_or_default();
    match wrong
        .iter()
        .find(|wrong| wrong.message.contains("telemetry") || wrong.section.as_deref() == Some("telemetry"))
    {
        Some(wrong) => Err(CliError::usage(wrong.message.clone()).hint("taut telemetry on http://127.0.0.1:4318")),
        None => Ok(()),
    }
}

/// A daemon has its workers, and who it is to others, from when it began.
pub(super) fn start_again(printer: &Printer) -> Result<(), CliError> {
    let places = PathVariables::from_process();
    if service::without_daemon() || daemon::Client::new(&places.state(), PATIENCE).status().is_err() {
        return Ok(());
    }
    let failed = |error: &dyn std::error::Error| {
        CliError::failed("the daemon could not be started again").because(error).hint("taut daemon stop")
    };
    daemon::stop(&places.state(), PATIENCE).map_err(|error| failed(&error))?;
    daemon::start(&service::launch(&places)?).map_err(|error| failed(&error))?;
    printer.note("the daemon was started again, so that it holds now");
    Ok(())
}

fn status(printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let setting = service::setting(&places);
    let section = telemetry::section(&setting);
    let trouble = telemetry::headers(&section, &setting).err();
    let store = stored()?;
    let cursor = store.as_ref().map(store::Store::telemetry).transpose()?.flatten().unwrap_or_default();
    let (waiting, skipped) = store.as_ref().map_or(Ok((0, 0)), store::Store::untold)?;
    let address = section.address();
    if printer.json() {
        printer.object(&json!({
            "on": address.is_some(), "address": address, "level": section.level.name(), "sent": cursor.sent,
            "refused": cursor.refused, "rejected": cursor.rejected, "waiting_events": waiting, "skipped_events": skipped,
            "last_sent": cursor.last_sent, "error": trouble.or(cursor.error),
        }));
        return Ok(Exit::Ok);
    }
    let Some(address) = address else {
        printer.line(why_off(&section));
        return Ok(Exit::Ok);
    };
    printer.line(text!("logs are sent to {} ({})", address, section.level.name()));
    let sent = cursor.last_sent.map(|at| format!(", the last {} ago", ago(host::clock::now().0 - at)));
    printer.line(format!("{} sent{}", counted(cursor.sent, "record"), sent.unwrap_or_default()));
    if cursor.refused + cursor.rejected > 0 {
        printer
            .line(format!("{} refused with their batch, {} dropped by the collector", cursor.refused, cursor.rejected));
    }
    printer.line(format!("{} to look through", counted(waiting, "event")));
    if skipped > 0 {
        printer.line(format!("{} forgotten before they could be sent", counted(skipped, "event")));
    }
    if let Some(why) = trouble.or(cursor.error) {
        printer.line(text!("last trouble: {}", why));
    }
    if service::without_daemon() {
        printer.note("TAUT_NO_DAEMON is set: only a daemon sends");
    }
    Ok(Exit::Ok)
}

fn why_off(section: &TelemetrySection) -> &'static str {
    match section.level {
        SharedEvents::None if section.otlp => "nothing is sent: `telemetry.level` is \"none\"",
        _ if section.otlp => "nothing is sent: no endpoint is said; `taut telemetry on <address>` says it",
        _ => "nothing is sent to any collector; `taut telemetry on <address>` switches it on",
    }
}

impl TelemetryDetail {
    fn word(self) -> SharedEvents {
        match self {
            Self::Summary => SharedEvents::Summary,
            Self::Full => SharedEvents::Full,
        }
    }
}
