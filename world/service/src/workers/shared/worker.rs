//! The thread that has the rounds: begun when something is shared, ended when nothing is or the daemon ends. Nobody waits
//! for it, because the server may not answer.

use super::projects::{FileLook, FileStamp};
use super::rhythm::{LATER, Need, Rhythm, Step};
use super::rounds::SharedRounds;
use crate::workers::WorkerStore;
use daemon::Wake;
use pipeline::PipelineSetup;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use store::{Error, ServerError};

/// How long a view that said so is taken to look.
const VIEWED: Duration = Duration::from_secs(30);
/// A server gets so long to hear that we go.
const GOODBYE: Duration = Duration::from_millis(300);
const STACK_BYTES: usize = 1 << 20;

/// Says that there is something for the server, or that somebody looks at what it tells.
#[derive(Clone, Default)]
pub struct Nudge {
    wake: Wake,
    viewed: Arc<Mutex<Option<Instant>>>,
}

impl Nudge {
    pub fn wake(&self) -> Wake {
        self.wake.clone()
    }

    /// A view looks at the fleet now.
    pub fn viewed(&self) {
        *self.viewed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.wake.now();
    }

    fn is_viewed(&self) -> bool {
        self.viewed.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|at| at.elapsed() < VIEWED)
    }
}

/// Begins the thread when the user's file says so. Kept by a tick of the daemon, and ends with it.
pub(crate) struct SharedWorker {
    setting: PipelineSetup,
    file: FileLook,
    nudge: Nudge,
    /// Those who carry on what came.
    told: Vec<Wake>,
    thread: Option<JoinHandle<Option<FileStamp>>>,
    /// The file in which a thread found that it names no server.
    named_none: Option<FileStamp>,
    /// When what was known of a server is forgotten, unless the file names one till then.
    forgets_at: Option<Instant>,
}

impl SharedWorker {
    pub fn new(setting: &PipelineSetup, nudge: Nudge, told: Vec<Wake>) -> Self {
        let file = FileLook::new(&setting.user_config);
        Self {
            setting: setting.clone(),
            file,
            nudge,
            told,
            thread: None,
            named_none: None,
            forgets_at: Some(Instant::now() + WRITTEN),
        }
    }

    /// One look. Costs the date of a file where nothing is shared.
    pub fn look(&mut self) {
        let says = self.file.says_shared();
        self.forgets_at = self.forgets_at.filter(|_| !says);
        if self.forgets_at.take_if(|at| *at <= Instant::now()).is_some() {
            self.forget_what_was();
        }
        match self.thread.take() {
            Some(thread) if !thread.is_finished() => self.thread = Some(thread),
            Some(thread) => {
                // It ended by itself because nothing is shared, unless it failed. The file may be another by now.
                self.named_none = thread.join().ok().flatten();
            }
            None => {}
        }
        if self.thread.is_none() && says && self.named_none != self.file.stamp() {
            self.begin();
        }
    }

    fn begin(&mut self) {
        let (setting, nudge, told) = (self.setting.clone(), self.nudge.clone(), self.told.clone());
        let run = move || {
            let rounds = SharedRounds::of_daemon(&setting).resting(LATER);
            let store = WorkerStore::new("shared", &setting.state);
            Run { rounds, store, nudge, told, rhythm: Rhythm::default(), named_none: None }.run()
        };
        let builder = thread::Builder::new().name("shared".to_string()).stack_size(STACK_BYTES);
        // Without a thread it is tried again at the next look.
        self.thread = builder.spawn(run).ok();
    }

    /// Sharing was ended while no daemon ran.
    fn forget_what_was(&self) {
        let mut store = WorkerStore::new("shared", &self.setting.state);
        let _ = store.with(|store| if store.shared_state()?.is_some() { store.forget_shared_state() } else { Ok(()) });
    }
}

