//! `[undo]`.

use crate::config::declare::{table, words};

table! {
    /// What is kept before an agent's command takes files away.
    pub struct UndoSection {
        /// When a checkpoint of the work tree is kept, for `taut undo`.
        checkpoints: UndoCheckpoints = UndoCheckpoints::Auto,
    }
}

words! {
    /// When a checkpoint is kept.
    pub enum UndoCheckpoints("word for checkpoints") {
        /// Of trees that are small enough for it not to be felt: up to 5,000 files that git tracks.
        Auto = "auto",
        /// Of every tree, as far as there is time.
        On = "on",
        /// Never.
        Off = "off",
    }
}

pub const EXAMPLE: &str = "[undo]\ncheckpoints = \"on\"\n";
