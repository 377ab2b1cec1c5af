//! Which files a new session is given: those for everyone, those of its role,
//! those of its mode. Asked for in rounds, because a role's file names others.

use super::{ContextBudget, ContextSettings, Rank, ShownFile};
use crate::event_context::{EventContext, Places};
use crate::frontmatter;
use model::event::EventKind;
use model::fact::{Probe, TextFact};
use model::session::Session;
use policy::Trust;

/// More files than this are not loaded: they could not fit anyway.
const MOST_FILES: usize = 24;

/// What must still be asked before the files are known. Empty when all is.
pub fn wanted(event: &EventContext<'_>) -> Vec<Probe> {
    walk(event).asks
}

/// The same where the session takes over a role or a mode that the event itself does not tell.
pub fn inherited(event: &EventContext<'_>) -> Vec<Probe> {
    let EventContext { envelope, who, .. } = *event;
    let takes_over = |session: &Session| {
        (who.role.is_none() && session.role.is_some()) || (who.mode.is_none() && session.mode.is_some())
    };
    let starts = envelope.kind == EventKind::SessionStart && event.session().is_some_and(takes_over);
    if starts { wanted(event) } else { Vec::new() }
}

/// Puts the files into the budget, in the order they are told. Files that are not
/// there are passed over; those that are and cannot be read are named, to be read by hand.
pub fn add_to(event: &EventContext<'_>, budget: &mut ContextBudget) {
    let settings = ContextSettings::of(event.policy);
    let mut failed = Vec::new();
    for ContextFile { source, path, title, found } in walk(event).files {
        let rank = match source {
            ContextSource::Core => Rank::Core,
            ContextSource::Role => Rank::Role,
            ContextSource::Mode => Rank::Mode,
        };
        match found {
            TextFact::Text(text) if text.trim().is_empty() => {}
            TextFact::Text(text) => {
                budget.show(rank, ShownFile { path, title, text: Some(text.trim_end().to_string()) });
            }
            TextFact::Long(_) => budget.show(rank, ShownFile { path, title, text: None }),
            TextFact::Failed => failed.push(path),
            TextFact::Missing | TextFact::NotAFile | TextFact::Outside => {}
        }
    }
    budget.introduce(settings.info("Session context loaded"));
    if !failed.is_empty() {
        let text = format!("Context could not be loaded. Read these by hand: {}", failed.join(", "));
        budget.say(Rank::Core, settings.warning(&text));
    }
}

/// A file for a new session's context.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ContextFile {
    source: ContextSource,
    path: String,
    /// As it is listed: `TODAY.MD (daily memory)`.
    title: String,
    found: TextFact,
}

/// Why a file is loaded, most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContextSource {
    Core,
    Role,
    Mode,
}

struct Walk<'a> {
    event: &'a EventContext<'a>,
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

fn walk<'a>(event: &'a EventContext<'a>) -> Walk<'a> {
    let mut walk = Walk { event, files: Vec::new(), asks: Vec::new() };
    if event.envelope.kind != EventKind::SessionStart || event.envelope.sub_agent.is_some() {
        return walk;
    }
    let settings = ContextSettings::of(event.policy);
    for file in &settings.core {
        let within = if leads_out(&file.path) { event.everywhere() } else { event.places.here() };
        walk.entry(&Entry { source: ContextSource::Core, path: &file.path, title: Some(&file.title), within });
    }
    if settings.roles {
        let session = event.session();
        let role = event.who.role.as_deref().or(session.and_then(|session| session.role.as_deref()));
        walk.own(ContextSource::Role, role, ["roles/{}/role.md", "roles/{}.md"]);
        let mode = event.who.mode.as_deref().or(session.and_then(|session| session.mode.as_deref()));
        walk.own(ContextSource::Mode, mode, ["modes/{}.md", "modes/{}/mode.md"]);
    }
    walk
}

