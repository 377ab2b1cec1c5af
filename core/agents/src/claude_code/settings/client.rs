//! What a version of Claude Code understands of a hook's entry.

use std::fmt;

/// A version of the client, `2.1.325`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

/// The client that will read the settings, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownClient {
    Known(Version),
    /// Not found, or its answer could not be read: taken for a current one.
    Unknown,
}

/// How the command is written into the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandForm {
    /// `command` and `args`, run without a shell.
    Exec,
    /// One line for `sh -c`.
    Shell,
}

impl Version {
    /// The first client that takes `args`.
    pub const EXEC_FORM: Self = Self(2, 1, 139);
    /// The first client that takes `onFailure`.
    pub const ON_FAILURE: Self = Self(2, 1, 295);

    /// Reads `2.1.325 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let word = word.strip_prefix('v').unwrap_or(word);
            let mut numbers = word.split(['.', '-', '+']).map(str::parse);
            match (numbers.next(), numbers.next(), numbers.next()) {
                (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => Some(Self(major, minor, patch)),
                _ => None,
            }
        })
    }
}

impl KnownClient {
    /// What `claude --version` printed.
    pub fn parse(text: &str) -> Self {
        Version::parse(text).map_or(Self::Unknown, Self::Known)
    }

    pub fn has(self, since: Version) -> bool {
        match self {
            Self::Known(version) => version >= since,
            Self::Unknown => true,
        }
    }

    pub fn form(self) -> CommandForm {
        if self.has(Version::EXEC_FORM) { CommandForm::Exec } else { CommandForm::Shell }
    }

    /// What the user should know about this client, if anything.
    pub fn note(self) -> Option<String> {
        match self {
            Self::Unknown => Some(format!(
                "The version of Claude Code could not be found; the hooks are written for {} or newer. `claude --version` shows yours.",
                Version::EXEC_FORM
            )),
            Self::Known(version) if version < Version::EXEC_FORM => Some(format!(
                "Claude Code {version} is older than {}: the hooks run through a shell, which is slower, and newer events are left out. After `claude update`, run `taut init` again.",
                Version::EXEC_FORM
            )),
            Self::Known(_) => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_client_prints() {
        assert_eq!(KnownClient::parse("2.1.325 (Claude Code)\n"), KnownClient::Known(Version(2, 1, 325)));
        assert_eq!(KnownClient::parse("v2.1.9-beta.1"), KnownClient::Known(Version(2, 1, 9)));
        assert_eq!(KnownClient::parse("command not found"), KnownClient::Unknown);
        assert_eq!(KnownClient::parse(""), KnownClient::Unknown);
    }

    #[test]
    fn i1_exec_form_needs_a_client_that_knows_it() {
        assert_eq!(KnownClient::Known(Version(2, 1, 138)).form(), CommandForm::Shell);
        assert_eq!(KnownClient::Known(Version(2, 1, 139)).form(), CommandForm::Exec);
        assert_eq!(KnownClient::Known(Version(3, 0, 0)).form(), CommandForm::Exec);
        assert_eq!(KnownClient::Unknown.form(), CommandForm::Exec);
    }

    #[test]
    fn an_unknown_or_old_client_is_mentioned() {
        assert!(KnownClient::Unknown.note().is_some());
        assert!(KnownClient::Known(Version(2, 0, 46)).note().is_some());
        assert_eq!(KnownClient::Known(Version(2, 1, 325)).note(), None);
    }
}
