//! One thing that can be recalled.

use model::Ms;

/// What kind of thing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecallKind {
    /// What the user asked for.
    Prompt,
    /// A hand-over note, or the client's own summary of what it compacted.
    Note,
    /// `taut log`.
    Log,
    /// What the user was asked, and the answer.
    Dialogue,
    /// An effort, by its title and skill.
    Effort,
    /// A line of a shell.
    Command,
    /// A file that was changed.
    File,
    /// The last words of a turn.
    Answer,
    /// A tool or a turn that failed.
    Failure,
    /// Something one agent told another.
    Message,
    /// A lasting fact.
    Fact,
}

impl RecallKind {
    /// Each with its name, and how much it counts: what a person wrote or meant to keep counts more than what a tool did.
    const ALL: &[(Self, &str, f64)] = &[
        (Self::Prompt, "prompt", 1.2),
        (Self::Note, "note", 1.2),
        (Self::Log, "log", 1.2),
        (Self::Dialogue, "dialogue", 1.2),
        (Self::Effort, "effort", 1.2),
        (Self::Command, "command", 0.8),
        (Self::File, "file", 0.8),
        (Self::Answer, "answer", 1.0),
        (Self::Failure, "failure", 1.0),
        (Self::Message, "message", 1.0),
        (Self::Fact, "fact", 1.4),
    ];

    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|(_, name, _)| *name)
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(kind, ..)| *kind)
    }

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("prompt", |(_, name, _)| name)
    }

    pub(super) fn weight(self) -> f64 {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or(1.0, |(.., weight)| *weight)
    }
}

/// A lasting fact as it stands in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecallFact {
    pub text: String,
    pub at: Ms,
    /// Who wrote it; empty where that is not known.
    pub agent: String,
}

/// What goes into the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub source: String,
    pub kind: RecallKind,
    pub at: Ms,
    pub project: Option<String>,
    pub agent: String,
    pub session: Option<String>,
    pub text: String,
}

/// Of a text no more than this can be found: what matters stands at its beginning.
const MOST_CHARS: usize = 4_000;

/// As it is kept: bounded, and without what would end it early.
pub(super) fn kept(text: &str) -> String {
    let shown = text.trim().chars().take(MOST_CHARS);
    shown.map(|c| if c == '\0' { ' ' } else { c }).collect()
}

/// The same for texts that a reader would call the same. FNV-1a.
pub(super) fn digest(text: &str) -> i64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for word in text.split_whitespace() {
        for byte in word.bytes().chain([b' ']) {
            hash = (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash.cast_signed()
}
