//! What a session did, as its stored events tell it: the part of a hand-over
//! note that nobody has to write.

use crate::time::Ms;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was asked, done, left undone and said. Every list has the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionWork {
    /// The user's own words.
    pub prompts: Vec<PromptText>,
    /// The agent's own list, in its order.
    pub todo: Vec<TodoItem>,
    /// The agent's last words.
    pub last_words: Option<String>,
    /// How the last turn failed, if it did.
    pub stopped_by: Option<String>,
    /// What the user was asked and has not answered.
    pub questions: Vec<String>,
    /// What the user was asked and has answered.
    pub answers: Vec<UserAnswer>,
    pub failures: Vec<FailedCommand>,
    pub tests: Option<TestRun>,
    pub files: Vec<ChangedFile>,
    /// The client's own summary of what it compacted.
    pub compact_summary: Option<String>,
    /// When the agent wrote the words of its own that stand in the note, where that was in an earlier session.
    pub carried_since: Option<Ms>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptText {
    pub at: Ms,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    pub text: String,
    /// The agent's word for it: `pending`, `in_progress`, `completed`.
    pub status: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserAnswer {
    pub question: String,
    pub answer: String,
}

/// A command that failed and has not worked since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCommand {
    pub command: String,
    pub error: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRun {
    pub at: Ms,
    pub command: String,
    pub outcome: TestOutcome,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestOutcome {
    Passed,
    Failed,
    /// The line ends in another command, and that one's result is all that was seen.
    #[default]
    Unknown,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    pub path: String,
    /// How often it was written or edited.
    pub times: u32,
}

/// A stored event of a session, as far as a note is made of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PastEvent {
    pub at: Ms,
    pub event: String,
    pub tool: Option<String>,
    /// It is a sub-agent's.
    pub by_sub_agent: bool,
    pub detail: Value,
}

/// Which session's events are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryNeed {
    pub session: String,
    pub when: HistoryWhen,
    /// Only where the agent has an effort: else nothing of it is noted here.
    pub only_with_effort: bool,
}

/// How a note that is there already counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryWhen {
    Always,
    /// Only where something was done after the session's note was written.
    NewerThanNote,
    /// Only where the session has no note.
    WithoutNote,
}

/// Marks a stored event that happened while memory was off.
pub const MEMORY_OFF: &str = "memory_off";

/// Less than this says too little of what a session is about: "go on", "yes", "hello there".
const LEAST_WORDS: usize = 12;

/// What begins a prompt that the client itself has put there.
const NOT_TYPED: &[&str] = &["<task-notification", "<local-command", "<system-reminder", "<bash-"];

/// Whether a person may have said it.
pub fn is_typed(prompt: &str) -> bool {
    let said = prompt.trim();
    !said.is_empty() && !NOT_TYPED.iter().any(|tag| said.starts_with(tag))
}

/// Whether a prompt says what a session is about.
pub fn is_substantial(prompt: &str) -> bool {
    is_typed(prompt) && prompt.trim().chars().count() >= LEAST_WORDS
}

/// What is stored of a session: its first prompts, the oldest first, and its last events, the newest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionHistory {
    pub session: String,
    pub first_prompts: Vec<String>,
    pub events: Vec<PastEvent>,
}

impl SessionWork {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Something of it waits to be done: not where a question was answered, or a word of greeting returned.
    pub fn is_unfinished(&self) -> bool {
        let open = |item: &TodoItem| !matches!(item.status.as_str(), "completed" | "done" | "cancelled");
        let asked = !self.questions.is_empty() && self.prompts.iter().any(|prompt| is_substantial(&prompt.text));
        !self.files.is_empty()
            || !self.failures.is_empty()
            || self.tests.as_ref().is_some_and(|run| run.outcome == TestOutcome::Failed)
            || self.todo.iter().any(open)
            || asked
            || self.stopped_by.is_some()
            || self.carried_since.is_some()
    }

    /// Every text in it, to be cleaned.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let answers = self.answers.iter_mut().flat_map(|one| [&mut one.question, &mut one.answer]);
        let failures = self.failures.iter_mut().flat_map(|one| [&mut one.command, &mut one.error]);
        let prompts = self.prompts.iter_mut().map(|one| &mut one.text);
        let todo = self.todo.iter_mut().map(|one| &mut one.text);
        let single = [&mut self.last_words, &mut self.stopped_by, &mut self.compact_summary].into_iter().flatten();
        prompts
            .chain(todo)
            .chain(single)
            .chain(&mut self.questions)
            .chain(answers)
            .chain(failures)
            .chain(self.tests.iter_mut().map(|tests| &mut tests.command))
            .chain(self.files.iter_mut().map(|file| &mut file.path))
    }
}
