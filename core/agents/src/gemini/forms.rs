//! What Gemini CLI was seen to honour.

use crate::answer_form::{AnswerForm, FieldValue, field};
use model::EventKind::{self, PostToolUse, PreToolUse, SessionStart, Stop, UserPromptSubmit};

/// After a tool that failed the model is told the error alone.
pub const WITH_CONTEXT: &[EventKind] = &[SessionStart, UserPromptSubmit, PostToolUse];
pub const HALTED: &[EventKind] = &[PreToolUse, PostToolUse];
/// Where a line is shown to the user.
pub const SHOWN: &[EventKind] = &[SessionStart, UserPromptSubmit, PreToolUse, PostToolUse];
const DENIED: &[EventKind] = &[PreToolUse, Stop];

pub const FORMS: &[AnswerForm] = &[
    field(DENIED, "decision", FieldValue::OneOf(&["deny"])),
    field(DENIED, "reason", FieldValue::AnyText),
    field(HALTED, "continue", FieldValue::False),
    field(HALTED, "stopReason", FieldValue::AnyText),
    field(WITH_CONTEXT, "hookSpecificOutput.hookEventName", FieldValue::AnyText),
    field(WITH_CONTEXT, "hookSpecificOutput.additionalContext", FieldValue::AnyText),
    field(SHOWN, "systemMessage", FieldValue::AnyText),
];
