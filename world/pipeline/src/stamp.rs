//! Whether a file is still the one that was read.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file's identity and age; `None` where there is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(Option<(u64, u64, i64, i64, i64)>);

impl Stamp {
    pub fn of(file: &Path) -> Self {
        let meta = std::fs::metadata(file).ok();
        Self(meta.map(|meta| (meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ctime_nsec())))
    }

    /// The file's text, when there was a file and it is of a sensible size.
    pub fn text(self, file: &Path, largest: u64) -> Option<String> {
        let (_, length, ..) = self.0?;
        if length > largest {
            return None;
        }
        let mut text = Vec::new();
        std::fs::File::open(file).ok()?.take(largest).read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}
