//! What Claude Code was seen to honour.

use crate::answer_form::{AnswerForm, FieldValue, FormPart, field};
use model::EventKind::{self, *};

const DENY_OR_ASK: FieldValue = FieldValue::OneOf(&["deny", "ask"]);
const BLOCK: FieldValue = FieldValue::OneOf(&["block"]);

/// The events that take a line for the user. Of the rest some would take our words for something else: what is printed
/// before a compaction goes to the summariser.
pub const TOLD: &[EventKind] = &[
    Setup, SessionStart, InstructionsLoaded, UserPromptSubmit, UserPromptExpansion, PreToolUse, PermissionRequest,
    PermissionDenied, PostToolUse, PostToolUseFailure, PostToolBatch, Notification, SubagentStart, SubagentStop,
    TaskCreated, TaskCompleted, TeammateIdle, Stop, StopFailure, ConfigChange, CwdChanged, DirectoryAdded, PostCompact,
    PostModelSwitch, SessionEnd, Unknown,
];
const WITH_CONTEXT: &[EventKind] = &[
    Setup, SessionStart, UserPromptSubmit, UserPromptExpansion, PreToolUse, PostToolUse, PostToolUseFailure,
    PostToolBatch, SubagentStart, SubagentStop, Stop, PostModelSwitch,
];
const BLOCKED: &[EventKind] = &[PostToolUse, PostToolBatch, Stop, SubagentStop, PreCompact];
const HALTED: &[EventKind] =
    &[PreToolUse, PostToolUse, PostToolUseFailure, PostToolBatch, Stop, SubagentStop, PreCompact];
const REFUSED: &[EventKind] = &[ConfigChange, TaskCreated, TaskCompleted, TeammateIdle];

pub const FORMS: &[AnswerForm] = &[
    field(&[PreToolUse], "hookSpecificOutput.permissionDecision", DENY_OR_ASK),
    field(&[PreToolUse], "hookSpecificOutput.permissionDecisionReason", FieldValue::AnyText),
    field(&[PermissionRequest], "hookSpecificOutput.decision.behavior", FieldValue::OneOf(&["deny"])),
    field(&[PermissionRequest], "hookSpecificOutput.decision.message", FieldValue::AnyText),
    field(TOLD, "hookSpecificOutput.hookEventName", FieldValue::AnyText),
    field(WITH_CONTEXT, "hookSpecificOutput.additionalContext", FieldValue::AnyText),
    field(BLOCKED, "decision", BLOCK),
    field(BLOCKED, "reason", FieldValue::AnyText),
    field(HALTED, "continue", FieldValue::False),
    field(HALTED, "stopReason", FieldValue::AnyText),
    field(TOLD, "systemMessage", FieldValue::AnyText),
    field(TOLD, "terminalSequence", FieldValue::AnyText),
    AnswerForm { on: REFUSED, what: FormPart::Exit(2) },
];

/// What a person's own answer may print. No `updatedPermissions`: that would be for ever; no `interrupt`: it ends the
/// turn and loses the words.
pub const ANSWER_FORMS: &[AnswerForm] = &[
    field(&[PermissionRequest], "hookSpecificOutput.hookEventName", FieldValue::OneOf(&["PermissionRequest"])),
    field(&[PermissionRequest], "hookSpecificOutput.decision.behavior", FieldValue::OneOf(&["allow", "deny"])),
    field(&[PermissionRequest], "hookSpecificOutput.decision.message", FieldValue::AnyText),
    field(&[PermissionRequest], "hookSpecificOutput.decision.updatedInput", FieldValue::Anything),
];
