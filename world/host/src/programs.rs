//! Where programs are looked for: in folders of the user's and of the system,
//! and not first along a search path that was handed to us. That one may come
//! from an agent, and so from a repository.

mod verified;

pub(crate) use verified::Verified;

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Whose programs this process runs. It is said once and used in many places.
static HOME: OnceLock<PathBuf> = OnceLock::new();

/// A process that was told its user's home when it was started says so here,
/// first of all: its environment may say something else.
pub fn are_of(home: &Path) {
    // Whoever said it first was nearer to the start.
    let _ = HOME.set(home.to_path_buf());
}

pub(crate) fn folders(home: &Path) -> Vec<PathBuf> {
    let own = [".local/bin", ".nix-profile/bin"].map(|below| home.join(below));
    let system = [
        "/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin", "/opt/local/bin", "/home/linuxbrew/.linuxbrew/bin",
        "/run/current-system/sw/bin",
    ]
    .map(PathBuf::from);
    own.into_iter().chain(system).collect()
}

pub(crate) fn find(program: &str, home: &Path) -> Option<PathBuf> {
    let found = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|meta| runs(&meta));
    folders(home).into_iter().map(|folder| folder.join(program)).find(found)
}

/// Whether somebody may run it.
pub(crate) fn runs(meta: &Metadata) -> bool {
    meta.is_file() && meta.permissions().mode() & 0o111 != 0
}

/// The search path has a say only where there is no such program in any of the folders, and it is the user's own.
pub(crate) fn find_or_search(program: &str) -> Option<PathBuf> {
    find(program, home()).or_else(|| {
        let path = crate::origin::said("PATH")?;
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(program)).find(|path| std::fs::metadata(path).is_ok_and(|meta| runs(&meta)))
    })
}

pub(crate) fn home() -> &'static Path {
    HOME.get_or_init(|| crate::origin::places().home())
}
