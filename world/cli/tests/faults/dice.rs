//! Chance with a seed, so that a run can be told from another.

pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound.max(1)
    }

    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}
