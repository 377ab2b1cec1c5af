//! The loop: one thread that takes all waiting calls, has them answered as one batch, and sends the answers.

use crate::folder::user;
use crate::log::{self, Log};
use crate::peer::Peer;
use crate::protocol::{Command, Request, Response, Status};
use crate::service::Service;
use crate::socket;
use crate::stamp::Build;
use model::{Answer, Call};
use serde_json::Value;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What peers may take: none of them can make the daemon wait or grow.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections at once. The one silent for longest makes room for a new one.
    pub peers: usize,
    /// From the first byte of a frame to its last, and for an answer to be taken.
    pub frame: Duration,
    /// Without any byte.
    pub silence: Duration,
    /// Calls in one batch; what is more waits for the next.
    pub batch: usize,
    /// Of all frames on their way together.
    pub held_bytes: usize,
}

pub(crate) struct Server<S> {
    pub service: S,
    pub log: Log,
    pub last_call: Instant,
    listener: Option<UnixListener>,
    wake: Option<UnixStream>,
    peers: Vec<Peer>,
    about: Status,
    limits: Limits,
    scratch: Vec<u8>,
    accept_after: Instant,
    /// Batches and calls that may have written something.
    changes: u64,
}

/// What a server is made of.
pub(crate) struct Parts<S> {
    pub service: S,
    pub log: Log,
    pub listener: UnixListener,
    pub wake: Option<UnixStream>,
    pub build: Build,
    pub limits: Limits,
}

/// A frame above this is refused while others hold the allowed memory; a smaller one is always taken.
const LARGE_BYTES: usize = 1 << 20;
const ACCEPTS: usize = 128;
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

impl Default for Limits {
    fn default() -> Self {
        Self {
            peers: 512,
            frame: Duration::from_secs(5),
            silence: Duration::from_secs(600),
            batch: 256,
            held_bytes: 48 << 20,
        }
    }
}

impl<S: Service> Server<S> {
    pub fn new(parts: Parts<S>) -> io::Result<Self> {
        parts.listener.set_nonblocking(true)?;
        let about = Status {
            pid: std::process::id(),
            build: parts.build,
            started: log::now(),
            served: 0,
            newer_client: None,
            draining: false,
        };
        Ok(Self {
            service: parts.service,
            log: parts.log,
            last_call: Instant::now(),
            listener: Some(parts.listener),
            wake: parts.wake,
            peers: Vec::new(),
            about,
            limits: parts.limits,
            scratch: vec![0; 64 << 10],
            accept_after: Instant::now(),
            changes: 0,
        })
    }

    /// Waits for something to do, at most for `limit`, and does it.
    pub fn turn(&mut self, limit: Duration) -> io::Result<()> {
        let (woken, listening) = self.wait(limit)?;
        if woken {
            self.drain();
        }
        if listening {
            self.accept();
        }
        self.refuse_excess();
        self.serve();
        let limits = &self.limits;
        self.peers.retain(|peer| !peer.is_over(limits));
        Ok(())
    }

    /// Takes no more connections; what has been read is still answered.
    pub fn drain(&mut self) {
        self.about.draining = true;
    }

    pub fn is_draining(&self) -> bool {
        self.about.draining
    }

    /// Accepts for the last time and lets the silent peers go: everything that is left is owed an answer.
    pub fn close_door(&mut self) {
        self.accept();
        self.listener = None;
        for peer in self.peers.iter_mut().filter(|peer| peer.is_silent()) {
            peer.close();
        }
    }

    pub fn has_peers(&self) -> bool {
        !self.peers.is_empty()
    }

    /// Polls everything and moves bytes; says whether there was a signal and whether somebody is at the door.
    fn wait(&mut self, limit: Duration) -> io::Result<(bool, bool)> {
        let entry = |fd, events| libc::pollfd { fd, events, revents: 0 };
        // A negative number is skipped by the kernel, which keeps the places fixed.
        let wake = self.wake.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let door = self.listener.as_ref().filter(|_| Instant::now() >= self.accept_after);
        let mut polls = vec![entry(wake, libc::POLLIN), entry(door.map_or(-1, AsRawFd::as_raw_fd), libc::POLLIN)];
        polls.extend(self.peers.iter().map(|peer| entry(peer.fd(), peer.events())));
        let waiting = self.peers.iter().any(|peer| peer.has_frame() && peer.events() == 0);
        socket::poll(&mut polls, if waiting { Duration::ZERO } else { limit })?;
        let mut ready = polls.iter().map(|poll| poll.revents);
        let (woken, listening) = (ready.next() != Some(0), ready.next() != Some(0));
        for (peer, _) in self.peers.iter_mut().zip(ready).filter(|(_, ready)| *ready != 0) {
            peer.flush();
            peer.fill(&mut self.scratch);
        }
        if woken && let Some(wake) = &mut self.wake {
            // The number of signals does not matter.
            let _ = wake.read(&mut self.scratch);
        }
        Ok((woken, listening))
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS {
            let Some(listener) = &self.listener else { return };
            match listener.accept() {
                Ok((stream, _)) => self.admit(stream),
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => return,
                Err(cause) => {
                    // Out of descriptors, most likely: trying again at once would spin.
                    self.log.line(&format!("cannot accept a connection: {cause}"));
                    self.accept_after = Instant::now() + ACCEPT_PAUSE;
                    return;
                }
            }
        }
    }

