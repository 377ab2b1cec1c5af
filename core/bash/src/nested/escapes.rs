//! Programs with a language of their own in which one line may be the shell's: `\!` in `psql`, `!` in `ed`.

use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

/// What the shell's lines begin with, by program.
const ESCAPES: &[(&str, &[&str])] = &[
    ("psql", &["\\!"]),
    ("mysql", &["\\!", "system "]),
    ("mariadb", &["\\!", "system "]),
    ("sqlite3", &[".shell ", ".system "]),
    ("duckdb", &[".shell ", ".system "]),
    ("ed", &["!"]),
    ("red", &["!"]),
    ("ftp", &["!"]),
    ("sftp", &["!"]),
    ("lftp", &["!"]),
    ("gnuplot", &["!", "system "]),
    ("gdb", &["shell ", "!"]),
    ("irb", &["system "]),
];

impl Walker {
    /// The shell's lines among those on the standard input and in the words of `name`.
    pub(super) fn open_escapes(&mut self, name: &str, args: &[Word], place: &Place) {
        let Some((_, marks)) = ESCAPES.iter().find(|(program, _)| *program == name) else { return };
        let words: Vec<String> = args.iter().map(Word::shown).collect();
        let input = place.draft.clone();
        let lines = words.iter().map(String::as_str).chain(input.as_deref()).flat_map(str::lines);
        let texts: Vec<String> = lines
            .filter_map(|line| marks.iter().find_map(|mark| line.trim_start().strip_prefix(mark)))
            .map(str::to_string)
            .collect();
        for text in texts {
            self.inner_text(&text, Via::Wrapper(name.to_string()), place);
        }
    }

    /// `make --eval TEXT`, `make SHELL=TEXT`: what it runs whatever its file says.
    pub(super) fn open_make_texts(&mut self, args: &[Word], place: &Place) {
        let via = || Via::Shell("make".to_string());
        let mut words = args.iter().map(Word::shown);
        while let Some(word) = words.next() {
            let text = match word.split_once('=') {
                Some(("SHELL" | ".SHELLFLAGS", text)) => text.to_string(),
                Some(("--eval", text)) => made(text),
                None if matches!(word.as_str(), "--eval" | "-E") => made(&words.next().unwrap_or_default()),
                _ => continue,
            };
            self.inner_text(&text, via(), place);
        }
    }
}

/// The shell in a line of a makefile: `$(shell TEXT)`, or the recipe behind `target:;`.
fn made(text: &str) -> String {
    let calls = text.split("$(shell ").skip(1).map(|call| call.trim_end_matches(')'));
    let recipe = text.split_once(':').and_then(|(_, rest)| rest.split_once([';', '\n']).map(|(_, recipe)| recipe));
    calls.chain(recipe).collect::<Vec<_>>().join("\n")
}
