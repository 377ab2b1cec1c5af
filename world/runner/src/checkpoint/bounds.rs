//! What a checkpoint may cost.

use std::time::Instant;

/// How much is kept and read, and until when.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    /// A larger file that git does not know is left where it is: no way back is worth the disk.
    pub largest: u64,
    /// Of all such files together.
    pub untracked: u64,
    /// So many of them.
    pub files: usize,
    pub beyond: Beyond,
    /// Git is ended then.
    pub until: Option<Instant>,
    /// More than this of what git prints is not read.
    pub output: u64,
}

/// What is kept of the files that git does not know where they are more than may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    Nothing,
    /// The smallest, as far as they go.
    Smallest,
}

impl Default for Bounds {
    /// Those of a loop, which nobody waits for.
    fn default() -> Self {
        Self {
            largest: 32 << 20,
            untracked: 512 << 20,
            files: usize::MAX,
            beyond: Beyond::Nothing,
            until: None,
            output: u64::MAX,
        }
    }
}
