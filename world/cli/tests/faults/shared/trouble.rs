//! Who kills, stops and cuts: the processes of every machine, and the network between each machine and the server.

use super::network::Networks;
use super::seat::{LEASE_MS, Place};
use crate::dice::Dice;
use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use testkit::NetworkProxy;

const KILLED: &str = "killed";
const STOPPED: &str = "stopped past the lease";
const RESET: &str = "connections reset";
const BRIEFLY_BAD: &str = "network bad for less than a lease";
const LONG_BAD: &str = "network bad for longer than a lease";
const SAID_AGAIN: &str = "connections said again";
const KINDS: [&str; 6] = [KILLED, STOPPED, RESET, BRIEFLY_BAD, LONG_BAD, SAID_AGAIN];

pub struct Trouble {
    dice: Dice,
    networks: Networks,
    members: Vec<Member>,
    /// What was done, and how often.
    pub did: BTreeMap<&'static str, usize>,
}

/// One process of a machine.
struct Member {
    role: &'static str,
    place: Place,
    child: Child,
    stopped: Option<Instant>,
}

impl Trouble {
    pub fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), networks: Networks::default(), members: Vec::new(), did: BTreeMap::new() }
    }

    pub fn connect(&mut self, proxy: NetworkProxy) {
        self.networks.connect(proxy);
    }

    pub fn start(&mut self, role: &'static str, place: Place) {
        let child = spawn(role, &place);
        self.members.push(Member { role, place, child, stopped: None });
    }

    /// One more of it, after a moment.
    pub fn make(&mut self) {
        std::thread::sleep(Duration::from_millis(20 + self.dice.below(100) as u64));
        self.recover(Instant::now());
        match self.dice.below(100) {
            0..20 => self.kill(),
            20..45 => self.stop(),
            45..55 => self.reset(),
            55..70 => {
                let short = 100 + self.dice.below(900) as u64;
                self.spoil(short, BRIEFLY_BAD);
            }
            70..77 => {
                let long = LEASE_MS as u64 + 500 + self.dice.below(1_000) as u64;
                self.spoil(long, LONG_BAD);
            }
            77..82 => self.repeat(),
            _ => {}
        }
    }

    /// Whether everything was made at least once that there is.
    pub fn is_every_kind(&self) -> bool {
        KINDS.iter().all(|kind| self.did.get(kind).is_some_and(|times| *times > 0))
    }

    /// Everybody runs, and the network is good.
    pub fn end(&mut self) {
        self.networks.heal();
        self.members.iter_mut().for_each(Member::go_on);
    }

    /// Whoever died is started again, as an operating system would.
    pub fn revive(&mut self) {
        for member in &mut self.members {
            if let Ok(Some(_)) = member.child.try_wait() {
                member.child = spawn(member.role, &member.place);
            }
        }
    }

    /// Waits for everybody to leave, who was told that it is over.
    pub fn leave(&mut self, limit: Duration) {
        let until = Instant::now() + limit;
        for member in &mut self.members {
            while member.child.try_wait().is_ok_and(|left| left.is_none()) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    fn recover(&mut self, now: Instant) {
        self.networks.recover(now);
        for member in &mut self.members {
            if member.stopped.is_some_and(|until| now >= until) {
                member.go_on();
            }
        }
        self.revive();
    }

    fn kill(&mut self) {
        let nth = self.dice.below(self.members.len());
        let member = &mut self.members[nth];
        let _ = member.child.kill();
        let _ = member.child.wait();
        (member.child, member.stopped) = (spawn(member.role, &member.place), None);
        *self.did.entry(KILLED).or_default() += 1;
    }

    /// Past its lease; never more than half of all.
    fn stop(&mut self) {
        let nth = self.dice.below(self.members.len());
        let stopped = self.members.iter().filter(|member| member.stopped.is_some()).count();
        let (most, member) = (self.members.len() / 2, &mut self.members[nth]);
        if stopped >= most || member.stopped.is_some() {
            return;
        }
        let long = Duration::from_millis(LEASE_MS as u64 + 300 + self.dice.below(1_500) as u64);
        member.signal(libc::SIGSTOP);
        member.stopped = Some(Instant::now() + long);
        *self.did.entry(STOPPED).or_default() += 1;
    }

    fn reset(&mut self) {
        self.networks.reset(&mut self.dice);
        *self.did.entry(RESET).or_default() += 1;
    }

    fn spoil(&mut self, ms: u64, what: &'static str) {
        if self.networks.spoil(&mut self.dice, Duration::from_millis(ms)) {
            *self.did.entry(what).or_default() += 1;
        }
    }

    fn repeat(&mut self) {
        *self.did.entry(SAID_AGAIN).or_default() += self.networks.repeat(&mut self.dice);
    }
}

impl Drop for Trouble {
    fn drop(&mut self) {
        for member in &mut self.members {
            let _ = member.child.kill();
            let _ = member.child.wait();
        }
    }
}

impl Member {
    fn go_on(&mut self) {
        if self.stopped.take().is_some() {
            self.signal(libc::SIGCONT);
        }
    }

    fn signal(&self, signal: libc::c_int) {
        let pid = i32::try_from(self.child.id()).unwrap();
        // SAFETY: a plain signal to a process that this run started and has not waited for.
        unsafe { libc::kill(pid, signal) };
    }
}

fn spawn(role: &str, place: &Place) -> Child {
    let mut command = place.command(role);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().unwrap()
}
