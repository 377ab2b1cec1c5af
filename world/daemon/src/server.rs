//! The connections: who is there, what they have sent, and what they are still owed. Whoever serves takes all waiting
//! calls out of it at once and gives the answered peers back; while it works nothing here is held.

use crate::build::Build;
use crate::peer::Peer;
use crate::protocol::{DaemonStatus, WireCommand, WireRequest, WireResponse};
use model::{Call, Ms};
use serde_json::Value;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use sys::{poll, socket};

/// What peers may take: none of them can make the daemon wait or grow.
#[derive(Debug, Clone)]
pub struct PeerLimits {
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

pub(crate) struct Server {
    pub last_call: Instant,
    listener: Option<UnixListener>,
    wake: Option<UnixStream>,
    peers: Vec<Peer>,
    about: DaemonStatus,
    limits: PeerLimits,
    scratch: Vec<u8>,
    accept_after: Instant,
    /// Batches and calls that may have written something.
    changes: u64,
    /// The folders of the calls that are being served.
    serving: Vec<String>,
    pub stalled: Stalled,
}

/// The folders of calls that somebody is stuck on, by the term of who is: they are not tried again before it is back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stalled(Arc<Mutex<Vec<Stuck>>>);

#[derive(Debug)]
struct Stuck {
    term: u64,
    folders: Vec<String>,
}

/// What a server is made of.
pub(crate) struct Parts {
    pub listener: UnixListener,
    pub wake: Option<UnixStream>,
    pub build: Build,
    pub limits: PeerLimits,
}

/// What waits to be answered. The peers are out of the server's hands until they are given back.
#[derive(Default)]
pub(crate) struct WaitingCalls {
    pub hooks: Vec<(Peer, Call)>,
    pub methods: Vec<(Peer, String, Value)>,
    /// They want the daemon to end.
    pub stops: Vec<Peer>,
}

impl WaitingCalls {
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.methods.is_empty() && self.stops.is_empty()
    }
}

/// A frame above this is refused while others hold the allowed memory; a smaller one is always taken.
const LARGE_BYTES: usize = 1 << 20;
const ACCEPTS: usize = 128;
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

impl Default for PeerLimits {
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

impl Server {
    pub fn new(parts: Parts) -> io::Result<Self> {
        parts.listener.set_nonblocking(true)?;
        let about = DaemonStatus {
            pid: std::process::id(),
            build: parts.build,
            started: Ms(sys::clock::wall_ms()),
            served: 0,
            newer_client: None,
            draining: false,
        };
        Ok(Self {
            last_call: Instant::now(),
            listener: Some(parts.listener),
            wake: parts.wake,
            peers: Vec::new(),
            about,
            limits: parts.limits,
            scratch: vec![0; 64 << 10],
            accept_after: Instant::now(),
            changes: 0,
            serving: Vec::new(),
            stalled: Stalled::default(),
        })
    }

    /// Waits for something to do, at most for `limit`; `awake` is called when the wait is over.
    pub fn wait(&mut self, limit: Duration, awake: impl FnOnce()) -> io::Result<WaitingCalls> {
        let woken = self.poll(limit, awake)?;
        if woken.by_signal {
            self.drain();
        }
        if woken.by_caller {
            self.accept();
        }
        self.refuse_excess();
        let waiting = self.take();
        let limits = &self.limits;
        self.peers.retain(|peer| !peer.is_over(limits));
        Ok(waiting)
    }

    /// The peers of calls that were answered, and how many were.
    pub fn give_back(&mut self, peers: impl Iterator<Item = Peer>, served: u64) {
        self.serving.clear();
        self.peers.extend(peers);
        self.about.served += served;
        self.last_call = Instant::now();
        self.changes += 1;
        self.tell_watchers();
        let limits = &self.limits;
        self.peers.retain(|peer| !peer.is_over(limits));
    }

    /// Whoever was serving is stuck. Gives the folders of its calls.
    pub fn leave_behind(&mut self, term: u64) -> Vec<String> {
        let folders = std::mem::take(&mut self.serving);
        self.stalled.all().push(Stuck { term, folders: folders.clone() });
        folders
    }

    /// Takes no more connections; what has been read is still answered.
    pub fn drain(&mut self) {
        self.about.draining = true;
    }

