//! Where PostgreSQL's programs are: distributions keep the server's out of the path.

use std::cmp::Reverse;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub initdb: PathBuf,
    pub postgres: PathBuf,
    pub psql: PathBuf,
}

impl Programs {
    /// The newest version that is installed, else what the path has.
    pub fn found() -> Option<Self> {
        let mut folders = versions(Path::new("/usr/lib/postgresql"));
        folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        folders.iter().find_map(|folder| Self::within(folder))
    }

    fn within(folder: &Path) -> Option<Self> {
        let program = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
        Some(Self { initdb: program("initdb")?, postgres: program("postgres")?, psql: program("psql")? })
    }
}

/// `<root>/<version>/bin`, the highest version first.
fn versions(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    found.sort_by_key(|found| Reverse(found.0));
    found.into_iter().map(|(_, folder)| folder).collect()
}
