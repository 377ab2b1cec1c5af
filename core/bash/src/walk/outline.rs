//! Walks an outline: lists, pipelines and simple commands that need no parser.

use std::collections::HashMap;
use std::rc::Rc;

use shuck_ast::{
    Assignment, AssignmentValue, BinaryOp, Name, Position, Redirect, RedirectTarget, Span, VarRef, Word as Syntax,
};

use super::{Place, Walker};
use crate::limits;
use crate::outline::{Kind, Piece, first};
use crate::output::Output;
use crate::reading::Via;
use crate::syntax::slice;

impl Walker {
    pub(crate) fn outlined(&mut self, pieces: &[Piece], source: &Rc<str>, place: &Place) -> Output {
        let mut output = Output::nothing();
        let mut repeats = Repeats::default();
        let long = pieces.len() > limits::FEW;
        let mut lines = Lines::default();
        for statement in pieces.split_inclusive(|piece| piece.kind.ends()) {
            let Some((end, statement)) = statement.split_last() else { continue };
            if let Some(first) = statement.first().filter(|_| self.open_file.is_some()) {
                let line = lines.up_to(first.start, source);
                self.at_line(source, line);
            }
            if end.kind == Kind::Background {
                let kept = self.scope.clone();
                output = output.then(self.listed(statement, source, &place.under(Via::Background)));
                self.scope = kept;
                continue;
            }
            if !long {
                output = output.then(self.listed(statement, source, place));
                continue;
            }
            let text = spelling(statement, source);
            if let Some(printed) = repeats.known(text) {
                output = output.then(printed);
                continue;
            }
            let (before, written) = (self.scope.clone(), self.changes);
            let printed = self.listed(statement, source, place);
            repeats.add(text, &printed, self.scope.same(&before) && self.changes == written);
            output = output.then(printed);
        }
        output
    }

    /// `a && b || c`, or less.
    fn listed(&mut self, pieces: &[Piece], source: &Rc<str>, place: &Place) -> Output {
        if pieces.is_empty() {
            return Output::nothing();
        }
        let operators: Vec<BinaryOp> = pieces.iter().filter_map(|piece| list_operator(piece.kind)).collect();
        if operators.is_empty() {
            return self.piped(pieces, source, place);
        }
        if !self.tick() || !self.allowance.sink() {
            return Output::Unknown;
        }
        let parts = pieces.split(|piece| list_operator(piece.kind).is_some());
        let output =
            self.and_or(parts, operators, source, place, |walker, part, place| walker.piped(part, source, place));
        self.allowance.rise();
        output
    }

    /// `a | b`, or one command.
    fn piped(&mut self, pieces: &[Piece], source: &Rc<str>, place: &Place) -> Output {
        if !pieces.iter().any(|piece| piece.kind == Kind::Pipe) {
            return self.one(pieces, source, place);
        }
        if !self.tick() || !self.allowance.sink() {
            return Output::Unknown;
        }
        let parts = pieces.split(|piece| piece.kind == Kind::Pipe);
        let output = self.pipeline(parts, place, |walker, part, place| walker.one(part, source, place));
        self.allowance.rise();
        output
    }

