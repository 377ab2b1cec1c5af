//! The flat reading: one pass over a text that is too deep or too much to be walked. It expands nothing and keeps what
//! stands open on a list, so it costs its length, whatever the nesting; every command that is written out is reported.

use std::collections::HashSet;

use crate::limits::{self, Allowance};
use crate::reading::{Redirect, RedirectKind, Word, WordPiece};
use crate::scan;
use crate::walk::{Place, Walker};
use crate::words::cursor::Cursor;
use crate::words::{globbed, push_text};

/// What a line that was cut off still has in it. What the walk has reported is not reported again.
pub(crate) fn rest(walker: &mut Walker, line: &str) {
    let known: HashSet<Vec<Word>> = walker.reading.commands.iter().map(|command| command.words.clone()).collect();
    // Where the walk stopped is not known, so nothing it knew of folders and variables holds.
    let home = walker.scope.home.take();
    walker.scope = walker.scope.elsewhere();
    walker.scope.home = home;
    walker.allowance = Allowance::new(line.len());
    for found in Flat::new(line).read() {
        if !known.contains(&found.words) {
            found.run(walker, &Place::default());
        }
    }
}

/// Runs every command written in `text`, here.
pub(crate) fn commands(walker: &mut Walker, text: &str, place: &Place) {
    let found = Flat::new(text).read();
    // Of ten thousand levels with the same in each, some are enough, as long as they leave the shell as it was.
    let mut row = 0;
    let rows: Vec<usize> = std::iter::repeat_n(0, 2)
        .chain(found.windows(3).map(|three| {
            row = if matches!(three, [first, middle, last] if last == middle || last == first) { row + 1 } else { 0 };
            row
        }))
        .collect();
    let mut idle = false;
    for (found, row) in found.into_iter().zip(rows) {
        if row > 2 * limits::ROUNDS && idle {
            continue;
        }
        if !walker.tick() {
            return;
        }
        let before = walker.scope.clone();
        found.run(walker, place);
        idle = walker.scope.same(&before);
    }
}

#[derive(Default, PartialEq)]
struct Found {
    words: Vec<Word>,
    redirects: Vec<Redirect>,
}

impl Found {
    fn run(mut self, walker: &mut Walker, place: &Place) {
        let skip = self.words.iter().take_while(|word| keyword(word)).count();
        self.words.drain(..skip);
        for word in &mut self.words {
            *word = at_home(std::mem::take(word), walker);
        }
        let assignments: Vec<_> = self.words.iter().map_while(scan::assignment).collect();
        self.words.drain(..assignments.len());
        let mut command = walker.command(self.words, place);
        command.redirects = self.redirects;
        command.assignments = assignments;
        if command.words.is_empty() && command.redirects.is_empty() && command.assignments.is_empty() {
            return;
        }
        if walker.allowance.steps() > 0 {
            walker.run(command, place);
        } else {
            walker.reading.commands.push(command);
        }
    }
}

fn keyword(word: &Word) -> bool {
    matches!(word.pieces.as_slice(), [WordPiece::Text(text)] if !word.quoted && scan::KEYWORDS.contains(&text.as_str()))
}

/// `~` and `$HOME` at the start of a word are the home folder.
fn at_home(mut word: Word, walker: &Walker) -> Word {
    let Some(home) = walker.scope.home.as_deref() else { return word };
    match word.pieces.first_mut() {
        Some(WordPiece::Text(text)) if !word.quoted => {
            if let Some(rest) = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                *text = format!("{home}{rest}");
            }
        }
        Some(first @ WordPiece::Unknown(_)) => {
            let WordPiece::Unknown(source) = &*first else { return word };
            if matches!(source.as_str(), "$HOME" | "${HOME}") {
                let rest = word.pieces.split_off(1);
                word.pieces = vec![WordPiece::Text(home.to_string())];
                rest.into_iter().for_each(|piece| crate::words::push_piece(&mut word, piece));
            }
        }
        _ => {}
    }
    word
}

/// What stands open.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    /// Commands up to `)`.
    Code,
    Backquote,
    /// `${…}`: a value, in which commands may stand.
    Parameter,
}

/// One level of the text: the command under way in it, and how the level is left.
struct Level {
    open: Open,
    words: Vec<Word>,
    redirects: Vec<Redirect>,
    word: Option<Word>,
    target: Option<RedirectKind>,
    /// Inside double quotes.
    double: bool,
}

struct Flat<'t> {
    cursor: Cursor<'t>,
    levels: Vec<Level>,
    here: Level,
    found: Vec<Found>,
    /// Ends of here-documents that begin at the next line; `None` for one that a shell reads.
    pending: Vec<Option<&'t str>>,
}

impl<'t> Flat<'t> {
    fn new(text: &'t str) -> Self {
        let (levels, found, pending) = Default::default();
        Self { cursor: Cursor::new(text), levels, here: Level::new(Open::Code), found, pending }
    }

    fn read(mut self) -> Vec<Found> {
        while let Some(c) = self.cursor.peek() {
            self.step(c);
        }
        self.end_command();
        while let Some(outer) = self.levels.pop() {
            self.here = outer;
            self.end_command();
        }
        self.found
    }

