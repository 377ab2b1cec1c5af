//! A plain line: one command, its words spelled out, nothing expanded, piped,
//! chained or written to a file. Of such a line it is certain what it runs.

use std::rc::Rc;

use shuck_ast::{Command as Syntax, Redirect, RedirectTarget, Word};

use crate::reading::{StdinSource, Surroundings};
use crate::syntax::{self, slice};
use crate::walk::{Place, Walker};

/// What the program of a plain line will be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The body of a here-document.
    pub stdin: Option<String>,
}

/// The command of a plain line, or `None` where there is any doubt.
pub fn plain(line: &str) -> Option<PlainCommand> {
    let source: Rc<str> = line.trim().into();
    // Nothing around it is known, so that nothing is put in for a name.
    let mut walker = Walker::new(&Surroundings::default(), source.len());
    let depth = walker.allowance.enter_text();
    if syntax::gapes(&source) {
        return None;
    }
    let sequence = syntax::parse(&source, depth).ok()?;
    let mut statements = sequence.iter();
    let statement = statements.next().filter(|_| statements.next().is_none())?;
    let Syntax::Simple(simple) = &statement.command else { return None };
    let commented = statement.inline_comment.is_some() || !statement.leading_comments.is_empty();
    if statement.negated || statement.terminator.is_some() || commented || !simple.assignments.is_empty() {
        return None;
    }
    let words = std::iter::once(&simple.name).chain(&simple.args);
    let words = words.map(|word| walker.spelled_out(word, &source)).collect::<Option<Vec<_>>>()?;
    let here: Vec<&Redirect> = statement.redirects.iter().filter(|one| slice(&source, one.span) != "2>&1").collect();
    let stdin = match here.as_slice() {
        [] => None,
        [here] => Some(walker.here_document(here, &source)?),
        _ => return None,
    };
    walker.reads_nothing_else().then_some(PlainCommand { words, stdin })
}

impl Walker {
    /// A word that is one word, whatever runs it. An `=` before it is a path to some shells.
    fn spelled_out(&mut self, word: &Word, source: &str) -> Option<String> {
        word.try_static_text(source)?;
        let raw = slice(source, word.span);
        match self.fields(raw, &Place::default()).as_slice() {
            [word] if !raw.starts_with('=') && !raw.contains('\r') => word.known(),
            _ => None,
        }
    }

    /// A body that is ended, and in which nothing is put in for a name.
    fn here_document(&mut self, redirect: &Redirect, source: &Rc<str>) -> Option<String> {
        let RedirectTarget::Heredoc(here) = &redirect.target else { return None };
        let expands = !slice(source, here.delimiter.span).contains(['"', '\'', '\\']);
        if expands && slice(source, here.body.span).contains(['$', '`', '\\']) {
            return None;
        }
        let end = source.lines().next_back()?.trim_start_matches('\t');
        let found = self.redirects(std::slice::from_ref(redirect), source, &Place::default()).input?;
        match found.certain()? {
            StdinSource::Text(text) if end == here.delimiter.cooked.as_str() => Some(text.to_string()),
            _ => None,
        }
    }

    /// No part of a word runs anything, and all of it was read.
    fn reads_nothing_else(&self) -> bool {
        self.reading.commands.is_empty() && self.reading.troubles.is_empty() && self.allowance.hit().is_none()
    }
}