    fn one(&mut self, pieces: &[Piece], source: &Rc<str>, place: &Place) -> Output {
        if !self.tick() || !self.allowance.sink() {
            return Output::Unknown;
        }
        let (mut raws, mut assignments, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces {
            match piece.kind {
                Kind::Assignment => assignments.extend(assignment(piece, source)),
                Kind::Redirect(kind, fd) => {
                    let target = RedirectTarget::Word(word(piece.start, piece.end));
                    let span = span(piece.start, piece.end);
                    redirects.push(Redirect { fd, fd_var: None, fd_var_span: None, kind, span, target });
                }
                _ => raws.push(span(piece.start, piece.end)),
            }
        }
        let declares = raws.first().is_some_and(|raw| DECLARING.contains(&slice(source, *raw)));
        let output = if declares {
            self.declare(&raws, &assignments, &redirects, source, place)
        } else {
            self.simple(&raws, &assignments, &redirects, source, place)
        };
        self.allowance.rise();
        output
    }

    /// `export NAME=value`: the value is one word, whatever is in it.
    fn declare(
        &mut self,
        raws: &[Span],
        assignments: &[Assignment],
        redirects: &[Redirect],
        source: &Rc<str>,
        place: &Place,
    ) -> Output {
        let mut words = Vec::new();
        for raw in raws {
            let (start, end) = (raw.start.offset(), raw.end.offset());
            let piece = Piece { kind: Kind::Assignment, start, end };
            match first(slice(source, *raw)).filter(|kind| *kind == Kind::Assignment).and(assignment(&piece, source)) {
                Some(assignment) => words.push(self.declared(&assignment, source, place)),
                None => words.extend(self.fields(slice(source, *raw), place)),
            }
        }
        self.refer(&words);
        self.settled(words, assignments, redirects, source, place)
    }
}

/// Counts the lines of a text once, from its beginning on.
#[derive(Default)]
struct Lines {
    ends: usize,
    counted: usize,
}

impl Lines {
    fn up_to(&mut self, at: usize, source: &str) -> usize {
        let since = source.as_bytes().get(self.counted..at).unwrap_or_default();
        self.ends += since.iter().filter(|byte| **byte == b'\n').count();
        self.counted = at;
        self.ends + 1
    }
}

/// Commands whose operands may be assignments.
const DECLARING: &[&str] = &["export", "declare", "typeset", "local", "readonly"];

fn list_operator(kind: Kind) -> Option<BinaryOp> {
    match kind {
        Kind::And => Some(BinaryOp::And),
        Kind::Or => Some(BinaryOp::Or),
        _ => None,
    }
}

/// A statement as it is written; nothing where its beginning is not all of it.
fn spelling<'t>(statement: &[Piece], source: &'t str) -> &'t str {
    match statement {
        [first, .., last] | [first @ last] if !matches!(first.kind, Kind::Redirect(..)) => {
            source.get(first.start..last.end).unwrap_or_default()
        }
        _ => "",
    }
}

fn assignment(piece: &Piece, source: &str) -> Option<Assignment> {
    let (name, value) = source.get(piece.start..piece.end)?.split_once('=')?;
    let bare = name.trim_end_matches('+');
    let named = span(piece.start, piece.start + bare.len());
    Some(Assignment {
        target: VarRef { name: Name::new(bare), name_span: named, subscript: None, span: named },
        value: AssignmentValue::Scalar(word(piece.end - value.len(), piece.end)),
        append: bare.len() < name.len(),
        span: span(piece.start, piece.end),
    })
}

fn word(start: usize, end: usize) -> Syntax {
    Syntax { parts: Vec::new(), span: span(start, end), brace_syntax: Vec::new() }
}

/// Only the offsets of a span are looked at.
fn span(start: usize, end: usize) -> Span {
    Span::from_positions(Position::at(1, 1, start), Position::at(1, 1, end))
}

/// Statements that were walked and left the shell as it was. What they report they would report again.
///
/// Commands are judged in the light of those before them (a file fetched, then run). So each is walked some rounds more
/// behind every statement that is new, and only then left out.
#[derive(Default)]
struct Repeats<'t> {
    walked: HashMap<&'t str, Walked>,
    /// Counts the statements that were new or changed the shell.
    news: usize,
}

struct Walked {
    printed: Output,
    news: usize,
    rounds: usize,
}

impl<'t> Repeats<'t> {
    /// What a statement prints that need not be walked again.
    fn known(&self, text: &str) -> Option<Output> {
        let walked = self.walked.get(text)?;
        (walked.news == self.news && walked.rounds >= limits::ROUNDS).then(|| walked.printed.clone())
    }

    fn add(&mut self, text: &'t str, printed: &Output, idle: bool) {
        if !idle || text.is_empty() || printed.draft().is_some_and(|text| text.len() > limits::NAME) {
            self.news += 1;
            return;
        }
        match self.walked.get_mut(text) {
            Some(walked) => {
                walked.rounds = if walked.news == self.news { walked.rounds + 1 } else { 1 };
                (walked.news, walked.printed) = (self.news, printed.clone());
            }
            None => {
                self.news += 1;
                self.walked.insert(text, Walked { printed: printed.clone(), news: self.news, rounds: 1 });
            }
        }
    }
}