    /// Ends for this peer, which is told.
    pub fn drain_for(&mut self, peer: &mut Peer) {
        self.drain();
        peer.send(WireResponse::Control(self.about.clone()).write());
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

    /// Polls everything and moves bytes.
    fn poll(&mut self, limit: Duration, awake: impl FnOnce()) -> io::Result<Woken> {
        let entry = |fd, events| libc::pollfd { fd, events, revents: 0 };
        // A negative number is skipped by the kernel, which keeps the places fixed.
        let wake = self.wake.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let closed_for = self.accept_after.saturating_duration_since(Instant::now());
        let listener = self.listener.as_ref().filter(|_| closed_for.is_zero());
        let mut polls = vec![entry(wake, libc::POLLIN), entry(listener.map_or(-1, AsRawFd::as_raw_fd), libc::POLLIN)];
        polls.extend(self.peers.iter().map(|peer| entry(peer.fd(), peer.events())));
        let waiting = self.peers.iter().any(|peer| peer.has_frame() && peer.events() == 0);
        // A listener that is closed for a moment is opened again by the clock: nobody can connect.
        let limit = if closed_for.is_zero() { limit } else { limit.min(closed_for) };
        let ready = poll::poll(&mut polls, if waiting { Duration::ZERO } else { limit });
        awake();
        ready?;
        let mut ready = polls.iter().map(|poll| poll.revents);
        let woken = Woken { by_signal: ready.next() != Some(0), by_caller: ready.next() != Some(0) };
        for (peer, _) in self.peers.iter_mut().zip(ready).filter(|(_, ready)| *ready != 0) {
            peer.flush();
            peer.fill(&mut self.scratch);
        }
        if woken.by_signal
            && let Some(wake) = &mut self.wake
        {
            // The number of signals does not matter.
            let _ = wake.read(&mut self.scratch);
        }
        Ok(woken)
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS {
            let Some(listener) = &self.listener else { return };
            match listener.accept() {
                Ok((stream, _)) => self.admit(stream),
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => return,
                Err(cause) => {
                    // Out of descriptors, most likely: trying again at once would spin.
                    tracing::warn!("cannot accept a connection: {cause}");
                    self.accept_after = Instant::now() + ACCEPT_PAUSE;
                    return;
                }
            }
        }
    }

    fn admit(&mut self, stream: UnixStream) {
        match socket::peer_user(&stream) {
            Ok(found) if is_ours(found, sys::outside::user()) => {}
            found => {
                tracing::warn!("turned away a connection of another user: {found:?}");
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
            peer.send(WireResponse::Cannot("too many large calls at once".to_owned()).write());
        }
    }

    /// Takes out every peer that has sent a whole call. What concerns the connections alone is answered here.
    fn take(&mut self) -> WaitingCalls {
        let mut waiting = WaitingCalls::default();
        let at = Ms(sys::clock::wall_ms());
        let mut place = 0;
        while waiting.hooks.len() < self.limits.batch
            && let Some(peer) = self.peers.get_mut(place)
        {
            let read = match peer.take_frame() {
                Ok(None) => {
                    place += 1;
                    continue;
                }
                Ok(Some(frame)) => WireRequest::read(frame.header, frame.body(), at).map_err(|cause| cause.to_string()),
                Err(wrong) => {
                    peer.end();
                    Err(wrong.to_string())
                }
            };
            match read {
                Ok(WireRequest::Hook { call, .. }) if self.stalled.holds(&call.cwd) => {
                    peer.send(WireResponse::Cannot(format!("a look at {} has not come back", call.cwd)).write());
                }
                Ok(WireRequest::Hook { call, build }) => {
                    if build > self.about.newer_client.unwrap_or(self.about.build) {
                        self.about.newer_client = Some(build);
                    }
                    self.serving.push(call.cwd.clone());
                    waiting.hooks.push((self.peers.swap_remove(place), call));
                    continue;
                }
                Ok(WireRequest::Rpc { method, params }) => {
                    waiting.methods.push((self.peers.swap_remove(place), method, params));
                    continue;
                }
                // For a newer one anybody may end this one: hooks have it replaced, and so below an agent.
                Ok(WireRequest::Control { command: WireCommand::Stop }) if self.about.newer_client.is_none() => {
                    waiting.stops.push(self.peers.swap_remove(place));
                    continue;
                }
                Ok(WireRequest::Control { command }) => {
                    if command == WireCommand::Stop {
                        self.about.draining = true;
                    }
                    peer.send(WireResponse::Control(self.about.clone()).write());
                }
                // A count that was never told: the present one is told at once.
                Ok(WireRequest::Watch { seen }) => peer.watch(seen.unwrap_or(u64::MAX)),
                Err(reason) => {
                    tracing::warn!("a request could not be read: {reason}");
                    peer.send(WireResponse::Cannot(reason).write());
                }
            }
            place += 1;
        }
        self.tell_watchers();
        waiting
    }

    fn tell_watchers(&mut self) {
        for peer in &mut self.peers {
            peer.tell(self.changes);
        }
    }
}

struct Woken {
    by_signal: bool,
    by_caller: bool,
}

impl Stalled {
    pub fn came_back(&self, term: u64) {
        self.all().retain(|stuck| stuck.term != term);
    }

    fn holds(&self, folder: &str) -> bool {
        self.all().iter().any(|stuck| stuck.folders.iter().any(|known| known == folder))
    }

    fn all(&self) -> MutexGuard<'_, Vec<Stuck>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
