//! Recall as everybody asks for it: whose memory is on says the policy of each project.

use crate::{PipelineSetup, PolicyCache, ProjectPolicy, recall_facts};
use model::Ms;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use store::recall::{CatchUp, RecallIndex, RecallQuery, Recalled};
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
        self.policy(project).policy.sections.memory.enabled != Some(false)
    }

    pub(crate) fn policy(&mut self, project: &str) -> Rc<ProjectPolicy> {
        self.policies.of(project, &self.setting.home)
    }

    pub(crate) fn setting(&self) -> &PipelineSetup {
        &self.setting
    }

    /// So many days what can be recalled is kept, where no project has a say.
    pub fn keep_days(&mut self) -> u32 {
        self.policy("/").policy.sections.memory.keep_days
    }
}

/// Reads what was stored since the last time, for so long at the most, and the facts of every known project.
///
/// # Errors
/// As those of [`RecallIndex::catch_up`].
pub fn catch_up(
    index: &mut RecallIndex,
    store: &Store,
    switches: &mut MemorySwitches,
    limit: Duration,
) -> Result<CatchUp, Error> {
    let caught = index.catch_up(store, &mut |project| switches.is_on(project), limit)?;
    recall_facts::enter(index, switches, &known(index, Some(store))?, limit)?;
    Ok(caught)
}

/// Catches up for so long at the most, then searches. What was remembered in the project `here` is found, even where
/// nothing ever happened, and nothing is stored.
///
/// # Errors
/// As those of [`RecallIndex::recall`].
pub fn recall(
    store: Option<&Store>,
    setting: &PipelineSetup,
    asked: (&RecallQuery, Ms),
    here: &str,
    limit: Duration,
) -> Result<Recalled, Error> {
    let switches = RefCell::new(MemorySwitches::new(setting));
    let mut is_on = |project: &str| switches.borrow_mut().is_on(project);
    let mut catch_up = |index: &mut RecallIndex| {
        let caught = match store {
            Some(store) => index.catch_up(store, &mut |project| switches.borrow_mut().is_on(project), limit)?,
            None => CatchUp::default(),
        };
        let projects = match &asked.0.project {
            Some(project) => vec![project.clone()],
            None => std::iter::once(here.to_string()).chain(known(index, store)?).collect(),
        };
        recall_facts::enter(index, &mut switches.borrow_mut(), &projects, limit)?;
        Ok(caught)
    };
    RecallIndex::open(&setting.state)?.recall(&mut catch_up, &mut is_on, asked)
}

/// The projects somebody worked in, or noted something in.
fn known(index: &RecallIndex, store: Option<&Store>) -> Result<Vec<String>, Error> {
    let mut known = index.projects()?;
    if let Some(store) = store {
        known.extend(store.projects()?.into_iter().map(|project| project.path));
    }
    known.sort();
    known.dedup();
    Ok(known)
}
