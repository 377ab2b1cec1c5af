//! Compound commands: groups, subshells, branches and loops.

use std::rc::Rc;
use std::sync::Arc;

use shuck_ast::{
    CaseCommand, CaseTerminator, Command as Syntax, CompoundCommand, ForCommand, IfCommand, Redirect, Span, Stmt,
    StmtSeq, StmtTerminator,
};

use super::{Place, Walker, condition};
use crate::limits;
use crate::output::Output;
use crate::reading::{StdinSource, Via, Word, WordPiece};
use crate::scope::Value;
use crate::syntax::slice;
use crate::words::Mode;

impl Walker {
    pub(super) fn compound(
        &mut self,
        compound: &CompoundCommand,
        redirects: &[Redirect],
        source: &Rc<str>,
        place: &Place,
    ) -> Output {
        let (here, written) = self.compound_redirects(redirects, source, place);
        let output = self.compound_body(compound, source, &here);
        if redirects.is_empty() {
            return output;
        }
        if let Some(text) = output.draft().filter(|_| !written.is_empty()) {
            let text = Rc::new(text.to_string());
            written.iter().for_each(|redirect| self.write(redirect, &text, place));
        }
        Output::Unknown
    }

    fn compound_body(&mut self, compound: &CompoundCommand, source: &Rc<str>, place: &Place) -> Output {
        match compound {
            CompoundCommand::BraceGroup(body) => return self.sequence(body, source, place),
            CompoundCommand::Subshell(body) => {
                let kept = self.scope.clone();
                let output = self.sequence(body, source, place);
                self.scope = kept;
                return output;
            }
            CompoundCommand::If(branch) => self.if_command(branch, source, place),
            CompoundCommand::For(repeat) => self.for_command(repeat, source, place),
            CompoundCommand::Foreach(repeat) => {
                let raws: Vec<Span> = repeat.words.iter().map(|word| word.span).collect();
                self.each(&[repeat.variable.as_str()], &raws, &repeat.body, source, place);
            }
            CompoundCommand::Select(choice) => {
                let raws: Vec<Span> = choice.words.iter().map(|word| word.span).collect();
                self.each(&[choice.variable.as_str()], &raws, &choice.body, source, place);
            }
            CompoundCommand::While(repeat) => {
                self.endless(
                    holds(&repeat.condition, source, &[":", "true", "[ 1 ]", "((1))"]),
                    &repeat.body,
                    source,
                    place,
                );
                self.repeated(&repeat.condition, &repeat.body, source, place);
            }
            CompoundCommand::Until(repeat) => {
                self.endless(
                    holds(&repeat.condition, source, &["false", "! true", "! :"]),
                    &repeat.body,
                    source,
                    place,
                );
                self.repeated(&repeat.condition, &repeat.body, source, place);
            }
            CompoundCommand::Repeat(repeat) => self.branch(&repeat.body, source, place),
            CompoundCommand::ArithmeticFor(repeat) => {
                let endless = repeat.condition_span.is_none_or(|span| slice(source, span).trim().is_empty());
                self.endless(endless, &repeat.body, source, place);
                for span in [repeat.init_span, repeat.condition_span, repeat.step_span].into_iter().flatten() {
                    self.text(slice(source, span), Mode::Double, place);
                }
                self.branch(&repeat.body, source, place);
            }
            CompoundCommand::Case(case) => {
                let subject = self.value(slice(source, case.word.span), place).known();
                let bodies = arms(case, subject.as_deref(), source);
                let bodies: Vec<_> = bodies.into_iter().map(|body| (body, None)).collect();
                self.branches(&bodies, source, place);
            }
            CompoundCommand::Arithmetic(arithmetic) => {
                self.text(slice(source, arithmetic.span), Mode::Double, place);
            }
            CompoundCommand::Conditional(test) => {
                self.value(slice(source, test.span), place);
                return Output::nothing();
            }
            CompoundCommand::Time(timed) => {
                let command = self.command(vec![Word::text("time")], place);
                self.report(command);
                if let Some(inner) = &timed.command {
                    return self.statement(inner, source, &place.under(Via::Wrapper("time".to_string())));
                }
            }
            CompoundCommand::Coproc(coproc) => {
                self.statement(&coproc.body, source, &place.under(Via::Branch));
            }
            CompoundCommand::Always(always) => {
                self.sequence(&always.body, source, place);
                self.sequence(&always.always_body, source, place);
            }
        }
        Output::Unknown
    }

