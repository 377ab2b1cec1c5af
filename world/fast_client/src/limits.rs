//! The limits of time and size a hook keeps (D6), shared by the fast client and the ordinary client.
//!
//! The three waits of an event add up to less than its limit and leave room for the work in process:
//! 2 s = 800 stdin + 600 daemon + 600 own work; SessionEnd 0.9 s = 200 + 300 + 400.
//! The shortest that an agent gives a hook by itself is 5 s (Grok), and 1 s for a SessionEnd (Codex).

/// How long stdin may take to be complete.
pub const STDIN_MS: u32 = 800;
pub const STDIN_SESSION_END_MS: u32 = 200;

/// A stdin that is silent for so long is taken as it is if it holds one whole JSON object: some hosts never close it.
pub const STDIN_QUIET_MS: u32 = 50;

/// How long the daemon may take from the call to the answer.
pub const DAEMON_MS: u32 = 600;
pub const DAEMON_SESSION_END_MS: u32 = 300;

/// More of stdin is not read.
pub const STDIN_BYTES: usize = 8 << 20;

/// A call above this size is not searched for its event: a SessionEnd is small.
pub const SEARCHED_BYTES: usize = 16 << 10;

/// The body of a frame.
pub const FRAME_BYTES: usize = 16 << 20;
