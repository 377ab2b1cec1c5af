//! Lasting facts on their way from their files into the index. A file that is as
//! it was is looked at, and not read.

use crate::recall::MemorySwitches;
use crate::stamp::Stamp;
use engine::Places;
use engine::memory::facts;
use engine::redact::text_without_secrets;
use grammar::FactScope;
use model::Ms;
use model::memory_file::{self, BY_PERSON, LastingFact};
use policy::Trust;
use std::path::Path;
use std::time::{Duration, Instant};
use store::Error;
use store::recall::{RecallFact, RecallIndex};

/// Where no project has a say.
const NO_PROJECT: &str = "/";

const DAY_MS: i64 = 86_400_000;

/// Enters what holds for all and in these projects where its files have changed, for so long at the most.
pub fn enter(
    index: &mut RecallIndex,
    switches: &mut MemorySwitches,
    projects: &[String],
    limit: Duration,
) -> Result<(), Error> {
    let until = Instant::now() + limit;
    for project in std::iter::once(None).chain(projects.iter().map(|project| Some(project.as_str()))) {
        let files = FactFiles::of(project, switches);
        // Of the files as they were before they are read: what changes meanwhile is read the next time.
        let (stamps, home) = (files.stamps(), &switches.setting().home);
        let mark = format!("{stamps:?}");
        if index.facts_mark(project)?.as_deref() != Some(&mark) {
            match index.replace_facts(project, &files.read(&stamps, home), &mark) {
                // Somebody else is at it.
                Err(Error::Busy { .. }) => return Ok(()),
                done => done?,
            }
        }
        if Instant::now() >= until {
            return Ok(());
        }
    }
    Ok(())
}

/// The files whose facts count for a project, or for all.
struct FactFiles {
    scopes: Vec<FactScope>,
    places: Places,
    project: String,
}

impl FactFiles {
    fn of(project: Option<&str>, switches: &mut MemorySwitches) -> Self {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let at = project.unwrap_or(NO_PROJECT);
        let is_on = switches.is_on(at);
        let found = switches.policy(at);
        let is_teams = found.policy.trust == Trust::Trusted && found.project.root == at;
        let scopes = match project {
            _ if !is_on => Vec::new(),
            None => vec![FactScope::Global],
            Some(_) if is_teams => vec![FactScope::Project, FactScope::Shared],
            Some(_) => vec![FactScope::Project],
        };
        let setting = switches.setting();
        let tree = found.project.work_tree.clone();
        let places = Places { state: shown(&setting.state), home: shown(&setting.home), tree, ..Places::default() };
        Self { scopes, places, project: at.to_string() }
    }

    fn file(&self, scope: FactScope) -> String {
        facts::file(scope, &self.places, &self.project)
    }

    fn stamps(&self) -> Vec<(FactScope, Stamp)> {
        self.scopes.iter().map(|scope| (*scope, Stamp::of(Path::new(&self.file(*scope))))).collect()
    }

    /// One that cannot be read holds none: `taut facts` says why.
    fn read(&self, stamps: &[(FactScope, Stamp)], home: &Path) -> Vec<RecallFact> {
        let there: Vec<_> = stamps.iter().filter_map(|(scope, stamp)| Some((*scope, stamp.written()?))).collect();
        let probes: Vec<_> = there.iter().map(|(scope, _)| facts::probe(*scope, &self.places, &self.project)).collect();
        let found = host::probe::observe(&probes, home);
        let now = host::clock::now();
        let of = |(scope, written): (FactScope, Ms)| {
            let path = self.file(scope);
            let text = facts::text(scope, &path, found.text(&path)).unwrap_or_default();
            let facts = memory_file::facts(&text);
            facts.into_iter().map(move |fact| entered(scope, &fact, written.min(now)))
        };
        there.into_iter().flat_map(of).collect()
    }
}

/// A day is all that is known of when it was noted; that it was there when the file was written says more.
fn entered(scope: FactScope, fact: &LastingFact, written: Ms) -> RecallFact {
    let day = fact.date.as_deref().and_then(Ms::of_date);
    let agent = match fact.by.as_deref() {
        _ if scope == FactScope::Shared => "team",
        Some(BY_PERSON) | None => "user",
        Some(agent) => agent,
    };
    RecallFact {
        text: text_without_secrets(&fact.text),
        at: day.map_or(written, |day| written.min(day.plus(DAY_MS - 1))),
        agent: agent.to_string(),
    }
}
