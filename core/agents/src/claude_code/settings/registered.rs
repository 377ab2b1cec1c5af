//! Which events are registered with Claude Code, since when it knows them, and
//! what each is good for.

use super::{Registered, Version};
use model::EventKind;

/// Known to every client that has hooks at all.
const ALWAYS: Version = Version(0, 0, 0);
/// Exec form came with this one; the newer events are not asked of older clients.
const EXEC: Version = Version(2, 1, 139);
const MODEL_SWITCH: Version = Version(2, 1, 251);

/// Every event that may be registered, in the order of a session's life; `needed` says which of them are.
///
/// Left out, because registering them changes the client or helps nobody:
/// - `WorktreeCreate`: a hook there replaces `git worktree`.
/// - `WorktreeRemove`: the other half of it; not shown to be harmless, and of no use.
/// - `PreModelSwitch`: a hook that is slow blocks the switch.
/// - `MessageDisplay`: runs for each message and delays showing it.
/// - `FileChanged`: its matcher is a list of files to watch; there is none to watch.
/// - `Elicitation`, `ElicitationResult`: stand between a server and its user,
///   where a failing hook declines; the notification tells that one is waiting.
pub const REGISTERED: &[Registered] = &[
    on(EventKind::Setup, EXEC, "shows that a set-up or maintenance run took place"),
    on(EventKind::SessionStart, ALWAYS, "opens the session and gives it its context"),
    on(EventKind::InstructionsLoaded, EXEC, "knows which instruction files the model has read"),
    on(EventKind::UserPromptSubmit, ALWAYS, "heartbeat; delivers warnings and messages"),
    on(EventKind::UserPromptExpansion, EXEC, "sees which skill a prompt starts"),
    on(EventKind::PreToolUse, ALWAYS, "the guard"),
    on(EventKind::PermissionRequest, EXEC, "shows that an agent waits for its user"),
    on(EventKind::PermissionDenied, EXEC, "a tool that was refused is no longer in flight"),
    after_calls(EventKind::PostToolUse, ALWAYS, "the tool has ended; delivers what is pending"),
    after_calls(EventKind::PostToolUseFailure, EXEC, "the tool has failed; status and record"),
    after_calls(EventKind::PostToolBatch, EXEC, "a denial has been delivered: strikes open after it"),
    on(EventKind::Notification, ALWAYS, "an agent needs attention or idles"),
    on(EventKind::SubagentStart, EXEC, "opens the sub-agent's session"),
    on(EventKind::SubagentStop, ALWAYS, "ends the sub-agent's session"),
    on(EventKind::TaskCreated, EXEC, "recorded against the effort"),
    on(EventKind::TaskCompleted, EXEC, "recorded against the effort"),
    on(EventKind::TeammateIdle, EXEC, "the teammate's status"),
    on(EventKind::Stop, ALWAYS, "the turn is over; status"),
    on(EventKind::StopFailure, EXEC, "rate limits and failures; status"),
    on(EventKind::ConfigChange, EXEC, "keeps our hooks from being removed by an agent"),
    on(EventKind::CwdChanged, EXEC, "the project an agent works in"),
    on(EventKind::DirectoryAdded, EXEC, "folders an agent was given"),
    on(EventKind::PreCompact, ALWAYS, "saves what the session knows before it is compacted"),
    on(EventKind::PostCompact, EXEC, "context usage starts again"),
    on(EventKind::PostModelSwitch, MODEL_SWITCH, "the size of the context window"),
    Registered {
        kind: EventKind::SessionEnd,
        name: EventKind::SessionEnd.name(),
        since: ALWAYS,
        // The client cuts this event at 1.5 s unless a timeout is set.
        timeout: 5,
        reason: "ends the session and releases what the agent held",
        after_calls: false,
    },
];

const fn on(kind: EventKind, since: Version, reason: &'static str) -> Registered {
    Registered { kind, name: kind.name(), since, timeout: 10, reason, after_calls: false }
}

/// The client spends more on firing such an event than Taut on answering it.
const fn after_calls(kind: EventKind, since: Version, reason: &'static str) -> Registered {
    Registered { after_calls: true, ..on(kind, since, reason) }
}
