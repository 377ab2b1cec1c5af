//! What the user agreed to, read back from what was kept of it, and what is different now.

use super::FILES;
use std::path::Path;

/// A file that is another than the one the user agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedChange {
    /// Its path below the project.
    pub file: String,
    /// `None` where there was none, or the configuration was empty.
    pub before: Option<String>,
    /// `None` where there is none any more.
    pub after: Option<String>,
}

/// What differs from what was kept; `None` where that cannot be read.
pub fn changes(kept: &[u8], root: &Path, now: Vec<(String, String)>) -> Option<Vec<TrustedChange>> {
    let before = files(kept, root)?;
    let then = |name: &str| before.iter().find(|(known, _)| known == name).map(|(_, text)| text);
    let gone = before.iter().filter(|file| !is_nothing(file) && !now.iter().any(|(known, _)| *known == file.0));
    let gone = gone.map(|(name, text)| TrustedChange { file: name.clone(), before: Some(text.clone()), after: None });
    let changed = now.iter().filter(|(name, text)| then(name) != Some(text)).map(|(name, text)| TrustedChange {
        file: name.clone(),
        before: before.iter().find(|file| file.0 == *name && !is_nothing(file)).map(|(_, text)| text.clone()),
        after: Some(text.clone()),
    });
    Some(changed.chain(gone).collect())
}

/// A configuration that was not there is kept like an empty one. A hook is kept only where there is one.
fn is_nothing((name, text): &(String, String)) -> bool {
    text.is_empty() && FILES.contains(&name.as_str())
}

/// Every file that is kept: after the project's path, each with its name, length and bytes.
fn files(kept: &[u8], root: &Path) -> Option<Vec<(String, String)>> {
    let mut rest = kept.strip_prefix(root.as_os_str().as_encoded_bytes())?;
    let mut files = Vec::new();
    while !rest.is_empty() {
        rest = rest.strip_prefix(b"\n")?;
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let (name, length) = std::str::from_utf8(&rest[..end]).ok()?.rsplit_once(' ')?;
        let (bytes, after) = rest[end + 1..].split_at_checked(length.parse().ok()?)?;
        files.push((name.to_string(), String::from_utf8_lossy(bytes).into_owned()));
        rest = after;
    }
    Some(files)
}
