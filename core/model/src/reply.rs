//! Replies, typed by family so that an unlawful answer does not compile.
//! No family can say `allow`: that would switch the user's own prompt off.

use crate::event::Family;

/// What an event is answered with, and a line for the user beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    pub answer: ByFamily,
    /// Shown to the user, never to the model.
    pub user_line: Option<String>,
    /// Rings the user's terminal and names why, where the client can. One line of plain text.
    pub ring: Option<String>,
    /// For the log: said on stderr beside whatever is answered.
    pub warning: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ByFamily {
    Gate(Gate),
    Permission(Permission),
    Feedback(Feedback),
    Context(Context),
    Veto(Veto),
    #[default]
    Silent,
}

/// PreToolUse.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gate {
    pub stop: Option<GateStop>,
    /// Told to the model beside the tool's result.
    pub context: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateStop {
    Ask { reason: String },
    Deny { reason: String, halt: Option<Halt> },
}

/// PermissionRequest: it can be refused, never granted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permission {
    pub deny: Option<String>,
}

/// PostToolUse and its kin, Stop, SubagentStop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feedback {
    /// At Stop: go on, and why. After a tool: said beside the result.
    pub block: Option<String>,
    pub context: Option<String>,
    pub halt: Option<Halt>,
}

/// SessionStart, UserPromptSubmit, SubagentStart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    pub text: Option<String>,
}

/// PreCompact, ConfigChange, TaskCreated, TaskCompleted, TeammateIdle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Veto {
    pub block: Option<String>,
    pub halt: Option<Halt>,
}

/// Ends the agent's run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt {
    pub stop_reason: String,
}

impl Reply {
    /// The reply of a family that has nothing to say.
    pub fn nothing(family: Family) -> Self {
        let answer = match family {
            Family::Gate => ByFamily::Gate(Gate::default()),
            Family::Permission => ByFamily::Permission(Permission::default()),
            Family::Feedback => ByFamily::Feedback(Feedback::default()),
            Family::Context => ByFamily::Context(Context::default()),
            Family::Veto => ByFamily::Veto(Veto::default()),
            Family::Silent => ByFamily::Silent,
        };
        Self { answer, ..Self::default() }
    }

    /// What of it stops a call that has not been made, and nothing else.
    #[must_use]
    pub fn only_stops(self) -> Self {
        let answer = match self.answer {
            ByFamily::Gate(gate) => ByFamily::Gate(Gate { stop: gate.stop, context: None }),
            permission @ ByFamily::Permission(_) => permission,
            _ => ByFamily::Silent,
        };
        Self { answer, ..Self::default() }
    }
}
