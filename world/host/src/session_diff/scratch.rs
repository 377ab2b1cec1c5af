//! Where git's scratch files lie meanwhile.

use super::NoDiff;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// What a killed process left is that old.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// Where the scratch files lie, below Taut's own folder.
const FOLDER: &str = "diffs";

/// A folder of ours that goes when this does.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn make(state: &Path) -> Result<Self, NoDiff> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let folder = state.join(FOLDER);
        let failed = |source| NoDiff::Scratch { folder: folder.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        clear(&folder);
        let own = folder.join(format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let _ = std::fs::remove_dir_all(&own);
        DirBuilder::new().mode(0o700).create(&own).map_err(failed)?;
        Ok(Self(own))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn clear(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let made = entry.metadata().and_then(|meta| meta.modified());
        if made.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > LEFT_BEHIND)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
