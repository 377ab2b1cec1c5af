//! What a user wrote of a server, and what stands around the process that reads it.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the user wrote of a server.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TargetWish {
    /// `None`: what `PGSERVICE` and the other variables of PostgreSQL's programs say.
    pub url: Option<String>,
    pub written: UrlPlace,
    pub password_file: Option<PathBuf>,
    /// How much it must prove, where neither the address nor its service says it.
    pub sslmode: Option<String>,
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

/// What stands around a process, as data. Not shown: a password may be in it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ServerEnvironment {
    pub variables: BTreeMap<String, String>,
    pub home: Option<PathBuf>,
}

impl std::fmt::Debug for TargetWish {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("TargetWish").field("written", &self.written).finish_non_exhaustive()
    }
}

/// What keeps others from reading what is sent, and from answering in the server's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// A Unix socket: it does not leave this machine.
    Socket,
    /// In the clear, over loopback: it does not leave this machine.
    Loopback,
    /// Encrypted; who answers is not proven.
    Encrypted,
    /// Encrypted, and the server's certificate is signed for its name by whom we trust.
    Proven,
}

#[cfg(feature = "postgres")]
impl ServerEnvironment {
    /// An empty one counts as none, as everywhere in PostgreSQL.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}
