//! A stand-in for the models' APIs on loopback that says what its script says and remembers what it was asked. One
//! script serves every API: a turn is spelt in the one it was asked in.

mod answer;
mod http;
mod requests;
mod script;
mod script_json;
mod server;
mod state;
mod wire;

pub use requests::{ModelRequest, RequestKind, Requests};
pub use script::{ApiFailure, Script, ScriptedCall, Turn};
pub use server::{Lifetime, ScriptedModel};

/// Put this into a sub-agent's prompt to have its requests answered by the script's `sub` turns.
pub const SUBAGENT_MARK: &str = "SUBAGENT_MARK";
