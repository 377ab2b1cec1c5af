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
/// How much text of files one reading goes through, texts that are run again counted again.
pub(crate) const MOST_READ: usize = 1 << 19;
/// What running a file costs of that at least.
const LEAST: usize = 1 << 10;
/// The same for a piece of a file that has been read already.
const LEAST_ENTRY: usize = 1 << 6;

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

/// The file that is being read: what is found in it knows on which line it stands.
#[derive(Debug, Clone)]
pub(crate) struct OpenFile {
    path: Arc<str>,
    /// The text whose statements are counted; none for code of another language, which counts its own.
    source: Option<Rc<str>>,
    first_line: usize,
    /// Where the reading has come to.
    line: usize,
    /// One entry of it is read, see `FilePiece`.
    entry: bool,
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
        let path = self.original(self.scope.resolve(&word.known()?)?);
        self.file(&WantedFile::At(path))
    }

    /// Notes that a shell is told to run a file that is there and was not read.
    pub(crate) fn unread_file(&mut self, file: &KnownFile, shown: &str) {
        if let KnownContent::Unread(why) = &file.content {
            let before = self.open_file.replace(OpenFile {
                path: file.path.clone(),
                source: None,
                first_line: 1,
                line: 1,
                entry: false,
            });
            self.trouble(shown, why);
            self.open_file = before;
        }
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
        let source: Rc<str> = Rc::from(piece.text);
        let open = OpenFile {
            path: piece.file.path.clone(),
            source: Some(source.clone()),
            first_line: piece.first_line,
            line: piece.first_line,
            entry: piece.entry,
        };
        self.in_file(open, piece.text.len(), place, |walker, here| {
            if let Some(folder) = piece.folder {
                walker.scope.cwd = Some(Arc::from(folder));
            }
            if let Some(name) = piece.name {
                walker.set("0", Value::One(name.clone()));
            }
            let args = piece.args.map(|args| Positional::new(args.to_vec()));
            let kept = args.map(|args| walker.scope.positional.replace(args));
            let output = walker.read_source(&source, here);
            if let Some(kept) = kept {
                walker.scope.positional = kept;
            }
            output
        })
    }

    /// Reads code of another language that stands in a file. It says itself on which line it is.
    pub(crate) fn in_code_file(&mut self, file: &KnownFile, place: &Place, read: impl FnOnce(&mut Self, &str, &Place)) {
        let Some(text) = file.text() else { return };
        let open = OpenFile { path: file.path.clone(), source: None, first_line: 1, line: 1, entry: false };
        self.in_file(open, text.len(), place, |walker, here| {
            read(walker, text, here);
            Output::Unknown
        });
    }

    /// Takes from the text of files that may still be gone through.
    pub(crate) fn spend_of_files(&mut self, bytes: usize) -> bool {
        let left = self.file_bytes.checked_sub(bytes);
        self.file_bytes = left.unwrap_or(self.file_bytes);
        left.is_some()
    }

    /// Reads something of a file. All files have one allowance: what they use up takes nothing from the line, and what
    /// is not read for want of it is said.
    fn in_file(
        &mut self,
        open: OpenFile,
        bytes: usize,
        place: &Place,
        read: impl FnOnce(&mut Self, &Place) -> Output,
    ) -> Output {
        let via = Via::File(open.path.clone());
        // A file that runs itself is not entered again.
        if !open.entry && place.via.contains(&via) {
            return Output::Unknown;
        }
        let least = if open.entry { LEAST_ENTRY } else { LEAST };
        let before = self.open_file.replace(open);
        if !self.spend_of_files(bytes.max(least)) {
            self.trouble("", "the line runs more of files than is looked into");
            self.open_file = before;
            return Output::Unknown;
        }
        let of_line = before.is_none();
        if of_line {
            self.swap_allowances();
        }
        let outer = self.allowance.take_hit();
        // Where nothing more is walked, nothing is parsed for it.
        let output = if self.allowance.spend(1) { read(self, &place.under(via)) } else { Output::Unknown };
        if let Some(why) = self.allowance.take_hit() {
            self.trouble("", why);
        }
        outer.map(|why| self.allowance.refuse(why));
        if of_line {
            self.swap_allowances();
        }
        self.open_file = before;
        output
    }

    /// From the line into a file, or back.
    fn swap_allowances(&mut self) {
        self.other_allowance.deep_as(&self.allowance);
        std::mem::swap(&mut self.allowance, &mut self.other_allowance);
    }

    /// A statement that begins there in `source`: commands from here on stand on its line.
    pub(crate) fn at_line(&mut self, source: &Rc<str>, line: usize) {
        if let Some(open) = &mut self.open_file
            && open.source.as_ref().is_some_and(|own| Rc::ptr_eq(own, source))
        {
            open.line = (open.first_line + line).saturating_sub(1);
        }
    }

    /// The same for what counts its lines itself.
    pub(crate) fn at_own_line(&mut self, line: usize) {
        if let Some(open) = self.open_file.as_mut().filter(|open| open.source.is_none()) {
            open.line = line;
        }
    }

    /// The file that is being read and the line that was come to.
    pub(crate) fn in_line_of(&self) -> Option<(Arc<str>, usize)> {
        self.open_file.as_ref().map(|open| (open.path.clone(), open.line))
    }
}
