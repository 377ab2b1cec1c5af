//! What the daemon's log gets to see: no secrets, nothing a terminal would obey, and nothing without end.

use daemon::log::{LogFile, LogFilter, LogOptions};
use std::path::Path;
use tracing::Level;

/// Sets how much is logged. Nothing else: whatever is logged is cleaned in the same way.
const VARIABLE: &str = "TAUT_LOG";

/// In characters.
const LONGEST: usize = 2_000;

/// As the environment says, which for a daemon is made of what its user has said.
pub(crate) fn options() -> LogOptions {
    let said = std::env::var(VARIABLE).unwrap_or_default();
    let most = match said.to_ascii_lowercase().as_str() {
        "error" => LogFilter::ERROR,
        "warn" => LogFilter::WARN,
        "debug" => LogFilter::DEBUG,
        _ => LogFilter::INFO,
    };
    LogOptions { most, clean }
}

/// A line to the log of a process that traces nothing, such as a hook without a daemon: one, and bounded.
///
/// # Errors
/// When it could not be written.
pub fn add(state: &Path, level: Level, text: &str) -> std::io::Result<()> {
    LogFile::at(state)?.add(level, &clean(text), host::clock::now())
}

/// A trouble of a call that was served without a daemon.
pub fn trouble(state: &Path, text: &str) {
    // What went wrong with the call is said elsewhere too; a full disk takes no line either.
    let _ = add(state, Level::WARN, text);
}

/// Twice without secrets: what is cleaned away may have hidden one, by standing in its middle.
fn clean(text: &str) -> String {
    let cut = |text: &str| match engine::redact(&text.into()) {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    };
    cut(&model::text::line(&cut(text), LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In pieces, so that nobody takes this file for one with a secret in it.
    fn token() -> String {
        ["ghp_", "16C7e42F292c6912E7", "710c838347Ae178B4a"].concat()
    }

    #[test]
    fn t7_a_logged_trouble_has_no_secret_and_no_control_character_in_it() {
        let home = tempfile::tempdir().unwrap();
        let token = token();
        let (first, second) = token.split_at(12);
        let split = format!("{first}\u{1b}[0m{second}");
        trouble(home.path(), &format!("could not read {token} and {split}\u{1b}]0;x\u{7}\nnext"));
        let log = std::fs::read_to_string(home.path().join("daemon.log")).unwrap();
        assert!(log.contains("WARN could not read"), "{log}");
        assert!(!log.contains("710c838347Ae178B4a") && !log.contains("c6912E7"), "{log}");
        assert!(!log.trim_end().chars().any(char::is_control), "{log:?}");
    }

    #[test]
    fn a_line_is_bounded_whatever_it_is_made_of() {
        let home = tempfile::tempdir().unwrap();
        trouble(home.path(), &"x ".repeat(1 << 20));
        assert!(std::fs::metadata(home.path().join("daemon.log")).unwrap().len() < 3_000);
    }
}
