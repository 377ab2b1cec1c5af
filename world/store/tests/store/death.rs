//! Processes that die in the middle: this binary runs itself and kills itself.

use crate::rows::{event, open};
use model::effect::Write;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use store::{Durability, EventFilter};

const FOLDER: &str = "STORE_TEST_FOLDER";

/// One test of this binary, run again as a process of its own to play the other part.
pub struct Child(Command);

pub fn child(test: &str, folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this binary has a path"));
    command.args(["--exact", test, "--nocapture"]).env(FOLDER, folder);
    Child(command)
}

/// The folder to work in, when this process is such a child.
pub fn folder_of_child() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

impl Child {
    /// As nobody, where this is root and file modes would not bind.
    pub fn without_rights(mut self) -> Self {
        // SAFETY: it only reads the process's own user id.
        if unsafe { libc::geteuid() } == 0 {
            self.0.uid(65_534).gid(65_534);
        }
        self
    }

    /// With a small disk of its own at its folder. `None` where the machine
    /// grants nobody a mount of their own.
    pub fn on_a_small_disk(self, size: &str) -> Option<Self> {
        let folder = self.0.get_envs().find(|(name, _)| *name == FOLDER)?.1?.to_owned();
        let mount = format!("mount -t tmpfs -o size={size},mode=700 none \"${FOLDER}\"");
        let own = |script: &str| {
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).env(FOLDER, &folder);
            command
        };
        own(&mount).status().ok().filter(|status| status.success())?;
        let mut command = own(&format!("{mount} && exec \"$@\""));
        command.arg(self.0.get_program()).args(self.0.get_args());
        Some(Self(command))
    }

    pub fn status(mut self) -> std::io::Result<std::process::ExitStatus> {
        self.0.status()
    }
}

#[test]
fn kill_9_while_writing_loses_no_acknowledged_event() {
    if let Some(folder) = folder_of_child() {
        return write_until_killed(&folder);
    }
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("taut");
    let mut written = 0;
    for round in 0..5 {
        let Child(mut command) = child("death::kill_9_while_writing_loses_no_acknowledged_event", &folder);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let acknowledged = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("kept ").and_then(|n| n.parse::<i64>().ok()))
            .inspect(|n| {
                if *n == written + 20 + round * 7 {
                    // What is acknowledged while the signal travels counts too.
                    process.kill().expect("it was alive");
                }
            })
            .last()
            .expect("something was acknowledged");
        process.wait().unwrap();
        let store = open(&folder);
        let found = store.events(&EventFilter::default()).unwrap();
        let ids: Vec<_> = found.iter().map(|event| event.id.clone()).collect();
        let wanted: Vec<_> = (0..=acknowledged).map(|n| event(n).id).collect();
        assert_eq!(ids.get(..wanted.len()), Some(wanted.as_slice()));
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
        written = i64::try_from(ids.len()).unwrap();
    }
}

fn write_until_killed(folder: &Path) {
    let mut store = open(folder);
    let from = i64::try_from(store.events(&EventFilter::default()).unwrap().len()).unwrap();
    // An end, so that nothing is left behind where the parent dies first.
    for n in from..from + 20_000 {
        store.transact(Durability::Normal, |tx| tx.apply(&[Write::Event(Box::new(event(n)))])).unwrap();
        if n % 10 == 0 {
            store.settle().unwrap();
        }
        let mut out = std::io::stdout().lock();
        if writeln!(out, "kept {n}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}
