//! The network between each machine and the server, and who makes it bad: for less than a lease, for longer, or so that a
//! connection is reset or everything that was said on it is said again.

use crate::dice::Dice;
use std::time::{Duration, Instant};
use testkit::{NetworkProxy, ProxyMode};

/// One for each machine.
#[derive(Default)]
pub struct Networks(Vec<Network>);

struct Network {
    proxy: NetworkProxy,
    /// Until then it is as bad as it was made.
    bad: Option<Instant>,
}

impl Networks {
    pub fn connect(&mut self, proxy: NetworkProxy) {
        self.0.push(Network { proxy, bad: None });
    }

    pub fn reset(&self, dice: &mut Dice) {
        self.0[dice.below(self.0.len())].proxy.reset();
    }

    /// Whether it was good before.
    pub fn spoil(&mut self, dice: &mut Dice, long: Duration) -> bool {
        let nth = dice.below(self.0.len());
        let network = &mut self.0[nth];
        if network.bad.is_some() {
            return false;
        }
        match dice.below(5) {
            0 => network.proxy.set(ProxyMode::HoldBack),
            1 => network.proxy.set(ProxyMode::Swallow),
            2 => network.proxy.set(ProxyMode::SwallowAnswers),
            3 => network.proxy.set_delay(Duration::from_millis(30)),
            _ => {
                network.proxy.set(ProxyMode::Refuse);
                network.proxy.reset();
            }
        }
        network.bad = Some(Instant::now() + long);
        true
    }

    /// How many connections were said once more.
    pub fn repeat(&self, dice: &mut Dice) -> usize {
        let network = &self.0[dice.below(self.0.len())];
        // Where the server is down nothing is heard twice.
        if network.bad.is_none() { network.proxy.say_again().unwrap_or_default() } else { 0 }
    }

    /// Whose time is over is good again.
    pub fn recover(&mut self, now: Instant) {
        self.0.iter_mut().filter(|network| network.bad.is_some_and(|until| now >= until)).for_each(Network::heal);
    }

    pub fn heal(&mut self) {
        self.0.iter_mut().for_each(Network::heal);
    }
}

impl Network {
    fn heal(&mut self) {
        // What was swallowed of an open connection never comes: it is over, as the network would find in its time.
        let lost = self.bad.take().is_some();
        self.proxy.set_delay(Duration::ZERO);
        self.proxy.set(ProxyMode::Pass);
        if lost && self.proxy.open() > 0 {
            self.proxy.reset();
        }
    }
}
