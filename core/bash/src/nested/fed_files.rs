//! Files whose text reaches a shell, an interpreter or a database on the standard input, or by a substitution that
//! prints them: `bash < x`, `cat x | sh`, `eval "$(cat x)"`.

use std::sync::Arc;

use crate::files::{KnownFile, WantedFile};
use crate::reading::{StdinSource, Word, WordPiece};
use crate::scope::normal;
use crate::walk::{Place, Walker};

/// Programs that print what is in their files, or a part of it, and those of their options that take a value.
const PRINTERS: &[(&str, &[&str])] = &[
    ("cat", &[]),
    ("tac", &[]),
    ("bat", &["-l", "--language", "--style", "-r", "--line-range"]),
    ("head", &["-n", "-c", "--lines", "--bytes"]),
    ("tail", &["-n", "-c", "--lines", "--bytes"]),
    ("sed", &["-e", "-f", "--expression"]),
    ("grep", &["-e", "-m", "-A", "-B", "-C"]),
    ("egrep", &["-e", "-m", "-A", "-B", "-C"]),
    ("awk", &["-F", "-v"]),
    ("tr", &[]),
    ("sort", &["-k", "-t"]),
    ("uniq", &[]),
    ("tee", &[]),
    ("envsubst", &[]),
    ("dos2unix", &[]),
    ("pv", &[]),
    ("cut", &["-d", "-f", "-c"]),
    ("strings", &["-n"]),
    ("dd", &[]),
    ("fold", &["-w", "-b", "--width"]),
    ("fmt", &["-w"]),
    ("paste", &["-d", "--delimiters"]),
    ("nl", &["-b", "-w", "-s"]),
    ("column", &["-s", "-t"]),
    ("expand", &["-t"]),
    ("shuf", &["-n"]),
    ("iconv", &["-f", "-t"]),
    ("perl", &["-e", "-pe", "-ne", "-lpe", "-lne", "-E"]),
    ("gawk", &["-F", "-v"]),
    ("mawk", &["-F", "-v"]),
    ("gsed", &["-e", "-f", "--expression"]),
    ("rg", &["-e", "-m"]),
    ("batcat", &["-l", "--language", "--style", "-r", "--line-range"]),
];

/// Of these the first operand is no file.
const PATTERN_FIRST: &[&str] = &["sed", "gsed", "grep", "egrep", "awk", "gawk", "mawk", "rg"];
/// Of these none is.
const NO_FILES: &[&str] = &["tr", "tee", "envsubst", "dd"];
/// How many steps a pipe is followed up.
const STEPS: usize = 6;
/// How many files one input may be made of.
const MOST: usize = 4;

impl Walker {
    /// The files that the standard input is made of, as far as they are known.
    pub(crate) fn fed_files(&mut self, place: &Place) -> Vec<Arc<KnownFile>> {
        let paths = match &place.feed {
            StdinSource::File(_) => place.file.iter().map(|path| path.to_string()).collect(),
            StdinSource::Pipe(writers) => self.printed_by(writers, STEPS),
            _ => Vec::new(),
        };
        paths.into_iter().take(MOST).filter_map(|path| self.file(&WantedFile::At(path))).collect()
    }

    /// The files whose text these commands print.
    fn printed_by(&self, writers: &[usize], steps: usize) -> Vec<String> {
        let mut paths = Vec::new();
        let Some(steps) = steps.checked_sub(1) else { return paths };
        for command in writers.iter().take(MOST).filter_map(|at| self.reading.commands.get(*at)) {
            let Some(name) = command.name() else { continue };
            let Some((name, valued)) = PRINTERS.iter().find(|(printer, _)| *printer == name) else { continue };
            let files = operands(name, valued, command.args());
            let cwd = command.cwd.as_deref();
            if files.is_empty() {
                paths.extend(match &command.feed {
                    StdinSource::Pipe(writers) => self.printed_by(writers, steps),
                    StdinSource::File(word) => absolute(word, cwd).into_iter().collect(),
                    _ => Vec::new(),
                });
            }
            paths.extend(files.iter().filter_map(|word| absolute(word, cwd)));
        }
        paths
    }

    /// The file that a word prints where it is nothing but that: `$(cat x)`, `$(< x)`, `<(cat x)`.
    pub(crate) fn printed_file(&mut self, word: &Word, place: &Place) -> Option<Arc<KnownFile>> {
        let [WordPiece::Unknown(source)] = word.pieces.as_slice() else { return None };
        let source = source.trim_matches('"');
        let inner = ["$(", "<("].iter().find_map(|open| source.strip_prefix(open)?.strip_suffix(')'));
        let inner = inner.or_else(|| source.strip_prefix('`')?.strip_suffix('`'))?.trim();
        if inner.contains([';', '&', '\n', '(']) {
            return None;
        }
        // What stands behind a pipe changes the text, and most often little of it.
        let first = inner.split('|').next().unwrap_or(inner);
        let words = match first.strip_prefix('<') {
            Some(raw) => self.fields(raw.trim(), place),
            None => {
                let (name, rest) = first.split_once([' ', '\t'])?;
                let (name, valued) = PRINTERS.iter().find(|(printer, _)| *printer == name)?;
                let words: Vec<Word> = rest.split_whitespace().flat_map(|raw| self.fields(raw, place)).collect();
                operands(name, valued, &words).into_iter().cloned().collect()
            }
        };
        let [file] = words.as_slice() else { return None };
        self.file_named(file)
    }

    /// The files whose lines a word stands for, where it is nothing but what was read from the input: `eval "$line"`
    /// in a loop over a file, `sh -c {}` below `xargs`.
    pub(crate) fn lines_read(&mut self, word: &Word, place: &Place) -> Vec<Arc<KnownFile>> {
        let [WordPiece::Unknown(source)] = word.pieces.as_slice() else { return Vec::new() };
        let name = source.trim_matches('"').trim_start_matches('$').trim_matches(['{', '}']);
        let plain = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        if plain { self.fed_files(place) } else { Vec::new() }
    }
}

/// The files among a printer's arguments.
fn operands<'a>(name: &str, valued: &[&str], args: &'a [Word]) -> Vec<&'a Word> {
    if NO_FILES.contains(&name) {
        return Vec::new();
    }
    let (mut files, mut skip, mut given) = (Vec::new(), false, false);
    for word in args {
        let shown = word.shown();
        if std::mem::take(&mut skip) || (shown.starts_with('-') && !word.quoted) {
            skip = valued.contains(&shown.as_str());
            given |= matches!(shown.as_str(), "-e" | "-f" | "--expression");
            continue;
        }
        files.push(word);
    }
    if PATTERN_FIRST.contains(&name) && !given && !files.is_empty() {
        files.remove(0);
    }
    files
}

fn absolute(word: &Word, cwd: Option<&str>) -> Option<String> {
    let path = word.known()?;
    if path.starts_with('/') { Some(normal(&path)) } else { Some(normal(&format!("{}/{path}", cwd?))) }
}
