//! Trust in a project: the user has read its configuration and agreed to it.
//! It is bound to the content: a copy is kept, and any other content is not trusted.

use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The files of a project that can loosen or run something.
pub const FILES: &[&str] = &[".taut/config.toml", ".taut/config.local.toml"];

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

/// Trusts the project as it stands now.
pub fn grant(state: &Path, root: &Path) -> io::Result<()> {
    let kept = file(state, root);
    if let Some(folder) = kept.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut out = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(kept)?;
    io::Write::write_all(&mut out, &content(root))
}

pub fn revoke(state: &Path, root: &Path) -> io::Result<()> {
    match std::fs::remove_file(file(state, root)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
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
}
