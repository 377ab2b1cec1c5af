//! Whether a file is still the one that was read.

use model::Ms;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use sys::outside::{self, Rules, Unread};

/// A file's identity and age; `None` where there is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(Option<[u64; 6]>);

impl Stamp {
    pub fn of(file: &Path) -> Self {
        let meta = std::fs::metadata(file).ok();
        let times = |meta: &std::fs::Metadata| [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
        Self(meta.map(|meta| {
            let [written, written_ns, changed, changed_ns] = times(&meta).map(i64::cast_unsigned);
            [meta.ino(), meta.len(), written, written_ns, changed, changed_ns]
        }))
    }

    pub fn is_there(self) -> bool {
        self.0.is_some()
    }

    /// When it was written last.
    pub fn written(self) -> Option<Ms> {
        let [_, _, seconds, nanos, ..] = self.0?;
        let millis = i64::try_from(nanos / 1_000_000).unwrap_or_default();
        Some(Ms(seconds.cast_signed().saturating_mul(1000).saturating_add(millis)))
    }

    /// The file's text, when there was a file. It is obeyed, so it has to be the user's own.
    pub fn text(self, file: &Path, largest: u64) -> Result<String, Unread> {
        self.0.ok_or(Unread::Missing)?;
        outside::read_text(file, &Rules::obeyed(largest))
    }
}
