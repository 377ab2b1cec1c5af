//! Where to connect, resolved from what the user's file and environment say: hosts, role, database, password, and how
//! much a server must prove.

use crate::credentials::{self, Lookup, Secret};
use crate::service;
use crate::target_wish::{Protection, ServerEnvironment, TargetWish, UrlPlace};
use crate::tls::{self, Files, Proof};
use crate::url::{self, Parts};
use rustls::ClientConfig;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::ServerError;
use tokio_postgres::config::ChannelBinding;

const PORT: u16 = 5432;

/// Where to connect, as whom. What it was resolved from is read once: after a refusal it is resolved again.
#[derive(Debug, Clone)]
pub struct ServerTarget {
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) binding: ChannelBinding,
    pub(crate) session: SessionNeed,
    proof: Option<Proof>,
}

/// One host, with what it takes to enter there.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub host: Host,
    pub password: Option<Secret>,
    /// `None`: in the clear, and on this machine.
    pub tls: Option<Arc<ClientConfig>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    /// The folder of the socket.
    Unix(PathBuf, u16),
    Tcp(String, u16),
}

/// Which of several hosts will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionNeed {
    Any,
    /// Not a standby.
    Writable,
}

impl ServerTarget {
    /// # Errors
    /// `Refused`, with what helps; never with the address, which may hold a password.
    pub fn resolve(wish: &TargetWish, around: &ServerEnvironment) -> Result<Self, ServerError> {
        let parts = parts(wish, around)?;
        let files = files(wish, &parts, around);
        let hosts: Vec<Host> = parts.hosts.iter().map(|(host, port)| Host::of(host, *port)).collect();
        let user = given(parts.user.as_deref(), around, &["PGUSER", "USER", "LOGNAME"]);
        let user =
            user.ok_or_else(|| refused("the server's URL names no role: write `postgresql://role@host/database`"))?;
        let database = given(parts.database.as_deref(), around, &["PGDATABASE"]).unwrap_or_else(|| user.clone());
        let sslmode = parts.named.get("sslmode").or(wish.sslmode.as_ref());
        let proof = proof(sslmode.map(String::as_str), &hosts, &files)?;
        let tls = proof.map(|proof| tls::config(proof, &files)).transpose()?;
        let mut endpoints = Vec::with_capacity(hosts.len());
        for host in hosts {
            let wanted = (&host, database.as_str(), user.as_str());
            let password = password(wish, &parts, around, wanted)?;
            let tls = if matches!(host, Host::Unix(..)) { None } else { tls.clone() };
            endpoints.push(Endpoint { host, password, tls });
        }
        let asked = endpoints.iter().any(|endpoint| endpoint.password.is_some());
        let binding = binding(parts.named.get("channel_binding").map(String::as_str), proof, asked)?;
        let session = session(parts.named.get("target_session_attrs").map(String::as_str), endpoints.len())?;
        Ok(Self { endpoints, user, database, binding, session, proof })
    }

    /// As people know it: host and database, never a secret.
    pub fn shown(&self) -> String {
        self.endpoints.first().map(|endpoint| self.shown_at(&endpoint.host)).unwrap_or_default()
    }

    pub(crate) fn shown_at(&self, host: &Host) -> String {
        crate::server_error::clean(&format!("{}/{}", host.shown(), self.database))
    }

    pub fn protection(&self) -> Protection {
        let is_socket = |endpoint: &Endpoint| matches!(endpoint.host, Host::Unix(..));
        match self.proof {
            _ if self.endpoints.iter().all(is_socket) => Protection::Socket,
            None => Protection::Loopback,
            Some(Proof::Encrypted) => Protection::Encrypted,
            Some(Proof::Full) => Protection::Proven,
        }
    }

    /// Whether a password is known for any of its hosts.
    pub fn knows_password(&self) -> bool {
        self.endpoints.iter().any(|endpoint| endpoint.password.is_some())
    }

    /// The role that it connects as.
    pub fn role(&self) -> String {
        crate::server_error::clean(&self.user)
    }
}

