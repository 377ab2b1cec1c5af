//! `taut shared migrate`: the tables on a server, made or brought forward by their owner. Forward only; any number of
//! owners at once are one.

use super::owner_wishes::{OwnedSchema, OwnerArgs};
use super::reach::{self, said};
use super::{AgreeArgs, secret_file, tell};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use clap::Args;
use host::paths::PathVariables;
use pipeline::{ServerAddress, SettingsSource, SharedServer};
use policy::config::sections::{SchemaName, ServerUrl, SharedSection};
use serde_json::json;
use service::shared_target::{around_command, shared_target};
use shared_store::{Connection, GivenUrl, KnownRole, Migrated, Patience, SPEAKS, Schema, Surroundings, Target};
use store::ServerError;

#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// As its owner: postgresql://owner@host:5432/database (default: what TAUT_DATABASE_URL says)
    pub url: Option<String>,
    /// The schema, one for each team (default: taut)
    #[arg(long, value_name = "NAME")]
    pub schema: Option<String>,
    /// Whom the server's certificate must be signed by (PEM), where that is not one of the system's authorities
    #[arg(long, value_name = "FILE")]
    pub ca: Option<String>,
    #[command(flatten)]
    pub wishes: OwnerArgs,
    #[command(flatten)]
    pub agree: AgreeArgs,
}

pub fn run(args: &MigrateArgs, printer: &Printer) -> Result<Exit, CliError> {
    args.agree.person("shared migrate")?;
    let places = PathVariables::from_process();
    let server = owner(args, &places)?;
    let schema = Schema::named(&server.schema).map_err(|error| said(&error))?;
    let (target, mut connection) = opened(&server, args, around_command(&places))?;
    let standing = shared_store::look(&mut connection, &schema).map_err(|error| said(&error))?;
    let (name, shown) = (schema.name(), target.shown());
    let missing = shared_store::administrator_sql(&mut connection, &schema).map_err(|error| said(&error))?;
    if !missing.is_empty() {
        return Err(administrator(&missing, &standing.role, &standing.database, printer));
    }
    let found = match standing.has_schema {
        true => Some(shared_store::version(&mut connection, &schema).map_err(|error| said(&error))?),
        false => None,
    };
    let from = found.as_ref().map_or(0, |found| found.version);
    let known = match from {
        0 => shared_store::known_roles(&mut connection, &schema).map_err(|error| said(&error))?,
        _ => Vec::new(),
    };
    if from < SPEAKS {
        let what = if from == 0 { "made" } else { "brought forward" };
        tell(
            printer,
            text!("The schema {} of {} is {} as {}: version {} to {}.", name, shown, what, standing.role, from, SPEAKS),
        );
        if from == 0 {
            tell(
                printer,
                text!("Two roles go with it: {} works, {} only reads.", schema.agent_role(), schema.reader_role()),
            );
        }
        show_known(&known, printer);
    }
    let mut owned = OwnedSchema { connection: &mut connection, schema: &schema, found };
    let wished = args.wishes.tell(&mut owned, printer)?;
    drop(connection);
    if args.agree.dry_run {
        return Ok(Exit::Ok);
    }
    if (wished || from < SPEAKS) && !args.agree.agrees("Do it?")? {
        printer.note("nothing was changed");
        return Ok(Exit::Failed);
    }
    let did = shared_store::migrate(&target, &schema, Patience::default()).map_err(|error| said(&error))?;
    if wished {
        let mut connection = Connection::open(&target, Patience::default()).map_err(|error| said(&error))?;
        args.wishes.carry_out(&mut connection, &schema, printer)?;
    }
    show(did, &schema, printer);
    Ok(Exit::Ok)
}

/// Who comes along with roles that the server has already, perhaps of another team's database.
fn show_known(known: &[KnownRole], printer: &Printer) {
    for KnownRole { role, members } in known {
        let who = match members.as_slice() {
            [] => "nobody is a member of it, and who has its password".to_string(),
            members => format!("its members are {}. Each of them", members.join(", ")),
        };
        tell(printer, text!("The server has the role {} already; {} may do here what it may.", role, who));
    }
    if !known.is_empty() {
        tell(printer, "Roles are of the whole server. For another team: --schema NAME, which has roles of its own.");
    }
}

