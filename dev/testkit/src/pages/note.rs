//! What a page says to its test: comments of Markdown above a block.

/// A comment that begins with a word tests know. Each but `before` may name what commands begin with that it is about:
/// `<!-- not run (ssh): why -->`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub kind: String,
    /// What the commands begin with that it is about; empty for all of the block.
    pub about: String,
    pub text: String,
}

const KINDS: &[&str] = &[
    // Only read against the definition of the command line, for the reason that follows.
    "not run", // Lines that come before the block: `agent <name> <step> …`, or a command.
    "before",  // What a person answers, with ` / ` between.
    "types",
    // Words of the output that are different each time; later commands get what was really there.
    "varies", // What is run in its place: the program of this build, where a page builds one.
    "as",     // It ends with another code than 0.
    "fails",  // It stays until these keys are typed, or Ctrl+C.
    "stays",
];

impl Note {
    /// The inside of a comment; `None` when it is no note.
    pub(super) fn read(comment: &str) -> Option<Self> {
        let (head, text) = comment.split_once(':').unwrap_or((comment, ""));
        let (kind, about) = match head.split_once('(') {
            Some((kind, rest)) => (kind, rest.trim_end().trim_end_matches(')')),
            None => (head, ""),
        };
        let known = KINDS.contains(&kind.trim());
        known.then(|| Self {
            kind: kind.trim().to_owned(),
            about: about.trim().to_owned(),
            text: text.trim().to_owned(),
        })
    }

    pub(super) fn is_about(&self, command: &str) -> bool {
        command.starts_with(&self.about)
    }
}
