//! Service files, as PostgreSQL's own programs read them: a name in brackets, and below it what it stands for.

use crate::ServerEnvironment;
use crate::credentials::{self, Unfit};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use store::ServerError;
use sys::outside::{self, Rules};

const MOST_BYTES: u64 = 1 << 20;

/// What a service stands for.
///
/// # Errors
/// `Refused` where the file does not have it, or has a password in it and can be read by others.
pub(crate) fn find(name: &str, around: &ServerEnvironment) -> Result<BTreeMap<String, String>, ServerError> {
    let named = around.variable("PGSERVICEFILE").map(PathBuf::from);
    let own = around.home.as_ref().map(|home| home.join(".pg_service.conf"));
    let found = match named.as_ref().or(own.as_ref()) {
        Some(path) => read(path, name)?,
        None => None,
    };
    found.ok_or_else(|| {
        let shown = crate::server_error::clean(name);
        ServerError::Refused(match named {
            Some(path) => format!(
                "no service is called {shown} in {}, the file that PGSERVICEFILE names: write it there; the daemon is told \
                 of no variable and reads ~/.pg_service.conf",
                path.display()
            ),
            None => format!("no service is called {shown} in ~/.pg_service.conf: write it there"),
        })
    })
}

fn read(path: &Path, name: &str) -> Result<Option<BTreeMap<String, String>>, ServerError> {
    let text = match outside::read_text(path, &Rules::obeyed(MOST_BYTES)) {
        Ok(text) => text,
        Err(why) if why.is_missing() => return Ok(None),
        Err(why) => return Err(Unfit::Unread(why).words(path)),
    };
    let found = section(&text, name);
    if found.as_ref().is_some_and(|found| found.contains_key("password")) {
        credentials::private_text(path).map_err(|why| why.words(path))?;
    }
    Ok(found)
}

fn section(text: &str, name: &str) -> Option<BTreeMap<String, String>> {
    let mut found: Option<BTreeMap<String, String>> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            if found.is_some() {
                break;
            }
            found = (title == name).then(BTreeMap::new);
        } else if let (Some(found), Some((key, value))) = (&mut found, line.split_once('=')) {
            found.insert(key.trim().to_string(), value.trim().to_string());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn a_service_is_what_stands_below_its_name() {
        let text = "# ours\n[other]\nhost=a\n\n[team]\nhost=b\nport = 5433\n# no\ndbname=taut\n[last]\nhost=c\n";
        let found = section(text, "team").unwrap();
        assert_eq!(
            found.into_iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>(),
            ["dbname=taut", "host=b", "port=5433"]
        );
        assert!(section(text, "none").is_none());
    }
}
