//! The running model: listens on loopback, hands each connection on, and ends by itself.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::answer;
use super::requests::Requests;
use super::script::Script;
use super::state::ModelState;

/// When a model that nobody stops ends by itself.
#[derive(Clone, Copy, Debug)]
pub struct Lifetime {
    pub idle: Duration,
    pub total: Duration,
}

impl Default for Lifetime {
    fn default() -> Self {
        Self { idle: Duration::from_secs(120), total: Duration::from_secs(600) }
    }
}

/// A running model. Dropping it closes the port and every connection.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    state: Arc<ModelState>,
    /// Closing our end is what tells the server to stop.
    wake: Option<UnixStream>,
    server: Option<JoinHandle<()>>,
}

impl ScriptedModel {
    /// Serves `script` on a free port of 127.0.0.1, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// When the port cannot be opened.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_for(script, Lifetime::default())
    }

    /// The same on a port that is known beforehand, for a network of one's own.
    ///
    /// # Errors
    /// When the port cannot be opened.
    pub fn start_on(port: u16, script: Script) -> io::Result<Self> {
        Self::serve_on(port, script, Lifetime::default())
    }

    /// As [`start`](Self::start), with a lifetime of its own.
    ///
    /// # Errors
    /// When the port cannot be opened.
    pub fn start_for(script: Script, lifetime: Lifetime) -> io::Result<Self> {
        Self::serve_on(0, script, lifetime)
    }

    fn serve_on(port: u16, script: Script, lifetime: Lifetime) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (wake, stop) = UnixStream::pair()?;
        let state = Arc::new(ModelState::new(script));
        let server = {
            let state = Arc::clone(&state);
            thread::spawn(move || serve(&listener, &stop, &state, lifetime))
        };
        Ok(Self { address, state, wake: Some(wake), server: Some(server) })
    }

    /// The value for `ANTHROPIC_BASE_URL` and its kind, without the `/v1` that some want at its end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What has been asked so far.
    #[must_use]
    pub fn requests(&self) -> Requests {
        self.state.requests()
    }

    /// Whether it still takes requests.
    #[must_use]
    pub fn is_serving(&self) -> bool {
        self.server.as_ref().is_some_and(|server| !server.is_finished())
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.wake.take();
        if let Some(server) = self.server.take() {
            // A panic of the server has been printed by its thread already.
            let _ = server.join();
        }
    }
}

fn serve(listener: &TcpListener, stop: &UnixStream, state: &Arc<ModelState>, lifetime: Lifetime) {
    let end = Instant::now() + lifetime.total;
    loop {
        let now = Instant::now();
        let quiet_end = state.last_traffic() + lifetime.idle;
        let left = end.min(quiet_end).saturating_duration_since(now);
        if left.is_zero() || told_to_stop(listener, stop, left) {
            break;
        }
        while let Ok((stream, peer)) = listener.accept() {
            let state = Arc::clone(state);
            thread::spawn(move || answer::converse(&stream, peer, &state));
        }
    }
    state.stop();
}

/// Sleeps until a connection comes, our owner lets go, or `limit` has passed.
fn told_to_stop(listener: &TcpListener, stop: &UnixStream, limit: Duration) -> bool {
    let watch = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut watched = [watch(listener.as_raw_fd()), watch(stop.as_raw_fd())];
    let limit = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX).max(1);
    // SAFETY: the array lives through the call and its length is given.
    unsafe { libc::poll(watched.as_mut_ptr(), 2, limit) };
    watched[1].revents != 0
}
