//! The address of a database as PostgreSQL's own programs write it: `postgresql://user@host:port/database?name=value`.
//! An address that cannot be read is never repeated: it may hold a password.

use crate::credentials::Secret;
use std::collections::BTreeMap;

/// What may be said behind the question mark and in a service file; the rest would be obeyed by nobody.
const KNOWN: &[&str] = &[
    "sslmode", "sslrootcert", "sslcert", "sslkey", "passfile", "service", "target_session_attrs", "channel_binding",
    "port", "application_name", "connect_timeout", "client_encoding", "fallback_application_name", "gssencmode",
    "sslsni",
];

/// An address in its parts, decoded. Hosts and ports are in their order.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub hosts: Vec<(String, Option<u16>)>,
    pub database: Option<String>,
    pub named: BTreeMap<String, String>,
}

/// # Errors
/// What is wrong with it, without repeating any of it.
pub(crate) fn parse(url: &str) -> Result<Parts, &'static str> {
    let rest = url.strip_prefix("postgresql://").or_else(|| url.strip_prefix("postgres://"));
    let rest = rest.ok_or("it does not begin with `postgresql://`")?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (person, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = match person.split_once(':') {
        Some((user, password)) => (user, Some(Secret::new(decoded(password)?))),
        None => (person, None),
    };
    let mut parts = Parts {
        user: given(decoded(user)?),
        password,
        hosts: hosts.split(',').filter(|host| !host.is_empty()).map(host_and_port).collect::<Result<_, _>>()?,
        database: given(decoded(database)?),
        named: BTreeMap::new(),
    };
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or("a part behind `?` has no `=`")?;
        parts.named.insert(decoded(name)?, decoded(value)?);
    }
    parts.take_named()?;
    Ok(parts)
}

impl Parts {
    /// What may also be said behind the question mark, or in a service file.
    pub fn take_named(&mut self) -> Result<(), &'static str> {
        if let Some(user) = self.named.remove("user") {
            self.user = given(user);
        }
        if let Some(password) = self.named.remove("password") {
            self.password = Some(Secret::new(password));
        }
        if let Some(database) = self.named.remove("dbname") {
            self.database = given(database);
        }
        if let Some(hosts) = self.named.remove("host") {
            self.hosts = hosts.split(',').map(|host| (host.to_string(), None)).collect();
        }
        if self.named.keys().any(|name| !KNOWN.contains(&name.as_str())) {
            return Err(
                "it says something that is not known here; what is known: host, port, dbname, user, service, passfile, \
                        sslmode, sslrootcert, sslcert, sslkey, channel_binding, target_session_attrs",
            );
        }
        // Without a host it waits for the one that is filled in.
        if self.hosts.is_empty() {
            return Ok(());
        }
        if let Some(ports) = self.named.remove("port") {
            let ports = ports.split(',').map(port).collect::<Result<Vec<_>, _>>()?;
            let one = if ports.len() == 1 { ports.first().copied() } else { None };
            if one.is_none() && ports.len() != self.hosts.len() {
                return Err("there are not as many ports as hosts");
            }
            for (place, host) in self.hosts.iter_mut().enumerate() {
                host.1 = host.1.or(one).or_else(|| ports.get(place).copied());
            }
        }
        Ok(())
    }
}

/// `host`, `host:port`, `[::1]:port`.
fn host_and_port(text: &str) -> Result<(String, Option<u16>), &'static str> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(text) => text.split_once(']').ok_or("a `[` is not closed")?,
        None => text.find(':').map_or((text, ""), |at| text.split_at(at)),
    };
    match rest.strip_prefix(':') {
        Some(number) => Ok((decoded(host)?, Some(port(number)?))),
        None if rest.is_empty() => Ok((decoded(host)?, None)),
        None => Err("something other than a port stands behind a host"),
    }
}

fn port(text: &str) -> Result<u16, &'static str> {
    text.parse().ok().filter(|port| *port > 0).ok_or("a port is no number from 1 to 65535")
}

fn given(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// `%41` is `A`.
fn decoded(text: &str) -> Result<String, &'static str> {
    const WRONG: &str = "a `%` is not followed by two digits";
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16)).ok_or(WRONG);
        let value = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(value).map_err(|_| WRONG)?);
    }
    let text = String::from_utf8(bytes).map_err(|_| "what is behind a `%` is no text")?;
    if text.contains('\0') { Err("it contains a NUL") } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn an_address_is_read_as_postgresql_reads_it() {
        let parts = parse("postgresql://ada%40x:p%3A@a,b:5433,[::1]:5434/my%20db?sslmode=require").ok().unwrap();
        assert_eq!(parts.user.as_deref(), Some("ada@x"));
        assert_eq!(parts.password.as_ref().map(|secret| secret.reveal()), Some("p:"));
        let hosts = [("a".to_owned(), None), ("b".to_owned(), Some(5433)), ("::1".to_owned(), Some(5434))];
        assert_eq!(parts.hosts, hosts);
        assert_eq!(parts.database.as_deref(), Some("my db"));
        let parts = parse("postgres:///taut?host=/run/db,other&port=1,2&user=ada").ok().unwrap();
        assert_eq!(parts.hosts, [("/run/db".to_owned(), Some(1)), ("other".to_owned(), Some(2))]);
        assert_eq!(parse("postgresql://%2Frun%2Fdb:5/x").ok().unwrap().hosts, [("/run/db".to_owned(), Some(5))]);
    }

    #[test]
    fn what_cannot_be_read_is_not_repeated() {
        for wrong in [
            "mysql://s3cret", "postgresql://a:s3cret@h:x/d", "postgresql://a@h/%zz", "postgresql://a@h/d?s3cret",
            "postgresql://a@h/d?pasword=s3cret", "postgresql://a@[::1/d", "postgresql://a@h:0/d",
            "postgresql://a@h/%00",
        ] {
            let why = parse(wrong).err().unwrap();
            assert!(!why.contains("s3cret"), "{why}");
        }
    }
}
