//! Shells: `-c` text, text on the standard input, and process substitutions run as scripts.

use std::sync::Arc;

use super::options;
use crate::files::{FilePiece, KnownFile};
use crate::output::Output;
use crate::reading::{Command, StdinSource, Via, Word};
use crate::scope::{Positional, Value};
use crate::walk::{Place, Walker};

const SHELLS: &[&str] =
    &["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "yash", "csh", "tcsh", "elvish", "nu"];
const VALUED: &[&str] = &["-o", "-O", "--rcfile", "--init-file", "+o", "+O"];

pub(crate) fn is_shell(name: &str) -> bool {
    // `bash5`, `bash-5.2`, `zsh-5.9`, `bash.exe`
    let name = name.strip_suffix(".exe").unwrap_or(name);
    SHELLS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-')))
}

/// A script that a shell is told to run.
pub(super) struct RunFile<'a> {
    pub(super) script: &'a Word,
    /// `$1` and those behind it; `None` where they stay what they are.
    pub(super) args: Option<&'a [Word]>,
    /// `source` reads it in the shell that is there.
    pub(super) own_process: bool,
}

impl Walker {
    pub(super) fn open_shell(&mut self, name: &str, command: &Command, place: &Place) -> Output {
        let (options, operands) = shell_options(command.args());
        let via = Via::Shell(name.to_string());
        // Only the syntax is checked.
        if options::given(&options, &["-n"]) {
            return Output::Unknown;
        }
        if let Some(script) = options::value(&options, &["--rcfile", "--init-file"]) {
            self.run_file(&RunFile { script, args: None, own_process: true }, via.clone(), place);
        }
        if options::given(&options, &["-c", "--command"]) {
            let attached = options::value(&options, &["--command"]).cloned();
            let Some((text, rest)) = attached.map_or_else(
                || operands.split_first().map(|(text, rest)| (text.clone(), rest)),
                |text| Some((text, operands)),
            ) else {
                return Output::Unknown;
            };
            if let Some(file) = self.printed_file(&text, place) {
                let run = RunFile { script: &text, args: rest.get(1..), own_process: true };
                return self.run_shell_file(&file, &run, &place.under(via));
            }
            let read = self.lines_read(&text, place);
            self.run_texts(&read, &place.fed(StdinSource::Inherited, None).under(via.clone()));
            // After the text come `$0` and then the positional parameters.
            let positional = Positional::new(rest.get(1..).unwrap_or_default().to_vec());
            let kept = self.scope.clone();
            self.scope.positional = Some(positional);
            self.set("0", Value::One(rest.first().cloned().unwrap_or_else(|| Word::text(name))));
            let text = super::shell_text(&text);
            // What fish puts in parentheses the others put in `$(…)`.
            let text = if name == "fish" { text.replace(" (", " $(") } else { text };
            let output = self.inner_text(&text, via, place);
            self.scope = kept;
            return output;
        }
        match operands.first() {
            Some(script) if !reads_input(script) && !options::given(&options, &["-s"]) => {
                let script = RunFile { script, args: operands.get(1..), own_process: true };
                self.run_file(&script, via, place)
            }
            _ => self.run_input(via, place),
        }
    }

    /// `source FILE`, `bash FILE`: what the line itself has written, a process substitution whose output is known, or a
    /// file whose text is known.
    pub(super) fn run_file(&mut self, run: &RunFile<'_>, via: Via, place: &Place) -> Output {
        let script = run.script;
        if script
            .known()
            .as_deref()
            .is_some_and(|path| matches!(path, "/dev/stdin" | "/proc/self/fd/0" | "/dev/fd/0" | "-"))
        {
            return self.run_input(via, place);
        }
        if let Some(text) = self.written(script) {
            return self.inner_text(&text, via, place);
        }
        let printed = self.printed_file(script, place);
        let Some(file) = printed.or_else(|| self.file_named(script)) else { return Output::Unknown };
        self.run_shell_file(&file, run, &place.under(via))
    }

    /// Reads the whole of a file as shell.
    pub(super) fn run_shell_file(&mut self, file: &KnownFile, run: &RunFile<'_>, place: &Place) -> Output {
        let Some(text) = file.text() else {
            self.unread_file(file, &run.script.shown());
            return Output::Unknown;
        };
        let name = run.own_process.then_some(run.script);
        let piece = FilePiece { args: run.args, name, ..FilePiece::of(file, 1, text) };
        let before = self.lookup("BASH_SOURCE");
        self.set("BASH_SOURCE", Value::One(run.script.clone()));
        let output = if run.own_process { self.run_piece(&piece, place) } else { self.read_piece(&piece, place) };
        match before {
            Some(value) => self.set("BASH_SOURCE", (*value).clone()),
            None => self.scope.unset("BASH_SOURCE"),
        }
        output
    }

    /// Reads the standard input as shell, as far as its text is known.
    pub(super) fn run_input(&mut self, via: Via, place: &Place) -> Output {
        // What the text itself runs no longer has this input.
        let inside = place.fed(StdinSource::Inherited, None);
        if let Some(text) = place.draft.clone() {
            return self.inner_text(&text, via, &inside);
        }
        let files = self.fed_files(place);
        self.run_texts(&files, &inside.under(via));
        Output::Unknown
    }

    /// Reads files as shell, each in a process of its own.
    pub(super) fn run_texts(&mut self, files: &[Arc<KnownFile>], place: &Place) {
        for file in files {
            if let Some(text) = file.text() {
                self.run_piece(&FilePiece::of(file, 1, text), place);
            }
        }
    }
}

fn reads_input(script: &Word) -> bool {
    script.known().as_deref() == Some("-")
}

/// Shell options: a cluster with `c` in it (`-lc`, `-xec`) takes the next operand as text.
fn shell_options(args: &[Word]) -> (Vec<(String, Option<Word>)>, &[Word]) {
    let mut found = Vec::new();
    let mut rest = args;
    loop {
        let (options, operands) = options::split(rest, VALUED);
        found.extend(options);
        match operands.split_first() {
            // `+x` turns an option off; more may follow.
            Some((first, tail)) if first.known().is_some_and(|text| text.starts_with('+') && text.len() > 1) => {
                rest = tail
            }
            _ => return (found, operands),
        }
    }
}
