//! What every process of a machine has: the machine's own state, and its way to the server.

use super::unfenced::Unfenced;
use pipeline::queue::Queue;
use shared_store::{
    MachineIdentity, Patience, PgQueue, Schema, ServerLink, Surroundings, Target, TargetWish, UrlPlace,
};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use store::{Store, TaskServer};

pub const ROLE: &str = "SHARED_FAULTS_ROLE";
const URL: &str = "SHARED_FAULTS_URL";
const HOME: &str = "SHARED_FAULTS_HOME";
const NAME: &str = "SHARED_FAULTS_NAME";
const FOLDER: &str = "SHARED_FAULTS_FOLDER";
const FENCE: &str = "SHARED_FAULTS_FENCE";

pub const QUEUE: &str = "acme/shop";
/// Short, so that what the dead held comes back soon, and longer than a claim takes on a busy machine.
pub const LEASE_MS: i64 = 3_000;
/// After a start of the server, in the same measure.
const GRACE: Duration = Duration::from_secs(2);
const PATIENCE: Patience = Patience { connect: Duration::from_secs(1), flight: Duration::from_secs(2) };
/// For what is no machine's.
pub const PLENTY: Patience = Patience { connect: Duration::from_secs(60), flight: Duration::from_secs(60) };
const LOCKED: Duration = Duration::from_secs(30);

/// Where a process stands: told by its environment.
#[derive(Clone)]
pub struct Place {
    pub url: String,
    /// The state of the machine, and the folder of its project.
    pub home: PathBuf,
    pub name: String,
    /// Where everybody writes down what happened, and finds when to stop.
    pub folder: PathBuf,
    pub unfenced: bool,
}

pub struct Seat {
    pub place: Place,
    store: Store,
    server: Box<dyn TaskServer>,
}

impl Place {
    pub fn here() -> Self {
        let said = |name: &str| std::env::var(name).unwrap_or_default();
        Self {
            url: said(URL),
            home: said(HOME).into(),
            name: said(NAME),
            folder: said(FOLDER).into(),
            unfenced: !said(FENCE).is_empty(),
        }
    }

    /// This program again, in this role, at this place.
    pub fn command(&self, role: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        self.tell(command.env_clear(), role);
        command
    }

    /// Has a command that is to be started know where it stands.
    pub fn tell(&self, command: &mut Command, role: &str) {
        command.env(ROLE, role).env(URL, &self.url).env(HOME, &self.home).env(NAME, &self.name);
        command.env(FOLDER, &self.folder).env(FENCE, if self.unfenced { "none" } else { "" });
    }

    pub fn is_over(&self) -> bool {
        self.folder.join("over").exists()
    }

    /// One short line, in one write: lines of several processes do not mix.
    pub fn note(&self, line: &str) {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(notes(&self.folder));
        if let Ok(mut file) = file {
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Waits for the server. `None` where the run was over before.
    pub fn take(self) -> Option<Seat> {
        let mut store = Store::open_and_migrate(&self.home, LOCKED).unwrap();
        while !self.is_over() {
            match open(&self.url, &mut store) {
                Ok(queue) => {
                    let server: Box<dyn TaskServer> =
                        if self.unfenced { Box::new(Unfenced(queue)) } else { Box::new(queue) };
                    return Some(Seat { place: self, store, server });
                }
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
        None
    }
}

impl Seat {
    pub fn queue(&mut self) -> Queue<'_> {
        let queue: Queue<'_> = Queue::new(&mut self.store, host::clock_reading::moment);
        queue.on(&mut *self.server)
    }

    /// Past everything that this machine knows.
    pub fn server(&mut self) -> &mut dyn TaskServer {
        &mut *self.server
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn project(&self) -> String {
        self.place.home.to_string_lossy().into_owned()
    }
}

pub fn notes(folder: &Path) -> PathBuf {
    folder.join("notes")
}

/// The queue of this machine, whose id is drawn once.
pub fn open(url: &str, store: &mut Store) -> Result<PgQueue, store::ServerError> {
    let fresh = host::clock::uuid(host::clock::now());
    let id = store.machine(&fresh).map_err(|error| store::ServerError::Refused(error.to_string()))?;
    let link = ServerLink::new(target(url), schema(), PATIENCE, Arc::new(host::clock::now));
    Ok(PgQueue::open(link, MachineIdentity { id, label: "m".into() }, QUEUE)?.with_grace(GRACE))
}

pub fn target(url: &str) -> Target {
    // Of a process that was started with it, so a password may be in it.
    let wish = TargetWish { url: Some(url.to_string()), written: UrlPlace::Environment, ..TargetWish::default() };
    Target::resolve(&wish, &Surroundings::default()).unwrap()
}

pub fn schema() -> Schema {
    Schema::named("taut").unwrap()
}
