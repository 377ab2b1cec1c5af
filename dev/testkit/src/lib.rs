//! The workshop for tests: a throw-away home, a fake agent, a scripted model, the corpus, and the real client driven offline.
//!
//! Nothing here is part of the product. Everything that is started is stopped when its value is dropped.
//!
//! An agent that is only its hooks, with no client at all:
//!
//! ```no_run
//! use testkit::{AgentStep, Stage};
//! # fn main() -> std::io::Result<()> {
//! let stage = Stage::without_daemon();
//! let calls = stage.agent("ada").play(&[AgentStep::start(), AgentStep::prompt("tidy up"), AgentStep::bash("git push --force")])?;
//! assert!(calls[2].denies());
//! # Ok(())
//! # }
//! ```
//!
//! The real client (feature-gated tests only: it needs npm or a filled cache), with the model's part written beforehand:
//!
//! ```no_run
//! use testkit::{ClientLaunch, RealClient, Sandbox, Script, Turn, taut_bin};
//! # fn main() -> std::io::Result<()> {
//! let sandbox = Sandbox::with_copy_of(&taut_bin()?)?;
//! sandbox.taut(&["init", "--yes"], b"")?;
//! let script = Script::new().main(Turn::bash("rm -rf ~")).main(Turn::say("sorry"));
//! let run = ClientLaunch::new(&sandbox, script).prompt("tidy up").run(&RealClient::installed()?)?;
//! assert!(run.requests.all_text_sent().contains("why it was stopped"));
//! # Ok(())
//! # }
//! ```

pub mod allocations;
pub mod card;
pub mod corpus;
pub mod disk;
pub mod fake_agent;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod faults;
pub mod hostile;
pub mod need;
pub mod pages;
pub mod poll;
pub mod postgres;
pub mod process;
pub mod proxy;
pub mod real_client;
pub mod recording;
pub mod sandbox;
pub mod scripted_model;
pub mod shell;
pub mod stage;
pub mod strange;

pub use corpus::Case;
pub use fake_agent::{AgentStep, FakeAgent, FakeTool, HookCall};
pub use need::{is_missing, is_not_root, skipped};
pub use process::{Ending, Finished};
pub use proxy::{NetworkProxy, ProxyMode};
pub use real_client::{AgentLaunch, AgentRun, ClientLaunch, DrivenAgent, PrintRun, RealClient, Terminal};
pub use sandbox::{Sandbox, taut_bin};
pub use scripted_model::{RequestKind, Requests, Script, ScriptedModel, Turn};
pub use stage::Stage;
pub use strange::{Stalled, Strange};
