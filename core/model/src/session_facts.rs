//! What a session said last, changed and cost, for whoever looks at it.

use crate::fact::TreeHead;
use crate::time::Ms;

/// Everything is unknown until somebody has found it out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionFacts {
    /// The agent's own last words, whole.
    pub last_words: Option<String>,
    /// An event told them: what its transcript says is older.
    pub words_told: bool,
    pub model: Option<String>,
    pub cost_usd: Option<f64>,
    /// The cost was reckoned from tokens and public prices; the client has not told one.
    pub cost_estimated: bool,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    /// Read again from the model's cache, and no part of `tokens_in`.
    pub tokens_cached: Option<u64>,
    pub branch: Option<String>,
    /// The work tree, and the commit it stood at when the session began.
    pub tree: Option<String>,
    pub base_commit: Option<String>,
    /// Its files as they were then, where something in them was not committed.
    pub base_files: Option<String>,
    pub diff: Option<DiffSize>,
    /// Why there is no size, or what is not in it.
    pub diff_note: Option<String>,
    /// The last tool that failed, until something succeeded: a mark, not a status.
    pub failed_tool: Option<String>,
    pub updated_at: Ms,
}

impl SessionFacts {
    /// `$1.20`, or `≈ $1.20` where nobody but us has reckoned it.
    #[must_use]
    pub fn cost_words(&self) -> Option<String> {
        let about = if self.cost_estimated { "≈ " } else { "" };
        self.cost_usd.map(|cost| format!("{about}${cost:.2}"))
    }
}

/// How much a session has changed since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiffSize {
    pub files: u64,
    pub added: u64,
    pub removed: u64,
}

/// What an event tells of its session besides what its row holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionNote {
    LastWords(String),
    /// Where the work tree stands as the session begins. Only the first counts.
    Began(TreeHead),
    /// It goes on after a compaction with what this one knew: to its user the two are one.
    GoesOn {
        prev: String,
    },
    /// The mark of a failed tool, which is set, another or taken away.
    FailedTool(Option<String>),
}

impl SessionFacts {
    pub fn add(&mut self, note: &SessionNote, at: Ms) {
        self.updated_at = at;
        match note {
            SessionNote::LastWords(words) => {
                self.last_words = Some(words.clone());
                self.words_told = true;
            }
            SessionNote::Began(head) if self.tree.is_none() => {
                self.tree = Some(head.tree.clone());
                self.base_commit.clone_from(&head.commit);
                self.branch = head.name();
            }
            SessionNote::FailedTool(failed) => self.failed_tool.clone_from(failed),
            // Whoever has the other's at hand says what is carried over.
            SessionNote::Began(_) | SessionNote::GoesOn { .. } => {}
        }
    }

    /// What the one before it knew, where nothing is known of this one yet.
    pub fn carry_over(&mut self, prev: Self) {
        if self.tree.is_none() && self.last_words.is_none() {
            *self = Self { failed_tool: self.failed_tool.take(), updated_at: self.updated_at, ..prev };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_a_session_begins_once_and_goes_on_with_what_the_one_before_a_compaction_knew() {
        let head = |commit: &str| TreeHead { tree: "/t".into(), branch: None, commit: Some(commit.repeat(40)) };
        let mut facts = SessionFacts::default();
        facts.add(&SessionNote::Began(head("a")), Ms(1));
        facts.add(&SessionNote::Began(head("b")), Ms(2));
        assert_eq!((facts.base_commit.clone(), facts.branch.as_deref()), (Some("a".repeat(40)), Some("aaaaaaaaa")));
        let mut next = SessionFacts { updated_at: Ms(9), ..SessionFacts::default() };
        next.carry_over(facts.clone());
        assert_eq!(next, SessionFacts { updated_at: Ms(9), ..facts.clone() });
        next.carry_over(SessionFacts { base_commit: None, ..facts });
        assert!(next.base_commit.is_some(), "what is known of this one stays");
    }
}
