//! A throw-away home with at most one daemon, which does not outlive the test.

use daemon::{Client, DaemonOptions, PeerLimits, Service, Signals};
use model::{Answer, Call, Environment, Ms};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Long enough for a busy machine; nothing waits so long when all is well.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct DaemonHome {
    home: TempDir,
}

impl DaemonHome {
    pub fn new() -> Self {
        let home = tempfile::Builder::new().prefix("taut").tempdir().unwrap();
        fs::create_dir(home.path().join("state")).unwrap();
        Self { home }
    }

    pub fn folder(&self) -> PathBuf {
        self.home.path().join("state")
    }

    pub fn socket(&self) -> PathBuf {
        daemon::socket_path(&self.folder())
    }

    /// The stand-in for `taut`, with nothing of this process's environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(args).env_clear().env("TAUT_HOME", self.folder()).current_dir(self.home.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a daemon and says what the starter said.
    pub fn start(&self) -> String {
        said(&self.command(&["daemon", "start"]).output().unwrap())
    }

    pub fn hook(&self, agent: &str, stdin: &[u8]) -> Output {
        feed(self.command(&["hook", "--agent", agent]), stdin)
    }

    pub fn client(&self) -> Client {
        Client::new(&self.folder(), PATIENCE)
    }

    /// The process of the daemon, from its own account.
    pub fn pid(&self) -> u32 {
        self.client().status().unwrap().pid
    }

    /// The requests that the daemon's service has noted.
    pub fn notes(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder().join("notes")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for DaemonHome {
    fn drop(&mut self) {
        if daemon::stop(&self.folder(), PATIENCE).is_err()
            && let Some(pid) = noted_pid(&self.folder())
            && fs::read_to_string(format!("/proc/{pid}/environ"))
                .is_ok_and(|text| text.contains(&*self.folder().to_string_lossy()))
        {
            signal(pid, libc::SIGKILL);
        }
    }
}

/// A daemon as a thread of the test, for limits that the real one does not offer.
pub struct Threaded {
    pub stage: DaemonHome,
    thread: Option<JoinHandle<()>>,
}

impl Threaded {
    pub fn start(limits: PeerLimits) -> Self {
        Self::serving(|| Quiet, |options| options.limits = limits)
    }

    pub fn serving<S: Service>(
        make: impl Fn() -> S + Send + Sync + 'static,
        set: impl FnOnce(&mut DaemonOptions),
    ) -> Self {
        let stage = DaemonHome::new();
        let mut options = DaemonOptions::new(&stage.folder(), daemon::Build::of_this(1));
        options.signals = Signals::Untouched;
        set(&mut options);
        let thread = thread::spawn(move || {
            daemon::run(options, make).unwrap();
        });
        until("the daemon to serve", || stage.client().status().is_ok());
        Self { stage, thread: Some(thread) }
    }
}

impl Drop for Threaded {
    fn drop(&mut self) {
        daemon::stop(&self.stage.folder(), PATIENCE).unwrap();
        self.thread.take().map(JoinHandle::join);
    }
}

pub struct Quiet;

impl Service for Quiet {
    fn hook_batch(&mut self, calls: Vec<Call>) -> Vec<Answer> {
        let answer = |call: Call| Answer { stdout: call.agent, ..Answer::default() };
        calls.into_iter().map(answer).collect()
    }

    fn rpc(&mut self, _method: &str, params: Value) -> Result<Value, daemon::RpcFault> {
        Ok(params)
    }
}

/// Built beside this test by cargo.
pub fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/taut");
    assert!(program.is_file(), "{} is missing: cargo test -p daemon builds it", program.display());
    program
}

pub fn feed(mut command: Command, stdin: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A hook that does not read all of it is free to do so.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child.wait_with_output().unwrap()
}

pub fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn json(output: &Output) -> Value {
    serde_json::from_str(&said(output)).unwrap()
}

pub fn call(request: &str, agent: &str) -> Call {
    Call {
        request: request.to_owned(),
        agent: agent.to_owned(),
        stdin: b"{}".to_vec(),
        cwd: "/".to_owned(),
        env: Environment::default(),
        parent: None,
        at: Ms(0),
    }
}

/// Waits for a condition, not for a time.
pub fn until(what: &str, mut look: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !look() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

pub fn signal(pid: u32, signal: i32) {
    // SAFETY: takes plain numbers; the process is a daemon of this test.
    unsafe { libc::kill(pid.cast_signed(), signal) };
    if signal == libc::SIGSTOP {
        // Its threads stop one after the other.
        until("all threads to stop", || is_stopped(pid));
    }
}

fn is_stopped(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let mut states = threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
    states.all(|text| text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')))
}

/// Gone, or dead and waiting for the system to notice.
pub fn is_gone(pid: u32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(text) => {
            let is_dead = text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']));
            is_dead && threads(pid) <= 1
        }
        // SAFETY: signal zero only asks whether the process exists.
        Err(_) => unsafe { libc::kill(pid.cast_signed(), 0) != 0 },
    }
}

/// The first thread of a killed process may be dead before the others are, and its sockets are open until the last one is.
fn threads(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

fn noted_pid(folder: &Path) -> Option<u32> {
    let text = fs::read_to_string(folder.join("daemon.lock")).ok()?;
    text.lines().next()?.strip_prefix("pid ")?.parse().ok()
}
