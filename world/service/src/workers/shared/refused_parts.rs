//! Parts of a round that the server refused, or somebody was in the way of: each is left alone for a while, so that no server
//! is asked in vain every other second, and all else goes on as soon as ever.

use std::collections::HashMap;
use std::time::{Duration, Instant};
use store::ServerError;

#[derive(Debug, Default)]
pub(super) struct RefusedParts {
    /// So long one is left alone.
    rest: Duration,
    parts: HashMap<String, (Instant, ServerError)>,
}

impl RefusedParts {
    pub fn resting(rest: Duration) -> Self {
        Self { rest, parts: HashMap::new() }
    }

    /// What it was refused for, where it is to be left alone still: that stays wrong until it is tried again.
    pub fn rests(&self, part: &str, now: Instant) -> Option<&ServerError> {
        let (at, error) = self.parts.get(part)?;
        (now.saturating_duration_since(*at) < self.rest).then_some(error)
    }

    pub fn refused(&mut self, part: &str, error: &ServerError, now: Instant) {
        self.parts.insert(part.to_string(), (now, error.clone()));
    }

    pub fn went_well(&mut self, part: &str) {
        self.parts.remove(part);
    }

    /// Over another connection, which may be another server's or another role's.
    pub fn begin_anew(&mut self) {
        self.parts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x3_a_part_that_was_refused_is_left_alone_for_a_while_and_no_other_is() {
        let (mut parts, now) = (RefusedParts::resting(Duration::from_secs(15)), Instant::now());
        let error = ServerError::Refused("no right".into());
        parts.refused("record", &error, now);
        let later = now + Duration::from_secs(14);
        assert_eq!((parts.rests("record", later), parts.rests("messages", later)), (Some(&error), None));
        assert_eq!(parts.rests("record", now + Duration::from_secs(15)), None, "it is tried again");
        parts.went_well("record");
        assert_eq!(parts.rests("record", later), None);
        parts.refused("record", &error, now);
        parts.begin_anew();
        assert_eq!(parts.rests("record", later), None);
        let mut at_once = RefusedParts::default();
        at_once.refused("record", &error, now);
        assert_eq!(at_once.rests("record", now), None, "a command tries again at once");
    }
}
