//! Being stopped or paused, by whoever asked for it.

use super::{Loop, LoopEffect, Phase, Stop};
use model::run::Finish;

const BY_HAND: &str = "stopped by hand";

impl Loop {
    pub(super) fn stopped(&mut self, stop: Stop) -> Vec<LoopEffect> {
        let again = self.stop.is_some() && stop == Stop::Soft;
        let hard = again || stop != Stop::Soft;
        self.stop = self.stop.max(Some(if again { Stop::Hard } else { stop }));
        match self.phase {
            Phase::Waiting | Phase::Paused | Phase::Fresh => {
                let mut effects = vec![LoopEffect::Wake];
                effects.extend(self.finish_stopped());
                effects
            }
            Phase::Finishing if again => vec![LoopEffect::Kill],
            Phase::Finishing if stop != Stop::Hard => Vec::new(),
            Phase::Running | Phase::Proving | Phase::Starting | Phase::Entering | Phase::Leaving if hard => {
                vec![LoopEffect::Kill]
            }
            Phase::Running | Phase::Proving => {
                let words = "waiting for this iteration to end; press Ctrl+C again to kill it";
                vec![LoopEffect::Say(words.to_string())]
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn finish_stopped(&mut self) -> Vec<LoopEffect> {
        let finish = if self.stop == Some(Stop::TimeUp) { Finish::Limit } else { Finish::Manual };
        let why = self.stopped_for().unwrap_or_else(|| BY_HAND.to_string());
        self.finish(finish, why)
    }

    /// Why it was asked to end, if it was.
    pub(super) fn stopped_for(&self) -> Option<String> {
        let why = match self.stop? {
            Stop::TimeUp => "the time is up",
            Stop::Orphaned => "the loop that started this one is gone",
            Stop::Soft | Stop::Hard => BY_HAND,
        };
        Some(why.to_string())
    }

    /// A time that is up is a limit, and completion comes before it.
    pub(super) fn is_stopping(&self) -> bool {
        matches!(self.stop, Some(Stop::Soft | Stop::Hard | Stop::Orphaned))
    }

    /// Nothing more is begun, not even a proof or a hook.
    pub(super) fn is_killing(&self) -> bool {
        matches!(self.stop, Some(Stop::Hard | Stop::Orphaned))
    }

    /// After this iteration; asked again, or at the end, it is nothing.
    pub(super) fn pause_asked(&mut self) -> Vec<LoopEffect> {
        match self.phase {
            _ if self.pausing || self.stop.is_some() => Vec::new(),
            Phase::Paused | Phase::Finishing | Phase::Over => Vec::new(),
            Phase::Waiting => {
                let mut effects = vec![LoopEffect::Wake];
                effects.extend(self.pause());
                effects
            }
            _ => {
                self.pausing = true;
                vec![LoopEffect::Say("this iteration is finished, then the loop pauses".to_string())]
            }
        }
    }

    pub(super) fn pause(&mut self) -> Vec<LoopEffect> {
        self.pausing = false;
        self.to(Phase::Paused, vec![LoopEffect::Pause, LoopEffect::Save])
    }

    pub(super) fn go_on(&mut self) -> Vec<LoopEffect> {
        if self.phase == Phase::Paused {
            return self.to(Phase::Gate, vec![LoopEffect::Wake, LoopEffect::Look]);
        }
        if std::mem::take(&mut self.pausing) {
            return vec![LoopEffect::Say("the loop goes on without a pause".to_string())];
        }
        Vec::new()
    }
}
