//! `taut policy log`: what people decided about the guard, and when.

use crate::commands::{PATIENCE, stored};
use crate::error::CliError;
use crate::exit::Exit;
use crate::past_time;
use crate::person;
use crate::printer::{Printer, Text};
use clap::Args;
use host::paths::PathVariables;
use model::Ms;
use serde_json::{Value, json};
use store::{PolicyLogEntry, PolicyLogKind, Store};

#[derive(Debug, Args)]
pub struct PolicyLogArgs {
    /// How many of the latest
    #[arg(long, short = 'n', default_value_t = 30)]
    limit: usize,
    /// Only about this rule, pack, preset or code
    #[arg(long, value_name = "NAME")]
    about: Option<String>,
    /// Only since then: 2d, 3w, 2026-11-01
    #[arg(long)]
    since: Option<String>,
}

pub fn run(args: &PolicyLogArgs, printer: &Printer) -> Result<Exit, CliError> {
    let since = args.since.as_deref().map(|since| past_time::read(since, "--since")).transpose()?;
    let log = match stored()? {
        Some(store) => store.policy_log(host::clock::now())?,
        None => Vec::new(),
    };
    let wanted = |entry: &&PolicyLogEntry| {
        since.is_none_or(|since| entry.at >= since) && args.about.as_ref().is_none_or(|about| entry.subject == *about)
    };
    let log: Vec<&PolicyLogEntry> = log.iter().filter(wanted).take(args.limit).collect();
    if printer.json() {
        log.iter().for_each(|entry| printer.object(&object(entry)));
    } else if log.is_empty() {
        printer.note("nothing was decided about the guard; `taut policy allow <rule>` and `taut pause` are noted here");
    } else {
        let rows: Vec<Vec<Text>> = log.iter().map(|entry| row(entry)).collect();
        printer.table(&["WHEN", "WHO", "WHAT", "WHY"], &rows);
    }
    Ok(Exit::Ok)
}

fn row(entry: &PolicyLogEntry) -> Vec<Text> {
    let who = if entry.who.is_empty() { "-" } else { &entry.who };
    let reason = entry.reason.clone().unwrap_or_default();
    vec![host::clock::shown(entry.at).into(), who.into(), words(entry).into(), reason.into()]
}

fn words(entry: &PolicyLogEntry) -> String {
    let PolicyLogEntry { subject, .. } = entry;
    let scope = if entry.scope.is_empty() { String::new() } else { format!(" {}", entry.scope) };
    let until = entry.until.map(|until| format!(", until {}", host::clock::shown(until))).unwrap_or_default();
    match entry.kind {
        PolicyLogKind::Allowed => format!("{subject} allowed{scope}{until}"),
        PolicyLogKind::AllowedOnce => format!("{subject} allowed once{scope}"),
        PolicyLogKind::Forgotten => format!("{subject} no longer allowed{scope}"),
        PolicyLogKind::PackOn => format!("pack {subject} switched on"),
        PolicyLogKind::PackOff => format!("pack {subject} switched off"),
        PolicyLogKind::Paused => format!("guard paused{until}"),
        PolicyLogKind::PauseEnded => "pause over".to_owned(),
        PolicyLogKind::Preset => format!("preset {subject} written{scope}"),
        PolicyLogKind::Trusted => format!("{subject} trusted"),
        PolicyLogKind::TrustRevoked => format!("{subject} no longer trusted"),
        PolicyLogKind::Expired => format!("allowance of {subject} ran out{scope}"),
    }
}

fn object(entry: &PolicyLogEntry) -> Value {
    json!({
        "at": entry.at.rfc3339(),
        "who": Some(&entry.who).filter(|who| !who.is_empty()),
        "what": entry.kind.name(),
        "about": entry.subject,
        "scope": Some(&entry.scope).filter(|scope| !scope.is_empty()),
        "until": entry.until.map(Ms::rfc3339),
        "reason": entry.reason,
    })
}

/// Notes a decision that was carried out. It stands, even where nothing can be noted.
pub fn note(entry: PolicyLogEntry, printer: &Printer) {
    let entry = PolicyLogEntry { who: person::name(), at: host::clock::now(), ..entry };
    let noted = Store::open_and_migrate(&PathVariables::from_process().state(), PATIENCE)
        .and_then(|mut store| store.log_policy(&entry));
    if let Err(error) = noted {
        printer.note(format!("this is not in `taut policy log`: {error}"));
    }
}

/// One of this kind, about this.
pub fn entry(kind: PolicyLogKind, subject: &str) -> PolicyLogEntry {
    PolicyLogEntry {
        at: Ms(0),
        who: String::new(),
        kind,
        subject: subject.to_owned(),
        scope: String::new(),
        until: None,
        reason: None,
    }
}
