//! Many measurements of one thing, and what is said of them.

use std::time::Duration;

#[derive(Debug, Default, Clone)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub fn over(&self, limit: Duration) -> usize {
        self.0.iter().filter(|time| **time > limit).count()
    }

    /// The time that `share` of the measurements stay under.
    pub fn at(&self, share: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        let last = sorted.len().saturating_sub(1);
        sorted.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
    }

    pub fn p50(&self) -> Duration {
        self.at(0.50)
    }

    pub fn p99(&self) -> Duration {
        self.at(0.99)
    }
}

pub fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64().max(1e-9)
}

pub fn row(name: &str, times: &Times, base: &Times) {
    println!(
        "{name:<44} p50 {:>6.2} x   p99 {:>6.2} x   ({:>5.0} µs)",
        ratio(times.p50(), base.p50()),
        ratio(times.p99(), base.p99()),
        times.p50().as_secs_f64() * 1e6
    );
}
