//! What Kimi Code was seen to honour. A prompt's answer is read as it stands: whatever is printed reaches the model.

use crate::answer_form::{AnswerForm, FieldValue, FormPart};
use crate::answers;
use model::Answer;
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, Gate, GateStop, Reply};

const GATE: &str = EventKind::PreToolUse.name();

pub const FORMS: &[AnswerForm] = &[
    AnswerForm {
        on: &[EventKind::PreToolUse],
        what: FormPart::Field("hookSpecificOutput.hookEventName", FieldValue::OneOf(&[GATE])),
    },
    AnswerForm {
        on: &[EventKind::PreToolUse],
        what: FormPart::Field("hookSpecificOutput.permissionDecision", FieldValue::OneOf(&["deny"])),
    },
    AnswerForm {
        on: &[EventKind::PreToolUse],
        what: FormPart::Field("hookSpecificOutput.permissionDecisionReason", FieldValue::AnyText),
    },
    AnswerForm { on: &[EventKind::UserPromptSubmit], what: FormPart::Text },
    AnswerForm { on: &[EventKind::Stop], what: FormPart::Exit(2) },
];

pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    match (&reply.answer, envelope.name.as_str()) {
        (ByFamily::Gate(gate), _) => gate.stop.clone().map(stop_unread).unwrap_or_default(),
        (ByFamily::Context(told), "UserPromptSubmit") => told
            .text
            .as_ref()
            .map(|text| Answer { stdout: format!("{text}\n"), ..Answer::default() })
            .unwrap_or_default(),
        // An interrupt is a stop that nobody sends back.
        (ByFamily::Feedback(feedback), "Stop") => {
            feedback.block.as_ref().map(|reason| answers::exit_with(2, reason)).unwrap_or_default()
        }
        _ => Answer::default(),
    }
}

/// It cannot ask: a question is a denial.
pub fn stop_unread(stop: GateStop) -> Answer {
    let stop = Some(answers::denied(stop));
    answers::object(answers::nested_gate(GATE, &Gate { stop, context: None }))
}
