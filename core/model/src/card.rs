//! What an agent asks of a person, as it is shown away from the agent's own
//! terminal, and what a person answered there.

use crate::call::ClientProcess;
use crate::time::Ms;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One thing an agent waits for, for as long as somebody holds it open.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    pub id: String,
    pub at: Ms,
    /// The session as Taut calls it.
    pub session: String,
    pub agent: String,
    pub project: Option<String>,
    pub dialect: String,
    /// The client that asks.
    pub client: ClientProcess,
    /// The process that waits for the answer and prints it.
    pub holder: ClientProcess,
    pub kind: CardKind,
    pub tool: String,
    /// Of the exact input; an answer is for this input and no other.
    pub digest: String,
    /// What is shown: redacted and bounded.
    pub shown: CardShown,
    pub state: CardState,
    pub answer: Option<CardAnswer>,
    pub answered: Option<AnsweredBy>,
    pub ended_at: Option<Ms>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardKind {
    Permission,
    Question,
    Plan,
}

/// Where a card stands. It only ever goes forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardState {
    /// It can be answered.
    Open,
    /// A person has answered; the client has not been told yet.
    Answered,
    /// The answer was printed to the client.
    Given,
    /// A later event of the client confirmed the answer.
    Used,
    /// It was answered at the client's own terminal.
    AtTerminal,
    /// Nobody waits for an answer here any more; the client's own dialog stands as without Taut.
    LetGo,
}

/// What a person sees of the call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CardShown {
    /// The tool's input, with secrets taken out.
    pub input: Value,
    /// Something of the exact input is not in `input`: too long, or a secret. What is not seen whole is not allowed
    /// from here.
    pub incomplete: Option<String>,
    pub folder: Option<String>,
    /// The client's permission mode.
    pub mode: Option<String>,
    /// What the guard makes of it, as `taut explain` says.
    pub guard: Option<String>,
    /// An edit as a difference of lines.
    pub diff: Option<String>,
    pub branch: Option<String>,
}

/// What a person may answer. There is no "always", no changed input, and nothing that ends a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case", deny_unknown_fields)]
pub enum CardAnswer {
    AllowOnce,
    /// With the words that the model is told.
    Deny {
        words: String,
    },
    /// By the text of each question as it stands in the input, not as it is cleaned for the eye: labels as a person
    /// would pick them, or words of their own.
    Choose {
        chosen: BTreeMap<String, ChosenAnswer>,
    },
    ApprovePlan,
    RejectPlan {
        words: String,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChosenAnswer {
    pub labels: Vec<String>,
    /// Words instead of, or beside, a label.
    pub words: Option<String>,
}

/// Who answered, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredBy {
    /// The name of the account.
    pub user: String,
    pub place: ActionPlace,
    pub at: Ms,
}

/// Where a person acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionPlace {
    /// A command at a terminal.
    Terminal,
    Page,
    Top,
    /// On another machine: it came over a server, signed by a machine that is trusted here.
    OtherMachine,
}

macro_rules! names {
    ($of:ty: $($variant:ident = $name:literal),+) => {
        impl $of {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == text)
            }
        }
    };
}

names!(CardKind: Permission = "permission", Question = "question", Plan = "plan");
names!(CardState: Open = "open", Answered = "answered", Given = "given", Used = "used", AtTerminal = "at_terminal", LetGo = "let_go");
names!(ActionPlace: Terminal = "terminal", Page = "page", Top = "top", OtherMachine = "other_machine");

impl CardState {
    /// Somebody still waits for it, or for its confirmation.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Used | Self::AtTerminal | Self::LetGo)
    }
}
