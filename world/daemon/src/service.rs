//! What the daemon serves, as the caller of `run` gives it.

use model::{Answer, Call};
use serde_json::Value;

/// The work behind the socket. All of it runs on the one thread that serves; one that is stuck is left behind, and
/// another service made.
pub trait Service {
    /// Answers all calls that were waiting, in their order. One batch is one commit.
    fn hook_batch(&mut self, calls: Vec<Call>) -> Vec<Answer>;

    /// Calls of the last batch, by their places in it, that their clients have to serve themselves.
    fn handed_back(&mut self) -> Vec<usize> {
        Vec::new()
    }

    /// # Errors
    /// A [`Fault`], which goes to the caller as it is.
    fn rpc(&mut self, method: &str, params: Value) -> Result<Value, RpcFault>;

    /// Why a process may not end the daemon; `None` where it may.
    fn refuses_to_end_for(&mut self, _pid: u32) -> Option<String> {
        None
    }

    /// Answers of the last batch, by their places in it, that nobody was there to take any more.
    fn undelivered(&mut self, _places: &[usize]) {}

    /// Called when the answers of a batch are on their way: effects that never change a verdict.
    fn after_answers(&mut self) {}

    /// Leases, watchers or monitors that keep the daemon from ending for want of calls.
    fn is_needed(&mut self) -> bool {
        false
    }
}

/// Why an RPC call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcFault {
    /// A stable word, such as `unknown_method`.
    pub code: String,
    pub message: String,
}

impl RpcFault {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}
