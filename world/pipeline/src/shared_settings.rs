//! Whether a project is shared, and on which server: what the user's own file says, or for commands their environment.
//! Nothing is opened here, and without either there is nothing to open.

use policy::config::sections::{OnUnsure, SharedEvents, SharedSection, SslMode};
use std::path::{Path, PathBuf};

/// Variables that name a server, the first that says something.
const URL_VARIABLES: [&str; 2] = ["TAUT_DATABASE_URL", "RALPH_DB_URL"];

/// What a command is told by its environment. A hook and the daemon are told nothing by theirs.
pub type Variables<'v> = &'v dyn Fn(&str) -> Option<String>;

/// A server, as it is configured. Nobody has asked yet whether it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedServer {
    pub address: ServerAddress,
    pub schema: String,
    /// The queues that this machine takes part in.
    pub projects: Vec<String>,
    pub password_file: Option<PathBuf>,
    pub ca: Option<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub sslmode: SslMode,
    pub events: SharedEvents,
    pub on_unsure: OnUnsure,
    /// What people call this machine; `None` is its host name.
    pub label: Option<String>,
    pub from: SettingsSource,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerAddress {
    /// One from the environment may hold a password, so it is never shown as it is.
    Url(String),
    /// An entry of the user's service file.
    Service(String),
}

/// Who said which server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsSource {
    Config,
    Environment,
}

/// A project whose queue is on a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedSettings {
    pub server: SharedServer,
    /// What its queue is called there.
    pub queue: String,
}

/// The server that the environment or the user's own file names. Files are beside that file, where they are not full paths.
pub fn shared_server(section: &SharedSection, user_config: &Path, said: Variables<'_>) -> Option<SharedServer> {
    let folder = user_config.parent().unwrap_or(Path::new("/"));
    let file = |name: &Option<String>| name.as_ref().map(|name| folder.join(name));
    let from_environment = URL_VARIABLES.iter().find_map(|name| said(name).filter(|url| !url.trim().is_empty()));
    let (address, from) = match (from_environment, &section.url, &section.service) {
        (Some(url), ..) => (ServerAddress::Url(url), SettingsSource::Environment),
        (None, Some(url), _) => (ServerAddress::Url(url.clone()), SettingsSource::Config),
        (None, None, Some(service)) => (ServerAddress::Service(service.clone()), SettingsSource::Config),
        (None, None, None) => return None,
    };
    // What proves who somebody is goes to the server that it was given for, and to no other; and what was agreed to for that
    // one, to be sent or not to be proven, was agreed to for no other.
    let is_agreed = from == SettingsSource::Config;
    let proof = |name: &Option<String>| file(name).filter(|_| is_agreed);
    Some(SharedServer {
        address,
        schema: section.schema.clone(),
        projects: section.projects.clone(),
        password_file: proof(&section.password_file),
        ca: file(&section.ca),
        cert: proof(&section.cert),
        key: proof(&section.key),
        sslmode: if is_agreed { section.sslmode } else { SslMode::default() },
        events: if is_agreed { section.events } else { SharedEvents::None },
        on_unsure: section.on_unsure,
        label: section.label.clone(),
        from,
    })
}

/// Which queue of which server a project has. What a repository calls its queue counts only where the user takes part in it,
/// or has named the server for this very command.
pub fn shared_settings(section: &SharedSection, user_config: &Path, said: Variables<'_>) -> Option<SharedSettings> {
    let queue = section.project.clone()?;
    let server = shared_server(section, user_config, said)?;
    let takes_part = server.from == SettingsSource::Environment || server.projects.contains(&queue);
    takes_part.then_some(SharedSettings { server, queue })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "/home/dev/.config/taut/config.toml";

    fn section() -> SharedSection {
        SharedSection {
            url: Some("postgresql://taut_agent@db/taut".into()),
            projects: vec!["acme/shop".into()],
            project: Some("acme/shop".into()),
            password_file: Some("secrets/shared".into()),
            ca: Some("/etc/ssl/team.pem".into()),
            ..SharedSection::default()
        }
    }

    fn unset(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn x2_nothing_is_shared_unless_the_user_takes_part_and_the_repository_names_its_queue() {
        let config = Path::new(CONFIG);
        let shared = shared_settings(&section(), config, &unset).unwrap();
        assert_eq!((shared.queue.as_str(), shared.server.from), ("acme/shop", SettingsSource::Config));
        assert_eq!(shared.server.password_file.as_deref(), Some(Path::new("/home/dev/.config/taut/secrets/shared")));
        assert_eq!(shared.server.ca.as_deref(), Some(Path::new("/etc/ssl/team.pem")));
        let without = [
            SharedSection { project: None, ..section() },
            SharedSection { projects: Vec::new(), ..section() },
            SharedSection { project: Some("acme/other".into()), ..section() },
            SharedSection { url: None, ..section() },
            SharedSection::default(),
        ];
        for section in without {
            assert_eq!(shared_settings(&section, config, &unset), None, "{section:?}");
        }
    }

    #[test]
    fn x2_a_command_takes_the_server_of_its_environment_and_sends_it_no_password_of_another() {
        let said = |name: &str| match name {
            "TAUT_DATABASE_URL" => Some("postgresql://ci@elsewhere/taut".to_string()),
            "RALPH_DB_URL" => Some("postgresql://old/taut".to_string()),
            _ => None,
        };
        let named = SharedSection { projects: Vec::new(), ..section() };
        let shared = shared_settings(&named, Path::new(CONFIG), &said).unwrap();
        assert_eq!(shared.server.address, ServerAddress::Url("postgresql://ci@elsewhere/taut".into()));
        assert_eq!((shared.server.from, shared.server.password_file), (SettingsSource::Environment, None));
        let legacy = |name: &str| said(name).filter(|_| name == "RALPH_DB_URL");
        let server = shared_server(&SharedSection::default(), Path::new(CONFIG), &legacy).unwrap();
        assert_eq!(server.address, ServerAddress::Url("postgresql://old/taut".into()));
        assert_eq!(shared_settings(&SharedSection::default(), Path::new(CONFIG), &legacy), None, "no queue is named");
    }

    #[test]
    fn x2_a_service_is_named_where_no_address_is() {
        let section = SharedSection { url: None, service: Some("team".into()), ..section() };
        let server = shared_server(&section, Path::new(CONFIG), &unset).unwrap();
        assert_eq!(server.address, ServerAddress::Service("team".into()));
    }
}