    /// A loop that never ends and does nothing but start jobs fills the machine.
    fn endless(&mut self, endless: bool, body: &StmtSeq, source: &Rc<str>, place: &Place) {
        if endless && starts_jobs(body) && body.iter().all(|statement| passes_at_once(statement, source)) {
            self.forking(place);
        }
    }

    fn if_command(&mut self, branch: &IfCommand, source: &Rc<str>, place: &Place) {
        self.sequence(&branch.condition, source, place);
        let tested = condition::of_sequence(&branch.condition, source);
        let absent = |succeeded: bool| tested.clone().and_then(|tested| tested.absent(succeeded));
        let mut bodies = vec![(&branch.then_branch, absent(true))];
        for (condition, body) in &branch.elif_branches {
            self.sequence(condition, source, place);
            bodies.push((body, absent(false)));
        }
        bodies.extend(branch.else_branch.iter().map(|body| (body, absent(false))));
        self.branches(&bodies, source, place);
    }

    /// Bodies of which at most one runs, some only where nothing stands at a path: each starts from here, and only what
    /// all agree on holds after.
    fn branches(&mut self, bodies: &[(&StmtSeq, Option<String>)], source: &Rc<str>, place: &Place) {
        let inner = place.under(Via::Branch);
        let before = self.scope.clone();
        let mut after = before.clone();
        for (body, absent) in bodies {
            self.scope = before.clone();
            match absent {
                Some(path) => self.sequence(body, source, &inner.under(Via::Absent(path.clone()))),
                None => self.sequence(body, source, &inner),
            };
            after.meet(&self.scope);
        }
        self.scope = after;
    }

    fn branch(&mut self, body: &StmtSeq, source: &Rc<str>, place: &Place) {
        self.branches(&[(body, None)], source, place);
    }

    fn repeated(&mut self, condition: &StmtSeq, body: &StmtSeq, source: &Rc<str>, place: &Place) {
        if let Some(text) = place.input()
            && reads_lines(condition, source)
        {
            for line in text.lines().take(limits::SPREAD) {
                let line: Arc<str> = line.into();
                let here = place.fed(StdinSource::Text(line.clone()), Some(line)).under(Via::Branch);
                self.sequence(condition, source, &here);
                self.sequence(body, source, &here);
            }
            return;
        }
        self.sequence(condition, source, &place.under(Via::Branch));
        self.branch(body, source, place);
    }

    fn for_command(&mut self, repeat: &ForCommand, source: &Rc<str>, place: &Place) {
        let names: Vec<&str> =
            repeat.targets.iter().filter_map(|target| target.name.as_ref().map(|name| name.as_str())).collect();
        match &repeat.words {
            Some(words) => {
                let raws: Vec<Span> = words.iter().map(|word| word.span).collect();
                self.each(&names, &raws, &repeat.body, source, place);
            }
            None => {
                let words = match self.lookup("@").as_deref() {
                    Some(Value::Many(words)) if self.allowance.spend(limits::weight(words)) => words.to_vec(),
                    _ => vec![unknown(names.first())],
                };
                self.each_value(&names, words, &repeat.body, source, place);
            }
        }
    }

    fn each(&mut self, names: &[&str], raws: &[Span], body: &StmtSeq, source: &Rc<str>, place: &Place) {
        let mut values = Vec::new();
        for raw in raws {
            values.extend(self.fields(slice(source, *raw), place));
        }
        self.each_value(names, values, body, source, place);
    }

