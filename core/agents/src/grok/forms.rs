//! What Grok was seen to honour.

use crate::answer_form::{AnswerForm, FieldValue, field};
use model::EventKind::{self, *};

const TOLD: &[EventKind] = &[PreToolUse, PostToolUse, PostToolUseFailure];
const BLOCKED: &[EventKind] = &[PostToolUse, Stop, SubagentStop];

pub const FORMS: &[AnswerForm] = &[
    field(&[PreToolUse], "hookSpecificOutput.hookEventName", FieldValue::OneOf(&["PreToolUse"])),
    field(&[PreToolUse], "hookSpecificOutput.permissionDecision", FieldValue::OneOf(&["deny"])),
    field(&[PreToolUse], "hookSpecificOutput.permissionDecisionReason", FieldValue::AnyText),
    field(&[PostToolUse], "hookSpecificOutput.hookEventName", FieldValue::OneOf(&["PostToolUse"])),
    field(&[PostToolUseFailure], "hookSpecificOutput.hookEventName", AFTER_FAILURE),
    field(TOLD, "hookSpecificOutput.additionalContext", FieldValue::AnyText),
    field(BLOCKED, "decision", FieldValue::OneOf(&["block"])),
    field(BLOCKED, "reason", FieldValue::AnyText),
];

/// A command that failed is told as one that is done.
const AFTER_FAILURE: FieldValue = FieldValue::OneOf(&["PostToolUseFailure", "PostToolUse"]);
