//! Where things are kept, as the user said it before any repository could.
//!
//! A repository's own settings may set environment variables for every hook of
//! the client. The client's first environment, the one the user started it
//! with, is out of their reach: under a client, places are read from there.

use crate::paths::Places;
use crate::probe::ancestors;
use std::collections::HashMap;
use std::path::PathBuf;

/// The client's environment is not read further than this.
const LARGEST: u64 = 256 * 1024;

/// The places of this process, or of the client that called it as a hook.
pub fn places() -> Places {
    let own = Places::from_process();
    let under_client = std::env::var_os("CLAUDECODE").is_some_and(|value| !value.is_empty());
    if !under_client {
        return own;
    }
    match client_environment(std::os::unix::process::parent_id()) {
        Some(first) => replaced(own, &first),
        None => own,
    }
}

fn replaced(own: Places, first: &HashMap<String, String>) -> Places {
    let folder = |name: &str| first.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Places {
        taut_home: folder("TAUT_HOME"),
        xdg_state: folder("XDG_STATE_HOME").filter(|path| path.is_absolute()),
        xdg_config: folder("XDG_CONFIG_HOME").filter(|path| path.is_absolute()),
        home: folder("HOME").or(own.home),
        claude_config: own.claude_config,
    }
}

/// What the nearest client above this process was started with.
fn client_environment(parent: u32) -> Option<HashMap<String, String>> {
    let client = ancestors(parent).find(|pid| is_client(*pid))?;
    let bytes = bounded(&format!("/proc/{client}/environ"))?;
    let entries = bytes.split(|byte| *byte == 0).map(|entry| String::from_utf8_lossy(entry).into_owned());
    Some(entries.filter_map(|entry| entry.split_once('=').map(|(name, value)| (name.into(), value.into()))).collect())
}

/// The program's own name says so, or the script it runs.
fn is_client(pid: u32) -> bool {
    let Some(bytes) = bounded(&format!("/proc/{pid}/cmdline")) else { return false };
    let words = bytes.split(|byte| *byte == 0).take(2).map(String::from_utf8_lossy);
    words.into_iter().any(|word| word.rsplit('/').next().is_some_and(|name| name == "claude" || name == "cli.js"))
}

fn bounded(path: &str) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g11_what_the_client_was_started_with_wins_over_what_a_repository_set() {
        let own = Places { taut_home: Some("/repo/evil".into()), home: Some("/repo".into()), ..Places::default() };
        let first = HashMap::from([("HOME".to_string(), "/home/dev".to_string())]);
        let places = replaced(own, &first);
        assert_eq!(places.state(), PathBuf::from("/home/dev/.local/state/taut"));
        assert_eq!(places.user_config(), PathBuf::from("/home/dev/.config/taut/config.toml"));
    }

    #[test]
    fn without_a_client_above_the_process_speaks_for_itself() {
        assert!(client_environment(std::process::id()).is_none());
    }
}
