//! What an owner says of a schema besides making it: whose record is read by whom, which versions are let in, how long the
//! record is kept. Shown first, with whom it concerns, and done once it was agreed to.

use super::reach::said;
use super::tell;
use crate::commands::{ago, counted};
use crate::error::CliError;
use crate::printer::{Printer, text};
use clap::Args;
use shared_store::{Connection, SPEAKS, Schema, ServerVersion};

#[derive(Debug, Args)]
pub struct OwnerArgs {
    /// Let a role, and its members, read the record of a project: ada=acme/shop (may be given again)
    #[arg(long, value_name = "ROLE=PROJECT", value_parser = grant)]
    pub grant: Vec<Grant>,
    /// Let in only who speaks this version of the schema or a newer one; first shows which machines do not
    #[arg(long, value_name = "VERSION")]
    pub oldest: Option<u32>,
    /// Keep the record on the server for so many days, 1 to 3650 (as it is made: 90)
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub keep_events: Option<u32>,
}

/// Who may read the record of which project.
#[derive(Debug, Clone)]
pub struct Grant {
    role: String,
    project: String,
}

fn grant(text: &str) -> Result<Grant, String> {
    match text.split_once('=') {
        Some((role, project)) if !role.is_empty() && !project.is_empty() => {
            Ok(Grant { role: role.to_string(), project: project.to_string() })
        }
        _ => Err("it looks like ada=acme/shop".to_string()),
    }
}

/// A server's schema, asked by its owner.
pub struct OwnedSchema<'c> {
    pub connection: &'c mut Connection,
    pub schema: &'c Schema,
    /// As it stands before anything is done; none where there is no schema yet.
    pub found: Option<ServerVersion>,
}

impl OwnerArgs {
    /// Says what would be done; gives whether that is anything to be agreed to.
    pub fn tell(&self, owned: &mut OwnedSchema<'_>, printer: &Printer) -> Result<bool, CliError> {
        for Grant { role, project } in &self.grant {
            tell(printer, text!("The role {} may read the record of {}.", role, project));
        }
        let raises = self.tell_oldest(owned, printer)?;
        Ok(self.tell_keeping(owned, printer) || raises || !self.grant.is_empty())
    }

    fn tell_oldest(&self, owned: &mut OwnedSchema<'_>, printer: &Printer) -> Result<bool, CliError> {
        let Some(oldest) = self.oldest else { return Ok(false) };
        let found = owned.found.clone().unwrap_or_default();
        // It is brought forward before that.
        let then = ServerVersion { version: found.version.max(SPEAKS), ..found };
        let (name, now) = (owned.schema.name(), then.oldest);
        shared_store::may_raise_oldest(&then, owned.schema, oldest).map_err(|error| said(&error))?;
        if now == oldest {
            tell(printer, text!("The schema {} lets in version {} and newer already.", name, oldest));
            return Ok(false);
        }
        if owned.found.is_none() {
            tell(printer, text!("The schema {} lets in version {} and newer alone.", name, oldest));
            return Ok(true);
        }
        tell(printer, text!("The schema {} lets in version {} and newer alone; until now {}.", name, oldest, now));
        let older =
            shared_store::older_machines(owned.connection, owned.schema, oldest).map_err(|error| said(&error))?;
        if older.is_empty() {
            tell(printer, "No machine that was heard of in the last 30 days speaks an older one.");
            return Ok(true);
        }
        let machines = counted(older.len() as u64, "machine");
        tell(
            printer,
            format!(
                "{machines} spoke an older one in the last 30 days. Until taut is updated there, what they owe waits:"
            ),
        );
        for one in &older {
            let heard = ago(one.age_ms);
            tell(printer, text!("  {}  speaks {} ({}), heard of {} ago", one.label, one.speaks, one.build, heard));
        }
        Ok(true)
    }

    fn tell_keeping(&self, owned: &OwnedSchema<'_>, printer: &Printer) -> bool {
        let Some(days) = self.keep_events else { return false };
        let now = owned.found.as_ref().map(|found| found.keep_events_days);
        let kept = days_of(days);
        match now {
            Some(now) if now == days => {
                tell(printer, format!("The record is kept for {kept} there already."));
                return false;
            }
            Some(now) => tell(
                printer,
                format!(
                    "The record is kept for {kept} there, until now for {}; what is older goes for good, by months.",
                    days_of(now)
                ),
            ),
            None => tell(printer, format!("The record is kept for {kept} there.")),
        }
        true
    }

    /// After it was agreed to, and the schema is there.
    pub fn carry_out(&self, connection: &mut Connection, schema: &Schema, printer: &Printer) -> Result<(), CliError> {
        for Grant { role, project } in &self.grant {
            shared_store::grant_record(connection, schema, (role, project)).map_err(|error| {
                CliError::failed(said(&error).what()).hint(
                    "a project is there once somebody has connected to it and used its queue; `createuser` makes a role",
                )
            })?;
            printer.note(text!("{} may read the record of {} now", role, project));
        }
        if let Some(oldest) = self.oldest {
            shared_store::raise_oldest(connection, schema, oldest).map_err(|error| said(&error))?;
            printer.note(format!("who speaks version {oldest} or a newer one is let in"));
        }
        if let Some(days) = self.keep_events {
            shared_store::keep_events(connection, schema, days).map_err(|error| said(&error))?;
            printer.note(format!("the record is kept for {} there", days_of(days)));
        }
        Ok(())
    }
}

fn days_of(days: u32) -> String {
    if days == 1 { "1 day".to_string() } else { format!("{days} days") }
}
