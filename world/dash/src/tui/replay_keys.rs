//! The keys of somebody who steps through something that is printed line by line.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use std::io;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayKey {
    Next,
    Back,
    First,
    Last,
    Leave,
}

/// Waits for a key that means something. The terminal is as it was before and after.
///
/// # Errors
/// When the terminal cannot be read.
pub fn wait() -> io::Result<ReplayKey> {
    let _raw = RawTerminal::take()?;
    loop {
        if let Event::Key(key) = read()?
            && let Some(key) = meant(key)
        {
            return Ok(key);
        }
    }
}

fn meant(key: KeyEvent) -> Option<ReplayKey> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    match key.code {
        KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(ReplayKey::Leave),
        KeyCode::Char(' ' | 'j') | KeyCode::Enter | KeyCode::Right | KeyCode::Down => Some(ReplayKey::Next),
        KeyCode::Char('k') | KeyCode::Left | KeyCode::Up | KeyCode::Backspace => Some(ReplayKey::Back),
        KeyCode::Char('g') | KeyCode::Home => Some(ReplayKey::First),
        KeyCode::Char('G') | KeyCode::End => Some(ReplayKey::Last),
        KeyCode::Char('q') | KeyCode::Esc => Some(ReplayKey::Leave),
        _ => None,
    }
}

struct RawTerminal;

impl RawTerminal {
    fn take() -> io::Result<Self> {
        enable_raw_mode().map(|()| Self)
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}
