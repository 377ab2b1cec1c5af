//! The terminal that `taut run` gives to its agent: everything passes both ways
//! as it is, and what the screen shows is known, so that a person can say
//! something to the agent from elsewhere.

mod asker;
mod relay;
mod screen;
mod server;

use crate::RunnerError;
use crate::supervise::Supervised;
use relay::Relay;
use screen::SharedScreen;
use server::TerminalServer;
use std::process::Command;
use std::sync::Arc;
use sys::pty::{self, Pty, PtyChild, RawMode};

/// One life of a client at a terminal of its own. Dropped, the terminal is as it was.
pub(crate) struct PtySession {
    pub leader: u32,
    /// The client, which leads the group that is signalled.
    pub client: u32,
    relay: Relay,
    screen: Arc<SharedScreen>,
    /// It can be asked for: without it everything else works.
    _server: Option<TerminalServer>,
    // The last to go: until then bytes pass.
    raw: RawMode,
}

impl PtySession {
    /// `None` where there is no terminal to pass on, or the system gives none.
    pub(crate) fn begin(command: &mut Command, what: &Supervised) -> Result<Option<Self>, RunnerError> {
        if !pty::is_at_a_terminal() {
            return Ok(None);
        }
        let Ok(pty) = Pty::open() else { return Ok(None) };
        let Ok(raw) = RawMode::begin() else { return Ok(None) };
        let (master, PtyChild { leader, program: client }) =
            pty.start(command).map_err(|source| RunnerError::Start { program: what.program.clone(), source })?;
        let master = Arc::new(master);
        let screen = Arc::new(SharedScreen::new(pty::take_size(&*master)));
        let relay = Relay::start(&master, &screen);
        let server = TerminalServer::start(what, leader.id(), &relay, &screen).ok();
        Ok(Some(Self { leader: leader.id(), client, relay, screen, _server: server, raw }))
    }

    /// The terminal has another size.
    pub(crate) fn resized(&self) {
        self.screen.resize(pty::take_size(self.relay.master()));
    }

    /// Our own shell has the terminal until somebody says to go on.
    pub(crate) fn suspended(&self) {
        self.raw.rest();
        // Where no shell could continue us the system does not stop us.
        sys::signals::suspend();
        // In the background it stops us again, until it is our turn.
        let _ = self.raw.again();
        self.resized();
        sys::process::signal(self.leader, libc::SIGCONT);
    }

    /// After the client's end: what it wrote last is shown.
    pub(crate) fn finish(&mut self) {
        self.relay.finish();
    }
}
