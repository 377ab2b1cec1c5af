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
        ServerAddress::Url(url) => Some(with_sslmode(url, server.sslmode)),
        ServerAddress::Service(name) => {
            around.variables.insert("PGSERVICE".to_string(), name.clone());
            if server.sslmode == SslMode::Require {
                around.variables.insert("PGSSLMODE".to_string(), server.sslmode.name().to_string());
            }
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
        password_file: server.password_file.clone(),
        ca: server.ca.clone(),
        cert: server.cert.clone(),
        key: server.key.clone(),
    };
    Target::resolve(&wish, &around)
}

/// The address says it itself, or the configuration does; the strictest is what holds without either.
fn with_sslmode(url: &str, sslmode: SslMode) -> String {
    if sslmode == SslMode::VerifyFull || url.contains("sslmode=") {
        return url.to_string();
    }
    let join = if url.contains('?') { '&' } else { '?' };
    format!("{url}{join}sslmode={}", sslmode.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x2_the_configured_sslmode_is_part_of_the_address_unless_that_says_one() {
        assert_eq!(with_sslmode("postgresql://a@b/c", SslMode::VerifyFull), "postgresql://a@b/c");
        assert_eq!(with_sslmode("postgresql://a@b/c", SslMode::Require), "postgresql://a@b/c?sslmode=require");
        assert_eq!(with_sslmode("postgresql://a@b/c?x=1", SslMode::Require), "postgresql://a@b/c?x=1&sslmode=require");
        let said = "postgresql://a@b/c?sslmode=verify-full";
        assert_eq!(with_sslmode(said, SslMode::Require), said);
    }
}
