//! Real clients on disk: installed at a pinned version into a cache outside the tree.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::pinned::{self, PinnedClient, Registry};
use crate::process;

const LIMIT: Duration = Duration::from_secs(600);

/// A client that is there and can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealClient {
    program: PathBuf,
    runtime: Option<PathBuf>,
}

impl RealClient {
    /// The pinned Claude Code from the cache, installed first if it is not there.
    ///
    /// # Errors
    /// When there is no cache folder or npm fails.
    pub fn installed() -> io::Result<Self> {
        Self::of(&pinned::CLAUDE_CODE)
    }

    /// The same of any client.
    ///
    /// # Errors
    /// When there is no cache folder or the registry's program fails.
    pub fn of(client: &PinnedClient) -> io::Result<Self> {
        Installer { npm: "npm".into(), pip: "pip3".into(), cache: cache_folder()? }.install(client)
    }

    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The folder with what it runs on, where that is not the machine's own.
    #[must_use]
    pub fn runtime(&self) -> Option<&Path> {
        self.runtime.as_deref()
    }
}

/// `$TAUT_TEST_CACHE`, else `taut-test` in the user's cache folder.
///
/// # Errors
/// When neither `$TAUT_TEST_CACHE`, `$XDG_CACHE_HOME` nor `$HOME` is set.
pub fn cache_folder() -> io::Result<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("TAUT_TEST_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("taut-test")))
        .or_else(|| Some(folder("HOME")?.join(".cache/taut-test")))
        .ok_or_else(|| io::Error::other("no cache folder: set TAUT_TEST_CACHE"))
}

/// How clients get into a cache.
#[derive(Clone, Debug)]
pub struct Installer {
    pub npm: PathBuf,
    pub pip: PathBuf,
    pub cache: PathBuf,
}

impl Installer {
    /// Installs unless it is there. Half an installation is never seen: it is made in a sibling that is renamed at the
    /// end, and a lock lets the second of two starters find what the first has made.
    ///
    /// # Errors
    /// When the cache cannot be written or the registry's program fails; then nothing is left behind.
    pub fn install(&self, client: &PinnedClient) -> io::Result<RealClient> {
        let runtime = client.runtime.map(|runtime| self.install(runtime)).transpose()?;
        let runtime = runtime.and_then(|runtime| Some(runtime.program.parent()?.to_owned()));
        let name = format!("{}-{}", client.id, client.version);
        let place = self.cache.join(&name);
        let installed = RealClient { program: client.program_in(&place), runtime };
        if installed.program.is_file() {
            return Ok(installed);
        }
        fs::create_dir_all(&self.cache)?;
        let lock = File::create(self.cache.join(format!("{name}.lock")))?;
        lock.lock()?;
        if !installed.program.is_file() {
            self.install_to(&place, client, installed.runtime.as_deref())?;
        }
        Ok(installed)
    }

    fn install_to(&self, place: &Path, client: &PinnedClient, runtime: Option<&Path>) -> io::Result<()> {
        let sibling = tempfile::Builder::new().prefix("installing-").tempdir_in(&self.cache)?;
        let steps = match client.registry {
            Registry::Npm => self.npm_steps(sibling.path(), client),
            Registry::PyPi => self.pypi_steps(sibling.path(), client)?,
        };
        let path = in_front(runtime, &env::var_os("PATH").unwrap_or_default());
        for mut step in steps {
            step.current_dir(sibling.path());
            if runtime.is_some() {
                step.env("PATH", &path);
            }
            let done = process::run(step, b"", LIMIT)?;
            if !done.success() {
                return Err(client.not_installed(&format!("{:?}: {}", done.ending, done.stderr_text())));
            }
        }
        if !client.program_in(sibling.path()).is_file() {
            return Err(client.not_installed(&format!("it has no {}", client.program)));
        }
        if place.exists() {
            // A folder without the program is what is left of a cache somebody emptied halfway.
            fs::remove_dir_all(place)?;
        }
        fs::rename(sibling.keep(), place)
    }

    fn npm_steps(&self, into: &Path, client: &PinnedClient) -> Vec<Command> {
        let mut npm = Command::new(&self.npm);
        npm.args(["install", "--no-audit", "--no-fund", "--no-update-notifier", "--prefix"])
            .arg(into)
            .arg(format!("{}@{}", client.package, client.version));
        vec![npm]
    }

    /// `uv` finds an interpreter of the right age, or fetches one, and makes an environment that may be renamed.
    fn pypi_steps(&self, into: &Path, client: &PinnedClient) -> io::Result<Vec<Command>> {
        let tools = into.join("uv");
        let overrides = into.join("overrides.txt");
        fs::write(&overrides, pinned::PYPI_OVERRIDES)?;
        let mut pip = Command::new(&self.pip);
        pip.args(["install", "--quiet", "--disable-pip-version-check", "--target"]).arg(&tools).arg(pinned::UV);
        let uv = || {
            let mut uv = Command::new(tools.join("bin/uv"));
            uv.env("PATH", with_interpreters())
                .env("UV_CACHE_DIR", into.join("uv-cache"))
                .env("UV_PYTHON_INSTALL_DIR", self.cache.join("python"));
            uv
        };
        let mut environment = uv();
        environment.args(["venv", "--relocatable", "--allow-existing", "--python", pinned::PYTHON]).arg(into);
        let mut install = uv();
        install
            .args(["pip", "install", "--python"])
            .arg(into.join("bin/python"))
            .arg("--override")
            .arg(&overrides)
            .arg(format!("{}=={}", client.package, client.version));
        let mut tidy = Command::new("rm");
        tidy.arg("-r").args([tools, into.join("uv-cache")]);
        Ok(vec![pip, environment, install, tidy])
    }
}

impl PinnedClient {
    fn program_in(&self, place: &Path) -> PathBuf {
        match self.registry {
            Registry::Npm => place.join("node_modules").join(self.program),
            Registry::PyPi => place.join(self.program),
        }
    }

    /// What a user types.
    #[must_use]
    pub fn command(&self) -> &'static str {
        self.program.rsplit('/').next().unwrap_or(self.program)
    }

    fn not_installed(&self, why: &str) -> io::Error {
        io::Error::other(format!("{} {} cannot be installed: {why}", self.package, self.version))
    }
}

fn in_front(folder: Option<&Path>, path: &OsString) -> OsString {
    let Some(folder) = folder else { return path.clone() };
    let mut front = folder.as_os_str().to_owned();
    front.push(":");
    front.push(path);
    front
}

/// `PATH`, with the interpreters behind it that `pyenv` keeps and shows only when told to.
fn with_interpreters() -> OsString {
    let mut path = env::var_os("PATH").unwrap_or_default();
    let root = env::var_os("PYENV_ROOT").map(PathBuf::from);
    let root = root.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".pyenv")));
    let versions = root.and_then(|root| fs::read_dir(root.join("versions")).ok());
    for version in versions.into_iter().flatten().flatten() {
        path.push(":");
        path.push(version.path().join("bin"));
    }
    path
}
