//! How the client is started: where, with which script, arguments and environment.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::install::RealClient;
use super::namespace::isolated;
use super::print::{self, PrintRun};
use super::terminal::Terminal;
use crate::sandbox::Sandbox;
use crate::scripted_model::{Script, ScriptedModel};

/// Long enough for the interactive client, which remembers a key by its last twenty characters.
const API_KEY: &str = "taut-testkit-no-real-key-0000";

const LIMIT: Duration = Duration::from_secs(90);

/// What the client may do without asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientPermissions {
    /// `--dangerously-skip-permissions`.
    Skip,
    /// `--permission-mode <mode>`.
    Mode(String),
}

/// One start of the real client in a sandbox.
#[derive(Clone, Debug)]
pub struct ClientLaunch {
    pub(super) config: PathBuf,
    pub(super) tmp: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) script: Script,
    pub(super) prompt: String,
    pub(super) args: Vec<OsString>,
    pub(super) permissions: ClientPermissions,
    pub(super) limit: Duration,
    pub(super) in_tmux: bool,
    pub(super) started_by: Vec<OsString>,
}

impl ClientLaunch {
    /// In the sandbox's project with its home and environment; the model will play `script`.
    #[must_use]
    pub fn new(sandbox: &Sandbox, script: Script) -> Self {
        Self {
            config: sandbox.claude_dir(),
            tmp: sandbox.tmp(),
            folder: sandbox.project(),
            env: sandbox.env(),
            script,
            prompt: "do it".to_owned(),
            args: Vec::new(),
            permissions: ClientPermissions::Skip,
            limit: LIMIT,
            in_tmux: true,
            started_by: Vec::new(),
        }
    }

    #[must_use]
    pub fn prompt(mut self, prompt: &str) -> Self {
        prompt.clone_into(&mut self.prompt);
        self
    }

    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().into());
        self
    }

    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().into(), value.as_ref().into()));
        self
    }

    #[must_use]
    pub fn permission_mode(mut self, mode: &str) -> Self {
        self.permissions = ClientPermissions::Mode(mode.to_owned());
        self
    }

    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// In a plain terminal: what shows the screen to the test is hidden from the client.
    #[must_use]
    pub fn outside_tmux(mut self) -> Self {
        self.in_tmux = false;
        self
    }

    /// Below a program that starts it: `taut run --`.
    #[must_use]
    pub fn started_by(mut self, words: &[impl AsRef<OsStr>]) -> Self {
        self.started_by = words.iter().map(|word| word.as_ref().into()).collect();
        self
    }

    /// After this time the client and its process group are killed.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs `claude -p` to its end.
    ///
    /// # Errors
    /// When model or client cannot be started; how the run ended is in [`Run`].
    pub fn run(&self, client: &RealClient) -> io::Result<PrintRun> {
        isolated(|isolation| print::run(self, client, isolation))
    }

    /// Opens the interactive client in a terminal of its own.
    ///
    /// # Errors
    /// When model, tmux or client cannot be started, or the client's prompt does not appear.
    pub fn open(&self, client: &RealClient) -> io::Result<Terminal> {
        isolated(|isolation| Terminal::open(self, client, isolation))
    }

    /// The client's whole environment.
    pub(super) fn client_env(&self, model: &ScriptedModel) -> Vec<(OsString, OsString)> {
        let mut env: Vec<(OsString, OsString)> = vec![
            ("CLAUDE_CONFIG_DIR".into(), self.config.clone().into()),
            ("ANTHROPIC_BASE_URL".into(), model.url().into()),
            ("ANTHROPIC_API_KEY".into(), API_KEY.into()),
            // Without it the client refuses --dangerously-skip-permissions to root, which containers are.
            ("IS_SANDBOX".into(), "1".into()),
            ("DISABLE_TELEMETRY".into(), "1".into()),
            ("DISABLE_AUTOUPDATER".into(), "1".into()),
            ("DISABLE_ERROR_REPORTING".into(), "1".into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC".into(), "1".into()),
        ];
        env.extend(self.env.iter().cloned());
        env
    }

    pub(super) fn permission_args(&self) -> Vec<OsString> {
        match &self.permissions {
            ClientPermissions::Skip => vec!["--dangerously-skip-permissions".into()],
            ClientPermissions::Mode(mode) => vec!["--permission-mode".into(), mode.into()],
        }
    }

    /// The end of the key, by which the client remembers that its use was approved.
    pub(super) fn approved_key() -> &'static str {
        &API_KEY[API_KEY.len() - 20..]
    }
}
