//! The walk: visits what a text would run, in order, and reports each command once.

mod assign;
mod compound;
mod condition;
mod list;
mod outline;
mod redirect;
mod simple;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use shuck_ast::StmtSeq;

use crate::files::{self, KnownFile, KnownFiles, OpenFile};
use crate::limits::{self, Allowance};
use crate::outline::outline;
use crate::output::Output;
use crate::reading::{Command, Reading, StdinSource, Surroundings, UnreadPart, Via, Word};
use crate::scope::{Scope, Value};
use crate::{flat, scan, syntax};

/// One reading in progress.
pub(crate) struct Walker {
    pub(crate) reading: Reading,
    pub(crate) scope: Scope,
    pub(crate) allowance: Allowance,
    /// What process substitutions print, by their source, and what the line writes into files,
    /// by their path: a shell may be told to run it.
    pub(crate) printed: HashMap<String, Rc<String>>,
    /// The same as files, where they list entries of a task runner.
    pub(crate) written_lists: HashMap<String, (Rc<String>, Arc<KnownFile>)>,
    /// Entries of files that were gone into, by a hash of what was asked for.
    pub(crate) entered: HashSet<u64>,
    /// What is known of the files that the line runs.
    pub(crate) files: Arc<KnownFiles>,
    /// The file that is being read, and how much of files may still be.
    pub(crate) open_file: Option<OpenFile>,
    pub(crate) file_bytes: usize,
    /// What all files of the line may use, while the line itself is read; in a file, what is left to the line.
    pub(crate) other_allowance: Allowance,
    /// Programs that the line has put elsewhere, by where they stand by then.
    pub(crate) tools: HashMap<String, String>,
    /// Counts what changes there.
    pub(crate) changes: usize,
    /// What the line types into other terminals, and in how many pieces.
    pub(crate) typed: String,
    pub(crate) typed_pieces: usize,
}

/// Where in the line a text stands: how it is reached and what it reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    pub(crate) via: Arc<Vec<Via>>,
    pub(crate) feed: StdinSource,
    /// The text on the standard input, unknown parts as their source.
    pub(crate) draft: Option<Arc<str>>,
    /// Whether that text has no unknown parts.
    pub(crate) sure: bool,
    /// The file that is the standard input, by its full path.
    pub(crate) file: Option<Arc<str>>,
    /// It is typed into another terminal, where more may follow.
    pub(crate) typed: bool,
}

impl Place {
    /// The same place, one step further in.
    pub(crate) fn under(&self, via: Via) -> Self {
        let via = self.via.iter().cloned().chain([via]).collect();
        Self { via: Arc::new(via), ..self.clone() }
    }

    pub(crate) fn fed(&self, feed: StdinSource, draft: Option<Arc<str>>) -> Self {
        let sure = matches!(feed, StdinSource::Text(_));
        Self { via: self.via.clone(), feed, draft, sure, file: None, typed: self.typed }
    }

    /// The text on the standard input, when every part of it is known.
    pub(crate) fn input(&self) -> Option<&str> {
        self.draft.as_deref().filter(|_| self.sure)
    }
}

impl Walker {
    pub(crate) fn new(around: &Surroundings, line: usize) -> Self {
        Self {
            reading: Reading::default(),
            scope: Scope::new(around),
            allowance: Allowance::new(line),
            printed: HashMap::new(),
            written_lists: HashMap::new(),
            entered: HashSet::new(),
            files: around.files.clone(),
            open_file: None,
            file_bytes: files::MOST_READ,
            other_allowance: Allowance::of_files(),
            tools: HashMap::new(),
            changes: 0,
            typed: String::new(),
            typed_pieces: 0,
        }
    }

    /// The reading, with a trouble for the bound that was hit, if any was.
    pub(crate) fn finish(mut self, line: &str) -> Reading {
        self.read_typed_pieces();
        if let Some(why) = self.allowance.hit() {
            self.trouble(line, why);
            self.reading.cut = true;
            flat::rest(&mut self, line);
        }
        self.reading
    }

