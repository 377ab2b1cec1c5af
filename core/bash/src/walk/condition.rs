//! Tests of the line for a file: what runs only where nothing stands at a path.

use shuck_ast::{BinaryOp, StmtSeq};

use super::Place;
use crate::limits;
use crate::reading::Via;
use crate::syntax::slice;

/// How many such tests are remembered of one list.
const MOST: usize = 4;

/// What holds where a test succeeds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Presence {
    There(String),
    Absent(String),
}

impl Presence {
    /// The path at which nothing stands where the test succeeds, or where it fails.
    pub(super) fn absent(self, succeeded: bool) -> Option<String> {
        match self {
            Self::There(path) if !succeeded => Some(path),
            Self::Absent(path) if succeeded => Some(path),
            _ => None,
        }
    }
}

/// The place of the parts of `a && b && c` or `a || b || c`, by what those before have tested.
pub(super) struct Chain<'p> {
    outer: &'p Place,
    here: Place,
    operator: Option<BinaryOp>,
    mixed: bool,
}

impl<'p> Chain<'p> {
    pub(super) fn new(outer: &'p Place) -> Self {
        Self { outer, here: outer.clone(), operator: None, mixed: false }
    }

    /// The place of the part behind `operator`, of which the part before it tested something. In a list of both
    /// operators a part may also run because of others than the one right before it.
    pub(super) fn behind(&mut self, operator: BinaryOp, tested: Option<Presence>) -> &Place {
        self.mixed |= self.operator.replace(operator).is_some_and(|before| before != operator);
        if self.mixed {
            return self.outer;
        }
        let absent = tested.and_then(|tested| tested.absent(operator == BinaryOp::And));
        if let Some(path) = absent.filter(|_| self.here.via.len() < self.outer.via.len() + MOST) {
            self.here = self.here.under(Via::Absent(path));
        }
        &self.here
    }
}

/// What a condition of one statement tests.
pub(super) fn of_sequence(condition: &StmtSeq, source: &str) -> Option<Presence> {
    match condition.stmts.as_slice() {
        [only] => presence(slice(source, only.span)),
        _ => None,
    }
}

/// What a statement tests, when it is a plain test for a file: `[ -f x ]`, `test ! -e x`, `! [[ -s x ]]`.
pub(super) fn presence(text: &str) -> Option<Presence> {
    if text.len() > limits::NAME {
        return None;
    }
    let mut words: Vec<&str> = text.split_ascii_whitespace().map(|word| word.trim_end_matches(';')).collect();
    // The operator behind a part may stand in its span.
    words.retain(|word| !matches!(*word, "" | "&&" | "||"));
    let mut words = words.as_slice();
    let mut there = true;
    while let [first, rest @ ..] = words {
        match *first {
            "!" => there = !there,
            "[" | "[[" | "test" => {}
            "-f" | "-e" | "-s" | "-r" | "-a" | "-d" | "-L" | "-h" => break,
            _ => return None,
        }
        words = rest;
    }
    let path = match words {
        [_, path] | [_, path, "]" | "]]"] => path.trim_matches(['"', '\'']).to_string(),
        _ => return None,
    };
    Some(if there { Presence::There(path) } else { Presence::Absent(path) })
}
