//! What the client's screen shows, as it would be captured from a pane: so that
//! whoever types looks first.

use host::tmux::CapturedPane;
use std::fmt::Write;
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// Read along with what passes. Whatever it cannot follow makes it unreadable, and nothing else.
pub struct SharedScreen {
    /// `None` once it could not be followed.
    parser: Mutex<Option<vt100::Parser>>,
}

/// Columns and rows where the terminal does not say its size.
const USUAL: (NonZeroU16, NonZeroU16) = (NonZeroU16::new(80).unwrap(), NonZeroU16::new(24).unwrap());

impl SharedScreen {
    pub fn new(size: Option<(u16, u16)>) -> Self {
        let (columns, rows) = sane(size);
        Self { parser: Mutex::new(Some(vt100::Parser::new(rows, columns, 0))) }
    }

    pub fn take(&self, bytes: &[u8]) {
        self.follow(|parser| parser.process(bytes));
    }

    pub fn resize(&self, size: Option<(u16, u16)>) {
        let (columns, rows) = sane(size);
        self.follow(|parser| parser.screen_mut().set_size(rows, columns));
    }

    fn follow(&self, step: impl FnOnce(&mut vt100::Parser)) {
        let mut held = self.parser.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parser) = held.as_mut()
            && catch_unwind(AssertUnwindSafe(|| step(parser))).is_err()
        {
            *held = None;
        }
    }

    /// As it is now, of the program with this number.
    pub fn capture(&self, pid: u32) -> Option<CapturedPane> {
        let held = self.parser.lock().unwrap_or_else(PoisonError::into_inner);
        let screen = held.as_ref()?.screen();
        let (row, column) = screen.cursor_position();
        Some(CapturedPane {
            text: text(screen),
            cursor: (column.into(), row.into()),
            pid,
            // A program that does not know pastes would take each line of one for an answer.
            takes_keys: screen.bracketed_paste(),
        })
    }
}

fn sane(size: Option<(u16, u16)>) -> (NonZeroU16, NonZeroU16) {
    size.and_then(|(columns, rows)| Some((NonZeroU16::new(columns)?, NonZeroU16::new(rows)?))).unwrap_or(USUAL)
}

/// Letters with the attributes that matter to who reads it: faint and reversed.
fn text(screen: &vt100::Screen) -> String {
    let (rows, columns) = screen.size();
    let mut out = String::new();
    for row in 0..rows.get() {
        let mut pen = (false, false);
        let mut line = String::new();
        for column in 0..columns.get() {
            let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else { continue };
            let now = (cell.dim(), cell.inverse());
            if now != pen {
                pen = now;
                let _ = write!(line, "\u{1b}[0{}{}m", if now.0 { ";2" } else { "" }, if now.1 { ";7" } else { "" });
            }
            line.push_str(if cell.has_contents() { cell.contents() } else { " " });
        }
        if pen == (false, false) {
            line.truncate(line.trim_end_matches(' ').len());
        } else {
            line.push_str("\u{1b}[0m");
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(bytes: &[u8]) -> SharedScreen {
        let screen = SharedScreen::new(Some((20, 4)));
        screen.take(bytes);
        screen
    }

    #[test]
    fn f3_a_screen_is_captured_with_its_cursor_and_the_attributes_that_matter() {
        let seen = screen(b"one\r\n\x1b[2mfaint\x1b[0m \x1b[7mX\x1b[0m\x1b[?2004h").capture(7).unwrap();
        assert_eq!(seen.text, "one\n\u{1b}[0;2mfaint\u{1b}[0m \u{1b}[0;7mX\u{1b}[0m\n\n\n");
        assert_eq!((seen.cursor, seen.pid, seen.takes_keys), ((7, 1), 7, true));
        assert!(!screen(b"\x1b[?2004h\x1b[?2004l$ ").capture(7).unwrap().takes_keys);
    }

    #[test]
    fn f3_nothing_that_a_program_writes_breaks_the_reader() {
        let odd: &[&[u8]] = &[
            b"\x1b[999999999;999999999H\x1b[99999999P",
            b"\x1b[0;0r\x1b[5;1r\n\n\n\x1b[99999L\x1b[99999M",
            "\u{200d}\u{301}😀😀😀😀😀😀😀😀😀😀😀".as_bytes(),
            b"\xff\xfe\x1b]8;;",
            &[0x1b; 3000],
        ];
        for bytes in odd {
            let screen = screen(bytes);
            for size in [(1, 1), (300, 90), (0, 5), (2, 2)] {
                screen.resize(Some(size));
                screen.take(bytes);
            }
            let _ = screen.capture(1);
        }
    }
}
