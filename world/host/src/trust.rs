//! Trust in a project: the user has read its configuration and agreed to it.
//! It is bound to the content: a copy is kept, and any other content is not trusted.

use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The files of a project that can loosen or run something.
pub const FILES: &[&str] = &[".taut/config.toml", ".taut/config.local.toml"];

/// What a loop runs or reads as settings; trusted apart, so that an edit of a
/// hook stops the hooks and not the project's configuration.
const LOOP_FILES: &[&str] = &[".taut/hooks", ".fresher/hooks", ".fresher/config.sh"];

/// A script larger than this, or more of them, is not trusted.
const MOST_BYTES: u64 = 1024 * 1024;
const MOST_FILES: usize = 200;

/// Where the copy for a project is kept.
pub fn file(state: &Path, root: &Path) -> PathBuf {
    let name: String =
        root.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let mark =
        root.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    let tail = name.get(name.len().saturating_sub(40)..).unwrap_or(&name);
    state.join("trust").join(format!("{tail}-{mark:016x}"))
}

/// Whether the project is trusted as it stands now.
pub fn holds(state: &Path, root: &Path) -> bool {
    std::fs::read(file(state, root)).is_ok_and(|kept| kept == content(root))
}

/// Whether the project's loop hooks may run as they stand now.
pub fn hooks_hold(state: &Path, root: &Path) -> bool {
    let Some(content) = loop_content(root) else { return false };
    std::fs::read(hooks_file(state, root)).is_ok_and(|kept| kept == content)
}

/// The files of a loop that are there, by path below the project, for a person to read.
pub fn loop_files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for name in LOOP_FILES {
        collect(&root.join(name), &mut found);
    }
    found.sort();
    found
}

/// Trusts the project as it stands now.
pub fn grant(state: &Path, root: &Path) -> io::Result<()> {
    write(&file(state, root), &content(root))?;
    match loop_content(root) {
        Some(content) => write(&hooks_file(state, root), &content),
        None => Err(io::Error::other("its hooks are too many or too large to be trusted")),
    }
}

pub fn revoke(state: &Path, root: &Path) -> io::Result<()> {
    for kept in [file(state, root), hooks_file(state, root)] {
        match std::fs::remove_file(kept) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn write(kept: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = kept.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut out = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(kept)?;
    io::Write::write_all(&mut out, content)
}

fn hooks_file(state: &Path, root: &Path) -> PathBuf {
    file(state, root).with_extension("hooks")
}

/// The path, length and bytes of every file a loop would run or read.
fn loop_content(root: &Path) -> Option<Vec<u8>> {
    let files = loop_files(root);
    if files.len() > MOST_FILES {
        return None;
    }
    let mut out = root.as_os_str().as_encoded_bytes().to_vec();
    for path in files {
        let meta = std::fs::metadata(&path).ok()?;
        if meta.len() > MOST_BYTES {
            return None;
        }
        let bytes = std::fs::read(&path).ok()?;
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        out.extend(format!("\n{name} {}\n", bytes.len()).into_bytes());
        out.extend(bytes);
    }
    Some(out)
}

fn collect(path: &Path, found: &mut Vec<PathBuf>) {
    if found.len() > MOST_FILES {
        return;
    }
    if !path.is_dir() {
        found.extend(path.is_file().then(|| path.to_path_buf()));
        return;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        // A link could lead round in a circle, or out: its target is not read as a folder.
        let linked = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if !(linked && entry.path().is_dir()) {
            collect(&entry.path(), found);
        }
    }
}

/// The project's path and the files that matter, each with its length, so that
/// two contents never read the same.
fn content(root: &Path) -> Vec<u8> {
    let mut out = root.as_os_str().as_encoded_bytes().to_vec();
    for name in FILES {
        let bytes = std::fs::read(root.join(name)).unwrap_or_default();
        out.extend(format!("\n{name} {}\n", bytes.len()).into_bytes());
        out.extend(bytes);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g11_trust_is_bound_to_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let (state, root) = (folder.path().join("state"), folder.path().join("project"));
        std::fs::create_dir_all(root.join(".taut")).unwrap();
        std::fs::write(root.join(".taut/config.toml"), "[guard]\n").unwrap();
        assert!(!holds(&state, &root));
        grant(&state, &root).unwrap();
        assert!(holds(&state, &root));
        std::fs::write(root.join(".taut/config.toml"), "[guard]\nmode = \"observe\"\n").unwrap();
        assert!(!holds(&state, &root));
        grant(&state, &root).unwrap();
        std::fs::write(root.join(".taut/config.local.toml"), "x = 1\n").unwrap();
        assert!(!holds(&state, &root));
        revoke(&state, &root).unwrap();
        revoke(&state, &root).unwrap();
    }

    #[test]
    fn g11_l1_an_edited_or_added_hook_is_not_trusted_and_the_configuration_still_is() {
        let folder = tempfile::tempdir().unwrap();
        let (state, root) = (folder.path().join("state"), folder.path().join("project"));
        std::fs::create_dir_all(root.join(".taut/hooks/custom")).unwrap();
        std::fs::write(root.join(".taut/hooks/started"), "exit 0").unwrap();
        assert!(!hooks_hold(&state, &root));
        grant(&state, &root).unwrap();
        assert!(hooks_hold(&state, &root));
        std::fs::write(root.join(".taut/hooks/custom/x"), "exit 0").unwrap();
        assert!(!hooks_hold(&state, &root) && holds(&state, &root));
        revoke(&state, &root).unwrap();
        assert!(!hooks_hold(&state, &root) && !holds(&state, &root));
    }
}
