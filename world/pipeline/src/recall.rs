//! Recall as everybody asks for it: whose memory is on says the policy of each project.

use crate::{PipelineSetup, PolicyCache};
use model::Ms;
use std::time::Duration;
use store::recall::{CatchUp, RecallHit, RecallIndex, RecallQuery};
use store::{Error, Store};

/// Which projects' memory is on, by their configuration as it stands.
pub struct MemorySwitches {
    policies: PolicyCache,
    setting: PipelineSetup,
}

impl MemorySwitches {
    pub fn new(setting: &PipelineSetup) -> Self {
        let policies = PolicyCache::new(setting.user_config.clone(), setting.state.clone());
        Self { policies, setting: setting.clone() }
    }

    /// Whether what happens there is kept to be found again: unless somebody says no.
    pub fn is_on(&mut self, project: &str) -> bool {
        self.policies.of(project, &self.setting.home).policy.sections.memory.enabled != Some(false)
    }

    /// So many days what can be recalled is kept, where no project has a say.
    pub fn keep_days(&mut self) -> u32 {
        self.policies.of("/", &self.setting.home).policy.sections.memory.keep_days
    }
}

/// Reads what was stored since the last time, for so long at the most.
///
/// # Errors
/// As those of [`RecallIndex::catch_up`].
pub fn catch_up(
    index: &mut RecallIndex,
    store: &Store,
    switches: &mut MemorySwitches,
    limit: Duration,
) -> Result<CatchUp, Error> {
    index.catch_up(store, &mut |project| switches.is_on(project), limit)
}

/// Catches up for so long at the most, then searches.
///
/// # Errors
/// As those of [`RecallIndex::recall`].
pub fn recall(
    store: &Store,
    setting: &PipelineSetup,
    asked: (&RecallQuery, Ms),
    limit: Duration,
) -> Result<(Vec<RecallHit>, CatchUp), Error> {
    let mut switches = MemorySwitches::new(setting);
    let mut index = RecallIndex::open(&setting.state)?;
    index.recall(store, &mut |project| switches.is_on(project), limit, asked)
}
