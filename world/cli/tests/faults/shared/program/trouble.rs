//! Who kills, stops and cuts: workers with and without their commands, daemons, connections at both their ends, networks.

use super::super::network::Networks;
use super::LEASE;
use super::machine::Machine;
use crate::dice::Dice;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::NetworkProxy;
use testkit::postgres::{Cluster, OWNER};

const KILLED_WHOLE: &str = "workers killed with their command";
const KILLED: &str = "workers killed without their command";
const DAEMON_KILLED: &str = "daemons killed";
const STOPPED: &str = "workers stopped past the lease";
const DAEMON_STOPPED: &str = "daemons stopped past the lease";
const CUT: &str = "connections cut on the server";
const RESET: &str = "connections reset";
const BRIEFLY_BAD: &str = "network bad for less than a lease";
const LONG_BAD: &str = "network bad for longer than a lease";
const KINDS: [&str; 9] =
    [KILLED_WHOLE, KILLED, DAEMON_KILLED, STOPPED, DAEMON_STOPPED, CUT, RESET, BRIEFLY_BAD, LONG_BAD];

pub struct Trouble<'c> {
    cluster: &'c Cluster,
    database: String,
    /// Where the workers write down what they were told.
    folder: PathBuf,
    dice: Dice,
    networks: Networks,
    pub machines: Vec<Machine>,
    workers: Vec<Worker>,
    /// So many on each machine.
    team: usize,
    stopped: Vec<Stopped>,
    /// Commands that nobody waits for.
    begun: Vec<Child>,
    /// What was done, and how often.
    pub did: BTreeMap<&'static str, usize>,
}

struct Worker {
    machine: usize,
    name: String,
    child: Child,
}

/// A process, or with a negative number a group of them, that goes on at a moment.
struct Stopped {
    pid: i32,
    until: Instant,
}

impl<'c> Trouble<'c> {
    pub fn new(cluster: &'c Cluster, database: &str, folder: PathBuf, seed: u64) -> Self {
        Self {
            cluster,
            database: database.into(),
            folder,
            dice: Dice::new(seed),
            networks: Networks::default(),
            machines: Vec::new(),
            workers: Vec::new(),
            team: 0,
            stopped: Vec::new(),
            begun: Vec::new(),
            did: BTreeMap::new(),
        }
    }

    pub fn connect(&mut self, proxy: NetworkProxy) {
        self.networks.connect(proxy);
    }

    /// So many on each machine, of the same names everywhere.
    pub fn employ(&mut self, workers: usize) {
        self.team = workers;
        for machine in 0..self.machines.len() {
            for name in (0..workers).map(name) {
                let child = self.hire(machine, &name);
                self.workers.push(Worker { machine, name, child });
            }
        }
    }

    /// One more of it, after a moment.
    pub fn make(&mut self) {
        std::thread::sleep(Duration::from_millis(60 + self.dice.below(140) as u64));
        self.recover(Instant::now());
        match self.dice.below(100) {
            0..16 => self.kill_worker(),
            16..24 => self.kill_daemon(),
            24..40 => self.stop_worker(),
            40..44 => self.stop_daemon(),
            44..52 => self.cut(),
            52..58 => {
                self.networks.reset(&mut self.dice);
                self.count(RESET);
            }
            58..72 => {
                let short = 100 + self.dice.below(1_500) as u64;
                self.spoil(short, BRIEFLY_BAD);
            }
            72..77 => {
                let long = LEASE * 1_000 + 500 + self.dice.below(1_000) as u64;
                self.spoil(long, LONG_BAD);
            }
            77..84 => {
                let again = self.networks.repeat(&mut self.dice);
                *self.did.entry("connections said again").or_default() += again;
            }
            _ => {}
        }
    }

    /// Whether everything was made at least once that there is, but for words said again, of which there may be none.
    pub fn is_every_kind(&self) -> bool {
        KINDS.iter().all(|kind| self.did.contains_key(kind))
    }

    /// Everybody runs, and the network is good.
    pub fn end(&mut self) {
        self.networks.heal();
        self.stopped.drain(..).for_each(|stopped| signal(stopped.pid, libc::SIGCONT));
        (0..self.machines.len()).for_each(|machine| self.start_daemon(machine));
    }

    /// Whoever died is started again, as an operating system would.
    pub fn revive(&mut self) {
        for nth in 0..self.workers.len() {
            if let Ok(Some(_)) = self.workers[nth].child.try_wait() {
                self.hire_again(nth);
            }
        }
        self.begun.retain_mut(|child| child.try_wait().is_ok_and(|left| left.is_none()));
    }

    /// Waits for everybody to leave, who was told that it is over. Gives who did not.
    pub fn leave(&mut self, limit: Duration) -> Vec<String> {
        let until = Instant::now() + limit;
        let mut staying = Vec::new();
        for worker in &mut self.workers {
            while worker.child.try_wait().is_ok_and(|left| left.is_none()) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
            if worker.child.try_wait().is_ok_and(|left| left.is_none()) {
                staying.push(format!("{} of machine {}", worker.name, worker.machine));
            }
        }
        staying
    }

