//! Events: what a hook call said happened. The table below is the only list of
//! all events; every label in the product comes from it.

use crate::agent::AgentProfile;
use crate::tool::ToolCall;

/// What kinds of answer an event takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// A tool may be stopped before it runs.
    Gate,
    /// A permission prompt may be answered.
    Permission,
    /// Something ran or ended; the model may be told more, or told to go on.
    Feedback,
    /// The model may be given context.
    Context,
    /// A change may be refused.
    Veto,
    /// Nothing is answered.
    Silent,
}

macro_rules! events {
    ($($variant:ident $family:ident $rpc:expr;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum EventKind {
            $($variant,)*
            /// An event this version does not know: recorded and passed.
            Unknown,
        }

        impl EventKind {
            /// All known events, in the order of a session's life.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub fn parse(name: &str) -> Self {
                match name {
                    $(stringify!($variant) => Self::$variant,)*
                    _ => Self::Unknown,
                }
            }

            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($variant),)*
                    Self::Unknown => "Unknown",
                }
            }

            pub fn family(self) -> Family {
                match self {
                    $(Self::$variant => Family::$family,)*
                    Self::Unknown => Family::Silent,
                }
            }

            /// The event's name as an RPC method (`hooks.<name>`), where it has one.
            pub fn rpc(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => $rpc,)*
                    Self::Unknown => None,
                }
            }
        }
    };
}

events! {
    Setup Context None;
    SessionStart Context Some("sessionStart");
    InstructionsLoaded Silent None;
    UserPromptSubmit Context Some("userPrompt");
    UserPromptExpansion Context None;
    PreToolUse Gate Some("preToolUse");
    PermissionRequest Permission Some("permissionRequest");
    PermissionDenied Silent None;
    PostToolUse Feedback Some("postToolUse");
    PostToolUseFailure Feedback Some("postToolUseFailure");
    PostToolBatch Feedback None;
    MessageDisplay Silent None;
    Notification Silent Some("notification");
    SubagentStart Context Some("subagentStart");
    SubagentStop Feedback Some("subagentStop");
    TaskCreated Veto None;
    TaskCompleted Veto Some("taskCompleted");
    TeammateIdle Veto Some("teammateIdle");
    Stop Feedback Some("stop");
    StopFailure Silent None;
    ConfigChange Veto Some("configChange");
    CwdChanged Silent None;
    DirectoryAdded Silent None;
    FileChanged Silent None;
    WorktreeCreate Silent None;
    WorktreeRemove Silent None;
    PreCompact Veto Some("preCompact");
    PostCompact Silent None;
    PreModelSwitch Silent None;
    PostModelSwitch Context None;
    Elicitation Silent None;
    ElicitationResult Silent None;
    SessionEnd Silent Some("sessionEnd");
}

/// One hook call, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// The agent whose dialect the payload speaks.
    pub agent: &'static AgentProfile,
    pub kind: EventKind,
    /// The event's name as it arrived, for events this version does not know.
    pub name: String,
    /// The host's own session id, from stdin.
    pub host_session: Option<String>,
    pub transcript: Option<String>,
    pub cwd: Option<String>,
    pub prompt_id: Option<String>,
    pub permission_mode: Option<String>,
    /// The host's own helper inside the session, when the event comes from one.
    pub sub_agent: Option<SubAgent>,
    pub body: Body,
    /// What the decoder had to leave out or guess, for the trace.
    pub notes: Vec<String>,
    /// The payload ended before it was whole: what the call would do may stand in the part that is missing.
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAgent {
    pub id: String,
    /// Empty for a compaction's own fork.
    pub kind: String,
}

/// What an event says beyond the common fields. Fields that were absent or
/// wrongly typed are `None` or empty.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    SessionStart(SessionStart),
    Prompt {
        text: String,
    },
    Expansion {
        command: String,
        args: String,
    },
    /// PreToolUse and PermissionRequest.
    Tool(ToolCall),
    ToolDone {
        call: ToolCall,
        /// Size and hash of the response; the response itself is never kept.
        response: ToolResponse,
        duration_ms: Option<u64>,
    },
    ToolFailed {
        call: ToolCall,
        error: String,
        interrupted: bool,
    },
    /// The ids of the calls of one batch that has come back.
    ToolBatch {
        calls: Vec<String>,
        /// What calls gave back, where that is a short text: the words of a denial are.
        told: Vec<ToldText>,
    },
    /// Stop and SubagentStop.
    Stop {
        hook_active: bool,
        last_message: Option<String>,
        /// Background tasks of the host that still run.
        background: usize,
    },
    Failure {
        error: String,
        details: Option<String>,
        last_message: Option<String>,
    },
    Notification {
        kind: String,
        message: String,
    },
    Compact {
        /// `auto` or `manual`.
        trigger: String,
        /// What the client has kept of the context, once it has compacted it.
        summary: Option<String>,
    },
    SessionEnd {
        reason: String,
    },
    ConfigChange {
        source: String,
        file: Option<String>,
    },
    CwdChanged {
        new: Option<String>,
    },
    HostTask {
        id: String,
        subject: String,
        teammate: Option<String>,
    },
    Teammate {
        name: String,
    },
    /// PostModelSwitch.
    ModelSwitch {
        to: Option<String>,
        context_tokens: Option<u64>,
    },
    /// Nothing beyond the common fields is of use.
    Plain,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionStart {
    pub source: StartSource,
    /// The host's id of the session whose context goes on in this one, where the id has changed.
    pub previous: Option<String>,
    pub model: Option<String>,
    pub context_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StartSource {
    #[default]
    Startup,
    Resume,
    Clear,
    Compact,
    Fork,
}

impl StartSource {
    pub fn parse(text: &str) -> Self {
        match text {
            "resume" => Self::Resume,
            "clear" => Self::Clear,
            "compact" => Self::Compact,
            "fork" => Self::Fork,
            _ => Self::Startup,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Fork => "fork",
        }
    }
}

/// What one call of a batch gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldText {
    pub tool: String,
    pub text: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolResponse {
    pub bytes: u64,
    /// FNV-1a of the response's JSON text.
    pub hash: u64,
}

impl Envelope {
    /// The tool call the event is about, if it is about one.
    pub fn tool(&self) -> Option<&ToolCall> {
        match &self.body {
            Body::Tool(call) | Body::ToolDone { call, .. } | Body::ToolFailed { call, .. } => Some(call),
            _ => None,
        }
    }
}
