//! The interactive client as a person sees it: a screen to read and keys to press.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::install::RealClient;
use super::launch::{ClientLaunch, ClientPermissions};
use super::namespace::Isolation;
use super::pinned;
use super::tmux::{Pane, Tmux};
use crate::poll;
use crate::scripted_model::{Requests, ScriptedModel};

/// The client's input line, which shows that it is ready.
const READY: &str = "❯";

const PRESSED_AGAIN: Duration = Duration::from_secs(2);

/// A running interactive client. Dropping it ends client, terminal and model.
#[derive(Debug)]
pub struct Terminal {
    tmux: Tmux,
    model: ScriptedModel,
    limit: Duration,
    isolation: Isolation,
}

impl Terminal {
    /// Opens the client in the network of the calling thread and waits for its input line.
    pub(super) fn open(launch: &ClientLaunch, client: &RealClient, isolation: Isolation) -> io::Result<Self> {
        skip_first_run_questions(launch)?;
        let model = ScriptedModel::start(launch.script.clone())?;
        let mut line = launch.started_by.clone();
        line.push(client.program().into());
        if !launch.in_tmux {
            line.splice(0..0, ["env", "-u", "TMUX", "-u", "TMUX_PANE"].map(OsString::from));
        }
        line.extend(launch.permission_args());
        line.extend(launch.args.iter().cloned());
        let tmux = Tmux::start(&Pane {
            folder: &launch.tmp,
            cwd: &launch.folder,
            env: &launch.client_env(&model),
            line: &line,
        })?;
        let terminal = Self { tmux, model, limit: launch.limit, isolation };
        terminal.wait_for(READY)?;
        Ok(terminal)
    }