    fn admit(&mut self, stream: UnixStream) {
        match socket::peer_user(&stream) {
            Ok(found) if is_ours(found, user()) => {}
            found => {
                self.log.line(&format!("turned away a connection of another user: {found:?}"));
                return;
            }
        }
        if stream.set_nonblocking(true).is_err() {
            return;
        }
        if self.peers.len() >= self.limits.peers {
            let silent = self.peers.iter().enumerate().filter(|(_, peer)| peer.is_silent());
            match silent.min_by_key(|(_, peer)| peer.since()) {
                // It goes at once: many may come in one turn, and each takes the place of another.
                Some((oldest, _)) => drop(self.peers.remove(oldest)),
                None => return,
            }
        }
        let mut peer = Peer::new(stream);
        peer.fill(&mut self.scratch);
        self.peers.push(peer);
    }

    fn refuse_excess(&mut self) {
        let held: usize = self.peers.iter().map(Peer::held_bytes).sum();
        if held <= self.limits.held_bytes {
            return;
        }
        let newest = self.peers.iter_mut().filter(|peer| peer.held_bytes() > LARGE_BYTES && !peer.has_frame());
        if let Some(peer) = newest.max_by_key(|peer| peer.since()) {
            peer.end();
            peer.send(Response::Cannot("too many large calls at once".to_owned()).write());
        }
    }

    fn serve(&mut self) {
        let (mut places, mut calls, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let at = log::now();
        for (place, peer) in self.peers.iter_mut().enumerate() {
            if calls.len() >= self.limits.batch {
                break;
            }
            let read = match peer.take_frame() {
                Ok(None) => continue,
                Ok(Some(frame)) => Request::read(frame.header, frame.body(), at).map_err(|cause| cause.to_string()),
                Err(wrong) => {
                    peer.end();
                    Err(wrong.to_string())
                }
            };
            match read {
                Ok(Request::Hook { call, build }) => {
                    if build > self.about.newer_client.unwrap_or(self.about.build) {
                        self.about.newer_client = Some(build);
                    }
                    places.push(place);
                    calls.push(call);
                }
                Ok(Request::Rpc { method, params }) => others.push((place, Ok((method, params)))),
                Ok(Request::Control { command }) => others.push((place, Err(command))),
                // A count that was never told: the present one is told at once.
                Ok(Request::Watch { seen }) => peer.watch(seen.unwrap_or(u64::MAX)),
                Err(reason) => peer.send(Response::Cannot(reason).write()),
            }
        }
        if !places.is_empty() {
            self.answer_hooks(&places, calls);
        }
        for (place, other) in others {
            let response = match other {
                Ok((method, params)) => self.answer_rpc(&method, params),
                Err(command) => self.obey(command),
            };
            self.send(place, &response);
        }
        for peer in &mut self.peers {
            peer.tell(self.changes);
        }
    }

    fn answer_hooks(&mut self, places: &[usize], calls: Vec<Call>) {
        self.last_call = Instant::now();
        let service = &mut self.service;
        let answers = catch_unwind(AssertUnwindSafe(|| service.hook_batch(calls)));
        let failed = answers.is_err();
        if failed {
            self.log.line(&format!("a batch of {} calls failed: they are done by their clients", places.len()));
        }
        let mut answers = answers.unwrap_or_default().into_iter();
        self.changes += 1;
        for place in places {
            self.answer_hook(*place, answers.next());
        }
        let service = &mut self.service;
        if !failed && catch_unwind(AssertUnwindSafe(|| service.after_answers())).is_err() {
            self.log.line("the effects after a batch failed");
        }
    }

    fn answer_hook(&mut self, place: usize, answer: Option<Answer>) {
        let response = match answer {
            Some(answer) => {
                self.about.served += 1;
                Response::Hook(answer)
            }
            None => Response::Cannot("the daemon failed on this batch; its log says more".to_owned()),
        };
        self.send(place, &response);
    }

    fn answer_rpc(&mut self, method: &str, params: Value) -> Response {
        self.last_call = Instant::now();
        let service = &mut self.service;
        match catch_unwind(AssertUnwindSafe(|| service.rpc(method, params))) {
            Ok(result) => {
                self.about.served += 1;
                self.changes += 1;
                Response::Rpc(result)
            }
            Err(_) => {
                self.log.line(&format!("rpc {method} failed"));
                Response::Cannot(format!("the daemon failed on {method}; its log says more"))
            }
        }
    }

    fn obey(&mut self, command: Command) -> Response {
        if command == Command::Stop {
            self.drain();
        }
        Response::Control(self.about.clone())
    }

    fn send(&mut self, place: usize, response: &Response) {
        if let Some(peer) = self.peers.get_mut(place) {
            peer.send(response.write());
        }
    }
}

/// Nobody but the user whose daemon this is, not even root: what it would store is that user's.
fn is_ours(peer: u32, ours: u32) -> bool {
    peer == ours
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn another_user_is_turned_away_even_if_it_is_root() {
        assert!(is_ours(1000, 1000));
        assert!(!is_ours(1001, 1000) && !is_ours(0, 1000) && !is_ours(1000, 0));
    }
}
