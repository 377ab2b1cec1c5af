//! The terminal: taken over, and given back on every way out.

use super::state::ViewState;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use ratatui::layout::Rect;
use std::io::{self, BufWriter, Stdout, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// A frame leaves in one piece.
type Screen = Terminal<CrosstermBackend<BufWriter<Stdout>>>;
const FRAME_BYTES: usize = 1 << 17;

/// Whether the terminal is ours. A panic of any thread gives it back.
static TAKEN: AtomicBool = AtomicBool::new(false);

pub(super) struct Taken {
    screen: Screen,
}

impl Taken {
    pub fn take() -> io::Result<Self> {
        restore_on_panic();
        enter()?;
        let out = BufWriter::with_capacity(FRAME_BYTES, io::stdout());
        // Made before the first line is drawn: from here on dropping it gives the terminal back.
        let screen = Terminal::new(CrosstermBackend::new(out)).inspect_err(|_| leave())?;
        let mut taken = Self { screen };
        taken.repaint()?;
        Ok(taken)
    }

    pub fn draw(&mut self, state: &ViewState) -> io::Result<()> {
        if !TAKEN.load(Ordering::SeqCst) {
            // A thread has panicked and what it said stands there.
            return Ok(());
        }
        execute!(self.screen.backend_mut(), BeginSynchronizedUpdate)?;
        self.screen.draw(|frame| super::draw(state, frame))?;
        execute!(self.screen.backend_mut(), EndSynchronizedUpdate)?;
        self.screen.backend_mut().flush()
    }

    /// Whatever stands on the screen now is drawn over. Not by `clear`, which asks
    /// the terminal where its cursor is: the answer would go to whoever reads the keys.
    pub fn repaint(&mut self) -> io::Result<()> {
        let size = self.screen.size()?;
        self.screen.resize(Rect::new(0, 0, size.width, size.height))
    }

    /// Back to the shell until it brings us to the front again.
    pub fn suspend(&mut self) -> io::Result<()> {
        leave();
        sys::signals::suspend();
        self.again()
    }

    /// After somebody stopped us without asking, the shell has set the terminal as it likes it.
    pub fn again(&mut self) -> io::Result<()> {
        let _ = disable_raw_mode();
        enter()?;
        self.repaint()
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        leave();
    }
}

fn enter() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode().inspect_err(|_| leave())?;
    execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture).inspect_err(|_| leave())
}

/// Once only: giving it back again would put the cursor over what was said since.
/// A terminal that is gone cannot be given back, and needs not.
fn leave() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = execute!(io::stdout(), EndSynchronizedUpdate, DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// The message of a panic must reach the screen the person looks at.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            before(panic);
        }));
    });
}