/// An owner's password is asked for where it is missing, and kept nowhere.
fn opened(
    server: &SharedServer,
    args: &MigrateArgs,
    mut around: Surroundings,
) -> Result<(Target, Connection), CliError> {
    let open = |around: &Surroundings| {
        let target = shared_target(server, around)?;
        let connection = Connection::open(&target, Patience::default())?;
        Ok::<_, ServerError>((target, connection))
    };
    match open(&around) {
        Err(error) if reach::lacks_password(&error) && !args.agree.yes && !args.agree.dry_run => {
            around.variables.insert("PGPASSWORD".to_string(), secret_file::asked()?);
            open(&around)
        }
        Err(error) if reach::lacks_password(&error) => {
            return Err(CliError::failed("the server asks for a password, and none is known; nothing was changed")
                .hint("say it in PGPASSWORD, or have it in ~/.pgpass (mode 0600)"));
        }
        tried => tried,
    }
    .map_err(|error| said(&error))
}

fn show(did: Migrated, schema: &Schema, printer: &Printer) {
    let name = schema.name();
    if printer.json() {
        printer.object(&json!({
            "schema": name, "from": did.from, "to": did.to, "roles": [schema.agent_role(), schema.reader_role()],
        }));
        return;
    }
    match did {
        Migrated { from, to } if from == to => printer.line(format!("the schema {name} is of version {to} already")),
        Migrated { from: 0, to } => {
            printer.line(format!("made the schema {name}, version {to}"));
            printer.line("Give the roles passwords, or make a role for each member of the team:");
            printer.line(format!("  ALTER ROLE {} PASSWORD '…';", schema.agent_role()));
            printer.line(format!("  CREATE ROLE ada LOGIN PASSWORD '…' IN ROLE {};", schema.agent_role()));
        }
        Migrated { from, to } => printer.line(format!("brought the schema {name} from version {from} to {to}")),
    }
}

/// What somebody else has to run first: printed as it is, so that it can be handed on.
fn administrator(missing: &[String], role: &str, database: &str, printer: &Printer) -> CliError {
    if printer.json() {
        printer.object(&json!({"administrator": missing}));
    } else {
        missing.iter().for_each(|statement| printer.line(statement.as_str()));
    }
    CliError::failed(format!("{role} may not make all that is needed; nothing was changed"))
        .hint(format!("an administrator runs the lines above in the database {database}; then the same command again"))
}

/// The server as its owner reaches it: by the address that was typed, or by what the environment says.
fn owner(args: &MigrateArgs, places: &PathVariables) -> Result<SharedServer, CliError> {
    let known = crate::commands::judge_here(None)?.project_policy().policy.sections.shared.clone();
    let schema = args.schema.clone().unwrap_or_else(|| known.schema.clone());
    if !SchemaName::accepts(&schema) {
        return Err(CliError::usage(format!("`{schema}` is no name of a schema")).hint("small letters, digits and _"));
    }
    let ca = args.ca.as_ref().map(super::wish::absolute).transpose()?.or(known.ca);
    let own = SharedSection { ca, schema, ..SharedSection::default() };
    let usage = || {
        CliError::usage("whose database is it? No address was given, and TAUT_DATABASE_URL is not set")
            .hint("taut shared migrate postgresql://owner@host:5432/database")
    };
    let said_by_environment = |name: &str| host::origin::said_to_command(name);
    let Some(url) = &args.url else {
        return pipeline::shared_server(&own, &places.user_config(), &said_by_environment).ok_or_else(usage);
    };
    let given = GivenUrl::of(url).map_err(|error| CliError::usage(error.to_string()))?;
    if given.password.is_some() || !ServerUrl::accepts(&given.url) {
        return Err(CliError::usage(
            "an address with a password in it is not taken: the shell's history and the list of processes show it",
        )
        .hint("say it in TAUT_DATABASE_URL or PGPASSWORD, or have it in ~/.pgpass"));
    }
    let own = SharedSection { url: Some(given.url.clone()), ..own };
    let server = pipeline::shared_server(&own, &places.user_config(), &|_| None).ok_or_else(usage)?;
    Ok(SharedServer { address: ServerAddress::Url(given.url), from: SettingsSource::Config, ..server })
}
