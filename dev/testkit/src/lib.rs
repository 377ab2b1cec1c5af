//! The workshop for tests: a throw-away home, a fake agent, a scripted model, the corpus, and the real client driven offline.
//!
//! Nothing here is part of the product. Everything that is started is stopped when its value is dropped.

pub mod corpus;
pub mod fake_agent;
pub mod poll;
pub mod process;
pub mod real_client;
pub mod sandbox;
pub mod scripted_model;

pub use corpus::Case;
pub use fake_agent::{Call, FakeAgent, Step, Tool};
pub use process::{Ending, Finished};
pub use real_client::{Launch, RealClient, Run, Terminal};
pub use sandbox::{Sandbox, taut_bin};
pub use scripted_model::{Kind, Requests, Script, ScriptedModel, Turn};
