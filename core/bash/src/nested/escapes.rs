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

    /// `make SHELL=TEXT`: what runs every line of a recipe.
    pub(super) fn open_make_shell(&mut self, args: &[Word], place: &Place) {
        for word in args.iter().map(Word::shown) {
            if let Some(("SHELL" | ".SHELLFLAGS", text)) = word.split_once('=') {
                self.inner_text(text, Via::Shell("make".to_string()), place);
            }
        }
    }
}
