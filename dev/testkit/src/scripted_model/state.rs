//! What all connections of a model share: the script and how far it is used up, the record of requests, the open streams.

use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::requests::{ModelRequest, RequestKind, Requests};
use super::script::{Script, Turn};
use super::wire::Ids;

#[derive(Debug)]
pub(super) struct ModelState {
    pub script: Script,
    pub ids: Ids,
    state: Mutex<State>,
    stopped: Condvar,
}

#[derive(Debug)]
struct State {
    requests: Requests,
    main_used: usize,
    sub_used: usize,
    last_traffic: Instant,
    open: Vec<(SocketAddr, TcpStream)>,
    stopping: bool,
}

impl ModelState {
    pub fn new(script: Script) -> Self {
        Self {
            script,
            ids: Ids::default(),
            state: Mutex::new(State {
                requests: Requests::default(),
                main_used: 0,
                sub_used: 0,
                last_traffic: Instant::now(),
                open: Vec::new(),
                stopping: false,
            }),
            stopped: Condvar::new(),
        }
    }

    pub fn requests(&self) -> Requests {
        self.state().requests.clone()
    }

    pub fn last_traffic(&self) -> Instant {
        self.state().last_traffic
    }

    /// Records the request and takes the turn that answers it in one step, so that the order of both is the same.
    pub fn take_turn(&self, request: ModelRequest) -> Turn {
        let kind = request.kind;
        // Before the lock: the function may look at files and take its time.
        let answer = self.script.answer(&request);
        let mut state = self.state();
        state.requests.0.push(request);
        if let Some(turn) = answer {
            return turn;
        }
        let next = |turns: &[Turn], used: &mut usize| {
            let turn = turns.get(*used).or(self.script.otherwise.as_ref());
            *used += 1;
            turn.cloned().unwrap_or_else(|| Turn::say("All done."))
        };
        let fixed = |turn: &Option<Turn>, text: &str| turn.clone().unwrap_or_else(|| Turn::say(text));
        match kind {
            RequestKind::Main => next(&self.script.main, &mut state.main_used),
            RequestKind::Sub => next(&self.script.sub, &mut state.sub_used),
            RequestKind::Compact => fixed(&self.script.compact, "A summary."),
            RequestKind::Side => fixed(&self.script.side, "ok"),
            RequestKind::Count | RequestKind::Other => Turn::default(),
        }
    }

    /// Waits as a slow model would, or until the model is stopped.
    pub fn think(&self, delay: Duration) {
        if !delay.is_zero() {
            let waited = self.stopped.wait_timeout_while(self.state(), delay, |state| !state.stopping);
            drop(waited);
        }
    }

    /// Takes a connection into the books. `false` when the model is about to end.
    pub fn open(&self, peer: SocketAddr, stream: &TcpStream) -> bool {
        let mut state = self.state();
        state.last_traffic = Instant::now();
        match stream.try_clone() {
            Ok(clone) if !state.stopping => state.open.push((peer, clone)),
            _ => return false,
        }
        true
    }

    pub fn close(&self, peer: SocketAddr) {
        let mut state = self.state();
        state.last_traffic = Instant::now();
        state.open.retain(|(other, _)| *other != peer);
    }

    pub fn stop(&self) {
        let mut state = self.state();
        state.stopping = true;
        for (_, stream) in state.open.drain(..) {
            // Already closed by the peer is as good.
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.stopped.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