    fn step(&mut self, c: char) {
        let rest = self.cursor.rest();
        match c {
            '\\' => {
                self.cursor.bump();
                if let Some(next) = self.cursor.bump().filter(|next| *next != '\n') {
                    self.push(next.encode_utf8(&mut [0; 4]), true);
                }
            }
            '$' if rest.starts_with("$(") => self.enter(Open::Code, 2),
            '$' if rest.starts_with("${") => self.enter(Open::Parameter, 2),
            '$' => self.variable(),
            '`' if self.here.open == Open::Backquote => self.leave(),
            '`' => self.enter(Open::Backquote, 1),
            '"' => {
                self.cursor.bump();
                self.here.double = !self.here.double;
                self.push("", true);
            }
            '}' if self.here.open == Open::Parameter => self.leave(),
            _ if self.here.double || self.here.open == Open::Parameter => {
                let text = self.cursor.take_while(|c| !matches!(c, '\\' | '$' | '`' | '"' | '}'));
                let text = if text.is_empty() { self.cursor.take(c.len_utf8()) } else { text };
                self.push(text, true);
            }
            _ => self.unquoted(c, rest),
        }
    }

    /// A character outside quotes.
    fn unquoted(&mut self, c: char, rest: &str) {
        match c {
            '\'' => {
                self.cursor.bump();
                let text = self.cursor.take_while(|c| c != '\'');
                self.cursor.bump();
                self.push(text, true);
            }
            '#' if self.here.word.is_none() => {
                self.cursor.take_while(|c| c != '\n');
            }
            '<' | '>' if rest.get(1..).is_some_and(|next| next.starts_with('(')) => self.enter(Open::Code, 2),
            '<' | '>' => self.redirect(),
            '(' => {
                self.end_command();
                self.enter(Open::Code, 1);
            }
            ')' if self.here.open == Open::Code && !self.levels.is_empty() => self.leave(),
            ';' | '&' | '|' | ')' => {
                self.cursor.bump();
                self.end_command();
            }
            '\n' => {
                self.cursor.bump();
                self.end_command();
                self.skip_documents();
            }
            c if c.is_whitespace() => {
                self.cursor.bump();
                self.end_word();
            }
            _ => {
                let special =
                    |c: char| matches!(c, '\\' | '$' | '`' | '"' | '\'' | '<' | '>' | '(' | ')' | ';' | '&' | '|');
                let text = self.cursor.take_while(|c| !special(c) && !c.is_whitespace());
                self.push(text, false);
            }
        }
    }

    fn push(&mut self, text: &str, quoted: bool) {
        let word = self.here.word.get_or_insert_with(Word::default);
        word.quoted |= quoted;
        if quoted { push_text(word, text) } else { globbed(word, text) }
    }

    fn push_unknown(&mut self, source: String) {
        self.here.word.get_or_insert_with(Word::default).pieces.push(WordPiece::Unknown(source));
    }

    fn variable(&mut self) {
        let start = self.cursor.at();
        self.cursor.bump();
        let name = self.cursor.take_while(|c| c == '_' || c.is_ascii_alphanumeric());
        if name.is_empty() && self.cursor.peek().is_some_and(|c| "@*#?$!-".contains(c)) {
            self.cursor.bump();
        }
        let source = self.cursor.since(start).to_string();
        self.push_unknown(source);
    }

    fn enter(&mut self, open: Open, width: usize) {
        self.cursor.take(width);
        let outer = std::mem::replace(&mut self.here, Level::new(open));
        self.levels.push(outer);
    }

    /// Leaves a level: where it stood something only the run would tell stands.
    fn leave(&mut self) {
        self.cursor.bump();
        let inside = self.here.word.take_if(|_| self.here.open == Open::Parameter);
        self.end_command();
        let Some(outer) = self.levels.pop() else { return };
        let left = std::mem::replace(&mut self.here, outer);
        let source = match (left.open, inside) {
            // Only a short one is a name; one in the other would make each as long as all inside.
            (Open::Parameter, Some(word)) if word.size() <= limits::NAME => format!("${{{}}}", word.shown()),
            _ => "$(…)".to_string(),
        };
        self.push_unknown(source);
    }

    fn redirect(&mut self) {
        self.end_word();
        let operator = self.cursor.take_while(|c| matches!(c, '<' | '>' | '&' | '|'));
        match operator {
            "<<" => self.document(),
            "<<<" => {}
            _ if operator.starts_with('<') => self.here.target = Some(RedirectKind::Read),
            _ if operator.starts_with(">>") => self.here.target = Some(RedirectKind::Append),
            _ => self.here.target = Some(RedirectKind::Write),
        }
    }

    /// The body of a quoted here-document is text, unless a shell reads it; the others are looked through.
    fn document(&mut self) {
        self.cursor.eat("-");
        self.cursor.take_while(|c| c == ' ' || c == '\t');
        let Some(quote @ ('\'' | '"')) = self.cursor.peek() else { return };
        self.cursor.bump();
        let end = self.cursor.take_while(|c| c != quote);
        self.cursor.bump();
        let program = self.here.words.first().and_then(Word::known).unwrap_or_default();
        let data = matches!(program.rsplit('/').next(), Some("cat" | "tee" | "git" | "gh"));
        self.pending.push(Some(end).filter(|_| data));
    }

    fn skip_documents(&mut self) {
        for end in std::mem::take(&mut self.pending).into_iter().flatten() {
            while !self.cursor.done() {
                let line = self.cursor.take_while(|c| c != '\n');
                self.cursor.bump();
                if line.trim_start_matches('\t') == end {
                    break;
                }
            }
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.here.word.take() else { return };
        match self.here.target.take() {
            Some(kind) => self.here.redirects.push(Redirect { kind, target: word, errors: false }),
            None => self.here.words.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.here.words);
        let redirects = std::mem::take(&mut self.here.redirects);
        if !words.is_empty() || !redirects.is_empty() {
            self.found.push(Found { words, redirects });
        }
    }
}

impl Level {
    fn new(open: Open) -> Self {
        Self { open, words: Vec::new(), redirects: Vec::new(), word: None, target: None, double: false }
    }
}
