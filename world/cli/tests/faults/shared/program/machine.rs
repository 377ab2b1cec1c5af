//! One machine: a home with the user's configuration, a repository that names its queue, a daemon, and workers.

use super::super::seat::{Place, QUEUE};
use super::worker;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;
use store::Store;
use testkit::{Finished, Sandbox, process};

const LIMIT: Duration = Duration::from_secs(60);
const LOCKED: Duration = Duration::from_secs(30);

pub struct Machine {
    pub sandbox: Sandbox,
    pub label: String,
    /// As it was drawn at the first talk with the server, and the last event before the record began.
    pub id: String,
    pub cursor: i64,
    /// The most memory that a daemon of it ever had, in KiB.
    pub most_kb: u64,
}

impl Machine {
    /// With its daemon running, known to the server.
    pub fn begin(label: &str, url: &str) -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_taut").into()).unwrap();
        let user = sandbox.home().join(".config/taut/config.toml");
        let configured =
            format!("[shared]\nurl = \"{url}\"\nprojects = [\"{QUEUE}\"]\nlabel = \"{label}\"\nevents = \"summary\"\n");
        write(&user, &configured);
        write(&sandbox.project().join(".taut/config.toml"), &format!("[shared]\nproject = \"{QUEUE}\"\n"));
        let mut machine = Self { sandbox, label: label.into(), id: String::new(), cursor: 0, most_kb: 0 };
        machine.taut(&["daemon", "start"]);
        let synced = machine.taut(&["shared", "sync", "--wait", "30s"]);
        assert!(synced.success(), "{}{}", synced.stdout_text(), synced.stderr_text());
        let store = machine.store();
        let server = store.shared_state().unwrap().expect("a talk with the server").server;
        machine.id = store.known_machine().unwrap().expect("an id");
        machine.cursor = store.shipped(&server).unwrap().expect("a cursor");
        machine
    }

    pub fn home(&self) -> PathBuf {
        self.sandbox.taut_home()
    }

    pub fn store(&self) -> Store {
        Store::open_and_migrate(&self.home(), LOCKED).unwrap()
    }

    pub fn taut(&self, args: &[&str]) -> Finished {
        let mut command = self.sandbox.command(self.sandbox.bin());
        command.args(args);
        process::run(command, b"", LIMIT).unwrap()
    }

    /// A worker of this name, in a group of its own with every command that it runs.
    pub fn worker(&self, name: &str, folder: &Path, peers: &[String]) -> Child {
        let place = Place {
            url: String::new(),
            home: self.home(),
            name: format!("{}-{name}", self.label),
            folder: folder.to_path_buf(),
            unfenced: false,
        };
        let mut command = self.sandbox.command(std::env::current_exe().unwrap());
        place.tell(&mut command, "agent");
        command
            .env("TAUT_AGENT_ID", name)
            .env(worker::TAUT, self.sandbox.bin())
            .env(worker::PEERS, peers.join(" "))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0);
        command.spawn().unwrap()
    }

    /// Whether it has heard of agents of another machine, whom it can write to.
    pub fn knows_others(&self) -> bool {
        !self.store().remote_agents().unwrap().is_empty()
    }

    /// Daemons of this home: one, or none, or for a moment two that come and go.
    pub fn daemons(&self) -> Vec<i32> {
        let left = self.sandbox.leftovers().into_iter();
        left.filter(|one| one.command.contains(" daemon run")).map(|one| one.pid).collect()
    }

    /// How much they have ever had is known only while they live.
    pub fn weigh(&mut self) {
        let most = self.daemons().into_iter().filter_map(peak_kb).max().unwrap_or_default();
        self.most_kb = self.most_kb.max(most);
    }
}

/// The most memory that a process has had, in KiB.
fn peak_kb(pid: i32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
