//! What a version of Claude Code understands of a hook's entry.

use super::{CommandForm, KnownClient, Version};

impl Version {
    /// The first client that takes `args`.
    pub const EXEC_FORM: Self = Self(2, 1, 139);
    /// The first client that takes `onFailure`.
    pub const ON_FAILURE: Self = Self(2, 1, 295);
    /// The first client that was seen to write its requests to the model into the transcript: they tell that the calls of
    /// an answer have come back, which otherwise only a hook does.
    pub const TELLS_REQUESTS: Self = Self(2, 1, 325);
}

pub fn form(client: KnownClient) -> CommandForm {
    if client.has(Version::EXEC_FORM) { CommandForm::Exec } else { CommandForm::Shell }
}

/// What the user should know about this client, if anything.
pub fn note(client: KnownClient) -> Option<String> {
    match client {
        KnownClient::Unknown => Some(format!(
            "The version of Claude Code could not be found; the hooks are written for {} or newer. `claude --version` shows yours.",
            Version::EXEC_FORM
        )),
        KnownClient::Known(version) if version < Version::EXEC_FORM => Some(format!(
            "Claude Code {version} is older than {}: the hooks run through a shell, which is slower, and newer events are left \
             out. After `claude update`, run `taut init` again.",
            Version::EXEC_FORM
        )),
        KnownClient::Known(_) => None,
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
        assert_eq!(form(KnownClient::Known(Version(2, 1, 138))), CommandForm::Shell);
        assert_eq!(form(KnownClient::Known(Version(2, 1, 139))), CommandForm::Exec);
        assert_eq!(form(KnownClient::Known(Version(3, 0, 0))), CommandForm::Exec);
        assert_eq!(form(KnownClient::Unknown), CommandForm::Exec);
    }

    #[test]
    fn an_unknown_or_old_client_is_mentioned() {
        assert!(note(KnownClient::Unknown).is_some());
        assert!(note(KnownClient::Known(Version(2, 0, 46))).is_some());
        assert_eq!(note(KnownClient::Known(Version(2, 1, 325))), None);
    }
}
