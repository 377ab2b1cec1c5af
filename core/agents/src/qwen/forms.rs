//! What Qwen Code was seen to honour.

use crate::answer_form::{AnswerForm, FieldValue, field};
use model::EventKind::{
    self, PermissionRequest, PostToolBatch, PostToolUse, PostToolUseFailure, PreToolUse, SessionStart, Stop,
    SubagentStop, UserPromptSubmit,
};

/// Before a tool, and at the start of a helper, context is dropped.
pub const WITH_CONTEXT: &[EventKind] =
    &[SessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure, PostToolBatch];
pub const BLOCKED: &[EventKind] = &[Stop, SubagentStop];

const GATE: &[EventKind] = &[PreToolUse];
const REQUEST: &[EventKind] = &[PermissionRequest];
const FRAMED: &[EventKind] =
    &[PreToolUse, PermissionRequest, SessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure, PostToolBatch];

pub const FORMS: &[AnswerForm] = &[
    field(GATE, "hookSpecificOutput.permissionDecision", FieldValue::OneOf(&["deny", "ask"])),
    field(GATE, "hookSpecificOutput.permissionDecisionReason", FieldValue::AnyText),
    field(REQUEST, "hookSpecificOutput.decision.behavior", FieldValue::OneOf(&["deny"])),
    field(REQUEST, "hookSpecificOutput.decision.message", FieldValue::AnyText),
    field(FRAMED, "hookSpecificOutput.hookEventName", FieldValue::AnyText),
    field(WITH_CONTEXT, "hookSpecificOutput.additionalContext", FieldValue::AnyText),
    field(BLOCKED, "decision", FieldValue::OneOf(&["block"])),
    field(BLOCKED, "reason", FieldValue::AnyText),
];
