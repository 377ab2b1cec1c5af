//! The loop around the screen: keys, news and the clock in, effects out. It
//! owns the terminal and never waits for the database.

use super::acts::TopAct;
use super::look::ColorMode;
use super::reader::{self, FleetSource, Wanted};
use super::signals;
use super::state::{ClickPlace, ClockTick, Key, ViewEffect, ViewInput, ViewState};
use super::terminal::Taken;
use actions::PaneWay;
use model::{Ms, WallClock};
use ratatui::crossterm::event::{
    self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::crossterm::terminal;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// All it needs to know of the world.
pub struct Setup {
    pub source: FleetSource,
    pub look: ColorMode,
    /// `$TMUX`, or nothing.
    pub tmux: String,
    pub now: fn() -> Ms,
    pub wall: WallClock,
    pub actions: Arc<dyn TopActions>,
}

/// Does what the person at the keys wishes. Called in threads of their own: it may take its time.
pub trait TopActions: Send + Sync {
    /// What came of it, in words.
    fn act(&self, act: TopAct) -> String;
    /// What it would do, as a question; or why it cannot be done.
    ///
    /// # Errors
    /// In words for the person.
    fn prepare(&self, act: &TopAct) -> Result<String, String>;
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewEnd {
    Quit,
    /// Somebody ended us from outside.
    Signalled,
}

#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error("the terminal cannot be used; `taut top --once` prints the same as text")]
    Terminal(#[from] io::Error),
    #[error("the fleet can no longer be read, because the reader failed; `taut doctor` looks for the cause")]
    Reader,
}

/// What the loop hears of.
pub(super) enum ViewNews {
    Input(ViewInput),
    Signal(i32),
    ReaderGone,
    /// The terminal has no more keys to give.
    KeysGone,
}

/// Ages are shown in seconds.
const TICK: Duration = Duration::from_secs(1);

/// Takes the terminal over until the person quits.
pub fn run(setup: Setup) -> Result<ViewEnd, ViewError> {
    let (to, news) = mpsc::channel();
    signals::listen(to.clone())?;
    let taken = Taken::take()?;
    let wanted = Wanted::default();
    reader::start(setup.source, wanted.clone(), to.clone());
    read_keys(to.clone());
    let (width, height) = terminal::size()?;
    let state = ViewState::new(width, height, setup.look).with_wall(setup.wall);
    Loop { taken, state, news, to, wanted, tmux: setup.tmux, now: setup.now, actions: setup.actions }.run()
}

/// How wide the terminal is, where there is one.
pub fn width() -> Option<u16> {
    terminal::size().ok().map(|(width, _)| width).filter(|width| *width > 0)
}

struct Loop {
    taken: Taken,
    state: ViewState,
    news: Receiver<ViewNews>,
    to: Sender<ViewNews>,
    wanted: Wanted,
    tmux: String,
    now: fn() -> Ms,
    actions: Arc<dyn TopActions>,
}

impl Loop {
    fn run(mut self) -> Result<ViewEnd, ViewError> {
        let mut next_tick = Instant::now();
        loop {
            if Instant::now() >= next_tick {
                next_tick = Instant::now() + TICK;
            }
            self.step(ViewInput::Tick(ClockTick { now: (self.now)() }))?;
            self.taken.draw(&self.state)?;
            let mut news = match self.news.recv_timeout(next_tick.saturating_duration_since(Instant::now())) {
                Ok(news) => Some(news),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Err(ViewError::Reader),
            };
            // All that has come meanwhile makes one frame.
            while let Some(one) = news {
                if let Some(ended) = self.hear(one)? {
                    return Ok(ended);
                }
                news = self.news.try_recv().ok();
            }
        }
    }

    fn hear(&mut self, news: ViewNews) -> Result<Option<ViewEnd>, ViewError> {
        match news {
            ViewNews::Input(input) => {
                self.wanted.took(&input);
                return self.step(input);
            }
            ViewNews::Signal(libc::SIGTSTP) => self.suspend()?,
            ViewNews::Signal(libc::SIGCONT) => self.taken.again()?,
            ViewNews::Signal(_) | ViewNews::KeysGone => return Ok(Some(ViewEnd::Signalled)),
            ViewNews::ReaderGone => return Err(ViewError::Reader),
        }
        Ok(None)
    }

    fn step(&mut self, input: ViewInput) -> Result<Option<ViewEnd>, ViewError> {
        let (state, effects) = std::mem::take(&mut self.state).step(input);
        self.state = state;
        for effect in effects {
            match effect {
                ViewEffect::Quit => return Ok(Some(ViewEnd::Quit)),
                ViewEffect::Suspend => self.suspend()?,
                ViewEffect::Repaint => self.taken.repaint()?,
                ViewEffect::OpenTimeline { session } => self.wanted.set(Some(session)),
                ViewEffect::CloseTimeline => self.wanted.set(None),
                ViewEffect::ReadEnded(wanted) => self.wanted.set_ended(wanted),
                ViewEffect::Jump { pane } => self.jump(&pane),
                ViewEffect::Act(act) => self.aside(move |actions| ViewInput::Notice(actions.act(act))),
                ViewEffect::Prepare(act) => self.aside(move |actions| match actions.prepare(&act) {
                    Ok(question) => ViewInput::Ask { act, question },
                    Err(why) => ViewInput::Notice(why),
                }),
            }
        }
        Ok(None)
    }

    fn suspend(&mut self) -> Result<(), ViewError> {
        self.taken.suspend()?;
        let (width, height) = terminal::size()?;
        self.step(ViewInput::Resize { width, height }).map(drop)
    }

    /// In a thread of its own: what acts on an agent may wait for its terminal.
    fn aside(&self, work: impl FnOnce(&dyn TopActions) -> ViewInput + Send + 'static) {
        let (to, actions) = (self.to.clone(), Arc::clone(&self.actions));
        std::thread::spawn(move || drop(to.send(ViewNews::Input(work(&*actions)))));
    }

    /// In a thread of its own: a tmux that hangs must not take the keyboard along.
    fn jump(&self, pane: &str) {
        let to = self.to.clone();
        let tell = move |text: String| drop(to.send(ViewNews::Input(ViewInput::Notice(text))));
        match actions::pane_way(pane, &self.tmux) {
            Some(PaneWay::Go(words)) => drop(std::thread::spawn(move || {
                if let Err(why) = ask_tmux(&words) {
                    tell(format!("tmux cannot go there: {why}"));
                }
            })),
            Some(PaneWay::Command(command)) => tell(format!("on another tmux server: {command}")),
            None => tell("the agent did not say where its pane is".to_string()),
        }
    }
}

/// Gives what tmux says against it.
fn ask_tmux(words: &[String]) -> Result<(), String> {
    let done = Command::new("tmux").args(words).stdin(Stdio::null()).output().map_err(|cause| cause.to_string())?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).trim().to_string()) }
}

fn read_keys(to: Sender<ViewNews>) {
    std::thread::spawn(move || {
        loop {
            let news = match event::read() {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => key_of(key).map(ViewInput::Key),
                Ok(Event::Mouse(mouse)) => click_of(mouse).map(ViewInput::Mouse),
                Ok(Event::Resize(width, height)) => Some(ViewInput::Resize { width, height }),
                Ok(_) => None,
                Err(_) => {
                    let _ = to.send(ViewNews::KeysGone);
                    return;
                }
            };
            if news.is_some_and(|input| to.send(ViewNews::Input(input)).is_err()) {
                return;
            }
        }
    });
}

fn click_of(mouse: MouseEvent) -> Option<ClickPlace> {
    match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => Some(ClickPlace::Line(mouse.row)),
        MouseEventKind::ScrollUp => Some(ClickPlace::WheelUp),
        MouseEventKind::ScrollDown => Some(ClickPlace::WheelDown),
        _ => None,
    }
}

fn key_of(key: KeyEvent) -> Option<Key> {
    Some(match key.code {
        KeyCode::Char(letter) if key.modifiers.contains(KeyModifiers::CONTROL) => Key::Ctrl(letter),
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::Backspace => Key::Backspace,
        _ => return None,
    })
}
