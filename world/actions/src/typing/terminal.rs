//! The terminal of an agent: a pane of tmux, or the one that `taut run` made for
//! it. Both show their screen and take what is typed.

use super::NotTyped;
use agents::CapturedScreen;
use agents::dialect::ScreenDialect;
use engine::fleet::wake::is_ours;
use host::run_terminal::RunTerminal;
use host::tmux::{self, CapturedPane, TmuxServer};
use model::ClientProcess;
use model::fleet::Prompt;
use model::session::Session;
use std::path::Path;
use std::time::{Duration, Instant};

/// An Enter that comes with the text is taken for a pasted line break.
const BEFORE_ENTER: Duration = Duration::from_millis(300);

/// So long a client may take to show what was pasted.
const SHOWN_WITHIN: Duration = Duration::from_secs(4);

/// An Enter that was lost is noticed by the text still standing there.
const AFTER_ENTER: Duration = Duration::from_millis(700);

/// A terminal, and the client that must have it.
pub struct AgentTerminal {
    way: TerminalWay,
    client: ClientProcess,
    dialect: &'static ScreenDialect,
}

enum TerminalWay {
    Tmux { server: TmuxServer, pane: String },
    Run(RunTerminal),
}

impl AgentTerminal {
    /// `None` where its terminal is neither of ours nor of tmux, or shows what nobody can read.
    pub fn of(session: &Session, state: &Path) -> Option<Self> {
        let agent = session.memo.dialect.as_deref().and_then(|id| agents::ALL.find(id)).unwrap_or(agents::DEFAULT);
        let (dialect, client) = (agent.screen.as_ref()?, session.client?);
        let way = match session.pane.as_deref().and_then(tmux::address) {
            Some((socket, pane)) => TerminalWay::Tmux { server: TmuxServer::at(socket), pane: pane.to_string() },
            None => TerminalWay::Run(RunTerminal::of(state, client)?),
        };
        Some(Self { way, client, dialect })
    }

    /// Why what is sent there would not reach this session's client, or somebody else too.
    pub fn is_its_own(&self) -> Result<(), NotTyped> {
        self.screen().map(drop)
    }

    /// What the input line is, and what stands in it.
    pub fn prompt(&self) -> Result<(Prompt, String), NotTyped> {
        let seen = self.screen()?;
        let typed = (self.dialect.typed)(read(&seen)).unwrap_or_default();
        Ok(match (self.dialect.prompt)(read(&seen)) {
            Prompt::Typed if is_ours(&typed) => (Prompt::Ours, typed),
            other => (other, typed),
        })
    }

    /// Whether its client passes the text on to the agent as it is.
    pub fn takes_for_words(&self, text: &str) -> bool {
        (self.dialect.is_words)(text)
    }

    /// As if a person pasted it.
    pub fn paste(&self, text: &str) -> bool {
        match &self.way {
            TerminalWay::Tmux { server, pane } => server.paste(pane, text).is_ok(),
            TerminalWay::Run(run) => run.paste(text).is_ok(),
        }
    }

    /// Enter follows only where exactly this text stands. A busy client shows it late; one that never does, or that shows
    /// more, gets no Enter. Whether it was sent.
    pub fn enter(&self, text: &str) -> bool {
        let shows = |typed: &str| (self.dialect.shows)(typed, text);
        let stands =
            || self.screen().ok().and_then(|seen| (self.dialect.typed)(read(&seen))).is_some_and(|typed| shows(&typed));
        let shown_by = Instant::now() + SHOWN_WITHIN;
        std::thread::sleep(BEFORE_ENTER);
        while !stands() {
            if Instant::now() >= shown_by {
                return false;
            }
            std::thread::sleep(BEFORE_ENTER);
        }
        for _ in 0..2 {
            if !stands() {
                return true;
            }
            if !self.press_enter() {
                return false;
            }
            std::thread::sleep(AFTER_ENTER);
        }
        !stands()
    }

    pub fn escape(&self) -> bool {
        match &self.way {
            TerminalWay::Tmux { server, pane } => server.escape(pane).is_ok(),
            TerminalWay::Run(run) => run.escape().is_ok(),
        }
    }

    fn press_enter(&self) -> bool {
        match &self.way {
            TerminalWay::Tmux { server, pane } => server.enter(pane).is_ok(),
            TerminalWay::Run(run) => run.enter().is_ok(),
        }
    }

    fn screen(&self) -> Result<CapturedPane, NotTyped> {
        let seen = match &self.way {
            TerminalWay::Tmux { server, pane } => server.glimpse(pane).map_err(|_| NotTyped::Unreadable)?,
            TerminalWay::Run(run) => run.glimpse().map_err(|error| NotTyped::Refused(error.to_string()))?,
        };
        if seen.takes_keys && tmux::runs_in(self.client, &seen) { Ok(seen) } else { Err(NotTyped::Unreadable) }
    }
}

fn read(seen: &CapturedPane) -> CapturedScreen<'_> {
    CapturedScreen { text: &seen.text, cursor: seen.cursor }
}
