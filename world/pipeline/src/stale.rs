//! Efforts of which nothing was heard for too long end, off the way of an event:
//! where efforts are listed, and in the daemon's round.

use crate::pipeline::PipelineSetup;
use crate::policy_cache::PolicyCache;
use crate::queue::lives;
use engine::memory::offer::is_stale_after;
use model::Ms;
use model::effect::Write;
use model::effort::{Carrier, EffortEnd, MemoryWrite, UnfinishedKind, UnfinishedWork};
use store::{Durability, Error, Store};

/// Ends those of one project. How many were.
pub fn end_stale(store: &mut Store, project: &str, hours: u32, now: Ms) -> Result<usize, Error> {
    let quiet = |work: &UnfinishedWork| work.kind == UnfinishedKind::Effort && is_stale_after(hours, now, work.seen);
    let stale = |work: &UnfinishedWork| quiet(work) && !in_hand(work);
    let stale: Vec<Write> = store
        .unfinished(project)?
        .into_iter()
        .filter(stale)
        .map(|work| Write::Memory(MemoryWrite::WorkEnded { work: Box::new(work), end: EffortEnd::Stale, at: now }))
        .collect();
    if !stale.is_empty() {
        store.transact(Durability::Normal, |tx| tx.apply(&stale))?;
    }
    Ok(stale.len())
}

/// The client that carries it lives, however quiet it is, or nobody can tell.
fn in_hand(work: &UnfinishedWork) -> bool {
    match work.carrier {
        Carrier::Open(Some(client)) => lives(client) != Some(false),
        Carrier::Open(None) | Carrier::Nobody => false,
    }
}

/// Ends those of every project, as its own configuration says. How many were.
pub fn end_all_stale(store: &mut Store, setting: &PipelineSetup, now: Ms) -> Result<usize, Error> {
    let mut policies = PolicyCache::new(setting.user_config.clone(), setting.state.clone());
    let mut ended = 0;
    for project in store.projects_at_work()? {
        let hours = policies.of(&project, &setting.home).policy.sections.memory.stale_hours;
        ended += end_stale(store, &project, hours, now)?;
    }
    Ok(ended)
}
