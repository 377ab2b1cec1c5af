//! What a failed iteration means: waited out, tried again, or the end.

use super::{EndedAgent, Loop, LoopEffect, Terms, WaitKind};
use crate::queue::{LEASE_UNSURE, SESSION_EXITED};
use crate::redact;
use model::Ms;
use model::run::{AgentTrouble, Finish};

/// A limit whose end was not told is looked at again after this, doubled each time.
const LIMIT_PAUSE_MS: i64 = 300_000;
const LONGEST_LIMIT_PAUSE_MS: i64 = 3_600_000;
const TRANSIENT_PAUSE_MS: i64 = 10_000;
const FAILURE_PAUSE_MS: i64 = 5_000;
/// No pause after an error of the service or of the agent is longer.
const LONGEST_PAUSE_MS: i64 = 300_000;
/// So many transient errors in a row are none, where a plan alone is worked on.
const MOST_TRANSIENTS: u64 = 10;
/// How the words begin with which a login, an account or a missing program ends a run.
pub(in crate::loops) const MAY_NOT_WORK: &str = "the agent may not work";

impl Loop {
    pub(super) fn failed(&mut self, terms: &Terms, ended: &EndedAgent, now: Ms) -> Vec<LoopEffect> {
        let longest = terms.limits.transient_ms.min(LONGEST_PAUSE_MS);
        match ended.kept_from_working() {
            Some(AgentTrouble::Limited { until }) => {
                self.uncount();
                self.pauses += 1;
                let pause = doubled(LIMIT_PAUSE_MS, self.pauses, LONGEST_LIMIT_PAUSE_MS);
                let told = until.filter(|until| *until > now);
                let then = if told.is_some() { "it resets then" } else { "it is looked at again then" };
                let why = format!("the usage limit is reached; {then}");
                self.wait(terms, told.unwrap_or(now.plus(pause)), why, WaitKind::Time)
            }
            Some(AgentTrouble::Transient { what }) if terms.queue || self.tally.transients < MOST_TRANSIENTS => {
                self.uncount();
                self.tally.transients += 1;
                let pause = doubled(TRANSIENT_PAUSE_MS.min(longest), self.tally.transients, longest);
                self.wait(terms, now.plus(pause), format!("the service is not there ({what})"), WaitKind::Time)
            }
            Some(AgentTrouble::Refused { what }) => {
                let why = format!("{MAY_NOT_WORK}: {what}. Log in or settle the account, then `taut loop resume`");
                self.finish(Finish::Error, why)
            }
            Some(AgentTrouble::NotStarted { what }) => {
                self.uncount();
                self.finish(Finish::Error, format!("{MAY_NOT_WORK}: {what}, then `taut loop resume`"))
            }
            // The queue itself says whether its server is there again.
            Some(AgentTrouble::Unsure { what }) => {
                self.uncount();
                match self.seen.clone() {
                    Some(seen) => self.gate(terms, seen, now),
                    None => self.finish(Finish::Error, what.clone()),
                }
            }
            _ => {
                let mut effects = vec![LoopEffect::PutAside { iteration: self.tally.iterations }];
                effects.extend(self.try_again(terms, now, longest));
                effects
            }
        }
    }

    fn try_again(&mut self, terms: &Terms, now: Ms, longest: i64) -> Vec<LoopEffect> {
        self.tally.failures += 1;
        let words = self.failure.clone().unwrap_or_else(|| "the agent failed".to_string());
        self.note_failure(words.clone());
        if self.tally.failures >= terms.limits.failures(terms.queue) {
            return self.finish(Finish::Error, words);
        }
        if let Some(why) = self.breaker(terms) {
            return self.finish(Finish::Error, why);
        }
        let pause = doubled(FAILURE_PAUSE_MS.min(longest), self.tally.failures, longest);
        let first = words.lines().next().unwrap_or_default();
        self.rest = Some((now.plus(pause), format!("{first}; it is tried again")));
        match self.seen.clone() {
            Some(seen) => self.gate(terms, seen, now),
            None => self.finish(Finish::Error, words),
        }
    }

    /// An iteration that never got to work is none.
    fn uncount(&mut self) {
        self.tally.iterations = self.tally.iterations.saturating_sub(1);
        self.tally.idle = self.tally.idle.saturating_sub(1);
    }

    /// Kept for the next iteration, and counted where it is the same once more.
    pub(super) fn note_failure(&mut self, words: String) {
        let words = redact::text_without_secrets(&words);
        let same = self.tally.last_failure.as_deref().is_some_and(|last| same_failure(last, &words));
        self.tally.same_failure = if same { self.tally.same_failure + 1 } else { 1 };
        self.tally.last_failure = Some(words);
    }

    /// What fails again and again in the same way is not mended by trying.
    pub(super) fn breaker(&self, terms: &Terms) -> Option<String> {
        let most = terms.limits.same_failures;
        let broken = most > 0 && self.tally.same_failure >= most;
        let last = self.tally.last_failure.as_deref().unwrap_or_default();
        broken.then(|| format!("the same failure {} times in a row: {last}", self.tally.same_failure))
    }
}

/// The same words, whatever numbers are in them: times, ports and numbers of processes differ each time.
pub(in crate::loops) fn same_failure(one: &str, other: &str) -> bool {
    fn words(text: &str) -> impl Iterator<Item = char> {
        text.chars().filter(|c| !c.is_ascii_digit())
    }
    words(one).eq(words(other))
}

/// Why the task of an agent that is over goes back, by what kept it from working.
pub(super) fn release_reason(trouble: Option<&AgentTrouble>) -> &'static str {
    match trouble {
        None => SESSION_EXITED,
        Some(AgentTrouble::Limited { .. }) => "the usage limit was reached",
        Some(AgentTrouble::Transient { .. }) => "the service was not there",
        Some(AgentTrouble::Refused { .. }) => MAY_NOT_WORK,
        Some(AgentTrouble::NotStarted { .. }) => "the agent could not be started",
        Some(AgentTrouble::Unsure { .. }) => LEASE_UNSURE,
    }
}

/// Whether only a person can help, so that the run ends.
pub(super) fn ends_run(trouble: &AgentTrouble) -> bool {
    matches!(trouble, AgentTrouble::Refused { .. } | AgentTrouble::NotStarted { .. })
}

pub(super) fn doubled(first: i64, nth: u64, longest: i64) -> i64 {
    let doublings = u32::try_from(nth.clamp(1, 20) - 1).unwrap_or_default();
    first.saturating_mul(1_i64 << doublings).min(longest)
}
