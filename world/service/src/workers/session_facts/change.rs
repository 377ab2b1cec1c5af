//! How much a session has changed: measured when it comes to rest, and from time to time while it works.

use host::session_diff::{DiffLimits, DiffRequest, UncommittedFile, session_diff, uncommitted};
use model::Ms;
use model::session::{Session, SessionState};
use model::session_facts::SessionFacts;
use pipeline::PipelineSetup;
use std::path::Path;
use std::time::{Duration, Instant};
use store::{Error, Store};

/// While it works, it is measured no more often.
const AT_WORK: Duration = Duration::from_secs(20);
/// Measuring takes no more of the machine than this part of the time.
const SHARE: u32 = 20;

/// What is remembered of the last time.
#[derive(Default)]
pub struct Change {
    /// What the session was last seen at, and its state, when it was measured.
    measured: Option<(Ms, SessionState)>,
    not_before: Option<Instant>,
}

impl Change {
    pub fn look(
        &mut self,
        facts: &mut SessionFacts,
        session: &Session,
        store: &Store,
        setting: &PipelineSetup,
    ) -> Result<(), Error> {
        let (Some(tree), Some(base)) = (facts.tree.clone(), facts.base_commit.clone()) else { return Ok(()) };
        let request = DiffRequest {
            tree: Path::new(&tree),
            base: &base,
            before: &[],
            home: &setting.home,
            state: &setting.state,
            limits: DiffLimits::SIZE,
        };
        if facts.base_files.is_none() && facts.diff.is_none() && !store.has_used_tools(&session.id)? {
            return began(facts, &request, session, store);
        }
        if !self.is_due(session) {
            return Ok(());
        }
        let begun = Instant::now();
        let before = uncommitted_then(facts);
        match session_diff(&DiffRequest { before: &before, ..request }) {
            Ok(found) => {
                facts.diff = Some(found.size);
                facts.diff_note = (!found.notes.is_empty()).then(|| found.notes.join("; "));
            }
            Err(why) => {
                facts.diff = None;
                facts.diff_note = Some(why.to_string());
            }
        }
        self.measured = Some((session.last_seen_at, session.state));
        self.not_before = Some(Instant::now() + AT_WORK.max(begun.elapsed() * SHARE));
        Ok(())
    }

    /// Something happened since, and either it is over or it was a while ago.
    fn is_due(&self, session: &Session) -> bool {
        let Some((seen, state)) = self.measured else { return true };
        let at_rest = matches!(session.state, SessionState::Idle | SessionState::Ended);
        let is_early = self.not_before.is_some_and(|at| Instant::now() < at);
        let has_come_to_rest = at_rest && state != session.state;
        let is_news = session.last_seen_at != seen || state != session.state;
        is_news && (has_come_to_rest || !is_early)
    }
}

/// Before its first tool call nothing was changed by it: what is not committed then is somebody else's.
fn began(facts: &mut SessionFacts, request: &DiffRequest<'_>, session: &Session, store: &Store) -> Result<(), Error> {
    let found = uncommitted(request);
    // It may have begun meanwhile.
    if store.has_used_tools(&session.id)? {
        return Ok(());
    }
    match found {
        Ok(Some(files)) => facts.base_files = serde_json::to_string(&files).ok(),
        // Asked once: a repository that is too large now will be so in a moment.
        Ok(None) | Err(_) => facts.base_files = Some("[]".to_string()),
    }
    Ok(())
}

fn uncommitted_then(facts: &SessionFacts) -> Vec<UncommittedFile> {
    facts.base_files.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}
