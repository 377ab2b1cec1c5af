//! What Mistral Vibe was seen to honour. Its exit statuses deny nothing.

use crate::answer_form::{AnswerForm, FieldValue, FormPart};
use crate::answers::{decision, object};
use model::Answer;
use model::event::{Envelope, EventKind};
use model::reply::{ByFamily, GateStop, Reply};
use serde_json::{Map, json};

const STOPPED: &[EventKind] = &[EventKind::PreToolUse, EventKind::Stop];
const TOLD: &[EventKind] = &[EventKind::PostToolUse, EventKind::PostToolUseFailure];

pub const FORMS: &[AnswerForm] = &[
    AnswerForm { on: STOPPED, what: FormPart::Field("decision", FieldValue::OneOf(&["deny"])) },
    AnswerForm { on: STOPPED, what: FormPart::Field("reason", FieldValue::AnyText) },
    AnswerForm { on: TOLD, what: FormPart::Field("hook_specific_output.additional_context", FieldValue::AnyText) },
];

pub fn encode(envelope: &Envelope, reply: &Reply) -> Answer {
    match &reply.answer {
        ByFamily::Gate(gate) => gate.stop.clone().map(stop_unread).unwrap_or_default(),
        ByFamily::Feedback(feedback) if TOLD.contains(&envelope.kind) => {
            // A denial there would take the place of the result.
            let told = feedback.context.as_ref().or(feedback.block.as_ref());
            let told = told.map(|text| ("hook_specific_output".to_string(), json!({"additional_context": text})));
            object(Map::from_iter(told))
        }
        ByFamily::Feedback(feedback) if envelope.kind == EventKind::Stop => {
            feedback.block.as_ref().map(|reason| object(decision("deny", reason))).unwrap_or_default()
        }
        _ => Answer::default(),
    }
}

/// It cannot ask: a question is a denial.
pub fn stop_unread(stop: GateStop) -> Answer {
    let (GateStop::Ask { reason } | GateStop::Deny { reason, .. }) = stop;
    object(decision("deny", &reason))
}
