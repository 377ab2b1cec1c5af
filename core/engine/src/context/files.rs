//! Which files a new session is given: those for everyone, those of its role,
//! those of its mode. Asked for in rounds, because a role's file names others.

use super::{ContextBudget, ContextSettings, Rank, ShownFile, frontmatter};
use model::Environment;
use model::event::{Envelope, EventKind};
use model::fact::{ContextFile, ContextSource, Facts, Probe, TextFact};
use policy::{Policy, Trust};

/// More files than this are not loaded: they could not fit anyway.
const MOST_FILES: usize = 24;

/// What the choice of files depends on, and the facts known so far.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    pub envelope: &'a Envelope,
    pub env: &'a Environment,
    pub policy: &'a Policy,
    pub facts: &'a Facts,
    /// The work tree the event happened in.
    pub project: &'a str,
    pub home: &'a str,
    /// The folder of the user's own configuration of Taut.
    pub config: &'a str,
}

/// What must still be asked before the files are known. Empty when all is.
pub fn wanted(ground: &Ground<'_>) -> Vec<Probe> {
    walk(ground).asks
}

/// The files, in the order they are told.
pub fn gathered(ground: &Ground<'_>) -> Vec<ContextFile> {
    walk(ground).files
}

/// Puts what was gathered into the budget. Files that are not there are passed
/// over; those that are and cannot be read are named, to be read by hand.
pub fn tell(settings: &ContextSettings, facts: &Facts, budget: &mut ContextBudget) {
    let mut failed = Vec::new();
    for file in &facts.context {
        let rank = match file.source {
            ContextSource::Core => Rank::Core,
            ContextSource::Role => Rank::Role,
            ContextSource::Mode => Rank::Mode,
        };
        let shown = |text: Option<String>| ShownFile { path: file.path.clone(), title: file.title.clone(), text };
        match &file.found {
            TextFact::Text(text) if text.trim().is_empty() => {}
            TextFact::Text(text) => budget.show(rank, shown(Some(text.trim_end().to_string()))),
            TextFact::Long => budget.show(rank, shown(None)),
            TextFact::Failed => failed.push(file.path.as_str()),
            TextFact::Missing | TextFact::Outside => {}
        }
    }
    budget.introduce(settings.info("Session context loaded"));
    if !failed.is_empty() {
        let text = format!("Context could not be loaded. Read these by hand: {}", failed.join(", "));
        budget.say(Rank::Core, settings.warning(&text));
    }
}

struct Walk<'a> {
    ground: &'a Ground<'a>,
    files: Vec<ContextFile>,
    asks: Vec<Probe>,
}

/// A file that is asked for, and where it may really lie.
struct Entry<'a> {
    source: ContextSource,
    /// As written.
    path: &'a str,
    title: Option<&'a str>,
    within: Vec<String>,
}

fn walk<'a>(ground: &'a Ground<'a>) -> Walk<'a> {
    let mut walk = Walk { ground, files: Vec::new(), asks: Vec::new() };
    if ground.envelope.kind != EventKind::SessionStart || ground.envelope.sub_agent.is_some() {
        return walk;
    }
    let settings = ContextSettings::of(ground.policy);
    for file in &settings.core {
        let within = if ground.leads_out(&file.path) { ground.everywhere() } else { ground.here() };
        walk.entry(&Entry { source: ContextSource::Core, path: &file.path, title: Some(&file.title), within });
    }
    if settings.roles {
        let names = &ground.envelope.agent.variables;
        walk.own(ContextSource::Role, names.role, ["roles/{}/role.md", "roles/{}.md"]);
        walk.own(ContextSource::Mode, names.mode, ["modes/{}.md", "modes/{}/mode.md"]);
    }
    walk
}

