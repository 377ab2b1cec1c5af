//! Where to connect, resolved from what the user's file and environment say.

use crate::url::{self, Parts};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use store::ServerError;

pub(crate) const PORT: u16 = 5432;

/// Where to connect, as whom.
#[derive(Clone)]
pub struct Target {
    pub(crate) hosts: Vec<Host>,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) password: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    /// The folder of the socket.
    Unix(PathBuf, u16),
    Tcp(String, u16),
}

/// What the user wrote of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TargetWish {
    /// `None`: what `PGSERVICE` and the other variables of PostgreSQL's programs say.
    pub url: Option<String>,
    pub written: UrlPlace,
    pub password_file: Option<PathBuf>,
    pub ca: Option<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

/// Where an address was written: others may read a file, and it is copied and shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UrlPlace {
    #[default]
    File,
    Environment,
}

/// What stands around a process, as data.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub variables: BTreeMap<String, String>,
    pub home: Option<PathBuf>,
}

impl Target {
    /// # Errors
    /// `Refused`, with what helps.
    pub fn resolve(wish: &TargetWish, _around: &Surroundings) -> Result<Self, ServerError> {
        let url = wish.url.as_deref().unwrap_or("postgresql://");
        let parts =
            url::parse(url).map_err(|why| ServerError::Refused(format!("the server's URL cannot be read: {why}")))?;
        Self::of(parts)
    }

    /// As people know it: host and database, never a secret.
    pub fn shown(&self) -> String {
        let host = match self.hosts.first() {
            Some(Host::Tcp(host, PORT)) => host.clone(),
            Some(Host::Tcp(host, port)) => format!("{host}:{port}"),
            Some(Host::Unix(folder, _)) => folder.display().to_string(),
            None => String::new(),
        };
        crate::server_error::clean(&format!("{host}/{}", self.database))
    }

    fn of(parts: Parts) -> Result<Self, ServerError> {
        let Some(user) = parts.user else {
            return Err(ServerError::Refused(
                "the server's URL names no role: write `postgresql://role@host/database`".to_string(),
            ));
        };
        let hosts = parts.hosts.into_iter().map(|(host, port)| Host::of(host, port.unwrap_or(PORT))).collect();
        Ok(Self { hosts, database: parts.database.unwrap_or_else(|| user.clone()), user, password: parts.password })
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let password = self.password.as_ref().map(|_| "…");
        let mut shown = out.debug_struct("Target");
        shown.field("hosts", &self.hosts).field("user", &self.user).field("database", &self.database);
        shown.field("password", &password).finish()
    }
}

impl Host {
    pub fn of(host: String, port: u16) -> Self {
        if host.starts_with('/') { Self::Unix(PathBuf::from(host), port) } else { Self::Tcp(host, port) }
    }

    /// Whether what is sent stays on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unix(..) => true,
            Self::Tcp(host, _) => {
                host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            }
        }
    }
}
