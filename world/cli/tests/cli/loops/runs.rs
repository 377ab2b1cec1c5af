//! Runs put into the record by hand, and somebody in place of a loop who hears what it is asked for.

use model::run::{Run, RunProgress, RunState, RunWish};
use model::{ClientProcess, Ms};
use std::process::Command;
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::Duration;
use store::Store;
use testkit::poll;
use testkit::stage::{PLENTY, Stage};

pub fn store(stage: &Stage) -> Store {
    Store::open_and_migrate(&stage.sandbox.taut_home(), Duration::from_secs(10)).unwrap()
}

pub fn put(stage: &Stage, run: &Run) {
    store(stage).save_run(run).unwrap();
}

/// A run of this project that lives, in the process of this test; its id ends so.
pub fn of(stage: &Stage, end: &str) -> Run {
    let folder = stage.sandbox.project().to_string_lossy().into_owned();
    Run {
        id: format!("0199aaaa-bbbb-7ccc-8ddd-eeee{end:0>8}"),
        project: folder.clone(),
        folder,
        runner: ClientProcess { pid: std::process::id(), started: 0 },
        started_at: Ms(1_000),
        live: RunProgress { state: RunState::Running, ..RunProgress::default() },
        ..Run::default()
    }
}

/// A process that was there and is not any more.
pub fn gone() -> ClientProcess {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    ClientProcess { pid: child.id(), started: 1 }
}

/// A run that is changed as its loop would.
pub struct Kept {
    store: Mutex<Store>,
    run: Mutex<Run>,
}

impl Kept {
    pub fn new(stage: &Stage, run: Run) -> Self {
        put(stage, &run);
        Self { store: Mutex::new(store(stage)), run: Mutex::new(run) }
    }

    pub fn change(&self, change: impl FnOnce(&mut Run)) {
        let mut run = self.run.lock().unwrap();
        change(&mut run);
        self.store.lock().unwrap().save_run(&run).unwrap();
    }
}

/// Takes the next wish as a loop does, and does this with the run then.
pub fn hears(stage: &Stage, run: &Run, then: impl FnOnce(&mut Run) + Send + 'static) -> JoinHandle<RunWish> {
    let (mut store, mut run) = (store(stage), run.clone());
    std::thread::spawn(move || {
        let wish = poll::until("a wish", PLENTY, || store.take_wish(&run.id).unwrap()).unwrap();
        then(&mut run);
        store.save_run(&run).unwrap();
        wish
    })
}
