//! Passwords: from the user's own files, which nobody else may read, or from the environment. Never shown.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use store::ServerError;
use sys::outside::{self, Rules, Unread};

/// The largest file that is read for a secret.
const MOST_BYTES: u64 = 1 << 20;

/// What is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub fn new(text: String) -> Self {
        Self(text)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("…")
    }
}

/// What a line of a password file is looked up by. A Unix socket goes by its folder and by `localhost`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub hosts: &'a [&'a str],
    pub port: u16,
    pub database: &'a str,
    pub user: &'a str,
}

/// The file that `password_file` names: the password alone, on its first line.
///
/// # Errors
/// `Refused` where it cannot be read, or others can.
pub(crate) fn password_file(path: &Path) -> Result<Secret, ServerError> {
    let text = private_text(path).map_err(|why| why.words(path))?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() {
        return Err(ServerError::Refused(format!(
            "{} is empty: write the password into its first line",
            path.display()
        )));
    }
    Ok(Secret::new(line.to_string()))
}

/// What a file such as `~/.pgpass` has for a place. One that is not there has nothing.
///
/// # Errors
/// `Refused` where it cannot be read, or others can.
pub(crate) fn looked_up(path: &Path, wanted: Lookup<'_>) -> Result<Option<Secret>, ServerError> {
    match private_text(path) {
        Ok(text) => Ok(text.lines().find_map(|line| password_in(line, wanted))),
        Err(Unfit::Unread(Unread::Missing)) => Ok(None),
        Err(why) => Err(why.words(path)),
    }
}

/// The text of a file that holds a secret.
///
/// # Errors
/// Why it must not be used.
pub(crate) fn private_text(path: &Path) -> Result<String, Unfit> {
    let (file, found) = outside::open(path, &Rules::obeyed(MOST_BYTES)).map_err(Unfit::Unread)?;
    if found.permissions().mode() & 0o077 != 0 {
        return Err(Unfit::Open);
    }
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(|cause| Unfit::Unread(Unread::Failed(cause)))?;
    Ok(text)
}

/// Why a file with a secret is not used.
#[derive(Debug)]
pub(crate) enum Unfit {
    Unread(Unread),
    /// Others can read it.
    Open,
}

impl Unfit {
    pub fn words(&self, path: &Path) -> ServerError {
        let shown = path.display();
        ServerError::Refused(match self {
            Self::Unread(why) => format!("{shown} cannot be read: {why}"),
            Self::Open => format!("{shown} can be read by others, so it is not used: run `chmod 600 {}`", quoted(path)),
        })
    }
}

/// `host:port:database:user:password`, where `*` is anything and a backslash takes the next letter as it is.
fn password_in(line: &str, wanted: Lookup<'_>) -> Option<Secret> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let [host, port, database, user, password] = fields.as_slice() else { return None };
    let is = |field: &Field, value: &str| field.any || field.text == value;
    let fits = wanted.hosts.iter().any(|wanted| is(host, wanted))
        && is(port, &wanted.port.to_string())
        && is(database, wanted.database)
        && is(user, wanted.user);
    (fits && !password.text.is_empty()).then(|| Secret::new(password.text.clone()))
}

struct Field {
    text: String,
    /// A bare `*`.
    any: bool,
}

/// The first four colons part the fields; the password may have more of them.
fn fields(line: &str) -> Vec<Field> {
    let mut fields = vec![Field { text: String::new(), any: false }];
    let mut escaped = false;
    for letter in line.chars() {
        let count = fields.len();
        let Some(field) = fields.last_mut() else { break };
        match letter {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            ':' if !escaped && count < 5 => fields.push(Field { text: String::new(), any: false }),
            _ => {
                field.any = letter == '*' && !escaped && field.text.is_empty();
                field.text.push(letter);
            }
        }
        escaped = false;
    }
    fields
}

/// As a shell takes it for one word.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+~".contains(letter);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Lookup<'_> = Lookup { hosts: &["db.example"], port: 5432, database: "taut", user: "ada" };

    fn found(line: &str) -> Option<String> {
        password_in(line, WANTED).map(|secret| secret.reveal().to_owned())
    }

    #[test]
    fn lines_of_a_password_file_are_read_as_postgresql_reads_them() {
        assert_eq!(found("db.example:5432:taut:ada:s3cret"), Some("s3cret".to_owned()));
        assert_eq!(found("*:*:*:*:with:colons"), Some("with:colons".to_owned()));
        assert_eq!(found(r"db\.example:*:taut:ada:a\:b\\c"), Some(r"a:b\c".to_owned()));
        for other in ["db.example:5433:taut:ada:x", r"\*:*:*:*:x", "#*:*:*:*:x", "*:*:*:x", "*:*:*:*:", "**:*:*:*:x"] {
            assert_eq!(found(other), None, "{other}");
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Secret::new("s3cret".to_owned())), "…");
    }
}
