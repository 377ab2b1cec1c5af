//! The one place for output: data to stdout, talk to stderr, colour only where a
//! person looks. What goes through it is a `Text`, and a `Text` is clean.

mod text;

pub(crate) use text::text;
pub use text::{Text, TextPiece, only_plain_places};

use crate::error::CliError;
use anstyle::{AnsiColor, Style};
use clap::ColorChoice;
use clap::error::ErrorKind;
use serde_json::Value;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};

pub struct Printer {
    json: bool,
    colour: bool,
}

impl Printer {
    /// What the command line says of colours counts; where it leaves it to us, the environment does.
    pub fn new(json: bool, choice: ColorChoice) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let colour = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => wanted && (forced || Self::has_reader() && !Self::is_dumb()),
        };
        Self { json, colour: !json && colour }
    }

    pub fn json(&self) -> bool {
        self.json
    }

    /// The terminal obeys nothing, colours neither.
    pub fn is_dumb() -> bool {
        std::env::var_os("TERM").is_some_and(|term| term == "dumb")
    }

    /// Whether data goes to a terminal, where a person reads it.
    pub fn has_reader() -> bool {
        std::io::stdout().is_terminal()
    }

    /// Whether talk goes to one.
    pub fn has_listener() -> bool {
        std::io::stderr().is_terminal()
    }

    pub fn line(&self, text: impl Into<Text>) {
        let _ = writeln!(std::io::stdout().lock(), "{}", text.into().as_str());
    }

    /// One object a line: a list is many of these.
    pub fn object(&self, value: &Value) {
        let _ = writeln!(std::io::stdout().lock(), "{}", model::text::json(value));
    }

    /// A part of a document to keep, with its lines. It is made of clean text; what is printed is cleaned all the same.
    pub fn document(&self, part: &str) {
        let _ = write!(std::io::stdout().lock(), "{}", model::text::lines(part, usize::MAX));
    }

    /// A unified difference, as people know it. Its tabs stay: they are part of what changes.
    pub fn diff(&self, text: &str) {
        text.lines().for_each(|line| self.line(self.diff_line(line)));
    }

    /// A difference that somebody is to read before they answer.
    pub fn diff_note(&self, text: &str) {
        text.lines().for_each(|line| self.note(self.diff_line(line)));
    }

    fn diff_line(&self, line: &str) -> Text {
        let shown = Text::joined(line.split('\t').map(Text::lines), "\t");
        match line.get(..1) {
            _ if line.starts_with("+++") || line.starts_with("---") => self.bold(shown),
            Some("+") => self.green(shown),
            Some("-") => self.red(shown),
            Some("@") => self.dim(shown),
            _ => shown,
        }
    }

    /// A file that somebody is to read before they answer: every line of it, under its name.
    pub fn whole(&self, name: impl Into<Text>, text: &str) {
        self.note(self.bold(name));
        text.lines().for_each(|line| self.note(Text::lines(line)));
    }

    pub fn note(&self, text: impl Into<Text>) {
        let _ = writeln!(std::io::stderr().lock(), "{}", text.into().as_str());
    }

    pub fn error(&self, error: &CliError) {
        let told = |text: &str| Text::lines(text).hanging();
        self.note(text!("error: {}", told(error.what())));
        for cause in error.causes() {
            self.note(text!("caused by: {}", told(cause)));
        }
        if let Some(hint) = error.hint_text() {
            self.note(text!("hint: {}", told(hint)));
        }
    }

    /// A question, with the cursor left behind it.
    pub fn ask(question: impl Into<Text>) -> std::io::Result<()> {
        let mut out = std::io::stderr().lock();
        write!(out, "{}", question.into().as_str())?;
        out.flush()
    }

    /// What clap has to say. Its help is all ours; an error of it repeats what was
    /// typed, and keeps its colours only where nothing in that needed cleaning.
    pub fn usage(error: &clap::Error, typed: &[OsString]) {
        let is_clean = |word: &OsString| word.to_str().is_some_and(|word| model::text::lines(word, usize::MAX) == word);
        let help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        if help || typed.iter().all(is_clean) {
            let _ = error.print();
        } else {
            let said = Text::lines(error.render().to_string());
            let _ = write!(std::io::stderr().lock(), "{}", said.as_str());
        }
    }

    /// What helps, where nothing is known yet of how to print it.
    pub fn hint(hint: impl Into<Text>) {
        let _ = writeln!(std::io::stderr().lock(), "hint: {}", hint.into().as_str());
    }

    /// A panic tells of the text it stumbled over, which may be anybody's.
    pub fn clean_panics() {
        std::panic::set_hook(Box::new(|panic| {
            let trace = std::backtrace::Backtrace::capture();
            let traced = trace.status() == std::backtrace::BacktraceStatus::Captured;
            let said = Text::lines(if traced { format!("{panic}\n{trace}") } else { panic.to_string() });
            let _ = writeln!(std::io::stderr().lock(), "{}", said.as_str());
        }));
    }

    /// The line that changes in place, cut to the terminal: one write, so that it does not flicker.
    pub fn draw(&self, text: &str, columns: usize) {
        let mut room = columns;
        // Letters of the East take two columns; of a few others that is too much, and the line ends earlier.
        let fits = |letter: &char| {
            let wide = if *letter >= '\u{1100}' { 2 } else { 1 };
            room = room.saturating_sub(wide);
            room > 0
        };
        let shown: String = Text::line(text).as_str().chars().take_while(fits).collect();
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "\r\u{1b}[2K{}", self.dim(shown).as_str());
        let _ = out.flush();
    }

    pub fn wipe(&self) {
        let _ = write!(std::io::stderr().lock(), "\r\u{1b}[2K");
    }

    /// Rings this terminal, and gives it the text to show where it shows any.
    pub fn ring(text: impl Into<Text>) {
        // tmux hands on only what is wrapped for it.
        let inside_tmux = std::env::var_os("TMUX").is_some_and(|value| !value.is_empty());
        let (before, after) = if inside_tmux { ("\u{1b}Ptmux;\u{1b}", "\u{1b}\\") } else { ("", "") };
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "{before}\u{1b}]9;Taut: {}\u{7}{after}\u{7}", text.into().as_str());
        let _ = out.flush();
    }

    pub fn bold(&self, text: impl Into<Text>) -> Text {
        self.styled(Style::new().bold(), text)
    }

    pub fn dim(&self, text: impl Into<Text>) -> Text {
        self.styled(Style::new().dimmed(), text)
    }

    pub fn red(&self, text: impl Into<Text>) -> Text {
        self.styled(Style::new().fg_color(Some(AnsiColor::Red.into())), text)
    }

    pub fn green(&self, text: impl Into<Text>) -> Text {
        self.styled(Style::new().fg_color(Some(AnsiColor::Green.into())), text)
    }

    pub fn yellow(&self, text: impl Into<Text>) -> Text {
        self.styled(Style::new().fg_color(Some(AnsiColor::Yellow.into())), text)
    }

    pub fn cyan(&self, text: impl Into<Text>) -> Text {
        self.styled(Style::new().fg_color(Some(AnsiColor::Cyan.into())), text)
    }

    fn styled(&self, style: Style, text: impl Into<Text>) -> Text {
        if self.colour { text.into().styled(style) } else { text.into() }
    }

    /// Columns as wide as their widest cell; the last one is not padded.
    pub fn table(&self, head: &[&'static str], rows: &[Vec<Text>]) {
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(Text::width);
            cells.chain(head.get(column).map(|name| name.len())).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let draw = |cells: &[Text]| {
            let padded = cells.iter().zip(widths.iter().copied()).map(|(cell, width)| text!("{:<width$}", *cell));
            Text::joined(padded, "  ").trimmed()
        };
        let head: Vec<Text> = head.iter().map(|name| Text::from(*name)).collect();
        self.line(self.dim(draw(&head)));
        for row in rows {
            self.line(draw(row));
        }
    }
}
