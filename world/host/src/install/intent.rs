//! The mark of a user's own uninstall, so that the guard over our hooks lets it through.

use model::Ms;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// How long the mark holds: clients notice a changed file within seconds.
const HOLDS_MS: i64 = 120_000;
const FILE: &str = "uninstalling";

/// Notes that the user is about to uninstall.
pub fn declare(state: &Path, now: Ms) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(state)?;
    let next = state.join("uninstalling.next");
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&next)?;
    file.write_all(now.0.to_string().as_bytes())?;
    std::fs::rename(next, state.join(FILE))
}

/// Whether the user is uninstalling just now.
pub fn uninstall_intended(state: &Path, now: Ms) -> bool {
    let declared = std::fs::read_to_string(state.join(FILE)).ok().and_then(|text| text.trim().parse().ok());
    // A mark from the future is one of a clock that was wrong; it holds no longer than others.
    declared.is_some_and(|at: i64| now.0.abs_diff(at) <= HOLDS_MS.unsigned_abs())
}

/// Takes the mark away, as a new installation does.
pub fn withdraw(state: &Path) {
    // A mark that cannot be removed expires by itself.
    let _ = std::fs::remove_file(state.join(FILE));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g8_an_uninstall_is_let_through_for_a_while_and_then_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        assert!(!uninstall_intended(&state, Ms(1_000)));
        declare(&state, Ms(1_000_000)).unwrap();
        assert!(uninstall_intended(&state, Ms(1_000_000)));
        assert!(uninstall_intended(&state, Ms(1_120_000)));
        assert!(!uninstall_intended(&state, Ms(1_120_001)));
        assert!(!uninstall_intended(&state, Ms(1)));
        declare(&state, Ms(1_000_000)).unwrap();
        withdraw(&state);
        assert!(!uninstall_intended(&state, Ms(1_000_000)));
        std::fs::write(state.join(FILE), "soon").unwrap();
        assert!(!uninstall_intended(&state, Ms(1_000_000)));
    }
}