impl Walk<'_> {
    /// The file of a role or mode, and what it includes.
    fn own(&mut self, source: ContextSource, name: Option<&str>, shapes: [&str; 2]) {
        let Some(name) = name.filter(|name| is_plain(name)) else { return };
        let places = self.event.places;
        let project = places.has_project().then(|| (&places.tree, places.here()));
        for (folder, within) in project.into_iter().chain([(&places.home, self.event.of_user())]) {
            for shape in shapes {
                let path = format!("{folder}/{}/{}", self.event.envelope.agent.folder, shape.replace("{}", name));
                if let Some(TextFact::Text(text)) = self.text(&path, &within) {
                    self.take(source, path, &text, within);
                    return;
                }
            }
        }
    }

    fn take(&mut self, source: ContextSource, path: String, text: &str, within: Vec<String>) {
        let (head, body) = frontmatter::part(text);
        let what = if source == ContextSource::Role { "role" } else { "mode" };
        let title = format!("{} ({what})", self.event.places.shown(&path));
        self.files.push(ContextFile { source, path, title, found: TextFact::Text(body.to_string()) });
        let free = within == self.event.of_user() || self.event.policy.trust == Trust::Trusted;
        let within = if free { self.event.everywhere() } else { self.event.places.here() };
        for included in frontmatter::words(head.get("auto_include")) {
            let Some(path) = self.substituted(included) else { continue };
            self.entry(&Entry { source, path: &path, title: None, within: within.clone() });
        }
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        let Some(path) = self.event.places.placed(entry.path) else { return };
        let Some((folder, pattern)) = globbed(&path) else {
            self.file(entry, path);
            return;
        };
        match self.event.facts.matches(folder, pattern) {
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
            let title = entry.title.map_or_else(|| self.event.places.shown(&path), str::to_string);
            self.files.push(ContextFile { source: entry.source, path, title, found });
        }
    }

    /// Entries with a variable that is not set are left out.
    fn substituted(&self, path: &str) -> Option<String> {
        const VARIABLE: &str = "${PROJECT_PATH}";
        if !path.contains(VARIABLE) {
            return Some(path.to_string());
        }
        self.event.env.get("PROJECT_PATH").map(|value| path.replace(VARIABLE, value.trim_end_matches('/')))
    }

    /// What is known of the file, or a question.
    fn text(&mut self, path: &str, within: &[String]) -> Option<TextFact> {
        let found = self.event.facts.text(path).cloned();
        if found.is_none() {
            self.asks.push(Probe::Text { path: path.to_string(), within: within.to_vec() });
        }
        found
    }
}

impl EventContext<'_> {
    fn of_user(&self) -> Vec<String> {
        vec![format!("{}/{}", self.places.home, self.envelope.agent.folder), self.places.config.clone()]
    }

    fn everywhere(&self) -> Vec<String> {
        [self.places.here(), self.of_user()].concat()
    }
}

/// Where files for a session's context may lie.
impl Places {
    /// The home folder and the root are nobody's project.
    fn has_project(&self) -> bool {
        self.tree != self.home && self.tree != "/" && !self.tree.is_empty()
    }

    fn here(&self) -> Vec<String> {
        if self.has_project() { vec![self.tree.clone()] } else { Vec::new() }
    }

    /// As an absolute path; whether it may be read is another question.
    fn placed(&self, path: &str) -> Option<String> {
        if let Some(rest) = path.strip_prefix("~/") {
            return Some(format!("{}/{rest}", self.home));
        }
        if path.starts_with('/') {
            return Some(path.to_string());
        }
        self.has_project().then(|| format!("{}/{}", self.tree, path.trim_start_matches("./")))
    }

    fn shown(&self, path: &str) -> String {
        let below = |folder: &str| path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        match (below(&self.tree), below(&self.home)) {
            (Some(rest), _) => rest.to_string(),
            (None, Some(rest)) => format!("~/{rest}"),
            (None, None) => path.to_string(),
        }
    }
}

fn leads_out(path: &str) -> bool {
    path.starts_with('~') || path.starts_with('/')
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
