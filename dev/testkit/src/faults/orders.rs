//! What a tracer is told, also while it runs, and what it has seen since.

use super::{SyscallFault, TracedCall};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub struct Orders(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    fault: Option<SyscallFault>,
    calls: Vec<TracedCall>,
    met: Option<TracedCall>,
    over: bool,
}

impl Orders {
    pub fn new(fault: Option<SyscallFault>) -> Self {
        let orders = Self::default();
        orders.give(fault);
        orders
    }

    /// From now on this; calls are counted from here.
    pub fn give(&self, fault: Option<SyscallFault>) {
        let mut state = self.state();
        *state = State { fault, over: state.over, ..State::default() };
    }

    /// The program is to be ended.
    pub fn end(&self) {
        self.state().over = true;
    }

    pub fn are_over(&self) -> bool {
        self.state().over
    }

    /// The fault, and the call it met if it has.
    pub fn now(&self) -> (Option<SyscallFault>, Option<TracedCall>) {
        let state = self.state();
        (state.fault, state.met.clone())
    }

    /// Counts a call and says its number.
    pub fn met_with(&self, call: &TracedCall) -> usize {
        let mut state = self.state();
        state.calls.push(call.clone());
        let nth = state.calls.len();
        if state.fault.is_some_and(|fault| fault.nth == nth) {
            state.met = Some(call.clone());
        }
        nth
    }

    pub fn account(&self) -> (Vec<TracedCall>, Option<TracedCall>) {
        let state = self.state();
        (state.calls.clone(), state.met.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