    /// Presses keys by tmux's names for them: `Enter`, `Escape`, `C-c`, `Down`.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn send_keys(&self, keys: &[&str]) -> io::Result<()> {
        let mut args = vec!["send-keys"];
        args.extend(keys);
        self.tmux.ask(&args).map(drop)
    }

    /// Types text as it stands, without `Enter`.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn type_text(&self, text: &str) -> io::Result<()> {
        self.tmux.ask(&["send-keys", "-l", "--", text]).map(drop)
    }

    /// Types a line and enters it once the client has shown it: an `Enter` that comes with the text is taken for a
    /// pasted line break.
    ///
    /// # Errors
    /// When the text does not appear on the input line.
    pub fn submit(&self, line: &str) -> io::Result<()> {
        self.type_text(line)?;
        self.wait_until(&format!("{line:?} on the input line"), |screen| {
            let typed = screen.lines().rfind(|row| row.trim_start().starts_with(READY));
            typed.is_some_and(|row| row.contains(line))
        })?;
        self.send_keys(&["Enter"])
    }

    /// Tells the client to leave and gives its exit code. A client that is still ending a turn, or that takes the first
    /// `Enter` for a choice in its list of commands, is told again, as a person would.
    ///
    /// # Errors
    /// When the client stays for the launch's limit; the message holds the last screen.
    pub fn leave(&self) -> io::Result<i32> {
        const LEAVE: &str = "/exit";
        let again = Duration::from_secs(2);
        let deadline = Instant::now() + self.limit;
        loop {
            let screen = self.capture().unwrap_or_default();
            let typed = screen.lines().rfind(|row| row.trim_start().starts_with(READY));
            if !typed.is_some_and(|row| row.contains(LEAVE)) {
                self.type_text(LEAVE)?;
                let shown = |screen: &str| screen.contains(LEAVE);
                poll::until(LEAVE, again, || shown(&self.capture().ok()?).then_some(())).ok();
            }
            self.send_keys(&["Enter"])?;
            match poll::until("the client to end", again, || self.exit_code().ok().flatten()) {
                Ok(code) => return Ok(code),
                Err(cause) if Instant::now() >= deadline => {
                    let (screen, process) = (self.capture().unwrap_or_default(), self.process_state());
                    let pane = self.dead_pane().unwrap_or_default();
                    let text =
                        format!("{cause}; its pane: {pane:?}; its process: {process}; the last screen was:\n{screen}");
                    return Err(io::Error::new(cause.kind(), text));
                }
                Err(_) => {}
            }
        }
    }

    /// What the system tells of the client's process, for who reads that it did not end.
    fn process_state(&self) -> String {
        let Ok(pid) = self.client_pid() else { return "unknown".to_owned() };
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let of = |task: &Path| {
            let read = |name: &str| fs::read_to_string(task.join(name)).unwrap_or_default();
            format!("{} [{}]", read("stat").trim(), read("wchan").trim())
        };
        let lines: Vec<String> = threads.map(|task| of(&task.path())).collect();
        if lines.is_empty() { format!("{pid} is gone") } else { lines.join("\n") }
    }

    /// The screen as it is now.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn capture(&self) -> io::Result<String> {
        self.tmux.ask(&["capture-pane", "-p"])
    }

    /// Waits until the screen shows `text` and gives the screen.
    ///
    /// # Errors
    /// When the launch's limit passes first; the message holds the last screen.
    pub fn wait_for(&self, text: &str) -> io::Result<String> {
        self.wait_until(&format!("{text:?} on the screen"), |screen| screen.contains(text))
    }

    /// Waits until `shows` is content with the screen and gives the screen.
    ///
    /// # Errors
    /// When the launch's limit passes first; the message holds the last screen.
    pub fn wait_until(&self, what: &str, mut shows: impl FnMut(&str) -> bool) -> io::Result<String> {
        let mut last = String::new();
        let found = poll::until(what, self.limit, || {
            last = self.capture().ok()?;
            shows(&last).then(|| last.clone())
        });
        found.map_err(|cause| io::Error::new(cause.kind(), format!("{cause}; the last screen was:\n{last}")))
    }

    /// Presses a key, and presses it again while it has not been taken, as a person would: a dialog takes none in its first
    /// moment, so that nobody says yes by accident. Gives the screen that shows that it was taken.
    ///
    /// # Errors
    /// When the launch's limit passes first; the message holds the last screen.
    pub fn press_until(&self, key: &str, is_taken: impl Fn(&str) -> bool) -> io::Result<String> {
        let mut pressed: Option<Instant> = None;
        self.wait_until(&format!("{key} to be taken"), |screen| {
            if is_taken(screen) {
                return true;
            }
            if pressed.is_none_or(|at| at.elapsed() > PRESSED_AGAIN) {
                // A terminal that is gone is found out by the next look.
                let _ = self.send_keys(&[key]);
                pressed = Some(Instant::now());
            }
            false
        })
    }

    /// Keeps, from now on, every byte the client writes to its terminal in `file`, escape sequences and all.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn record(&self, file: &Path) -> io::Result<()> {
        self.tmux.ask(&["pipe-pane", "-O", &format!("exec cat >> '{}'", file.display())]).map(drop)
    }

    /// Runs a command of tmux's own on the terminal's server and gives what it printed.
    ///
    /// # Errors
    /// When the terminal is gone or tmux refuses.
    pub fn tmux(&self, args: &[&str]) -> io::Result<String> {
        self.tmux.ask(args)
    }

    /// The client's exit code, once it has ended; as a shell would count it if a signal ended it.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn exit_code(&self) -> io::Result<Option<i32>> {
        match self.dead_pane()? {
            // A pane is dead when its terminal is closed; how its process ended is known a moment later, or never: tmux
            // has been seen not to ask. Then the system still knows it.
            Some(None) => Ok(ended(self.client_pid()?)),
            found => Ok(found.flatten()),
        }
    }

    /// `None` while the pane lives; then what is known of how its process ended.
    fn dead_pane(&self) -> io::Result<Option<Option<i32>>> {
        let format = "#{pane_dead}/#{pane_dead_status}/#{pane_dead_signal}";
        let answer = self.tmux.ask(&["display-message", "-p", format])?;
        let mut fields = answer.trim().split('/');
        if fields.next() != Some("1") {
            return Ok(None);
        }
        let status = fields.next().and_then(|status| status.parse().ok());
        let signal = fields.next().and_then(|signal| signal.parse().ok());
        Ok(Some(status.or_else(|| signal.map(|signal: i32| 128 + signal))))
    }

    /// The client's process id.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn client_pid(&self) -> io::Result<i32> {
        let pid = self.tmux.ask(&["display-message", "-p", "#{pane_pid}"])?;
        pid.trim().parse().map_err(io::Error::other)
    }

    /// All the model has been asked so far.
    #[must_use]
    pub fn requests(&self) -> Requests {
        self.model.requests()
    }

    #[must_use]
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }
}

/// How a process ended that nobody has asked about since.
fn ended(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let status: i32 = rest.split_whitespace().last().filter(|_| rest.starts_with('Z'))?.parse().ok()?;
    Some(if status & 0x7f == 0 { status >> 8 } else { 128 + (status & 0x7f) })
}

/// Answers beforehand what the client asks a new user: theme, key, trust in the folder, the bypass mode.
fn skip_first_run_questions(launch: &ClientLaunch) -> io::Result<()> {
    let mut projects = Map::new();
    let folder = launch.folder.canonicalize()?;
    projects.insert(
        folder.to_string_lossy().into_owned(),
        json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}),
    );
    let Value::Object(answers) = json!({
        "hasCompletedOnboarding": true,
        "lastOnboardingVersion": pinned::CLAUDE_CODE.version,
        "theme": "dark",
        "numStartups": 5,
        "customApiKeyResponses": {"approved": [ClientLaunch::approved_key()], "rejected": []},
        "bypassPermissionsModeAccepted": launch.permissions == ClientPermissions::Skip,
        "projects": projects,
    }) else {
        return Ok(());
    };
    let file = launch.config.join(".claude.json");
    // A second launch in the same home goes on with what the client, or whoever registered a server, has written.
    let written =
        fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str::<Map<String, Value>>(&text).ok());
    let mut all = written.unwrap_or_default();
    for (name, answer) in answers {
        all.entry(name).or_insert(answer);
    }
    fs::write(file, Value::Object(all).to_string())
}
