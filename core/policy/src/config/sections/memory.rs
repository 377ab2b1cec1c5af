//! `[memory]`.

use crate::config::declare::table;

table! {
    /// What outlives a session, and what the next one is told of it.
    pub struct MemorySection {
        /// `true`: sessions leave notes, and the next one is told of them, of unfinished work and of lasting facts.
        /// `false`: nothing of this project is noted, indexed or told. Unset: only what you look up yourself.
        enabled: Option<bool> = None,
        /// Characters that the start of a session may cost, files that a skill or a note asks for aside.
        start_chars: u32 = 1_500,
        /// Hours after which unfinished work is not offered any more and its effort ends.
        stale_hours: u32 = 72,
        /// Days that what can be recalled is kept.
        keep_days: u32 = 365,
    }
}

pub const EXAMPLE: &str = "[memory]\nenabled = true\nstart_chars = 1500\nstale_hours = 72\nkeep_days = 365\n";