impl Host {
    fn of(host: &str, port: Option<u16>) -> Self {
        let port = port.unwrap_or(PORT);
        if host.starts_with('/') { Self::Unix(PathBuf::from(host), port) } else { Self::Tcp(host.to_string(), port) }
    }

    /// Whether what is sent stays on this machine.
    fn is_local(&self) -> bool {
        match self {
            Self::Unix(..) => true,
            Self::Tcp(host, _) => {
                host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            }
        }
    }

    pub fn shown(&self) -> String {
        match self {
            Self::Tcp(host, PORT) => host.clone(),
            Self::Tcp(host, port) => format!("{host}:{port}"),
            Self::Unix(folder, _) => folder.display().to_string(),
        }
    }
}

/// The address, with what it leaves open filled in from its service and the environment.
fn parts(wish: &TargetWish, around: &ServerEnvironment) -> Result<Parts, ServerError> {
    let unreadable = |why| refused(&format!("the server's URL cannot be read: {why}"));
    let mut parts = match &wish.url {
        Some(url) => url::parse(url).map_err(unreadable)?,
        None => Parts::default(),
    };
    if parts.password.is_some() && wish.written == UrlPlace::File {
        return Err(refused(
            "the server's URL holds a password, and the file it is written in is no place for one: take it out of the URL \
             and put it into a file of mode 600 that `password_file` names",
        ));
    }
    let service = parts.named.remove("service");
    if let Some(service) =
        service.or_else(|| around.variable("PGSERVICE").map(str::to_string).filter(|_| wish.url.is_none()))
    {
        let mut found = Parts { named: service::find(&service, around)?, ..Parts::default() };
        let unfit =
            |why| refused(&format!("the service {} cannot be used: {why}", crate::server_error::clean(&service)));
        found.take_named().map_err(unfit)?;
        parts.fill_from(found);
        // A port without a host is for the address's own hosts.
        parts.take_named().map_err(unfit)?;
    }
    if parts.hosts.is_empty() {
        let usual = if cfg!(target_os = "linux") { "/var/run/postgresql" } else { "/tmp" };
        parts.named.insert("host".to_string(), around.variable("PGHOST").unwrap_or(usual).to_string());
        if let Some(port) = around.variable("PGPORT") {
            parts.named.entry("port".to_string()).or_insert_with(|| port.to_string());
        }
        parts.take_named().map_err(unreadable)?;
    }
    Ok(parts)
}

/// The configuration's own words first, then the address's, then the environment's.
fn files(wish: &TargetWish, parts: &Parts, around: &ServerEnvironment) -> Files {
    let pick = |own: &Option<PathBuf>, named: &str, variable: &str| {
        let other = parts.named.get(named).map(String::as_str).or_else(|| around.variable(variable));
        own.clone().or_else(|| other.filter(|path| *path != "system").map(PathBuf::from))
    };
    Files {
        ca: pick(&wish.ca, "sslrootcert", "PGSSLROOTCERT"),
        cert: pick(&wish.cert, "sslcert", "PGSSLCERT"),
        key: pick(&wish.key, "sslkey", "PGSSLKEY"),
    }
}

/// How much the server must prove; `None` for nothing, which is for this machine alone. `PGSSLMODE` is not asked: less
/// than the whole proof is for whoever writes the address.
fn proof(mode: Option<&str>, hosts: &[Host], files: &Files) -> Result<Option<Proof>, ServerError> {
    let away = hosts.iter().find(|host| !host.is_local());
    match mode {
        Some("verify-full") => Ok(Some(Proof::Full)),
        Some("require") => Ok(Some(Proof::Encrypted)),
        Some("verify-ca") => {
            Err(refused("`sslmode=verify-ca` is not offered: use `verify-full`, or `require` with a `ca`"))
        }
        Some(weak @ ("disable" | "allow" | "prefer")) => match away {
            None => Ok(None),
            Some(host) => Err(refused(&format!(
                "`sslmode={weak}` would send to {} in the clear, which is for this machine alone: leave it out \
                 (`verify-full`), or write `sslmode=require`, which encrypts and does not check the name",
                crate::server_error::clean(&host.shown())
            ))),
        },
        Some(_) => Err(refused("`sslmode` is one of verify-full, require and, on this machine, disable")),
        None if away.is_some() || files.ca.is_some() => Ok(Some(Proof::Full)),
        None => Ok(None),
    }
}

