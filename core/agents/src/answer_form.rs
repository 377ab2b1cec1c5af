//! What an agent honours in an answer, as data. A form that an agent does not know is an error nowhere: the call simply
//! runs. So each dialect declares all that it may print, and nothing else is ever printed in its name.

use crate::Dialect;
use model::{Answer, EventKind};
use serde_json::Value;

/// One thing that may be answered to some events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerForm {
    pub on: &'static [EventKind],
    pub what: FormPart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormPart {
    /// A field of the JSON object on stdout, by the names that lead to it with dots between, and what it may hold.
    Field(&'static str, FieldValue),
    /// Stdout is text for the model.
    Text,
    /// This exit status, with the reason on stderr and nothing on stdout.
    Exit(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldValue {
    AnyText,
    OneOf(&'static [&'static str]),
    False,
    /// Whatever stands below it.
    Anything,
}

/// A field that is honoured on these events.
pub const fn field(on: &'static [EventKind], path: &'static str, value: FieldValue) -> AnswerForm {
    AnswerForm { on, what: FormPart::Field(path, value) }
}

impl Dialect {
    /// Whether the agent honours this answer to such an event; else what of it the agent does not.
    pub fn honours(&self, kind: EventKind, answer: &Answer) -> Result<(), String> {
        honoured(self.forms, kind, answer)
    }

    /// The same for what a person has answered, which has forms of its own: none of `forms` allows anything.
    pub fn honours_person(&self, kind: EventKind, answer: &Answer) -> Result<(), String> {
        honoured(self.answer_forms, kind, answer)
    }
}

fn honoured(forms: &[AnswerForm], kind: EventKind, answer: &Answer) -> Result<(), String> {
    let parts: Vec<FormPart> = forms.iter().filter(|form| form.on.contains(&kind)).map(|form| form.what).collect();
    if answer.exit != 0 {
        let known = parts.contains(&FormPart::Exit(answer.exit)) && answer.stdout.is_empty();
        return if known { Ok(()) } else { Err(format!("exit status {}", answer.exit)) };
    }
    if answer.stdout.is_empty() || parts.contains(&FormPart::Text) {
        return Ok(());
    }
    match serde_json::from_str(&answer.stdout) {
        Ok(object @ Value::Object(_)) => fields(&object, "", &parts),
        _ => Err(format!("text: {}", answer.stdout)),
    }
}

fn fields(value: &Value, path: &str, parts: &[FormPart]) -> Result<(), String> {
    let is_open = |part: &FormPart| matches!(part, FormPart::Field(known, FieldValue::Anything) if *known == path);
    if let Value::Object(object) = value
        && !parts.iter().any(is_open)
    {
        return object.iter().try_for_each(|(name, inner)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            fields(inner, &path, parts)
        });
    }
    let holds = |part: &FormPart| match part {
        FormPart::Field(known, wanted) if *known == path => match wanted {
            FieldValue::AnyText => value.as_str().is_some_and(|text| !text.is_empty()),
            FieldValue::OneOf(words) => value.as_str().is_some_and(|text| words.contains(&text)),
            FieldValue::False => *value == Value::Bool(false),
            FieldValue::Anything => true,
        },
        _ => false,
    };
    if parts.iter().any(holds) { Ok(()) } else { Err(format!("`{path}` = {value}")) }
}
