//! What the start of a session may cost: notes, offers and facts share it, in
//! the order in which they are told.

use super::Memory;
use crate::context::budget::size;
use crate::event_context::EventContext;

impl Memory {
    /// What is left of `memory.start_chars` after the texts that are to be told
    /// already, as the client counts. Files that are shown have the event's own budget.
    pub(super) fn room(&self, event: &EventContext<'_>) -> usize {
        let most = usize::try_from(event.policy.sections.memory.start_chars).unwrap_or(usize::MAX);
        // Two for the lines between one text and the next.
        let taken: usize = self.texts.iter().map(|(_, text)| size(text) + 2).sum();
        most.saturating_sub(taken)
    }
}
