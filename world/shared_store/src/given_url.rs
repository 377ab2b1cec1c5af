//! An address that somebody gave, parted from the password it may hold: the one is written down, the other is not.

use crate::url;
use store::ServerError;

/// An address without a password, and the password that stood in it.
#[derive(Clone, PartialEq, Eq)]
pub struct GivenUrl {
    pub url: String,
    pub password: Option<String>,
}

impl GivenUrl {
    /// # Errors
    /// `Refused`, with what is wrong and none of the address.
    pub fn of(text: &str) -> Result<Self, ServerError> {
        let parts = url::parse(text.trim()).map_err(|why| {
            ServerError::Refused(format!(
                "the address cannot be read: {why}. It looks like `postgresql://role@host:5432/database`"
            ))
        })?;
        let password = parts.password.as_ref().map(|secret| secret.reveal().to_string());
        Ok(Self { url: without_password(text.trim()), password })
    }
}

impl std::fmt::Debug for GivenUrl {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("GivenUrl").finish_non_exhaustive()
    }
}

/// Of an address that was read.
fn without_password(text: &str) -> String {
    let (before, query) = text.split_once('?').map_or((text, None), |(before, query)| (before, Some(query)));
    let (scheme, rest) = before.split_once("://").unwrap_or(("postgresql", before));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((person, hosts)) => format!("{}@{hosts}", person.split(':').next().unwrap_or_default()),
        None => authority.to_string(),
    };
    let kept: Vec<&str> =
        query.into_iter().flat_map(|query| query.split('&')).filter(|pair| !is_secret(pair)).collect();
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    format!("{scheme}://{authority}{path}{query}")
}

/// A name that is written in another way must not hide one.
fn is_secret(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or_default();
    name.is_empty() || name.contains('%') || name == "password"
}

#[cfg(test)]
mod tests {
    use super::GivenUrl;

    #[test]
    fn x3_an_address_is_parted_from_its_password() {
        let cases = [
            ("postgresql://ada:p%40w@db:5433/taut", "postgresql://ada@db:5433/taut", Some("p@w")),
            (
                "postgres://ada@db/taut?password=pw&sslmode=require",
                "postgres://ada@db/taut?sslmode=require",
                Some("pw"),
            ),
            ("postgresql://db/taut?pass%77ord=pw", "postgresql://db/taut", Some("pw")),
            (" postgresql:///taut?host=/run/pg \n", "postgresql:///taut?host=/run/pg", None),
            ("postgresql://a:b:c@d/e", "postgresql://a@d/e", Some("b:c")),
        ];
        for (given, url, password) in cases {
            let found = GivenUrl::of(given).unwrap();
            assert_eq!((found.url.as_str(), found.password.as_deref()), (url, password), "{given}");
            assert!(!format!("{found:?}").contains("pw"));
        }
        let why = GivenUrl::of("mysql://ada:s3cret@db").unwrap_err().to_string();
        assert!(!why.contains("s3cret") && why.contains("postgresql://"), "{why}");
    }
}
