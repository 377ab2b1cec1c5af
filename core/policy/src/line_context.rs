//! The ground a line stands on: folders that decide what a path means.

use crate::parsed_call::Around;
use crate::place::TEMP;
use model::fact::{Facts, PathFact, Project};

/// Where a line would run, and what the world said about it.
#[derive(Debug, Clone, Copy)]
pub struct LineContext<'a> {
    pub cwd: Option<&'a str>,
    pub home: Option<&'a str>,
    /// What the world said of the folder; absent when it was not asked or could not tell.
    pub project: Option<&'a Project>,
    /// The session's project, where it is known besides.
    pub hint: Option<&'a str>,
    pub temp: &'a [String],
    pub scratch: &'a [String],
    /// Taut's state folder, its configuration, and what else is its own.
    pub taut: &'a [String],
    pub facts: &'a Facts,
    /// Whether any path that was asked about leads elsewhere; nearly none does.
    pub leads_elsewhere: bool,
}

impl<'a> LineContext<'a> {
    pub(crate) fn new(around: &'a Around, cwd: Option<&'a str>, facts: &'a Facts) -> Self {
        Self {
            cwd,
            home: around.home.as_deref(),
            project: cwd.and_then(|cwd| facts.project(cwd)),
            hint: around.project.as_deref(),
            temp: &around.temp,
            scratch: &around.scratch,
            taut: &around.taut,
            facts,
            leads_elsewhere: facts.paths.iter().any(|(path, fact)| !fact.real.is_empty() && fact.real != *path),
        }
    }

    /// The folders that are this project's. A home folder and `/` are nobody's project.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &'a str> {
        let known = self.project.map(|project| [project.root.as_str(), project.work_tree.as_str()]);
        let folder = self.cwd.filter(|_| known.is_none());
        let home = self.home;
        known
            .into_iter()
            .flatten()
            .chain(self.hint)
            .chain(folder)
            .filter(move |root| *root != "/" && !root.is_empty() && home != Some(*root))
    }

    pub(crate) fn temp_folders(&self) -> impl Iterator<Item = &'a str> {
        let own = self.temp.iter().map(String::as_str);
        own.chain(TEMP.iter().copied()).map(|folder| folder.trim_end_matches('/')).filter(|folder| !folder.is_empty())
    }

    /// What the world said of a path, or of one that leads to it.
    pub(crate) fn fact(&self, path: &str) -> Option<&'a PathFact> {
        let mut facts = self.facts.paths.iter().filter(|_| self.leads_elsewhere);
        let leads = || facts.find(|(_, fact)| fact.real == path).map(|(_, fact)| fact);
        self.facts.path(path).or_else(leads)
    }

    pub(crate) fn is_home(&self, path: &str) -> bool {
        self.home.is_some_and(|home| home.trim_end_matches('/') == path)
    }
}
