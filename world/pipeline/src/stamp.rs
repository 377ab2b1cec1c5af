//! Whether a file is still the one that was read.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use sys::outside::{self, Rules, Unread};

/// A file's identity and age; `None` where there is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(Option<(u64, u64, i64, i64, i64)>);

impl Stamp {
    pub fn of(file: &Path) -> Self {
        let meta = std::fs::metadata(file).ok();
        Self(meta.map(|meta| (meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ctime_nsec())))
    }

    pub fn is_there(self) -> bool {
        self.0.is_some()
    }

    /// The file's text, when there was a file. It is obeyed, so it has to be the user's own.
    pub fn text(self, file: &Path, largest: u64) -> Result<String, Unread> {
        self.0.ok_or(Unread::Missing)?;
        outside::read_text(file, &Rules::obeyed(largest))
    }
}