    /// Reads a text as shell, here. Its output comes back as far as it is certain.
    pub(crate) fn read_text(&mut self, text: &str, place: &Place) -> Output {
        // A text that is not walked is not copied either.
        self.read_within(text, || Rc::from(text), place)
    }

    /// The same of a text that is shared.
    pub(crate) fn read_source(&mut self, text: &Rc<str>, place: &Place) -> Output {
        self.read_within(text, || text.clone(), place)
    }

    fn read_within(&mut self, text: &str, source: impl FnOnce() -> Rc<str>, place: &Place) -> Output {
        if !self.allowance.sink() {
            return Output::Unknown;
        }
        let mut output = Output::Unknown;
        if self.allowance.parse(text.len()) {
            let depth = self.allowance.enter_text();
            output = if syntax::gapes(text) {
                self.read_parsed(text, source, Err(syntax::Refusal::Deep), place)
            } else if let Some(pieces) = outline(text) {
                self.outlined(&pieces, &source(), place)
            } else {
                self.read_parsed(text, source, syntax::parse(text, depth), place)
            };
            self.allowance.leave_text();
        }
        self.allowance.rise();
        output
    }

    pub(crate) fn read_parsed(
        &mut self,
        text: &str,
        source: impl FnOnce() -> Rc<str>,
        parsed: Result<StmtSeq, syntax::Refusal>,
        place: &Place,
    ) -> Output {
        match parsed {
            Ok(sequence) => self.sequence(&sequence, &source(), place),
            Err(syntax::Refusal::Deep) => {
                self.trouble(text, "more is opened than closed");
                flat::commands(self, text, place);
                Output::Unknown
            }
            Err(syntax::Refusal::Broken(why)) => {
                self.trouble(text, &why);
                scan::commands(self, text, place);
                Output::Unknown
            }
        }
    }

    pub(crate) fn sequence(&mut self, sequence: &StmtSeq, source: &Rc<str>, place: &Place) -> Output {
        let mut output = Output::nothing();
        for statement in sequence.iter() {
            let printed = self.statement(statement, source, place);
            output = output.then(printed);
        }
        output
    }

    /// Whether the walk may go on; every statement asks.
    pub(crate) fn tick(&mut self) -> bool {
        self.allowance.spend(limits::STATEMENT)
    }

    /// Adds a command and says which it is.
    pub(crate) fn report(&mut self, command: Command) -> usize {
        if self.allowance.command() {
            self.reading.commands.push(command);
        }
        self.reading.commands.len().saturating_sub(1)
    }

    pub(crate) fn trouble(&mut self, text: &str, why: &str) {
        if self.reading.troubles.len() < 16 {
            let text = text.chars().take(200).collect();
            let file = self.in_line_of();
            self.reading.troubles.push(UnreadPart { text, why: why.to_string(), file });
        }
    }

    /// Sets a variable from here on.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.scope.set(name, value);
    }

    pub(crate) fn lookup(&self, name: &str) -> Option<Rc<Value>> {
        self.scope.get(name)
    }

    /// A command in this place, running in the folder the line is in by now.
    pub(crate) fn command(&self, words: Vec<Word>, place: &Place) -> Command {
        Command {
            words,
            via: place.via.clone(),
            feed: place.feed.clone(),
            cwd: self.scope.cwd.clone(),
            typed: place.typed,
            line: self.in_line_of().map_or(0, |(_, line)| line),
            ..Command::default()
        }
    }

    /// `<(…)` and `>(…)`: what runs in them, and what they print for `source <(…)`.
    pub(crate) fn walk_process_substitution(&mut self, body: &str, place: &Place) -> Output {
        let inner = place.under(Via::ProcessSubstitution);
        let kept = self.scope.clone();
        let output = self.read_text(body, &inner);
        self.scope = kept;
        output
    }
}
