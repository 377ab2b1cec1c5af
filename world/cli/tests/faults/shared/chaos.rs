//! One run: machines that share a queue, trouble, calm, and what came of it.

use super::operator::{Operator, Workload};
use super::seat::{LEASE_MS, PLENTY, Place, notes, schema, target};
use super::trouble::Trouble;
use super::{late, ledger, seed};
use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use testkit::NetworkProxy;
use testkit::postgres::{Cluster, OWNER};

/// How long the survivors get to finish, and what is owed to be said.
const CALM: Duration = Duration::from_secs(180);
const REWRITE: Duration = Duration::from_millis(700);
/// The server is killed so often in one run.
const RESTARTS: u32 = 2;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fence {
    Ours,
    /// The checks are what is tried.
    IdAndState,
}

pub struct Chaos<'c> {
    cluster: &'c Cluster,
    database: String,
    folder: tempfile::TempDir,
    /// Machines, and workers on each.
    many: (usize, usize),
    fence: Fence,
    seed: u64,
    told: RefCell<String>,
}

impl<'c> Chaos<'c> {
    pub fn begin(cluster: &'c Cluster, many: (usize, usize), fence: Fence) -> Self {
        let database = cluster.database();
        let url = cluster.url(OWNER, &database);
        shared_store::migrate(&target(&url), &schema(), PLENTY).unwrap();
        let folder = tempfile::tempdir().unwrap();
        Self { cluster, database, folder, many, fence, seed: seed(), told: RefCell::default() }
    }

    /// Gives what is wrong in the end; nothing, where all is as it must be.
    pub fn run(&self, trouble_for: Duration) -> Vec<String> {
        let direct = self.cluster.url("taut_agent", &self.database);
        let mut operator = Operator::begin(self.place("operator", &direct, "ann"), Workload::MUCH, self.seed ^ 0x5eed);
        late::word(self.place("late", &direct, "late"), self.place("next", &direct, "next"));
        let mut trouble = Trouble::new(self.seed);
        for machine in 0..self.many.0 {
            self.start(machine, &mut trouble);
        }
        let spent = self.make_trouble(&mut trouble, &mut operator, trouble_for);
        let calm = self.calm(&mut trouble, &mut operator);
        std::fs::write(self.folder.path().join("over"), "").unwrap();
        trouble.leave(Duration::from_secs(20));
        let machines = (0..self.many.0).map(|nth| self.home(&format!("machine{nth}")));
        let homes: Vec<PathBuf> = machines.chain([self.home("next")]).collect();
        let read = ledger::Ledger::read(self.cluster, &self.database, &notes(self.folder.path()));
        let mut wrong = read.wrongs(&homes, operator.steady);
        wrong.extend(calm.err());
        self.told.replace(format!(
            "{} machines with {} workers each, {} tasks and those that changed, {} s of trouble: {:?}, {} plans \
             rewritten, server killed {RESTARTS} times; {} (seed {})",
            self.many.0,
            self.many.1,
            operator.steady,
            spent.as_secs(),
            trouble.did,
            operator.rewritten,
            read.figures(),
            self.seed
        ));
        wrong
    }

    pub fn told(&self) -> String {
        self.told.borrow().clone()
    }

    /// A machine: its own state, its own network, a keeper and workers. Names are the same on every machine.
    fn start(&self, machine: usize, trouble: &mut Trouble) {
        let proxy = NetworkProxy::to_unix(&self.cluster.socket()).unwrap();
        let url = format!("postgresql://taut_agent@127.0.0.1:{}/{}", proxy.port(), self.database);
        let home = format!("machine{machine}");
        trouble.connect(proxy);
        trouble.start("keeper", self.place(&home, &url, "keeper"));
        for worker in 0..self.many.1 {
            trouble.start("worker", self.place(&home, &url, &format!("worker{worker}")));
        }
    }

    /// Gives how long it took.
    fn make_trouble(&self, trouble: &mut Trouble, operator: &mut Operator, long: Duration) -> Duration {
        let began = Instant::now();
        let (mut restarts, mut rewrite) = (0, began + REWRITE);
        std::thread::scope(|scope| {
            loop {
                let spent = began.elapsed();
                if spent > long && trouble.is_every_kind() {
                    return spent;
                }
                trouble.make();
                if restarts < RESTARTS && spent > long * (restarts + 1) / (RESTARTS + 1) {
                    // Everybody else goes on meanwhile.
                    scope.spawn(|| self.cluster.restart());
                    restarts += 1;
                }
                if Instant::now() > rewrite {
                    operator.refill();
                    operator.rewrite();
                    operator.requeue();
                    rewrite = Instant::now() + REWRITE;
                }
            }
        })
    }

    /// Until nothing is left to do and nothing to say.
    fn calm(&self, trouble: &mut Trouble, operator: &mut Operator) -> Result<(), String> {
        trouble.end();
        let until = Instant::now() + CALM;
        let mut planned = false;
        while Instant::now() < until {
            trouble.revive();
            planned = planned || operator.plan_all().is_ok();
            operator.requeue();
            let owed: i64 = (0..self.many.0).map(|nth| ledger::owed(&self.home(&format!("machine{nth}")))).sum();
            if planned && operator.left() == Some(0) && owed == 0 {
                // Whoever was stopped in the last moment still has its lease to speak within.
                std::thread::sleep(Duration::from_millis(LEASE_MS as u64));
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Err(format!("after {} s of calm something is left: {:?}", CALM.as_secs(), operator.left()))
    }

    fn home(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn place(&self, home: &str, url: &str, name: &str) -> Place {
        Place {
            url: url.to_string(),
            home: self.home(home),
            name: name.to_string(),
            folder: self.folder.path().to_path_buf(),
            unfenced: self.fence == Fence::IdAndState,
        }
    }
}
