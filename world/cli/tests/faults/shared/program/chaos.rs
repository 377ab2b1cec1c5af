//! One run: machines with the program, trouble, calm, and what came of it.

use super::super::operator::{Operator, Workload};
use super::super::seat::{Place, notes, schema, target};
use super::super::{ledger, seed};
use super::account::MachineAccount;
use super::machine::Machine;
use super::trouble::Trouble;
use super::verdict;
use shared_store::Patience;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use testkit::postgres::{Cluster, OWNER};
use testkit::{NetworkProxy, poll};

/// How long the survivors get to finish.
const CALM: Duration = Duration::from_secs(180);
/// After that, what is owed, recorded and written gets so long to be the same everywhere.
const SETTLED: Duration = Duration::from_secs(60);
const LEFT: Duration = Duration::from_secs(60);
const REWRITE: Duration = Duration::from_millis(1_500);
/// The server is killed so often in one run.
const RESTARTS: u32 = 2;

/// What a run has to meet is waited for so many times as long as its trouble is to last.
const PATIENCE: u32 = 6;

/// After a start of the server everybody has two minutes to speak up, in which no lease ends. Members are told that this one
/// is as old as that but for two seconds, so that leases end in a run that is shorter. In place of the server's own function:
/// no other of its name is asked.
const OLDER: &str = "CREATE SCHEMA older; GRANT USAGE ON SCHEMA older TO public;
    CREATE FUNCTION older.started() RETURNS timestamptz LANGUAGE internal STABLE STRICT AS 'pg_postmaster_start_time';
    CREATE OR REPLACE FUNCTION pg_catalog.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql STABLE
      AS 'SELECT older.started() - interval ''118 s''';";

pub struct Chaos<'c> {
    cluster: &'c Cluster,
    database: String,
    folder: tempfile::TempDir,
    operator: Operator,
    trouble: Trouble<'c>,
    /// Machines, and workers on each.
    many: (usize, usize),
    seed: u64,
    told: String,
}

impl<'c> Chaos<'c> {
    pub fn begin(cluster: &'c Cluster, many: (usize, usize)) -> Self {
        let (database, seed) = (cluster.database(), seed());
        let owner = cluster.url(OWNER, &database);
        shared_store::migrate(&target(&owner), &schema(), Patience::default()).unwrap();
        cluster.sql(&database, OLDER);
        let folder = tempfile::tempdir().unwrap();
        let place = Place {
            url: cluster.url("taut_agent", &database),
            home: folder.path().join("operator"),
            name: "ann".into(),
            folder: folder.path().to_path_buf(),
            unfenced: false,
        };
        let operator = Operator::begin(place, Workload::LITTLE, seed ^ 0x5eed);
        let mut trouble = Trouble::new(cluster, &database, folder.path().to_path_buf(), seed);
        for nth in 0..many.0 {
            let proxy = NetworkProxy::to_unix(&cluster.socket()).unwrap();
            let url = format!("postgresql://taut_agent@127.0.0.1:{}/{database}", proxy.port());
            trouble.machines.push(Machine::begin(&format!("m{nth}"), &url));
            trouble.connect(proxy);
        }
        trouble.employ(many.1);
        let met = || trouble.machines.iter().all(Machine::knows_others).then_some(());
        poll::until("the machines to hear of each other", LEFT, met).unwrap();
        Self { cluster, database, folder, operator, trouble, many, seed, told: String::new() }
    }

    /// Gives what is wrong in the end; nothing, where all is as it must be.
    pub fn run(&mut self, trouble_for: Duration) -> Vec<String> {
        let (began, spent) = (Instant::now(), self.make_trouble(trouble_for));
        let calm = self.calm();
        std::fs::write(self.folder.path().join("over"), "").unwrap();
        let staying = self.trouble.leave(LEFT);
        let (accounts, of_machines) = self.settle();
        let notes = notes(self.folder.path());
        let read = ledger::Ledger::read(self.cluster, &self.database, &notes);
        let homes: Vec<PathBuf> = self.trouble.machines.iter().map(Machine::home).collect();
        let mut wrong = read.wrongs(&homes, self.operator.steady);
        wrong.extend(of_machines);
        wrong.extend(verdict::never(&ledger::noted(&notes)));
        wrong.extend(calm.err());
        // Or the run has proven nothing.
        wrong.extend(self.unmet().into_iter().map(|what| format!("in {} s of trouble {what}", spent.as_secs())));
        wrong.extend(staying.iter().map(|worker| format!("{worker} never left")));
        self.told = format!(
            "{} machines with {} workers each, {} tasks and those that changed, {} s of trouble of {} s: {:?}, {} plans \
             rewritten, server killed {RESTARTS} times; {}; {} (seed {})",
            self.many.0,
            self.many.1,
            self.operator.steady,
            spent.as_secs(),
            began.elapsed().as_secs(),
            self.trouble.did,
            self.operator.rewritten,
            read.figures(),
            figures(&accounts),
            self.seed
        );
        wrong
    }

