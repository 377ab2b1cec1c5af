//! The real client on disk: installed from npm at a pinned version into a cache outside the tree.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process;

pub const PACKAGE: &str = "@anthropic-ai/claude-code";
pub const VERSION: &str = "2.1.325";

const LIMIT: Duration = Duration::from_secs(600);

/// A client that is there and can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealClient {
    program: PathBuf,
}

impl RealClient {
    /// The pinned client from the cache, installed first if it is not there.
    ///
    /// # Errors
    /// When there is no cache folder or npm fails.
    pub fn installed() -> io::Result<Self> {
        let installer = Installer { npm: "npm".into(), cache: cache_folder()? };
        installer.install()
    }

    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }
}

/// `$TAUT_TEST_CACHE`, else `taut-test` in the user's cache folder.
///
/// # Errors
/// When neither `$TAUT_TEST_CACHE`, `$XDG_CACHE_HOME` nor `$HOME` is set.
pub fn cache_folder() -> io::Result<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("TAUT_TEST_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("taut-test")))
        .or_else(|| Some(folder("HOME")?.join(".cache/taut-test")))
        .ok_or_else(|| io::Error::other("no cache folder: set TAUT_TEST_CACHE"))
}

/// How the client gets into a cache.
#[derive(Clone, Debug)]
pub struct Installer {
    pub npm: PathBuf,
    pub cache: PathBuf,
}

impl Installer {
    /// Installs unless it is there. Half an installation is never seen: npm works in a sibling that is renamed at the
    /// end, and a lock lets the second of two starters find what the first has made.
    ///
    /// # Errors
    /// When the cache cannot be written or npm fails; then nothing is left behind.
    pub fn install(&self) -> io::Result<RealClient> {
        let place = self.cache.join(format!("claude-code-{VERSION}"));
        let client = RealClient { program: program_in(&place) };
        if client.program.is_file() {
            return Ok(client);
        }
        fs::create_dir_all(&self.cache)?;
        let lock = File::create(self.cache.join(format!("claude-code-{VERSION}.lock")))?;
        lock.lock()?;
        if !client.program.is_file() {
            self.install_to(&place)?;
        }
        Ok(client)
    }

    fn install_to(&self, place: &Path) -> io::Result<()> {
        let sibling = tempfile::Builder::new().prefix("installing-").tempdir_in(&self.cache)?;
        let mut npm = Command::new(&self.npm);
        npm.args(["install", "--no-audit", "--no-fund", "--no-update-notifier", "--prefix"])
            .arg(sibling.path())
            .arg(format!("{PACKAGE}@{VERSION}"))
            .current_dir(sibling.path());
        let done = process::run(npm, b"", LIMIT)?;
        if !done.success() || !program_in(sibling.path()).is_file() {
            let message = format!("npm install {PACKAGE}@{VERSION}: {:?}: {}", done.ending, done.stderr_text());
            return Err(io::Error::other(message));
        }
        if place.exists() {
            // A folder without the program is what is left of a cache somebody emptied halfway.
            fs::remove_dir_all(place)?;
        }
        fs::rename(sibling.keep(), place)
    }
}

fn program_in(prefix: &Path) -> PathBuf {
    prefix.join("node_modules/.bin/claude")
}
