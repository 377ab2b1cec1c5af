//! What a session has changed since it began, for somebody who wants to read it.

use crate::{ActionError, FleetPlace};
use engine::redact::text_without_secrets;
use host::session_diff::{DiffLimits, DiffRequest, FileDiff};
use model::Ms;
use model::session::Session;
use model::session_facts::DiffSize;
use std::path::Path;
use store::Store;

/// Its files and the diff itself, without what looks like a secret. As hostile as what agents write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadDiff {
    pub session: String,
    pub agent: String,
    pub tree: String,
    /// The commit it is compared with, or `unborn`.
    pub base: String,
    pub size: DiffSize,
    pub files: Vec<FileDiff>,
    pub patch: String,
    /// What is not in it, and whose work may be, in plain words.
    pub notes: Vec<String>,
}

/// By the whole id of a session.
///
/// # Errors
/// Why there is none, in words for whoever asked.
pub fn session_diff(store: &Store, place: &FleetPlace, id: &str, now: Ms) -> Result<ReadDiff, ActionError> {
    let unknown = || format!("there is no session `{id}`; `taut sessions --all` lists them");
    let session = store.session(id)?.ok_or_else(|| ActionError::Refused(unknown()))?;
    let facts = store.session_facts(&session.id)?;
    let refused = |why: String| ActionError::Refused(why);
    let Some(tree) = facts.tree.clone() else {
        return Err(refused(format!(
            "{} works in no repository of git's, so what changed is not known",
            session.agent
        )));
    };
    let Some(base) = facts.base_commit.clone() else {
        return Err(refused(format!("it is not known at which commit of {tree} the session began")));
    };
    let before = facts.base_files.as_deref().and_then(|text| serde_json::from_str::<Vec<_>>(text).ok());
    let request = DiffRequest {
        tree: Path::new(&tree),
        base: &base,
        before: &before.unwrap_or_default(),
        home: &place.home,
        state: &place.state,
        limits: DiffLimits::WHOLE,
    };
    let found = host::session_diff::session_diff(&request).map_err(|why| refused(why.to_string()))?;
    let mut notes = found.notes;
    notes.extend(others(store, &session, &tree, now)?);
    Ok(ReadDiff {
        session: session.id,
        agent: session.agent,
        patch: text_without_secrets(&found.patch),
        tree,
        base,
        size: found.size,
        files: found.files,
        notes,
    })
}

/// Who else may have changed something there.
fn others(store: &Store, session: &Session, tree: &str, now: Ms) -> Result<Vec<String>, ActionError> {
    let until = session.ended_at.unwrap_or(now);
    let beside = store.agents_in_tree(tree, &session.id, session.started_at, until)?;
    let beside: Vec<String> = beside.into_iter().filter(|agent| *agent != session.agent).collect();
    let mut notes = Vec::new();
    if !beside.is_empty() {
        notes.push(format!("shared with {}: what they changed in this work tree is in it", beside.join(", ")));
    }
    if !session.open() {
        notes.push("the session is over: what was changed in this work tree since is in it".to_string());
    }
    Ok(notes)
}
