//! What Codex was seen to honour.

use super::WITH_CONTEXT;
use crate::answer_form::{AnswerForm, FieldValue, field};
use model::EventKind::{self, *};

const NAMED: &[EventKind] =
    &[SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, SubagentStart];
const ENDS: &[EventKind] = &[Stop, SubagentStop];

pub const FORMS: &[AnswerForm] = &[
    field(&[PreToolUse], "hookSpecificOutput.permissionDecision", FieldValue::OneOf(&["deny"])),
    field(&[PreToolUse], "hookSpecificOutput.permissionDecisionReason", FieldValue::AnyText),
    field(&[PermissionRequest], "hookSpecificOutput.decision.behavior", FieldValue::OneOf(&["deny"])),
    field(&[PermissionRequest], "hookSpecificOutput.decision.message", FieldValue::AnyText),
    field(NAMED, "hookSpecificOutput.hookEventName", FieldValue::AnyText),
    field(WITH_CONTEXT, "hookSpecificOutput.additionalContext", FieldValue::AnyText),
    field(ENDS, "decision", FieldValue::OneOf(&["block"])),
    field(ENDS, "reason", FieldValue::AnyText),
    field(&[PreCompact], "continue", FieldValue::False),
    field(&[PreCompact], "stopReason", FieldValue::AnyText),
];
