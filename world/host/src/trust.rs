//! Trust in a project: the user has read its configuration and agreed to it.
//! It is bound to the content: a copy is kept, and any other content is not trusted.
//!
//! Files are read once, into [`ProjectFiles`]. What a person is shown, what is compared with the kept copy and what is
//! used or run afterwards are those bytes, whatever becomes of the files meanwhile.

mod kept;
mod private_copy;
mod read;

pub use kept::TrustedChange;
pub use read::LoopFile;

use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The files of a project that can loosen or run something.
pub const FILES: [&str; 2] = [".taut/config.toml", ".taut/config.local.toml"];

/// Whether the user agreed to a project's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    Never,
    /// To another content than it has now.
    Changed,
    Holds,
}

/// The files of a project that matter for trust, as they were at one moment.
#[derive(Debug, Clone)]
pub struct ProjectFiles {
    root: PathBuf,
    /// In the order of [`FILES`].
    config: [Option<Vec<u8>>; 2],
    /// What a loop runs or reads as settings; `None` when it is too much to be trusted.
    loops: Option<Vec<LoopFile>>,
}

impl ProjectFiles {
    pub fn of(root: &Path) -> Self {
        let config = FILES.map(|name| read::regular(&root.join(name)).map(|file| file.bytes));
        Self { root: root.to_path_buf(), config, loops: read::loop_files(root) }
    }

    /// Every file that is there, for a person to read.
    pub fn shown(&self) -> Vec<(PathBuf, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let config = FILES.iter().zip(&self.config).filter_map(|(name, bytes)| Some((name, bytes.as_ref()?)));
        let config = config.map(|(name, bytes)| (self.root.join(name), text(bytes)));
        let loops = self.loops.iter().flatten().map(|file| (self.root.join(&file.below), text(&file.bytes)));
        config.chain(loops).collect()
    }

    /// What is another than what the user agreed to; `None` where there was no agreement.
    pub fn changes(&self, state: &Path) -> Option<Vec<TrustedChange>> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let config = FILES.iter().zip(&self.config).filter_map(|(name, bytes)| Some((*name, bytes.as_ref()?)));
        let config = config.map(|(name, bytes)| (name.to_string(), text(bytes))).collect();
        let loops = self.loops.iter().flatten();
        let loops = loops.map(|file| (file.below.to_string_lossy().into_owned(), text(&file.bytes))).collect();
        let differs = |kept: PathBuf, now| kept::changes(&std::fs::read(kept).ok()?, &self.root, now);
        let configured = differs(file(state, &self.root), config);
        match (configured, differs(hooks_file(state, &self.root), loops)) {
            (None, None) => None,
            (configured, hooks) => Some(configured.into_iter().chain(hooks).flatten().collect()),
        }
    }

    pub fn configuration_state(&self, state: &Path) -> TrustState {
        state_for(state, &self.root, self.config.each_ref().map(Option::as_deref))
    }

    /// Whether the configuration is the one the user agreed to.
    pub fn configuration_holds(&self, state: &Path) -> bool {
        self.configuration_state(state) == TrustState::Holds
    }

    /// Whether the loop's hooks and settings are those the user agreed to.
    pub fn loop_holds(&self, state: &Path) -> bool {
        let content = self.loop_content();
        content.is_some_and(|content| std::fs::read(hooks_file(state, &self.root)).is_ok_and(|kept| kept == content))
    }

    /// Whether there is anything that does nothing until it is trusted.
    pub fn lacks_trust(&self, state: &Path) -> bool {
        let hooks = self.loops.as_ref().is_none_or(|files| !files.is_empty()) && !self.loop_holds(state);
        let configured = self.config.iter().any(Option::is_some) && !self.configuration_holds(state);
        hooks || configured
    }

    /// Whether what a loop runs is the same in both.
    pub fn same_hooks(&self, other: &Self) -> bool {
        self.loops == other.loops
    }

    pub fn loop_file(&self, below: &Path) -> Option<&LoopFile> {
        self.loops.iter().flatten().find(|file| file.below == below)
    }

    /// A folder of our own with exactly these files of the loop, by their paths below the project.
    pub fn private_copy(&self, state: &Path) -> io::Result<PathBuf> {
        let content = self.loop_content().ok_or_else(too_much)?;
        private_copy::make(&copies(state, &self.root), &content, self.loops.as_deref().unwrap_or_default())
    }

    /// Trusts exactly this.
    pub fn grant(&self, state: &Path) -> io::Result<()> {
        self.grant_configuration(state)?;
        write(&hooks_file(state, &self.root), &self.loop_content().ok_or_else(too_much)?)
    }

    /// Trusts the configuration, and no hook.
    pub fn grant_configuration(&self, state: &Path) -> io::Result<()> {
        write(&file(state, &self.root), &content(&self.root, self.config.each_ref().map(Option::as_deref)))
    }

    /// Takes back what the user agreed to here.
    pub fn forget(&self, state: &Path) {
        // What is not there was never agreed to; what cannot be removed still matches these files alone.
        let _ = std::fs::remove_file(file(state, &self.root));
        let _ = std::fs::remove_file(hooks_file(state, &self.root));
        let _ = std::fs::remove_dir_all(copies(state, &self.root));
    }

    /// The path, length and bytes of every file a loop would run or read.
    fn loop_content(&self) -> Option<Vec<u8>> {
        let mut out = self.root.as_os_str().as_encoded_bytes().to_vec();
        for file in self.loops.as_ref()? {
            out.extend(format!("\n{} {}\n", file.below.to_string_lossy(), file.bytes.len()).into_bytes());
            out.extend(&file.bytes);
        }
        Some(out)
    }
}

