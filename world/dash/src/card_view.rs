//! What a view shows of a card: the same on the page, in `taut top` and in `--json`.

use crate::view_model::{clean, flat, moment};
use model::Ms;
use model::card::Card;
use model::session_facts::DiffSize;
use model::text::{value_with_pictures, with_pictures};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Something an agent waits for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CardRow {
    pub id: String,
    #[serde(serialize_with = "moment")]
    pub at: Ms,
    /// `permission`, `question` or `plan`.
    pub kind: &'static str,
    pub state: &'static str,
    pub tool: String,
    pub digest: String,
    /// As it came: questions are answered under their exact texts. Whoever is told it is shown every control.
    #[serde(serialize_with = "pictured")]
    pub input: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Who answered, where somebody has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<AnsweredRow>,
}

/// Who answered a card from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnsweredRow {
    pub by: String,
    /// `terminal`, `page` or `top`.
    pub place: &'static str,
    #[serde(serialize_with = "moment")]
    pub at: Ms,
}

/// How much a session has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DiffRow {
    pub files: u64,
    pub added: u64,
    pub removed: u64,
}

impl CardRow {
    pub fn of(card: &Card) -> Self {
        let shown = &card.shown;
        Self {
            id: card.id.clone(),
            at: card.at,
            kind: card.kind.name(),
            state: card.state.name(),
            tool: flat(&card.tool),
            digest: card.digest.clone(),
            input: shown.input.clone(),
            incomplete: shown.incomplete.as_deref().map(flat),
            folder: shown.folder.as_deref().map(flat),
            mode: shown.mode.as_deref().map(flat),
            guard: shown.guard.as_deref().map(|guard| clean(&with_pictures(guard))),
            diff: shown.diff.as_deref().map(|diff| clean(&with_pictures(diff))),
            branch: shown.branch.as_deref().map(flat),
            answered: card.answered.as_ref().map(|by| AnsweredRow {
                by: flat(&by.user),
                place: by.place.name(),
                at: by.at,
            }),
        }
    }
}

impl DiffRow {
    pub fn words(self) -> String {
        let many = if self.files == 1 { "file" } else { "files" };
        format!("{} {many}, +{} -{}", self.files, self.added, self.removed)
    }

    pub fn of(size: DiffSize) -> Self {
        let DiffSize { files, added, removed } = size;
        Self { files, added, removed }
    }
}

fn pictured<S: Serializer>(input: &Value, to: S) -> Result<S::Ok, S::Error> {
    value_with_pictures(input).serialize(to)
}
