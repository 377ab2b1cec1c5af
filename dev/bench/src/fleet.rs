//! A hook that changes its agent's status, with nobody looking and with
//! everybody: a painted pane, a person to be told, a view that listens.

use crate::home::BenchHome;
use crate::spawn::timed;
use crate::times::{Times, row};
use daemon::Watch;
use serde_json::json;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub fn run(quick: bool) -> Result<(), String> {
    let (plain, watched) = (crate::house()?, crate::house()?);
    measure(&plain, &watched, if quick { 100 } else { 1_000 }).map_err(|error| error.to_string())
}

fn measure(plain: &BenchHome, watched: &BenchHome, rounds: usize) -> io::Result<()> {
    let audience = Audience::gather(watched)?;
    plain.daemon("start")?;
    let [mut base, mut alone, mut seen] = std::array::from_fn(|_| Times::default());
    for round in 0..rounds + 20 {
        let warm = round < 20;
        let mut discard = Times::default();
        let call = plain.call_of(|nth| turn(plain, nth))?;
        timed(&mut plain.baseline(&call)?, if warm { &mut discard } else { &mut base })?;
        timed(&mut plain.hook(&call)?, if warm { &mut discard } else { &mut alone })?;
        let call = watched.call_of(|nth| turn(watched, nth))?;
        let mut hook = watched.hook(&call)?;
        hook.env("TMUX", &audience.tmux).env("TMUX_PANE", "%0");
        timed(&mut hook, if warm { &mut discard } else { &mut seen })?;
    }
    println!("{rounds} rounds, interleaved, each changes the status; 1.00 x = the hook that nobody looks at");
    row("/bin/true", &base, &alone);
    row("nobody looks", &alone, &alone);
    row("painted, notified, watched", &seen, &alone);
    // The last turn is an end that holds, so that somebody has to be told of it.
    let call = watched.call_of(|_| turn(watched, 2))?;
    timed(watched.hook(&call)?.env("TMUX", &audience.tmux).env("TMUX_PANE", "%0"), &mut Times::default())?;
    audience.saw_something()
}

/// Prompt and stop in turn: every other call makes the agent work, the next ends its turn.
fn turn(house: &BenchHome, nth: u64) -> serde_json::Value {
    let mut payload = json!({
        "session_id": "be9c0000-0000-4000-8000-000000000001",
        "transcript_path": house.home().join(".claude/t.jsonl"),
        "cwd": house.project(),
        "permission_mode": "default",
    });
    if (nth / 2).is_multiple_of(2) {
        payload["hook_event_name"] = json!("UserPromptSubmit");
        payload["prompt"] = json!("go on");
    } else {
        payload["hook_event_name"] = json!("Stop");
        payload["stop_hook_active"] = json!(false);
    }
    payload
}

/// Everybody who wants to know: a tmux server that is painted, a command that is run, a view.
struct Audience {
    socket: PathBuf,
    /// The value of `TMUX` in a pane of it.
    tmux: String,
    told: PathBuf,
    _watch: Watch,
}

impl Audience {
    fn gather(house: &BenchHome) -> io::Result<Self> {
        let socket = house.state().with_file_name("tmux.sock");
        let told = house.state().with_file_name("told");
        let config = house.home().join(".config/taut");
        std::fs::create_dir_all(&config)?;
        let notify = format!(
            "[notify]\non = [\"attention\", \"error\", \"done\"]\ncommand = [\"/usr/bin/touch\", {:?}]\ndebounce = \"1s\"\n",
            told.to_string_lossy()
        );
        std::fs::write(config.join("config.toml"), notify)?;
        let started = tmux(&socket)
            .args(["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "sleep 3600"])
            .status()?;
        if !started.success() {
            return Err(io::Error::other("tmux cannot be started: it is needed for this measurement"));
        }
        house.daemon("start")?;
        let applied = house.taut().args(["tmux", "apply", "--socket"]).arg(&socket).stdout(Stdio::null()).status()?;
        if !applied.success() {
            return Err(io::Error::other("`taut tmux apply` failed"));
        }
        let watch = Watch::open(&house.state()).map_err(io::Error::other)?;
        let tmux = format!("{},1,0", socket.display());
        Ok(Self { socket, tmux, told, _watch: watch })
    }

    /// A measurement in which nothing was painted or told would prove nothing.
    fn saw_something(&self) -> io::Result<()> {
        let shown = tmux(&self.socket).args(["show-options", "-pqv", "-t", "%0", "window-style"]).output()?;
        let painted = String::from_utf8_lossy(&shown.stdout).contains("bg=");
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.told.exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        if painted && self.told.exists() {
            return Ok(());
        }
        Err(io::Error::other(format!("painted: {painted}, told: {}; both were to happen", self.told.exists())))
    }
}

impl Drop for Audience {
    fn drop(&mut self) {
        let _ = tmux(&self.socket).arg("kill-server").stderr(Stdio::null()).status();
    }
}

fn tmux(socket: &std::path::Path) -> Command {
    let mut command = Command::new("tmux");
    command.env_remove("TMUX").arg("-S").arg(socket).stdin(Stdio::null());
    command
}
