//! Which cuts are tried: every write where there are few, else chosen by a seed.

use super::story::Told;
use testkit::disk::{Cut, Dice};

pub struct Cuts {
    many: usize,
    seed: u64,
}

impl Cuts {
    pub fn from_environment(usual: usize) -> Self {
        Self { many: many(usual), seed: seed() }
    }

    /// Moments in the story, counted in operations.
    pub fn places(&self, told: &Told) -> Vec<usize> {
        let whole = told.ops.len() - told.begun;
        if whole < self.many {
            return (told.begun..=told.ops.len()).collect();
        }
        let mut dice = Dice::new(self.seed);
        (0..self.many).map(|_| told.begun + dice.below(whole + 1)).collect()
    }

    /// Moments, and what chance left of what was not flushed; where every moment fits in, several times each.
    pub fn power(&self, told: &Told) -> Vec<(usize, Cut)> {
        let mut dice = Dice::new(self.seed ^ 0xc07);
        let places = self.places(told);
        let rounds = (self.many / places.len()).max(1);
        let each = places.into_iter().flat_map(|at| std::iter::repeat_n(at, rounds));
        each.map(|at| (at, Cut::Power { seed: dice.roll() })).collect()
    }
}

pub fn many(usual: usize) -> usize {
    number("CRASH_CUTS").unwrap_or(usual)
}

pub fn seed() -> u64 {
    number("CRASH_SEED").map_or(0x7a07, |seed| seed as u64)
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}