    fn recover(&mut self, now: Instant) {
        self.networks.recover(now);
        self.stopped.retain(|stopped| {
            let over = now >= stopped.until;
            if over {
                signal(stopped.pid, libc::SIGCONT);
            }
            !over
        });
        self.revive();
    }

    fn kill_worker(&mut self) {
        let nth = self.dice.below(self.workers.len());
        let pid = self.workers[nth].pid();
        let (whom, what) = if self.dice.one_in(2) { (-pid, KILLED_WHOLE) } else { (pid, KILLED) };
        signal(whom, libc::SIGKILL);
        // A command that was stopped with its worker goes on without it.
        signal(-pid, libc::SIGCONT);
        self.stopped.retain(|stopped| stopped.pid.abs() != pid);
        let _ = self.workers[nth].child.wait();
        self.hire_again(nth);
        self.count(what);
    }

    fn kill_daemon(&mut self) {
        let machine = self.dice.below(self.machines.len());
        self.machines[machine].weigh();
        let daemons = self.machines[machine].daemons();
        for pid in &daemons {
            signal(*pid, libc::SIGKILL);
        }
        self.stopped.retain(|stopped| !daemons.contains(&stopped.pid));
        // Else a hook starts it.
        if self.dice.one_in(2) {
            self.start_daemon(machine);
        }
        self.count(DAEMON_KILLED);
    }

    /// Past its lease, alone or with its command; never more than half of all.
    fn stop_worker(&mut self) {
        let nth = self.dice.below(self.workers.len());
        let pid = self.workers[nth].pid();
        let is_stopped = self.stopped.iter().any(|stopped| stopped.pid.abs() == pid);
        if !is_stopped && self.stopped.len() < self.workers.len() / 2 {
            let whom = if self.dice.one_in(2) { -pid } else { pid };
            self.stop(whom, STOPPED);
        }
    }

    fn stop_daemon(&mut self) {
        let machine = self.dice.below(self.machines.len());
        let known = |pid: &i32| self.stopped.iter().all(|stopped| stopped.pid != *pid);
        if let Some(pid) = self.machines[machine].daemons().into_iter().find(known) {
            self.stop(pid, DAEMON_STOPPED);
        }
    }

    fn stop(&mut self, pid: i32, what: &'static str) {
        // While its daemon lives, whoever says nothing is spoken for until a lease after its last word.
        let long = Duration::from_millis(2 * LEASE * 1_000 + 300 + self.dice.below(1_500) as u64);
        signal(pid, libc::SIGSTOP);
        self.stopped.push(Stopped { pid, until: Instant::now() + long });
        self.count(what);
    }

    /// One of the connections, by the server's own word.
    fn cut(&mut self) {
        let one = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
            AND usename = 'taut_agent' ORDER BY random() LIMIT 1";
        // A server that is being started again has none.
        if self.cluster.sql_as(OWNER, &self.database, one).is_ok_and(|told| told == "t") {
            self.count(CUT);
        }
    }

    fn spoil(&mut self, ms: u64, what: &'static str) {
        if self.networks.spoil(&mut self.dice, Duration::from_millis(ms)) {
            self.count(what);
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.did.entry(what).or_default() += 1;
    }

    fn start_daemon(&mut self, machine: usize) {
        let sandbox = &self.machines[machine].sandbox;
        let mut command: Command = sandbox.command(sandbox.bin());
        command.args(["daemon", "start"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.begun.push(command.spawn().unwrap());
    }

    fn hire_again(&mut self, nth: usize) {
        let (machine, name) = (self.workers[nth].machine, self.workers[nth].name.clone());
        self.workers[nth].child = self.hire(machine, &name);
    }

    fn hire(&self, machine: usize, worker: &str) -> Child {
        let others = self.machines.iter().enumerate().filter(|(nth, _)| *nth != machine);
        let peers: Vec<String> =
            others.flat_map(|(_, other)| (0..self.team).map(|nth| format!("{}@{}", name(nth), other.label))).collect();
        self.machines[machine].worker(worker, &self.folder, &peers)
    }
}

impl Drop for Trouble<'_> {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            if worker.child.try_wait().is_ok_and(|left| left.is_none()) {
                signal(-worker.pid(), libc::SIGKILL);
                let _ = worker.child.wait();
            }
        }
        self.begun.iter_mut().for_each(|child| drop(child.wait()));
    }
}

impl Worker {
    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }
}

fn name(nth: usize) -> String {
    format!("worker{nth}")
}

fn signal(pid: i32, signal: libc::c_int) {
    // SAFETY: a plain signal to a process of this run's machines, or to a group that this run started.
    unsafe { libc::kill(pid, signal) };
}
