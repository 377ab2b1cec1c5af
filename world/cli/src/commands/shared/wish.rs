//! What somebody who connects wants, held against what their configuration says already: the section as it is to be.

use super::AgreeArgs;
use crate::error::CliError;
use clap::Args;
use policy::config::sections::{MachineLabel, QueueName, SchemaName, ServerUrl, SharedEvents, SharedSection, SslMode};
use shared_store::GivenUrl;
use std::path::Path;
use toml_edit::{Array, DocumentMut, Item, TableLike, value};

#[derive(Debug, Args)]
pub struct ConnectArgs {
    /// Where it is: postgresql://role@host:5432/database, without a password; alone: the one that is configured
    pub url: Option<String>,
    /// Read the address from this variable; a password in it goes into a file of mode 0600
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub url_env: Option<String>,
    /// Instead of an address: an entry of your service file
    #[arg(long, value_name = "NAME", conflicts_with_all = ["url", "url_env"])]
    pub service: Option<String>,
    /// A queue that this machine takes part in: acme/shop (may be given again)
    #[arg(long, value_name = "QUEUE")]
    pub project: Vec<String>,
    /// The schema there, one for each team
    #[arg(long, value_name = "NAME")]
    pub schema: Option<String>,
    /// A file of yours (mode 0600) that holds the password
    #[arg(long, value_name = "FILE", conflicts_with = "password")]
    pub password_file: Option<String>,
    /// Ask for the password anew
    #[arg(long)]
    pub password: bool,
    /// Whom the server's certificate must be signed by (PEM), where that is not one of the system's authorities
    #[arg(long, value_name = "FILE")]
    pub ca: Option<String>,
    /// What of the record is sent: none, summary or full
    #[arg(long, value_name = "LEVEL", value_parser = ["none", "summary", "full"])]
    pub events: Option<String>,
    /// What people call this machine (else its host name)
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    #[command(flatten)]
    pub agree: AgreeArgs,
}

/// The section as it is to be, and a password that came with the address.
pub struct SharedWish {
    pub section: SharedSection,
    pub password: Option<String>,
}

impl SharedWish {
    pub fn of(args: &ConnectArgs, known: &SharedSection) -> Result<Self, CliError> {
        let mut section = known.clone();
        let mut password = None;
        if let Some(given) = address(args)? {
            (section.url, section.service, password) = (Some(given.url), None, given.password);
        }
        if let Some(service) = &args.service {
            (section.url, section.service) = (None, Some(service.clone()));
        }
        if (&known.url, &known.service) != (&section.url, &section.service) {
            // What proved who somebody is was for the server before, and so was being content with less proof of its own.
            (section.password_file, section.cert, section.key) = (None, None, None);
            section.sslmode = SslMode::VerifyFull;
        }
        if section.url.is_none() && section.service.is_none() {
            return Err(CliError::usage("no server is named, and none is configured")
                .hint("taut shared connect postgresql://role@host:5432/database --project acme/shop"));
        }
        for queue in &args.project {
            checked(queue, "queue", QueueName::accepts(queue), "letters, digits and . _ / -, such as acme/shop")?;
            if !section.projects.contains(queue) {
                section.projects.push(queue.clone());
            }
        }
        if let Some(schema) = &args.schema {
            checked(schema, "schema", SchemaName::accepts(schema), "small letters, digits and _, such as taut")?;
            section.schema.clone_from(schema);
        }
        if let Some(label) = &args.label {
            checked(label, "label", MachineLabel::accepts(label), "up to 64 characters in one line")?;
            section.label = Some(label.clone());
        }
        section.events = match args.events.as_deref() {
            Some("full") => SharedEvents::Full,
            Some("summary") => SharedEvents::Summary,
            Some(_) => SharedEvents::None,
            None => section.events,
        };
        section.password_file = args.password_file.as_ref().map(absolute).transpose()?.or(section.password_file);
        section.ca = args.ca.as_ref().map(absolute).transpose()?.or(section.ca);
        Ok(Self { section, password })
    }
}

/// A file that was named, from wherever a command is run.
pub fn absolute(file: &String) -> Result<String, CliError> {
    Ok(std::path::absolute(file)?.to_string_lossy().into_owned())
}

fn checked(text: &str, what: &str, accepted: bool, form: &str) -> Result<(), CliError> {
    if accepted {
        return Ok(());
    }
    Err(CliError::usage(format!("`{text}` is no name of a {what}")).hint(format!("it is of {form}")))
}

/// The address that was typed, or stands in the variable that was named. It is never said back.
fn address(args: &ConnectArgs) -> Result<Option<GivenUrl>, CliError> {
    let (text, typed) = match (&args.url, &args.url_env) {
        (Some(url), _) => (url.clone(), true),
        (None, Some(name)) => {
            let said = std::env::var(name).ok().filter(|text| !text.trim().is_empty());
            let missing = || CliError::usage(format!("the variable {name} holds no address"));
            (said.ok_or_else(missing)?, false)
        }
        (None, None) => return Ok(None),
    };
    let given = GivenUrl::of(&text).map_err(|error| CliError::usage(error.to_string()))?;
    if typed && given.password.is_some() {
        return Err(CliError::usage(
            "an address with a password in it is not taken: the shell's history and the list of processes show it",
        )
        .hint(format!(
            "taut shared connect {}    (asks for the password, and keeps it in a file of mode 0600)",
            given.url
        )));
    }
    if !ServerUrl::accepts(&given.url) {
        return Err(CliError::usage("the address has characters in it that an address does not have")
            .hint("write them as %20 and the like: postgresql://role@host:5432/database"));
    }
    Ok(Some(given))
}

/// Writes what differs; comments and order of the rest stay.
pub fn write(config: &mut DocumentMut, known: &SharedSection, wish: &SharedSection) -> Result<(), CliError> {
    let section = crate::user_config::values(config, "shared")?;
    let texts = [
        ("url", &known.url, &wish.url),
        ("service", &known.service, &wish.service),
        ("password_file", &known.password_file, &wish.password_file),
        ("ca", &known.ca, &wish.ca),
        ("cert", &known.cert, &wish.cert),
        ("key", &known.key, &wish.key),
        ("label", &known.label, &wish.label),
    ];
    for (key, _, wanted) in texts.into_iter().filter(|(_, before, wanted)| before != wanted) {
        put(section, key, wanted.as_ref().map(value));
    }
    if known.sslmode != wish.sslmode {
        put(section, "sslmode", None);
    }
    if known.schema != wish.schema {
        put(section, "schema", Some(value(&wish.schema)));
    }
    if known.projects != wish.projects {
        let queues: Array = wish.projects.iter().map(String::as_str).collect();
        put(section, "projects", Some(value(queues)));
    }
    // What is sent is said in the file, also where it is the least.
    if known.events != wish.events || section.get("events").is_none() {
        put(section, "events", Some(value(wish.events.name())));
    }
    Ok(())
}

fn put(section: &mut dyn TableLike, key: &str, wanted: Option<Item>) {
    match wanted {
        Some(wanted) => drop(section.insert(key, wanted)),
        None => drop(section.remove(key)),
    }
}

/// A name for the queue of a project, after its folder.
pub fn suggested(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_string_lossy();
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let plain = plain.trim_matches('-').to_string();
    QueueName::accepts(&plain).then_some(plain)
}
