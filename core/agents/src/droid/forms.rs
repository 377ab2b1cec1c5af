//! What Droid was seen to honour.

use crate::answer_form::{AnswerForm, FieldValue, field};
use model::EventKind::{self, *};

const TOLD: &[EventKind] = &[SessionStart, SubagentStart, UserPromptSubmit, PostToolUse];

pub const FORMS: &[AnswerForm] = &[
    field(&[PreToolUse], "hookSpecificOutput.hookEventName", FieldValue::OneOf(&["PreToolUse"])),
    field(&[PreToolUse], "hookSpecificOutput.permissionDecision", FieldValue::OneOf(&["deny"])),
    field(&[PreToolUse], "hookSpecificOutput.permissionDecisionReason", FieldValue::AnyText),
    field(&[SessionStart, SubagentStart], "hookSpecificOutput.hookEventName", FieldValue::OneOf(&["SessionStart"])),
    field(&[UserPromptSubmit], "hookSpecificOutput.hookEventName", FieldValue::OneOf(&["UserPromptSubmit"])),
    field(&[PostToolUse], "hookSpecificOutput.hookEventName", FieldValue::OneOf(&["PostToolUse"])),
    field(TOLD, "hookSpecificOutput.additionalContext", FieldValue::AnyText),
    field(&[Stop], "decision", FieldValue::OneOf(&["block"])),
    field(&[Stop], "reason", FieldValue::AnyText),
    field(&[PreToolUse, PostToolUse], "continue", FieldValue::False),
    field(&[PreToolUse, PostToolUse], "stopReason", FieldValue::AnyText),
];
