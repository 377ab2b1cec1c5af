//! A throw-away home with its daemon, and calls into it.

use serde_json::{Value, json};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

pub struct BenchHome {
    folder: tempfile::TempDir,
    program: PathBuf,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl BenchHome {
    pub fn new(program: &Path) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir_all(folder.path().join("home/project/.git"))?;
        std::fs::write(folder.path().join("home/project/.git/HEAD"), "ref: refs/heads/main\n")?;
        // Copied, as an installation is: pages of a file that the linker has just written are mapped one by one, which
        // costs a hook in process a fifth more.
        let copy = folder.path().join("taut");
        std::fs::copy(program, &copy)?;
        Ok(Self { folder, program: copy })
    }

    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    pub fn daemon(&self, verb: &str) -> io::Result<()> {
        let done = self.taut().args(["daemon", verb]).stdout(Stdio::null()).status()?;
        if done.success() { Ok(()) } else { Err(io::Error::other(format!("taut daemon {verb} failed"))) }
    }

    pub fn taut(&self) -> Command {
        let mut command = Command::new(&self.program);
        self.settle(&mut command);
        command
    }

    /// A hook with its call on stdin, ready to be started.
    pub fn hook(&self, call: &Path) -> io::Result<Command> {
        let mut command = self.taut();
        command
            .args(["hook", "--agent", "claude-code"])
            .stdin(File::open(call)?)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(command)
    }

    /// What everything is measured against, started the same way.
    pub fn baseline(&self, call: &Path) -> io::Result<Command> {
        let mut command = Command::new("/bin/true");
        self.settle(&mut command);
        command.stdin(File::open(call)?).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }

    fn settle(&self, command: &mut Command) {
        command.current_dir(self.project()).env_clear();
        command
            .env("HOME", self.home())
            .env("TAUT_HOME", self.state())
            .env("TAUT_AGENT_ID", "bench")
            .env("PATH", "/usr/bin:/bin");
    }

    /// Writes a call to a file of its own; each has its own id, as real ones have.
    pub fn call(&self, command: &str) -> io::Result<PathBuf> {
        self.call_of(|nth| self.payload(command, nth))
    }

    /// The same for any payload; it is told the number of the call.
    pub fn call_of(&self, payload: impl FnOnce(u64) -> Value) -> io::Result<PathBuf> {
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let file = self.folder.path().join(format!("call-{}.json", nth % 64));
        std::fs::write(&file, payload(nth).to_string())?;
        Ok(file)
    }

    pub fn payload(&self, command: &str, nth: u64) -> Value {
        json!({
            "session_id": "be9c0000-0000-4000-8000-000000000001",
            "transcript_path": self.home().join(".claude/t.jsonl"),
            "cwd": self.project(),
            "prompt_id": "be9c0000-0000-4000-8000-000000000002",
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command, "description": "bench"},
            "tool_use_id": format!("toolu_bench_{nth:08}"),
        })
    }

    /// Resident memory of the daemon, in kilobytes.
    pub fn daemon_memory(&self) -> Option<u64> {
        let done = self.taut().args(["daemon", "status", "--json"]).output().ok()?;
        let status: Value = serde_json::from_slice(&done.stdout).ok()?;
        let text = std::fs::read_to_string(format!("/proc/{}/status", status.get("pid")?.as_u64()?)).ok()?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }
}

impl Drop for BenchHome {
    fn drop(&mut self) {
        let _ = self.daemon("stop");
    }
}
