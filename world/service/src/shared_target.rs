//! From what is configured of a server to where a connection goes: for the daemon by the user's file alone, for a command
//! with what its environment says besides.

use host::paths::PathVariables;
use pipeline::{ServerAddress, SettingsSource, SharedServer};
use policy::config::sections::SslMode;
use shared_store::{Surroundings, Target, TargetWish, UrlPlace};
use std::collections::BTreeMap;
use std::path::Path;
use store::ServerError;

/// What PostgreSQL's own programs are told by the environment, and a command of ours too.
const VARIABLES: &[&str] = &["PGPASSFILE", "PGPASSWORD", "PGSERVICEFILE", "PGSSLROOTCERT"];

/// What a command is told: by its user, never by a repository's settings.
pub fn around_command(places: &PathVariables) -> Surroundings {
    around_person(&places.home())
}

/// The same, where only the home is known.
pub(crate) fn around_person(home: &Path) -> Surroundings {
    let said = |name: &&str| Some(((*name).to_string(), host::origin::said_to_command(name)?));
    Surroundings { variables: VARIABLES.iter().filter_map(said).collect(), home: Some(home.to_path_buf()) }
}

/// What the daemon is told: nothing but where the home is.
pub fn around_daemon(home: &Path) -> Surroundings {
    Surroundings { variables: BTreeMap::new(), home: Some(home.to_path_buf()) }
}

/// Where a connection goes. Nothing is opened yet.
///
/// # Errors
/// `Refused`, with what helps.
pub fn shared_target(server: &SharedServer, around: &Surroundings) -> Result<Target, ServerError> {
    let mut around = around.clone();
    let url = match &server.address {
        ServerAddress::Url(url) => Some(url.clone()),
        ServerAddress::Service(name) => {
            around.variables.insert("PGSERVICE".to_string(), name.clone());
            None
        }
    };
    let written = match server.from {
        SettingsSource::Config => UrlPlace::File,
        SettingsSource::Environment => UrlPlace::Environment,
    };
    let wish = TargetWish {
        url,
        written,
        // The strictest is what holds without a word.
        sslmode: (server.sslmode == SslMode::Require).then(|| server.sslmode.name().to_string()),
        password_file: server.password_file.clone(),
        ca: server.ca.clone(),
        cert: server.cert.clone(),
        key: server.key.clone(),
    };
    Target::resolve(&wish, &around)
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::config::sections::SharedSection;
    use shared_store::Protection;

    const SERVICES: &str = "[team]\nhost=localhost\nuser=a\n[plain]\nhost=localhost\nuser=a\nsslmode=disable\n";

    #[test]
    fn x2_the_configured_sslmode_counts_unless_the_address_or_the_service_says_one() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".pg_service.conf"), SERVICES).unwrap();
        let url = |url: &str| SharedSection { url: Some(url.into()), ..SharedSection::default() };
        let service = |name: &str| SharedSection { service: Some(name.into()), ..SharedSection::default() };
        let protection = |section: SharedSection| {
            let section = SharedSection { sslmode: SslMode::Require, ..section };
            let server = pipeline::shared_server(&section, &home.path().join("taut/config.toml"), &|_| None).unwrap();
            shared_target(&server, &around_daemon(home.path())).unwrap().protection()
        };
        assert_eq!(protection(url("postgresql://a@localhost/c")), Protection::Encrypted);
        assert_eq!(protection(url("postgresql://a@localhost/c?sslmode=disable")), Protection::Loopback);
        assert_eq!(protection(service("team")), Protection::Encrypted);
        assert_eq!(protection(service("plain")), Protection::Loopback);
    }
}
