//! Whoever serves: one thread that takes all waiting calls, has them answered as one batch, and sends the answers.
//!
//! Looking at a project can stall for ever (a file system that does not answer), and nothing can end such a look. Then
//! the thread is left behind with the calls it has in hand, and another takes its place: a stall costs its own call.

use crate::peer::Peer;
use crate::protocol::WireResponse;
use crate::pulse::Pulse;
use crate::run::{DaemonEnd, Seat};
use crate::server::{Server, Stalled, WaitingCalls};
use crate::service::Service;
use model::Call;
use serde_json::Value;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What every thread that serves, or has served, shares.
pub(crate) struct Shared {
    pub server: Mutex<Server>,
    pub stalled: Stalled,
    pub pulse: Pulse,
    pub seat: Seat,
    pub idle_exit: Duration,
    pub look_every: Duration,
}

/// What the watcher is told.
pub(crate) enum News {
    /// There is work again, and nobody was looking.
    Work,
    Ended {
        term: u64,
        how: io::Result<DaemonEnd>,
    },
}

pub(crate) struct Serving<S> {
    pub service: S,
    pub shared: std::sync::Arc<Shared>,
    pub term: u64,
    pub news: Sender<News>,
}

const DRAIN_PATIENCE: Duration = Duration::from_secs(1);

impl Shared {
    pub fn server(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Service> Serving<S> {
    /// Serves until there is a reason to end, or another has taken its place.
    pub fn run(mut self) {
        let how = self.serve();
        self.shared.pulse.end(self.term);
        // A watcher that is gone needs no news.
        let _ = self.news.send(News::Ended { term: self.term, how });
    }

    fn serve(&mut self) -> io::Result<DaemonEnd> {
        let mut looked = Instant::now();
        loop {
            let limit = self.shared.look_every.min(self.until_idle());
            let Some(draining) = self.turn(limit)? else { return Ok(DaemonEnd::Replaced) };
            if draining {
                self.shared.seat.leave();
                return self.finish();
            }
            if looked.elapsed() >= self.shared.look_every {
                looked = Instant::now();
                if !self.shared.seat.is_ours() {
                    return Ok(DaemonEnd::Displaced);
                }
            }
            if self.is_idle() {
                if !self.service.is_needed() {
                    return Ok(DaemonEnd::Idle);
                }
                self.shared.server().last_call = Instant::now();
            }
        }
    }

    /// Answers what has been read; what is still on its way gets a moment.
    fn finish(&mut self) -> io::Result<DaemonEnd> {
        self.shared.server().close_door();
        let deadline = Instant::now() + DRAIN_PATIENCE;
        while self.shared.server().has_peers() && Instant::now() < deadline {
            if self.turn(Duration::from_millis(20))?.is_none() {
                return Ok(DaemonEnd::Replaced);
            }
            self.shared.server().close_door();
        }
        Ok(DaemonEnd::Asked)
    }

    /// Waits for work and does it. Whether it is time to end; `None` when another serves by now.
    fn turn(&mut self, limit: Duration) -> io::Result<Option<bool>> {
        let (pulse, term) = (&self.shared.pulse, self.term);
        let waiting = {
            let mut server = self.shared.server();
            pulse.end(term);
            let awake = || {
                if pulse.begin(term) {
                    let _ = self.news.send(News::Work);
                }
            };
            server.wait(limit, awake)?
        };
        if !waiting.is_empty() {
            let (peers, served) = self.answer(waiting);
            if self.shared.pulse.term() != self.term {
                return Ok(None);
            }
            self.shared.server().give_back(peers.into_iter(), served);
        }
        Ok(Some(self.shared.server().is_draining()))
    }

    fn answer(&mut self, waiting: WaitingCalls) -> (Vec<Peer>, u64) {
        let mut peers = Vec::with_capacity(waiting.hooks.len() + waiting.methods.len());
        let mut served = 0;
        if !waiting.hooks.is_empty() {
            served += self.answer_hooks(waiting.hooks, &mut peers);
        }
        for (mut peer, method, params) in waiting.methods {
            peer.send(self.answer_method(&method, params).write());
            peers.push(peer);
            served += 1;
        }
        for mut peer in waiting.stops {
            self.answer_stop(&mut peer);
            peers.push(peer);
        }
        (peers, served)
    }

    fn answer_stop(&mut self, peer: &mut Peer) {
        let service = &mut self.service;
        let refusal = |pid| catch_unwind(AssertUnwindSafe(|| service.refuses_to_end_for(pid))).unwrap_or_default();
        match peer.process().and_then(refusal) {
            Some(reason) => {
                tracing::warn!("did not end: {reason}");
                peer.send(WireResponse::Cannot(reason).write());
            }
            None => self.shared.server().drain_for(peer),
        }
    }

    fn answer_hooks(&mut self, hooks: Vec<(Peer, Call)>, answered: &mut Vec<Peer>) -> u64 {
        let (peers, calls): (Vec<Peer>, Vec<Call>) = hooks.into_iter().unzip();
        let service = &mut self.service;
        let answers = catch_unwind(AssertUnwindSafe(|| (service.hook_batch(calls), service.handed_back())));
        let failed = answers.is_err();
        if failed {
            tracing::error!("a batch of {} calls failed: they are done by their clients", peers.len());
        }
        let (answers, handed_back) = answers.unwrap_or_default();
        let mut answers = answers.into_iter();
        let (mut served, mut undelivered) = (0, Vec::new());
        for (place, mut peer) in peers.into_iter().enumerate() {
            match answers.next() {
                Some(_) if handed_back.contains(&place) => {
                    peer.send(WireResponse::Cannot("this call is its client's to serve".to_owned()).write());
                }
                Some(answer) => {
                    peer.send(WireResponse::Hook(answer).write());
                    served += 1;
                    if peer.is_gone() {
                        undelivered.push(place);
                    }
                }
                None => peer.send(
                    WireResponse::Cannot("the daemon failed on this batch; its log says more".to_owned()).write(),
                ),
            }
            answered.push(peer);
        }
        let service = &mut self.service;
        let after = AssertUnwindSafe(|| {
            if !undelivered.is_empty() {
                service.undelivered(&undelivered);
            }
            service.after_answers();
        });
        if !failed && catch_unwind(after).is_err() {
            tracing::error!("the effects after a batch failed");
        }
        served
    }

    fn answer_method(&mut self, method: &str, params: Value) -> WireResponse {
        let service = &mut self.service;
        match catch_unwind(AssertUnwindSafe(|| service.rpc(method, params))) {
            Ok(result) => WireResponse::Rpc(result),
            Err(_) => {
                tracing::error!("rpc {method} failed");
                WireResponse::Cannot(format!("the daemon failed on {method}; its log says more"))
            }
        }
    }

    fn is_idle(&self) -> bool {
        let server = self.shared.server();
        server.last_call.elapsed() >= self.shared.idle_exit && !server.has_peers()
    }

    /// With somebody connected it does not become idle, and there is nothing to wake up for.
    fn until_idle(&self) -> Duration {
        let server = self.shared.server();
        if server.has_peers() {
            return self.shared.look_every;
        }
        self.shared.idle_exit.saturating_sub(server.last_call.elapsed()).max(Duration::from_millis(1))
    }
}
