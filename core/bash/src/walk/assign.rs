//! Assignments: what a variable or array holds from here on.

use std::rc::Rc;

use shuck_ast::{ArrayElem, Assignment, AssignmentValue};

use super::{Place, Walker};
use crate::limits::{self, weight};
use crate::reading::Word;
use crate::scope::Value;
use crate::syntax::slice;
use crate::words::{Mode, push_piece, push_text, push_word};

impl Walker {
    /// The word an assignment gives, without setting anything: `NAME=value cmd`.
    pub(super) fn assignment(&mut self, assignment: &Assignment, source: &Rc<str>, place: &Place) -> Word {
        match self.assigned(assignment, source, place) {
            Value::One(word) => word,
            Value::Many(words) => together(&words),
        }
    }

    /// Sets the variable, and gives the word.
    pub(super) fn assign(&mut self, assignment: &Assignment, source: &Rc<str>, place: &Place) -> Word {
        let name = assignment.target.name.as_str();
        let value = self.assigned(assignment, source, place);
        let word = match &value {
            Value::One(word) => word.clone(),
            Value::Many(words) => together(words),
        };
        let index =
            assignment.target.subscript.as_ref().map(|subscript| slice(source, subscript.span()).parse::<usize>());
        match index {
            None => self.set(name, value),
            Some(Ok(index)) => self.set_element(name, index, word.clone()),
            Some(Err(_)) => {
                if let Some(subscript) = &assignment.target.subscript {
                    self.text(slice(source, subscript.span()), Mode::Double, place);
                }
                self.scope.blur(name);
            }
        }
        word
    }

    fn set_element(&mut self, name: &str, index: usize, word: Word) {
        let before = self.lookup(name);
        let cost = before.as_ref().map_or(0, |value| value.weight());
        if index > limits::SPREAD || !self.allowance.spend(cost) {
            self.scope.blur(name);
            return;
        }
        let mut words = match before.as_deref() {
            Some(Value::Many(words)) => words.to_vec(),
            Some(Value::One(word)) => vec![word.clone()],
            None => Vec::new(),
        };
        if words.len() <= index {
            words.resize(index + 1, Word::default());
        }
        if let Some(slot) = words.get_mut(index) {
            *slot = word;
        }
        self.set(name, Value::many(words));
    }

    fn assigned(&mut self, assignment: &Assignment, source: &Rc<str>, place: &Place) -> Value {
        let fresh = match &assignment.value {
            AssignmentValue::Scalar(word) => Value::One(self.value(slice(source, word.span), place)),
            AssignmentValue::Compound(array) => {
                let mut words = Vec::new();
                for element in &array.elements {
                    let word = match element {
                        ArrayElem::Sequential(value)
                        | ArrayElem::Keyed { value, .. }
                        | ArrayElem::KeyedAppend { value, .. } => value,
                    };
                    words.extend(self.fields(slice(source, word.word.span), place));
                }
                Value::many(words)
            }
        };
        if !assignment.append {
            return fresh;
        }
        let before = self.lookup(assignment.target.name.as_str());
        self.appended(before.as_deref(), fresh)
    }

    fn appended(&mut self, before: Option<&Value>, fresh: Value) -> Value {
        match (before, fresh) {
            (Some(Value::One(word)), Value::One(more)) => {
                // Growing a value step by step copies it each time.
                if !self.allowance.spend(weight(std::slice::from_ref(word))) {
                    return Value::One(more);
                }
                let mut word = word.clone();
                for piece in more.pieces {
                    push_piece(&mut word, piece);
                }
                Value::One(word)
            }
            (Some(Value::Many(words)), Value::Many(more)) => {
                if !self.allowance.spend(weight(words)) {
                    return Value::Many(more);
                }
                Value::many(words.iter().chain(more.iter()).cloned().collect())
            }
            (_, fresh) => fresh,
        }
    }
}

fn together(words: &[Word]) -> Word {
    let mut out = Word::default();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            push_text(&mut out, " ");
        }
        push_word(&mut out, word);
    }
    out
}