    pub fn told(&self) -> String {
        self.told.clone()
    }

    /// Gives how long it took: until it has met all that there is to meet.
    fn make_trouble(&mut self, long: Duration) -> Duration {
        let began = Instant::now();
        let (mut restarts, mut rewrite) = (0, began + REWRITE);
        let cluster = self.cluster;
        std::thread::scope(|scope| {
            loop {
                let spent = began.elapsed();
                if spent > long && (self.unmet().is_empty() || spent > long * PATIENCE) {
                    return spent;
                }
                self.trouble.make();
                if restarts < RESTARTS && spent > long * (restarts + 1) / (RESTARTS + 1) {
                    // Everybody else goes on meanwhile.
                    scope.spawn(|| cluster.restart());
                    restarts += 1;
                }
                if Instant::now() > rewrite {
                    self.operator.refill();
                    self.operator.rewrite();
                    self.operator.requeue();
                    rewrite = Instant::now() + REWRITE;
                }
            }
        })
    }

    /// Until nothing is left to do.
    fn calm(&mut self) -> Result<(), String> {
        self.trouble.end();
        let until = Instant::now() + CALM;
        let mut planned = false;
        while Instant::now() < until {
            self.trouble.revive();
            planned = planned || self.operator.plan_all().is_ok();
            self.operator.requeue();
            if planned && self.operator.left() == Some(0) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Err(format!("after {} s of calm something is left: {:?}", CALM.as_secs(), self.operator.left()))
    }

    /// Until the record and the messages are the same everywhere; else what is not.
    fn settle(&mut self) -> (Vec<MachineAccount>, Vec<String>) {
        let until = Instant::now() + SETTLED;
        let noted = ledger::noted(&notes(self.folder.path()));
        loop {
            // First everybody says what it owes, then everybody hears it.
            self.trouble.machines.iter().for_each(|machine| drop(machine.taut(&["shared", "sync", "--wait", "10s"])));
            let (cluster, database) = (self.cluster, &self.database);
            let machines = self.trouble.machines.iter_mut();
            let accounts: Vec<MachineAccount> =
                machines.map(|machine| MachineAccount::read(machine, cluster, database)).collect();
            let wrong = verdict::wrongs(&accounts, &noted);
            if wrong.is_empty() || Instant::now() > until {
                return (accounts, wrong);
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// What has not happened yet of that without which nothing is tried.
    fn unmet(&self) -> Vec<&'static str> {
        let wishes = [
            (self.trouble.is_every_kind(), "some kind of trouble was never made"),
            (self.a_lease_ran_out(), "no lease ran out"),
            (self.somebody_was_late(), "nobody was late"),
        ];
        wishes.into_iter().filter(|(met, _)| !met).map(|(_, what)| what).collect()
    }

    /// A server that is being started again says nothing.
    fn a_lease_ran_out(&self) -> bool {
        let expired = "SELECT count(*) FROM taut.attempts WHERE outcome = 'expired'";
        self.cluster.sql_as(OWNER, &self.database, expired).is_ok_and(|count| count.trim() != "0")
    }

    /// Told so at once, or when a word that was kept had been said.
    fn somebody_was_late(&self) -> bool {
        let said = std::fs::read_to_string(notes(self.folder.path())).unwrap_or_default();
        said.lines().any(|line| line.starts_with("refused "))
            || self.trouble.machines.iter().any(|machine| !machine.store().refused_turns().unwrap().is_empty())
    }
}

fn figures(accounts: &[MachineAccount]) -> String {
    let one = |account: &MachineAccount| {
        format!(
            "{}: {} events, {} messages, {} words refused, daemon of {} KiB, home of {} KiB",
            account.label,
            account.there.len(),
            account.arrived.len(),
            account.refused,
            account.most_kb,
            account.disk_bytes / 1024
        )
    };
    accounts.iter().map(one).collect::<Vec<_>>().join("; ")
}
