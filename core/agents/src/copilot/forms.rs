//! What Copilot was seen to honour.

use super::WITH_CONTEXT;
use crate::answer_form::{AnswerForm, FieldValue, field};
use model::EventKind::{self, *};

const ENDS: &[EventKind] = &[Stop, SubagentStop];

pub const FORMS: &[AnswerForm] = &[
    field(&[PreToolUse], "permissionDecision", FieldValue::OneOf(&["deny", "ask"])),
    field(&[PreToolUse], "permissionDecisionReason", FieldValue::AnyText),
    field(&[PermissionRequest], "behavior", FieldValue::OneOf(&["deny"])),
    field(&[PermissionRequest], "message", FieldValue::AnyText),
    field(WITH_CONTEXT, "additionalContext", FieldValue::AnyText),
    field(ENDS, "decision", FieldValue::OneOf(&["block"])),
    field(ENDS, "reason", FieldValue::AnyText),
];