impl Drop for SharedWorker {
    fn drop(&mut self) {
        self.nudge.wake.end();
        let Some(thread) = self.thread.take() else { return };
        let deadline = Instant::now() + GOODBYE;
        while !thread.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

struct Run {
    rounds: SharedRounds,
    store: WorkerStore,
    nudge: Nudge,
    told: Vec<Wake>,
    rhythm: Rhythm,
    /// Since when the file names no server.
    named_none: Option<Instant>,
}

/// What comes after one turn of the thread.
enum Turn {
    In(Duration),
    /// Nothing is shared.
    Over,
}

/// A file that is being written names no server for a moment: so long it is not taken at its word.
const WRITTEN: Duration = Duration::from_secs(10);

/// Leases are looked at no more often than this.
const CLOSEST: Duration = Duration::from_secs(1);

/// What is wrong here was said, and is looked at again so much later.
const TROUBLE: Duration = Duration::from_secs(5);

impl Run {
    /// Ends with the file that names no server, unless the daemon ends.
    fn run(&mut self) -> Option<FileStamp> {
        let mut said = None;
        while let Turn::In(pause) = self.turn(&mut said) {
            if !self.nudge.wake.wait(pause) {
                self.rounds.close();
                return None;
            }
        }
        self.rounds.stamp()
    }

    fn turn(&mut self, said: &mut Option<String>) -> Turn {
        let Self { rounds, store, nudge, told, rhythm, named_none } = self;
        let done = store.with(|store| match rounds.server() {
            Some(server) => {
                *named_none = None;
                if rounds.is_another(&server) {
                    rounds.close();
                    rhythm.begin_anew();
                }
                // However long it is until a server is asked again.
                let unsure = rounds.tell_unsure(store, &server)?.unwrap_or(Duration::MAX).max(CLOSEST);
                let need = rounds.need(store, &server)?;
                let need = if nudge.is_viewed() { Need::Somebody } else { need };
                match rhythm.step(need, rounds.is_open(), Instant::now()) {
                    Step::Wait(pause) => return Ok(Turn::In(pause.min(unsure))),
                    Step::Close => {
                        rounds.leave();
                        return Ok(Turn::In(Duration::ZERO));
                    }
                    Step::Round => {}
                }
                let report = rounds.round(store, &server)?;
                if report.is_news {
                    told.iter().for_each(Wake::now);
                }
                say(&report.error, said);
                Ok(Turn::In(match &report.error {
                    Some(error) if !rounds.is_open() => {
                        let is_refusal = matches!(error, ServerError::Refused(_));
                        rhythm.went_wrong(is_refusal, chance(), Instant::now()).min(unsure)
                    }
                    // It is there and would not hear who this is, or not now.
                    Some(_) if report.is_unmet => rhythm.went_well(Need::Something, Instant::now()).min(unsure),
                    // Also where it is there and will not have a part of it, or not now: that slows nothing else down.
                    error => {
                        let usual = rhythm.went_well(need, Instant::now());
                        let usual = if report.more_events { Duration::from_secs(1) } else { usual };
                        if error.is_some() { usual.min(unsure) } else { usual }
                    }
                }))
            }
            None if named_none.get_or_insert_with(Instant::now).elapsed() < WRITTEN => Ok(Turn::In(WRITTEN)),
            None => Ok(if rounds.end(store)? { Turn::Over } else { Turn::In(WRITTEN) }),
        });
        done.unwrap_or_else(|error: Error| {
            // Where that cannot be written either, the log has it.
            let why = format!("this machine's own store: {error}");
            let _ = store.with(|store| store.change_shared_state(|state| state.failed(why, host::clock::now())));
            Turn::In(TROUBLE)
        })
    }
}

/// Each trouble is said once, and its end too.
fn say(error: &Option<ServerError>, said: &mut Option<String>) {
    let now = error.as_ref().map(ToString::to_string);
    match (&now, &said) {
        (Some(why), None) => tracing::warn!("the shared server: {why}; everything here goes on"),
        (None, Some(_)) => tracing::info!("the shared server is there again"),
        (Some(why), Some(before)) if why != before => tracing::warn!("the shared server: {why}"),
        _ => {}
    }
    *said = now;
}

fn chance() -> u8 {
    let mut byte = [0];
    sys::random::fill(&mut byte).map_or(128, |()| byte[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::poll;
    use testkit::stage::PLENTY;

    #[test]
    fn x1_a_file_that_names_a_server_just_after_a_thread_found_none_in_it_begins_the_next() {
        let home = tempfile::tempdir().unwrap();
        let setting = PipelineSetup {
            state: home.path().join("state"),
            home: home.path().to_path_buf(),
            user_config: home.path().join("config.toml"),
            patience: Duration::ZERO,
            dialects: agents::ALL,
        };
        std::fs::write(&setting.user_config, "[shared]\n").unwrap();
        let mut worker = SharedWorker::new(&setting, Nudge::default(), Vec::new());
        worker.file.says_shared();
        let found = worker.file.stamp();
        let ended = |worker: &mut SharedWorker| {
            worker.thread = Some(thread::spawn(move || found));
            let is_over = || worker.thread.as_ref().is_some_and(JoinHandle::is_finished).then_some(());
            poll::until("its end", PLENTY, is_over).unwrap();
            worker.look();
        };
        ended(&mut worker);
        assert!(worker.thread.is_none(), "it is the file that names none");
        std::fs::write(&setting.user_config, "[shared]\nurl = \"postgresql://a@%2Fnowhere/b\"\n").unwrap();
        ended(&mut worker);
        assert!(worker.thread.is_some());
    }
}
