//! What the reader reports: plain data, in the order the commands would run.

use std::borrow::Cow;
use std::sync::Arc;

use crate::files::{KnownFiles, WantedFile};

/// What is known about the place a line would run in. Variables named here are
/// expanded; all others that the line does not assign are unknown.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The working folder, absolute.
    pub cwd: Option<String>,
    /// The home folder, absolute: the value of `~` and `$HOME`.
    pub home: Option<String>,
    /// Other variables whose value is certain (`PWD`, `USER`, `TMPDIR`, …).
    pub vars: Vec<(String, String)>,
    /// Files the line runs, as far as they are known by now.
    pub files: Arc<KnownFiles>,
}

/// The name under which the project's top folder stands among the variables. No shell has a variable of that name.
pub const TOP_LEVEL: &str = "top level";

/// Everything a line would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    pub commands: Vec<Command>,
    /// What could not be read; the commands then come from a conservative scan.
    pub troubles: Vec<UnreadPart>,
    /// A bound was hit: something in the line was not looked at.
    pub cut: bool,
    /// Files that have to be known to say more. With them in the surroundings the line is read again.
    pub wants: Vec<WantedFile>,
}

/// One simple command that would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments. Empty for a bare redirect or assignment.
    pub words: Vec<Word>,
    /// `NAME=value` before the program, and by `env NAME=value`.
    pub assignments: Vec<(String, Word)>,
    pub redirects: Vec<Redirect>,
    /// How the command is reached, outermost first. Empty at the top of the line. Shared, as the input and
    /// the folder are, by all commands of one place: a copy for each would cost the square of the line.
    pub via: Arc<Vec<Via>>,
    /// What it reads on its standard input.
    pub feed: StdinSource,
    /// The folder it runs in, as far as `cd` in the line lets us know.
    pub cwd: Option<Arc<str>>,
    /// The line of the innermost file it is reached through; 0 where it stands in no file.
    pub line: usize,
    /// It is typed into another terminal.
    pub typed: bool,
}

/// One word after quoting and expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Word {
    pub pieces: Vec<WordPiece>,
    /// Whether any part of it was quoted. A quoted word is never an option by accident, nor a glob.
    pub quoted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum WordPiece {
    /// Text that is certain.
    Text(String),
    /// An unquoted pattern: `*`, `?`, `[a-z]`, as written.
    Glob(String),
    /// Something only the run would tell: `$x`, `$(cmd)`. Holds its source text.
    Unknown(String),
}

/// How a command is reached from the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// `$(…)` or backquotes.
    Substitution,
    /// `<(…)` or `>(…)`.
    ProcessSubstitution,
    /// The body of a function or alias defined in the line.
    Body(String),
    /// A wrapper such as `sudo`, `xargs`, `find -exec`, `ssh`.
    Wrapper(String),
    /// A shell told to run text: `bash -c`, `eval`, `source <(…)`, text piped into `sh`.
    Shell(String),
    /// An interpreter running inline code; its library calls are given as the shell commands that would do the same.
    Script(String),
    /// A file that is run, or that says what is run.
    File(Arc<str>),
    /// A branch or loop body.
    Branch,
    /// A job in the background.
    Background,
    /// Only where nothing stands at this path, as the line tests before: `[ -f x ] || …`. As written, without quotes.
    Absent(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StdinSource {
    /// Whatever the line itself reads.
    #[default]
    Inherited,
    /// The output of these commands (indices into `Reading::commands`).
    Pipe(Arc<[usize]>),
    /// Text known from a here-document, here-string, or a literal `echo`/`printf` upstream.
    Text(Arc<str>),
    /// A file.
    File(Arc<Word>),
    /// Something only the run would tell.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    pub kind: RedirectKind,
    pub target: Word,
    /// Only what is said of errors goes there: `2>`.
    pub errors: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    Read,
    /// `>`, `>|`, `&>`, `<>`.
    Write,
    /// `>>`, `&>>`.
    Append,
}

/// A piece of the line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadPart {
    pub text: String,
    pub why: String,
    /// The file it stands in, and on which line of it.
    pub file: Option<(Arc<str>, usize)>,
}

impl Word {
    /// A word of certain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { pieces: vec![WordPiece::Text(text.into())], quoted: false }
    }

    /// The whole word, when every piece of it is certain.
    pub fn known(&self) -> Option<String> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                WordPiece::Text(text) => out.push_str(text),
                WordPiece::Glob(_) | WordPiece::Unknown(_) => return None,
            }
        }
        Some(out)
    }

    /// The word as a person would write it: unknown and glob pieces as in the source.
    pub fn shown(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                WordPiece::Text(text) | WordPiece::Glob(text) | WordPiece::Unknown(text) => text.as_str(),
            })
            .collect()
    }

    /// The length of the word as shown.
    pub(crate) fn size(&self) -> usize {
        self.pieces
            .iter()
            .map(|piece| match piece {
                WordPiece::Text(text) | WordPiece::Glob(text) | WordPiece::Unknown(text) => text.len(),
            })
            .sum()
    }

    pub fn has_glob(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, WordPiece::Glob(_)))
    }

    pub fn has_unknown(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, WordPiece::Unknown(_)))
    }
}

impl Command {
    /// Whether it is started in, or typed into, another terminal.
    pub fn is_in_another_terminal(&self) -> bool {
        let terminal = |via: &Via| matches!(via, Via::Wrapper(name) if crate::nested::is_terminal(name));
        self.via.iter().any(terminal)
    }

    /// The program's name without its folder, when it is certain.
    pub fn program(&self) -> Option<String> {
        let name = self.words.first()?.known()?;
        Some(name.rsplit('/').next().unwrap_or(&name).to_string())
    }

    /// The same without a copy, where the word is of one piece, as nearly all are.
    pub(crate) fn name(&self) -> Option<Cow<'_, str>> {
        match self.words.first()?.pieces.as_slice() {
            [WordPiece::Text(text)] => Some(Cow::Borrowed(text.rsplit('/').next().unwrap_or(text))),
            _ => self.program().map(Cow::Owned),
        }
    }

    /// The program as it is written, when it is certain.
    pub(crate) fn program_path(&self) -> Option<Cow<'_, str>> {
        match self.words.first()?.pieces.as_slice() {
            [WordPiece::Text(text)] => Some(Cow::Borrowed(text)),
            _ => self.words.first()?.known().map(Cow::Owned),
        }
    }

    /// The file it stands in, and on which line of it.
    pub fn file(&self) -> Option<(&Arc<str>, usize)> {
        let file = self.via.iter().rev().find_map(|via| match via {
            Via::File(path) => Some(path),
            _ => None,
        });
        file.map(|path| (path, self.line))
    }

    /// The words after the program.
    pub fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }
}
