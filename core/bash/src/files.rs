//! Files that a line runs, or takes from what it runs: which are wanted, what is known of them, and their text read as
//! if it stood in the line. Nothing is opened here: the caller reads what a reading wants and has the line read again.

use std::rc::Rc;
use std::sync::Arc;

use crate::output::Output;
use crate::reading::{Via, Word};
use crate::scope::{Positional, Value};
use crate::walk::{Place, Walker};

/// How many files one reading may want.
const MOST_WANTED: usize = 8;

/// A file whose content the reading turns on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum WantedFile {
    /// This very path, absolute.
    At(String),
    /// The nearest file with one of these names, in the folder or above it. Of two in one folder the first name counts.
    Nearest { folder: String, names: Vec<String> },
}

/// What is known of a wanted file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// Where it stands: as it was wanted, or where it was found.
    pub path: Arc<str>,
    /// The same with links resolved.
    pub real: Arc<str>,
    pub content: KnownContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownContent {
    Text(Arc<str>),
    /// A program that is not text, and the tool it is a copy of.
    Program(Option<String>),
    Missing,
    /// It is there and was not read: too large, not a regular file, too many of them.
    Unread(String),
}

/// What is known, by what was wanted.
pub type KnownFiles = Vec<(WantedFile, Arc<KnownFile>)>;

impl KnownFile {
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            KnownContent::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A piece of a file that is read as shell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilePiece<'a> {
    pub(crate) file: &'a KnownFile,
    /// The line of the file that the text starts on, from 1.
    pub(crate) first_line: usize,
    pub(crate) text: &'a str,
    /// The folder it runs in; `None` for the one that the line is in by now.
    pub(crate) folder: Option<&'a str>,
    /// `$1` and those behind it; `None` where they stay what they are.
    pub(crate) args: Option<&'a [Word]>,
    /// `$0`; `None` where it stays what it is.
    pub(crate) name: Option<&'a Word>,
    /// An entry of the file: one may run another, and the caller sees to it that none is entered twice.
    pub(crate) entry: bool,
}

impl<'a> FilePiece<'a> {
    /// A piece that runs where the line is, with what the line has.
    pub(crate) fn of(file: &'a KnownFile, first_line: usize, text: &'a str) -> Self {
        Self { file, first_line, text, folder: None, args: None, name: None, entry: false }
    }
}

/// The text whose lines are counted: statements of it know on which line they stand.
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    pub(crate) source: Rc<str>,
    pub(crate) first_line: usize,
}

impl Walker {
    /// What is known of a file; where nothing is, the reading says that it is wanted.
    pub(crate) fn file(&mut self, wanted: &WantedFile) -> Option<Arc<KnownFile>> {
        if let Some((_, known)) = self.files.iter().find(|(asked, _)| asked == wanted) {
            return Some(known.clone());
        }
        let wants = &mut self.reading.wants;
        if wants.len() < MOST_WANTED && !wants.contains(wanted) {
            wants.push(wanted.clone());
        }
        None
    }

    /// What is known of the file that a word names, seen from the folder the line is in.
    pub(crate) fn file_named(&mut self, word: &Word) -> Option<Arc<KnownFile>> {
        let path = self.scope.resolve(&word.known()?)?;
        self.file(&WantedFile::At(path))
    }

    /// Reads a piece of a file as shell, in a process of its own.
    pub(crate) fn run_piece(&mut self, piece: &FilePiece<'_>, place: &Place) -> Output {
        let kept = self.scope.clone();
        let output = self.read_piece(piece, place);
        self.scope = kept;
        output
    }

    /// Reads a piece of a file as shell, in the shell that the line is in: `source`.
    pub(crate) fn read_piece(&mut self, piece: &FilePiece<'_>, place: &Place) -> Output {
        let via = Via::File(piece.file.path.clone());
        // A file that runs itself is not entered again.
        if !piece.entry && place.via.contains(&via) {
            return Output::Unknown;
        }
        if let Some(folder) = piece.folder {
            self.scope.cwd = Some(Arc::from(folder));
        }
        if let Some(name) = piece.name {
            self.set("0", Value::One(name.clone()));
        }
        let positional = piece.args.map(|args| self.scope.positional.replace(Positional::new(args.to_vec())));
        let source: Rc<str> = Rc::from(piece.text);
        let counted = Counted { source: source.clone(), first_line: piece.first_line };
        let (outer, line) = (self.counted.replace(counted), std::mem::replace(&mut self.line, piece.first_line));
        let output = self.read_source(&source, &place.under(via));
        (self.counted, self.line) = (outer, line);
        if let Some(positional) = positional {
            self.scope.positional = positional;
        }
        output
    }

    /// A statement that begins there in `source`: commands from here on stand on its line.
    pub(crate) fn at_line(&mut self, source: &Rc<str>, line: usize) {
        if let Some(counted) = &self.counted
            && Rc::ptr_eq(&counted.source, source)
        {
            self.line = (counted.first_line + line).saturating_sub(1);
        }
    }
}