    fn each_value(&mut self, names: &[&str], mut values: Vec<Word>, body: &StmtSeq, source: &Rc<str>, place: &Place) {
        if values.len() > limits::SPREAD {
            self.allowance.refuse("a loop over too many words");
            values.truncate(limits::SPREAD);
            values.push(unknown(names.first()));
        }
        let inner = place.under(Via::Branch);
        for value in values {
            for name in names {
                self.set(name, Value::One(value.clone()));
            }
            self.sequence(body, source, &inner);
        }
    }
}

/// Whether a loop goes over the lines of its input: `while read x`.
fn reads_lines(condition: &StmtSeq, source: &str) -> bool {
    match condition.stmts.as_slice() {
        [only] => matches!(&only.command, Syntax::Simple(simple) if slice(source, simple.name.span) == "read"),
        _ => false,
    }
}

fn unknown(name: Option<&&str>) -> Word {
    Word { pieces: vec![WordPiece::Unknown(format!("${}", name.unwrap_or(&"@")))], quoted: false }
}

/// The arms of a `case` that may run. Where its subject is known, those that are for other words do not.
fn arms<'c>(case: &'c CaseCommand, subject: Option<&str>, source: &str) -> Vec<&'c StmtSeq> {
    let mut bodies = Vec::new();
    // Whether the arm before falls into this one, and whether it surely runs.
    let (mut falls, mut runs) = (false, false);
    for item in &case.cases {
        let patterns = item.patterns.iter().map(|pattern| literal(slice(source, pattern.span)));
        let patterns: Vec<Option<&str>> = patterns.collect();
        let is = subject.is_some_and(|subject| patterns.contains(&Some(subject)));
        // `shopt -s nocasematch` may hold.
        let other = |subject: &str| patterns.iter().all(|p| p.is_some_and(|p| !p.eq_ignore_ascii_case(subject)));
        let is_not = subject.is_some_and(other);
        if is_not && !falls {
            continue;
        }
        bodies.push(&item.body);
        runs = is || (falls && runs);
        falls = item.terminator == CaseTerminator::FallThrough;
        if runs && item.terminator == CaseTerminator::Break {
            break;
        }
    }
    bodies
}

/// A pattern that stands for nothing but itself.
fn literal(raw: &str) -> Option<&str> {
    let text = raw.trim_matches(['"', '\'']);
    text.chars().all(|c| c.is_ascii_alphanumeric() || "_./:=+,@%-".contains(c)).then_some(text)
}

/// Whether the condition of a loop is one that always holds.
fn holds(condition: &StmtSeq, source: &str, always: &[&str]) -> bool {
    match condition.iter().collect::<Vec<_>>().as_slice() {
        [only] => always.contains(&slice(source, only.span).trim().trim_end_matches(';').trim_end()),
        _ => false,
    }
}

/// Whether a statement of the body starts a job, itself or in a group.
fn starts_jobs(body: &StmtSeq) -> bool {
    body.iter().any(|statement| match &statement.command {
        _ if is_job(statement) => true,
        Syntax::Compound(CompoundCommand::Subshell(inner) | CompoundCommand::BraceGroup(inner)) => starts_jobs(inner),
        _ => false,
    })
}

fn is_job(statement: &Stmt) -> bool {
    matches!(statement.terminator, Some(StmtTerminator::Background(_)))
}

/// Whether nothing in a statement takes any time before the loop goes on.
fn passes_at_once(statement: &Stmt, source: &str) -> bool {
    match &statement.command {
        _ if is_job(statement) => true,
        Syntax::Compound(CompoundCommand::Subshell(inner) | CompoundCommand::BraceGroup(inner)) => {
            inner.iter().all(|statement| passes_at_once(statement, source))
        }
        Syntax::Simple(simple) => matches!(slice(source, simple.name.span), "" | ":" | "true" | "echo" | "printf"),
        _ => false,
    }
}
