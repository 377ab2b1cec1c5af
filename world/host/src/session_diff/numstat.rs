//! What `git diff --numstat -z` prints.

use super::FileDiff;
use model::session_facts::DiffSize;

/// One record a file: `added TAB removed TAB path NUL`, where a path that is empty is followed by the old and the new.
pub fn read(told: &[u8]) -> Vec<FileDiff> {
    let mut fields = told.split(|byte| *byte == 0);
    let mut files = Vec::new();
    while let Some(field) = fields.next() {
        let mut parts = field.splitn(3, |byte| *byte == b'\t');
        let (Some(added), Some(removed), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let path = if path.is_empty() { fields.next().and(fields.next()).unwrap_or_default() } else { path };
        let count = |text: &[u8]| std::str::from_utf8(text).ok()?.parse().ok();
        let path = String::from_utf8_lossy(path).into_owned();
        files.push(FileDiff { path, added: count(added), removed: count(removed) });
    }
    files
}

pub fn size(files: &[FileDiff]) -> DiffSize {
    let sum = |of: fn(&FileDiff) -> Option<u64>| files.iter().filter_map(of).fold(0, u64::saturating_add);
    DiffSize { files: files.len() as u64, added: sum(|file| file.added), removed: sum(|file| file.removed) }
}
