//! The client's screen as tmux shows it: whether the input line is there, has
//! the keyboard, and is empty. Learned from the real client; in doubt it is
//! unknown, for what is pasted into the wrong place cannot be taken back.

mod cells;

use crate::dialect::CapturedScreen;
use cells::{Cell, ScreenRow, rows};
use model::fleet::Prompt;

/// The client draws its input line with a space that does not break; its
/// dialogs, and its list of sessions, with a plain one.
const READY: [char; 2] = ['❯', '\u{a0}'];
/// The same line when it takes a command for the shell.
const SHELL: [char; 2] = ['!', '\u{a0}'];
const TEXT_COLUMN: usize = 2;

/// Under the input line while the client works.
const WORKING: &str = "esc to interrupt";

/// The signs that turn while it works.
const SPINNER: [char; 7] = ['·', '✢', '✳', '✶', '✻', '✽', '*'];

/// At the foot of what the client asks.
const ASKING: [&str; 5] = ["Esc to cancel", "Enter to confirm", "Enter to select", "Esc to exit", "Esc to clear"];

pub fn prompt(screen: CapturedScreen<'_>) -> Prompt {
    let rows = rows(screen.text);
    let Some(line) = InputLine::find(&rows) else { return without_input_line(&rows) };
    let (column, row) = screen.cursor;
    if !(line.first..line.end).contains(&row) {
        return Prompt::Unknown;
    }
    let content = rows.get(line.first).map(|row| row.cells.get(TEXT_COLUMN..).unwrap_or_default()).unwrap_or_default();
    let written = line.end - line.first > 1 || content.iter().any(|cell| !cell.letter.is_whitespace());
    let at_start = (column, row) == (TEXT_COLUMN, line.first);
    if line.shell || !at_start || written && !is_offer(content) {
        return Prompt::Typed;
    }
    // A terminal without the focus is drawn without a cursor; then nothing else on the screen may claim the keyboard.
    let has_keyboard =
        rows.get(row).is_some_and(|row| row.reverse_at(column)) || !rows.iter().any(ScreenRow::has_reverse);
    if has_keyboard && !line.works(&rows) { Prompt::Empty } else { Prompt::Unknown }
}

/// What stands in the input line, without any blanks: where it was wrapped
/// cannot be seen. `None` where there is no input line with the keyboard, where
/// it takes a command for the shell, and while the client works.
pub fn typed(screen: CapturedScreen<'_>) -> Option<String> {
    let rows = rows(screen.text);
    let line = InputLine::find(&rows).filter(|line| (line.first..line.end).contains(&screen.cursor.1))?;
    if line.shell || line.works(&rows) {
        return None;
    }
    let written = rows.iter().take(line.end).skip(line.first).flat_map(|row| row.characters().skip(TEXT_COLUMN));
    Some(written.filter(|letter| !letter.is_whitespace()).collect())
}

/// Whether this is how the client shows a text that was pasted: itself, or for a long one in its place how long it is.
pub fn shows(typed: &str, text: &str) -> bool {
    let itself = text.chars().filter(|letter| !letter.is_whitespace()).eq(typed.chars());
    itself || in_place_of(typed, text)
}

/// `[Pasted text #3 +12 lines]`, for twelve line breaks.
fn in_place_of(typed: &str, text: &str) -> bool {
    let named = typed.strip_prefix("[Pastedtext#").and_then(|rest| rest.strip_suffix(']'));
    let Some((number, lines)) = named.map(|named| named.split_once('+').unwrap_or((named, "0lines"))) else {
        return false;
    };
    let lines = lines.strip_suffix("lines").and_then(|lines| lines.parse::<usize>().ok());
    number.parse::<u32>().is_ok() && lines == Some(text.matches('\n').count())
}

pub fn works(screen: CapturedScreen<'_>) -> bool {
    let rows = rows(screen.text);
    let asks = InputLine::find(&rows).is_none() && without_input_line(&rows) == Prompt::Dialog;
    !asks && rows.iter().any(|row| row.text().contains(WORKING) || is_spinner(&row.text()))
}

/// `✻ Thinking…`: all that says so while somebody types the next line.
fn is_spinner(row: &str) -> bool {
    let doing = row.strip_prefix(SPINNER).and_then(|rest| rest.strip_prefix(' '));
    doing.and_then(|doing| doing.split_whitespace().next()).is_some_and(|word| word.ends_with('…'))
}

/// These begin what the client takes for a command, a note for its memory or the name of a file.
const OBEYED_FIRST: [char; 5] = ['/', '!', '#', '@', '&'];
/// These alone end the client.
const ENDS: [&str; 6] = ["exit", "quit", ":q", ":q!", ":wq", ":wq!"];

/// What is pasted ends where the cursor stands: a name that begins there is completed by Enter, and a backslash makes it a
/// line break.
pub fn is_words(text: &str) -> bool {
    let text = text.trim();
    let completed = text.split_whitespace().next_back().is_some_and(|word| word.starts_with('@'));
    !text.starts_with(OBEYED_FIRST) && !completed && !text.ends_with('\\') && !ENDS.contains(&text)
}

/// The rows of the input line, between two rules.
struct InputLine {
    first: usize,
    end: usize,
    shell: bool,
}

impl InputLine {
    /// The last one on the screen: what was sent before is shown without rules.
    fn find(rows: &[ScreenRow]) -> Option<Self> {
        let starts = |row: &ScreenRow, mark: [char; 2]| row.characters().take(2).eq(mark);
        let opened =
            |at: usize| at.checked_sub(1).and_then(|above| rows.get(above)).is_some_and(ScreenRow::is_titled_rule);
        let first = (0..rows.len())
            .rev()
            .find(|at| opened(*at) && rows.get(*at).is_some_and(|row| starts(row, READY) || starts(row, SHELL)))?;
        let length = rows.iter().skip(first).position(ScreenRow::is_rule)?;
        let indented = |row: &ScreenRow| row.characters().take(TEXT_COLUMN).all(|letter| letter == ' ');
        let whole = rows.iter().skip(first + 1).take(length.saturating_sub(1)).all(indented);
        let shell = rows.get(first).is_some_and(|row| starts(row, SHELL));
        whole.then_some(Self { first, end: first + length, shell })
    }

    fn works(&self, rows: &[ScreenRow]) -> bool {
        rows.iter().skip(self.end).any(|row| row.text().contains(WORKING))
    }
}

/// What the client itself proposes stands there faint, with the cursor on its first letter.
fn is_offer(content: &[Cell]) -> bool {
    let mut rest = content.iter().skip(1).filter(|cell| !cell.letter.is_whitespace()).peekable();
    rest.peek().is_some() && rest.all(|cell| cell.faint)
}

fn without_input_line(rows: &[ScreenRow]) -> Prompt {
    let asks = rows.iter().any(|row| {
        let text = row.text();
        let chosen = text
            .trim_start()
            .strip_prefix("❯ ")
            .is_some_and(|rest| rest.split_once('.').is_some_and(|(number, _)| number.parse::<u8>().is_ok()));
        chosen || ASKING.iter().any(|foot| text.contains(foot))
    });
    if asks { Prompt::Dialog } else { Prompt::Unknown }
}
