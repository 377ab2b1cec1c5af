//! The one door for output: data to stdout, talk to stderr, colour only where
//! a person looks.

use crate::error::CliError;
use anstyle::{AnsiColor, Style};
use serde_json::Value;
use std::io::{IsTerminal, Write};

pub struct Printer {
    json: bool,
    colour: bool,
}

impl Printer {
    pub fn new(json: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        Self { json, colour: !json && wanted && (forced || std::io::stdout().is_terminal()) }
    }

    pub fn json(&self) -> bool {
        self.json
    }

    pub fn line(&self, text: impl AsRef<str>) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{}", text.as_ref());
    }

    /// One object a line: a list is many of these.
    pub fn object(&self, value: &Value) {
        self.line(value.to_string());
    }

    /// A unified difference, as people know it.
    pub fn diff(&self, text: &str) {
        for line in text.lines() {
            self.line(match line.get(..1) {
                _ if line.starts_with("+++") || line.starts_with("---") => self.bold(line),
                Some("+") => self.green(line),
                Some("-") => self.red(line),
                Some("@") => self.dim(line),
                _ => line.to_string(),
            });
        }
    }

    pub fn note(&self, text: impl AsRef<str>) {
        let mut out = std::io::stderr().lock();
        let _ = writeln!(out, "{}", text.as_ref());
    }

    pub fn error(&self, error: &CliError) {
        self.note(format!("error: {}", error.what()));
        for cause in error.causes() {
            self.note(format!("caused by: {cause}"));
        }
        if let Some(hint) = error.hint_text() {
            self.note(format!("hint: {hint}"));
        }
    }

    pub fn bold(&self, text: impl AsRef<str>) -> String {
        self.styled(Style::new().bold(), text.as_ref())
    }

    pub fn dim(&self, text: impl AsRef<str>) -> String {
        self.styled(Style::new().dimmed(), text.as_ref())
    }

    pub fn red(&self, text: impl AsRef<str>) -> String {
        self.styled(Style::new().fg_color(Some(AnsiColor::Red.into())), text.as_ref())
    }

    pub fn green(&self, text: impl AsRef<str>) -> String {
        self.styled(Style::new().fg_color(Some(AnsiColor::Green.into())), text.as_ref())
    }

    pub fn yellow(&self, text: impl AsRef<str>) -> String {
        self.styled(Style::new().fg_color(Some(AnsiColor::Yellow.into())), text.as_ref())
    }

    fn styled(&self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// Columns as wide as their widest cell; the last one is not padded.
    pub fn table(&self, head: &[&str], rows: &[Vec<String>]) {
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| seen(cell));
            cells.chain(head.get(column).map(|name| name.len())).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let draw = |cells: Vec<&str>| {
            let padded = cells
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell}{}", " ".repeat(width.saturating_sub(seen(cell)))));
            padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
        };
        self.line(self.dim(draw(head.to_vec())));
        for row in rows {
            self.line(draw(row.iter().map(String::as_str).collect()));
        }
    }
}

/// How many columns a cell takes: colours take none.
fn seen(cell: &str) -> usize {
    let mut inside = false;
    let shown = cell.chars().filter(|letter| {
        let hidden = inside || *letter == '\u{1b}';
        inside = hidden && *letter != 'm';
        !hidden
    });
    shown.count()
}