/// A server that proves nothing of itself is told no password, but shown that it is known, bound to its certificate: who
/// stands between cannot pass that on.
fn binding(asked: Option<&str>, proof: Option<Proof>, password: bool) -> Result<ChannelBinding, ServerError> {
    match asked {
        Some(less @ ("prefer" | "disable")) if proof == Some(Proof::Encrypted) && password => Err(refused(&format!(
            "`channel_binding={less}` beside `sslmode=require` would send the password to whoever answers: have the server \
             proven by `sslmode=verify-full`"
        ))),
        Some("require") => Ok(ChannelBinding::Require),
        Some("prefer") => Ok(ChannelBinding::Prefer),
        Some("disable") => Ok(ChannelBinding::Disable),
        Some(_) => Err(refused("`channel_binding` is one of require, prefer and disable")),
        None if proof == Some(Proof::Encrypted) && password => Ok(ChannelBinding::Require),
        None => Ok(ChannelBinding::Prefer),
    }
}

/// Of several hosts the one that can be written to is meant, unless it is said otherwise.
fn session(asked: Option<&str>, hosts: usize) -> Result<SessionNeed, ServerError> {
    match asked {
        Some("any") => Ok(SessionNeed::Any),
        Some("read-write" | "primary") => Ok(SessionNeed::Writable),
        Some(_) => {
            Err(refused("`target_session_attrs` is one of read-write, primary and any: a queue must be written to"))
        }
        None if hosts > 1 => Ok(SessionNeed::Writable),
        None => Ok(SessionNeed::Any),
    }
}

/// The address's own, `password_file`, the file of passwords, the environment: the first that has one.
fn password(
    wish: &TargetWish,
    parts: &Parts,
    around: &ServerEnvironment,
    (host, database, user): (&Host, &str, &str),
) -> Result<Option<Secret>, ServerError> {
    if let Some(password) = &parts.password {
        return Ok(Some(password.clone()));
    }
    if let Some(path) = &wish.password_file {
        return credentials::password_file(path).map(Some);
    }
    let named = parts.named.get("passfile").map(String::as_str).or_else(|| around.variable("PGPASSFILE"));
    let path = named.map(PathBuf::from).or_else(|| around.home.as_ref().map(|home| home.join(".pgpass")));
    let (name, port) = match host {
        Host::Tcp(host, port) => (host.as_str(), *port),
        Host::Unix(folder, port) => (folder.to_str().unwrap_or_default(), *port),
    };
    let hosts: &[&str] = if matches!(host, Host::Unix(..)) { &[name, "localhost"] } else { &[name] };
    let wanted = Lookup { hosts, port, database, user };
    let found = path.as_deref().map(|path: &Path| credentials::looked_up(path, wanted)).transpose()?.flatten();
    Ok(found.or_else(|| around.variable("PGPASSWORD").map(|text| Secret::new(text.to_string()))))
}

fn given(own: Option<&str>, around: &ServerEnvironment, variables: &[&str]) -> Option<String> {
    own.or_else(|| variables.iter().find_map(|name| around.variable(name))).map(str::to_string)
}

fn refused(words: &str) -> ServerError {
    ServerError::Refused(words.to_string())
}

impl Parts {
    /// What the address leaves open.
    fn fill_from(&mut self, other: Self) {
        self.user = self.user.take().or(other.user);
        self.password = self.password.take().or(other.password);
        self.database = self.database.take().or(other.database);
        if self.hosts.is_empty() {
            self.hosts = other.hosts;
        }
        for (name, value) in other.named {
            self.named.entry(name).or_insert(value);
        }
    }
}
