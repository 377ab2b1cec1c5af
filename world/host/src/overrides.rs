//! What the user said at a terminal for a while: a pause, and rules let through
//! once. One small file, read with every judgement and written by people only.

use model::Ms;
use serde_json::{Value, json};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What holds for a while.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActiveOverrides {
    pub paused_until: Option<Ms>,
    pub reason: Option<String>,
}

pub fn file(state: &Path) -> PathBuf {
    state.join("overrides.json")
}

/// What holds now; a file that cannot be read loosens nothing.
pub fn read(state: &Path) -> ActiveOverrides {
    let bytes = std::fs::read(file(state)).unwrap_or_default();
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    ActiveOverrides {
        paused_until: value.get("paused_until").and_then(Value::as_i64).map(Ms),
        reason: value.get("reason").and_then(Value::as_str).map(str::to_string),
    }
}

pub fn write(state: &Path, standing: &ActiveOverrides) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(state)?;
    let text = json!({"paused_until": standing.paused_until.map(|at| at.0), "reason": standing.reason}).to_string();
    let next = state.join("overrides.json.next");
    let mut out = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&next)?;
    io::Write::write_all(&mut out, text.as_bytes())?;
    std::fs::rename(next, file(state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_read_back_and_a_broken_file_loosens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("new");
        assert_eq!(read(&state), ActiveOverrides::default());
        let standing = ActiveOverrides { paused_until: Some(Ms(5)), reason: Some("deploy".into()) };
        write(&state, &standing).unwrap();
        assert_eq!(read(&state), standing);
        std::fs::write(file(&state), "{\"paused_until\": 9").unwrap();
        assert_eq!(read(&state), ActiveOverrides::default());
    }
}