impl Walk<'_> {
    /// The file of a role or mode, and what it includes.
    fn own(&mut self, source: ContextSource, variables: &[&str], shapes: [&str; 2]) {
        let Some(name) = self.ground.env.first(variables).filter(|name| is_plain(name)) else { return };
        let ground = self.ground;
        let mut places: Vec<(&str, Vec<String>)> = Vec::new();
        if ground.has_project() {
            places.push((ground.project, ground.here()));
        }
        places.push((ground.home, ground.of_user()));
        for (folder, within) in places {
            for shape in shapes {
                let path = format!("{folder}/{}/{}", ground.envelope.agent.folder, shape.replace("{}", name));
                if let Some(TextFact::Text(text)) = self.text(&path, &within) {
                    self.take(source, path, &text, within);
                    return;
                }
            }
        }
    }

    fn take(&mut self, source: ContextSource, path: String, text: &str, within: Vec<String>) {
        let parted = frontmatter::part(text);
        let what = if source == ContextSource::Role { "role" } else { "mode" };
        let title = format!("{} ({what})", self.ground.shown(&path));
        self.files.push(ContextFile { source, path, title, found: TextFact::Text(parted.body.to_string()) });
        let free = within == self.ground.of_user() || self.ground.policy.trust == Trust::Trusted;
        let within = if free { self.ground.everywhere() } else { self.ground.here() };
        for included in parted.auto_include {
            let Some(path) = self.ground.substituted(included) else { continue };
            self.entry(&Entry { source, path: &path, title: None, within: within.clone() });
        }
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        let Some(path) = self.ground.placed(entry.path) else { return };
        let Some((folder, pattern)) = globbed(&path) else {
            self.file(entry, path);
            return;
        };
        match self.ground.facts.matches(folder, pattern) {
            Some(found) => found.iter().for_each(|path| self.file(entry, path.clone())),
            None => self.asks.push(Probe::Matches { folder: folder.to_string(), pattern: pattern.to_string() }),
        }
    }

    fn file(&mut self, entry: &Entry<'_>, path: String) {
        let known = self.files.iter().any(|file| file.path == path);
        if known || self.files.len() >= MOST_FILES {
            return;
        }
        if let Some(found) = self.text(&path, &entry.within) {
            let title = entry.title.map_or_else(|| self.ground.shown(&path), str::to_string);
            self.files.push(ContextFile { source: entry.source, path, title, found });
        }
    }

    /// What is known of the file, or a question.
    fn text(&mut self, path: &str, within: &[String]) -> Option<TextFact> {
        let found = self.ground.facts.text(path).cloned();
        if found.is_none() {
            self.asks.push(Probe::Text { path: path.to_string(), within: within.to_vec() });
        }
        found
    }
}

impl Ground<'_> {
    /// The home folder and the root are nobody's project.
    fn has_project(&self) -> bool {
        self.project != self.home && self.project != "/" && !self.project.is_empty()
    }

    fn here(&self) -> Vec<String> {
        if self.has_project() { vec![self.project.to_string()] } else { Vec::new() }
    }

    fn of_user(&self) -> Vec<String> {
        vec![format!("{}/{}", self.home, self.envelope.agent.folder), self.config.to_string()]
    }

    fn everywhere(&self) -> Vec<String> {
        [self.here(), self.of_user()].concat()
    }

    fn leads_out(&self, path: &str) -> bool {
        path.starts_with('~') || path.starts_with('/')
    }

    /// As an absolute path; whether it may be read is another question.
    fn placed(&self, path: &str) -> Option<String> {
        if let Some(rest) = path.strip_prefix("~/") {
            return Some(format!("{}/{rest}", self.home));
        }
        if path.starts_with('/') {
            return Some(path.to_string());
        }
        self.has_project().then(|| format!("{}/{}", self.project, path.trim_start_matches("./")))
    }

    /// Entries with a variable that is not set are left out.
    fn substituted(&self, path: &str) -> Option<String> {
        const VARIABLE: &str = "${PROJECT_PATH}";
        if !path.contains(VARIABLE) {
            return Some(path.to_string());
        }
        self.env.get("PROJECT_PATH").map(|value| path.replace(VARIABLE, value.trim_end_matches('/')))
    }

    fn shown(&self, path: &str) -> String {
        let below = |folder: &str| path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        match (below(self.project), below(self.home)) {
            (Some(rest), _) => rest.to_string(),
            (None, Some(rest)) => format!("~/{rest}"),
            (None, None) => path.to_string(),
        }
    }
}

/// A name that cannot lead anywhere else.
fn is_plain(name: &str) -> bool {
    !name.starts_with('.') && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' '))
}

/// The folder above the first wildcard, and the pattern below it.
fn globbed(path: &str) -> Option<(&str, &str)> {
    let wild = path.find(['*', '?', '['])?;
    let slash = path.get(..wild)?.rfind('/')?;
    Some((path.get(..slash)?, path.get(slash + 1..)?))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
