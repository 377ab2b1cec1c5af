//! The words of the daemon's protocol: one table for the fast client, the ordinary client and the server.
//!
//! A frame is a header of 12 bytes (magic, protocol, kind, two zero bytes, length of the body as `u32` little-endian)
//! and a body of fields (tag, length as `u32` little-endian, bytes). Unknown tags are skipped, so that an old client
//! and a new daemon understand each other.

pub const MAGIC: [u8; 4] = *b"TAUT";
pub const PROTOCOL: u8 = 1;
pub const HEADER_BYTES: usize = 12;
pub const FIELD_BYTES: usize = 5;

/// The version every part of this build shares.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub const SOCKET_NAME: &str = "taut.sock";

/// What a frame is.
pub mod kind {
    pub const HOOK: u8 = 1;
    pub const RPC: u8 = 2;
    pub const CONTROL: u8 = 3;
    /// Tell me of the next change; answered when there is one.
    pub const WATCH: u8 = 4;
    pub const ANSWER: u8 = 16;
    pub const RPC_ANSWER: u8 = 17;
    pub const CONTROL_ANSWER: u8 = 18;
    /// The daemon cannot serve this call; the client does the work itself.
    pub const CANNOT: u8 = 19;
    pub const CHANGED: u8 = 20;
}

/// The fields of a hook call.
pub mod hook {
    /// Text, 32 hexadecimal digits when it comes from Taut itself.
    pub const REQUEST: u8 = 1;
    pub const AGENT: u8 = 2;
    pub const CWD: u8 = 3;
    /// `u32` little-endian.
    pub const PARENT: u8 = 4;
    /// `NAME=VALUE`, once per variable.
    pub const ENV: u8 = 5;
    pub const STDIN: u8 = 6;
    pub const BUILD: u8 = 7;
}

/// The fields of an answer to a hook.
pub mod answer {
    /// One byte. An answer without it is none.
    pub const EXIT: u8 = 1;
    pub const STDOUT: u8 = 2;
    pub const STDERR: u8 = 3;
}

/// The fields of an RPC call and its answer.
pub mod rpc {
    pub const METHOD: u8 = 1;
    /// JSON text, of the parameters or of the result.
    pub const JSON: u8 = 2;
    /// In an answer instead of JSON: a code and what happened.
    pub const FAULT_CODE: u8 = 3;
    pub const FAULT: u8 = 4;
}

/// The fields of a control call and its answer.
pub mod control {
    /// Text: `status` or `stop`.
    pub const COMMAND: u8 = 1;
    pub const BUILD: u8 = 2;
    /// `u32` little-endian.
    pub const PID: u8 = 3;
    /// `u64` little-endian, milliseconds since the epoch.
    pub const STARTED: u8 = 4;
    /// `u64` little-endian.
    pub const SERVED: u8 = 5;
    /// The newest build of a client that has called.
    pub const NEWEST_CLIENT: u8 = 6;
    /// One byte, 1 while the daemon finishes and takes no more calls.
    pub const DRAINING: u8 = 7;
}

/// The fields of a watcher's call and its answer.
pub mod watch {
    /// `u64` little-endian: the count of changes that was told last. Without it the present one is told at once.
    pub const COUNT: u8 = 1;
}

/// The fields of a refusal.
pub mod cannot {
    pub const REASON: u8 = 1;
}