/// Where the copy for a project is kept.
pub fn file(state: &Path, root: &Path) -> PathBuf {
    state.join("trust").join(name(root))
}

/// Whether the project is trusted with these contents of [`FILES`], which were read already and are those that will
/// be used. A file that is not there is like an empty one.
pub fn state_for(state: &Path, root: &Path, contents: [Option<&[u8]>; 2]) -> TrustState {
    match std::fs::read(file(state, root)) {
        Ok(kept) if kept == content(root, contents) => TrustState::Holds,
        Ok(_) if contents.iter().any(Option::is_some) => TrustState::Changed,
        _ => TrustState::Never,
    }
}

/// Whether the project's configuration is trusted as it stands now.
pub fn holds(state: &Path, root: &Path) -> bool {
    ProjectFiles::of(root).configuration_holds(state)
}

/// Trusts the project as it stands now.
pub fn grant(state: &Path, root: &Path) -> io::Result<()> {
    ProjectFiles::of(root).grant(state)
}

pub fn revoke(state: &Path, root: &Path) -> io::Result<()> {
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    gone(std::fs::remove_file(file(state, root)))?;
    gone(std::fs::remove_file(hooks_file(state, root)))?;
    gone(std::fs::remove_dir_all(copies(state, root)))
}

fn too_much() -> io::Error {
    io::Error::other("its hooks are too many or too large to be trusted; make them fewer or smaller")
}

/// A name for what is kept of a project.
fn name(root: &Path) -> String {
    let name: String =
        root.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let tail = name.get(name.len().saturating_sub(40)..).unwrap_or(&name);
    format!("{tail}-{:016x}", mark(root.as_os_str().as_encoded_bytes()))
}

/// Tells contents apart by name; that they are the same is never taken from it.
fn mark(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn hooks_file(state: &Path, root: &Path) -> PathBuf {
    file(state, root).with_extension("hooks")
}

fn copies(state: &Path, root: &Path) -> PathBuf {
    state.join("hooks").join(name(root))
}

fn write(kept: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = kept.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut out = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(kept)?;
    io::Write::write_all(&mut out, content)
}

/// The project's path and the files that matter, each with its length, so that
/// two contents never read the same.
fn content(root: &Path, contents: [Option<&[u8]>; 2]) -> Vec<u8> {
    let mut out = root.as_os_str().as_encoded_bytes().to_vec();
    for (name, bytes) in FILES.iter().zip(contents) {
        let bytes = bytes.unwrap_or_default();
        out.extend(format!("\n{name} {}\n", bytes.len()).into_bytes());
        out.extend(bytes);
    }
    out
}

#[cfg(test)]
mod tests;
