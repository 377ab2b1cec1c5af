//! While the remote is away: said once, asked again after a rest, and counted against nobody.

use super::coordinator::{Coordinator, Stage, Stopping};
use crate::RunnerError;
use model::run::Finish;
use std::time::{Duration, Instant};

const SHORTEST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(60);

/// How long nobody asks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum RemoteRest {
    /// It answered when it was last asked.
    #[default]
    Reached,
    Away {
        until: Instant,
        next: Duration,
    },
}

impl RemoteRest {
    fn longer(self) -> Self {
        let next = match self {
            Self::Reached => SHORTEST,
            Self::Away { next, .. } => next,
        };
        Self::Away { until: Instant::now() + next, next: LONGEST.min(next * 2) }
    }

    fn lasts(self) -> bool {
        matches!(self, Self::Away { until, .. } if Instant::now() < until)
    }
}

impl Coordinator<'_> {
    pub(super) fn remote_is_away(&mut self, error: &RunnerError) {
        if self.remote_rest == RemoteRest::Reached {
            self.warn(&format!("{} cannot be reached and is waited for: {error}", self.remote_name()));
        }
        // Two who asked at once heard the same silence.
        if !self.remote_rests() {
            self.remote_rest = self.remote_rest.longer();
        }
    }

    pub(super) fn remote_is_reached(&mut self) {
        if self.remote_rest != RemoteRest::Reached {
            self.remote_rest = RemoteRest::Reached;
            self.say(&format!("{} is reached again", self.remote_name()));
        }
    }

    /// What every task would fail at ends the loop instead; what is proven stays so.
    pub(super) fn remote_is_closed(&mut self, error: &RunnerError) {
        self.end_with(Finish::Error, error.to_string(), Stopping::Soft);
    }

    pub(super) fn remote_rests(&self) -> bool {
        self.remote_rest.lasts()
    }

    /// Whether nothing new is begun: it was away, and whoever asks it now has no answer yet.
    pub(super) fn waits_for_remote(&self) -> bool {
        let asks = self.slots.iter().flatten().any(|slot| matches!(slot.stage, Stage::Preparing));
        self.remote_rests() || self.remote_rest != RemoteRest::Reached && (asks || self.merging.is_some())
    }

    fn remote_name(&self) -> String {
        self.remote.as_ref().map(|remote| remote.name().to_string()).unwrap_or_default()
    }
}
