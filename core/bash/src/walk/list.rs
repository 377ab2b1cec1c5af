//! Statements, lists and pipelines.

use std::rc::Rc;
use std::sync::Arc;

use shuck_ast::{BinaryOp, Command as Syntax, Span, Stmt, StmtTerminator};

use super::condition::{self, Chain};
use super::{Place, Walker};
use crate::limits;
use crate::outline::Piece;
use crate::output::Output;
use crate::reading::{StdinSource, Via};
use crate::scope::Body;
use crate::syntax::slice;

impl Walker {
    pub(crate) fn statement(&mut self, statement: &Stmt, source: &Rc<str>, place: &Place) -> Output {
        if !self.tick() || !self.allowance.sink() {
            return Output::Unknown;
        }
        self.at_line(source, statement.span.start.line());
        let background = matches!(statement.terminator, Some(StmtTerminator::Background(_)));
        let output = if background {
            let kept = self.scope.clone();
            let output = self.foreground(statement, source, &place.under(Via::Background));
            self.scope = kept;
            output
        } else {
            self.foreground(statement, source, place)
        };
        self.allowance.rise();
        output
    }

    fn foreground(&mut self, statement: &Stmt, source: &Rc<str>, place: &Place) -> Output {
        match &statement.command {
            Syntax::Binary(binary) => match binary.op {
                BinaryOp::And | BinaryOp::Or => {
                    let (parts, operators) = chain(statement, |op| matches!(op, BinaryOp::And | BinaryOp::Or));
                    self.and_or(parts, operators, source, place, |walker, part, place| {
                        walker.statement(part, source, place)
                    })
                }
                BinaryOp::Pipe | BinaryOp::PipeAll => {
                    let (parts, _) = chain(statement, |op| matches!(op, BinaryOp::Pipe | BinaryOp::PipeAll));
                    self.pipeline(parts, place, |walker, part, place| walker.statement(part, source, place))
                }
            },
            Syntax::Simple(simple) => {
                let raws: Vec<Span> =
                    std::iter::once(simple.name.span).chain(simple.args.iter().map(|word| word.span)).collect();
                self.simple(&raws, &simple.assignments, &statement.redirects, source, place)
            }
            Syntax::Decl(clause) => self.declaration(clause, &statement.redirects, source, place),
            Syntax::Builtin(builtin) => self.builtin(builtin, &statement.redirects, source, place),
            Syntax::Compound(compound) => self.compound(compound, &statement.redirects, source, place),
            Syntax::Function(function) => {
                for name in function.static_names() {
                    // Every command in its body is said to be reached by this name.
                    if name.as_str().len() > limits::NAME {
                        self.allowance.refuse("a function with too long a name");
                        continue;
                    }
                    // The body is copied, again each time the definition is run.
                    if self.allowance.spend(slice(source, function.span).len()) {
                        let body = Body { statement: Rc::new((*function.body).clone()), source: source.clone() };
                        self.scope.define(name.as_str(), body);
                    }
                }
                Output::nothing()
            }
            Syntax::AnonymousFunction(function) => self.statement(&function.body, source, place),
        }
    }

    /// `a && b || c`: the right side of `||` starts from before the left side.
    pub(super) fn and_or<P: Part>(
        &mut self,
        parts: impl IntoIterator<Item = P>,
        operators: Vec<BinaryOp>,
        source: &str,
        place: &Place,
        walk: impl Fn(&mut Self, P, &Place) -> Output,
    ) -> Output {
        let mut parts = parts.into_iter();
        let mut before = self.scope.clone();
        let mut guards = Chain::new(place);
        let first = parts.next();
        let mut tested = first.as_ref().and_then(|part| condition::presence(part.text(source)));
        let mut output = match first {
            Some(first) => walk(self, first, place),
            None => Output::nothing(),
        };
        for (part, operator) in parts.zip(operators) {
            let tests = condition::presence(part.text(source));
            let place = guards.behind(operator, std::mem::replace(&mut tested, tests));
            if operator == BinaryOp::And {
                before = self.scope.clone();
                let printed = walk(self, part, place);
                output = output.then(printed);
                continue;
            }
            let leaves = part.leaves();
            let succeeded = std::mem::replace(&mut self.scope, before.clone());
            walk(self, part, place);
            let failed = std::mem::replace(&mut self.scope, succeeded);
            if !leaves {
                self.scope.meet(&failed);
            }
            output = Output::Unknown;
        }
        output
    }

    /// `a | b`: every part in a shell of its own, reading what the one before prints.
    pub(super) fn pipeline<P>(
        &mut self,
        parts: impl IntoIterator<Item = P>,
        place: &Place,
        walk: impl Fn(&mut Self, P, &Place) -> Output,
    ) -> Output {
        let kept = self.scope.clone();
        let mut here = place.clone();
        let mut output = Output::Unknown;
        for part in parts {
            let first = self.reading.commands.len();
            output = walk(self, part, &here);
            let feed = match output.certain() {
                Some(text) => StdinSource::Text(text.into()),
                None => StdinSource::Pipe(self.writers(first, place.via.len()).into()),
            };
            let draft = match &feed {
                StdinSource::Text(text) => Some(text.clone()),
                _ => output.draft().map(Arc::from),
            };
            here = place.fed(feed, draft);
            self.scope = kept.clone();
        }
        output
    }

    /// The commands since `first` whose output goes on, not into a substitution.
    fn writers(&self, first: usize, depth: usize) -> Vec<usize> {
        let since = self.reading.commands.get(first..).unwrap_or_default();
        let direct = since.iter().enumerate().filter(|(_, command)| {
            let inner = command.via.get(depth..).unwrap_or_default();
            !inner.iter().any(|via| matches!(via, Via::Substitution | Via::ProcessSubstitution))
        });
        direct.map(|(index, _)| first + index).collect()
    }
}

/// The operands of a left-nested run of operators, without recursion: it may be a thousand long.
fn chain(statement: &Stmt, same: impl Fn(BinaryOp) -> bool) -> (Vec<&Stmt>, Vec<BinaryOp>) {
    let (mut parts, mut operators) = (Vec::new(), Vec::new());
    let mut at = statement;
    while let Syntax::Binary(binary) = &at.command {
        if !same(binary.op) {
            break;
        }
        parts.push(&*binary.right);
        operators.push(binary.op);
        at = &binary.left;
    }
    parts.push(at);
    parts.reverse();
    operators.reverse();
    (parts, operators)
}

/// One side of `&&` and `||`.
pub(super) trait Part {
    /// Whether it ends the shell, so that nothing after it follows from it.
    fn leaves(&self) -> bool;

    /// As it is written.
    fn text<'s>(&self, source: &'s str) -> &'s str;
}

impl Part for &Stmt {
    fn leaves(&self) -> bool {
        match &self.command {
            Syntax::Builtin(_) => true,
            Syntax::Compound(shuck_ast::CompoundCommand::BraceGroup(body)) => {
                body.last().is_some_and(|last| matches!(last.command, Syntax::Builtin(_)))
            }
            _ => false,
        }
    }

    fn text<'s>(&self, source: &'s str) -> &'s str {
        slice(source, self.span)
    }
}

/// What ends the shell is no part of an outline.
impl Part for &[Piece] {
    fn leaves(&self) -> bool {
        false
    }

    /// With the `!` before it, which is no piece.
    fn text<'s>(&self, source: &'s str) -> &'s str {
        let [first, .., last] = self else { return "" };
        let before = source.get(..first.start).unwrap_or_default().trim_end_matches([' ', '\t', '!']);
        source.get(before.len()..last.end).unwrap_or_default()
    }
}
