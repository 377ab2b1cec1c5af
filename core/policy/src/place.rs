//! Places: what kind of ground a path stands on. Path judgement comes before every rule about files.

use crate::line_context::LineContext;
use crate::names;
use crate::target::{Target, TargetTail, within};
use model::fact::PathFact;

/// The kind of ground a target stands on, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// `/` or everything in it.
    Root,
    /// The home folder or everything in it.
    Home,
    /// Where a disk is mounted.
    Mount,
    /// The system's own trees, and folders that hold homes.
    System,
    /// Another person's home.
    OtherHome,
    /// A folder that holds the project.
    Above,
    /// The user's, but not of this project.
    Elsewhere,
    /// The project's top level, or everything in it.
    ProjectRoot,
    /// Inside the project, and it would not come back by itself.
    Work,
    /// Inside the project, and a build or an install brings it back.
    Rebuildable,
    /// A cache of the user's tools.
    Cache,
    /// A temporary folder as a whole.
    TempRoot,
    /// Below a temporary folder or the agent's scratch folder.
    Temp,
    /// Only the run would tell, and an empty variable makes it a root.
    UnknownRoot,
    /// Only the run would tell.
    Unknown,
}

/// On which machine a command's paths are meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Machine {
    #[default]
    This,
    /// Reached by `ssh` and its kin.
    Other,
    /// A container, made to be thrown away.
    Container,
}

impl LineContext<'_> {
    /// Where `target` stands.
    pub(crate) fn place(&self, target: &Target, machine: Machine) -> PlaceKind {
        let machine = if target.bound { Machine::This } else { machine };
        let Some(path) = target.path.as_deref() else { return self.unknown(target) };
        if let TargetTail::Unknown(end) = &target.tail {
            return self.below_unknown(path, end, machine);
        }
        let whole = !matches!(target.tail, TargetTail::Some(_));
        let place = match machine {
            Machine::This => self.here(path, target),
            Machine::Other | Machine::Container => there(path, machine, target),
        };
        match place {
            // A pattern takes some of what is there, not the place itself.
            PlaceKind::Root if !whole => PlaceKind::System,
            PlaceKind::Home if !whole => PlaceKind::Elsewhere,
            PlaceKind::TempRoot if target.tail != TargetTail::None => PlaceKind::Temp,
            PlaceKind::ProjectRoot if !whole => PlaceKind::Work,
            place => place,
        }
    }

    fn here(&self, path: &str, target: &Target) -> PlaceKind {
        let fact = self.fact(path);
        let path = followed(path, fact, target);
        if path == "/" {
            return PlaceKind::Root;
        }
        if self.is_home(path) {
            return PlaceKind::Home;
        }
        if fact.is_some_and(|fact| fact.mount_point) || mounted(path) {
            return PlaceKind::Mount;
        }
        // A home or project that somebody put below `/tmp` is itself temporary.
        if TEMP.contains(&path) {
            return PlaceKind::TempRoot;
        }
        if self.home.is_some_and(|home| within(home, path)) {
            return PlaceKind::System;
        }
        if let Some(root) = self.roots().find(|root| within(path, root)) {
            return self.in_project(path, root, target, fact);
        }
        if self.roots().any(|root| within(root, path)) {
            return PlaceKind::Above;
        }
        if self.scratch.iter().any(|folder| within(path, folder)) || disposable_worktree(path) {
            return PlaceKind::Temp;
        }
        self.outside(path)
    }

    fn in_project(&self, path: &str, root: &str, target: &Target, fact: Option<&PathFact>) -> PlaceKind {
        let below = path.strip_prefix(root.trim_end_matches('/')).unwrap_or_default().trim_start_matches('/');
        if below.is_empty() && !matches!(target.tail, TargetTail::Some(_)) {
            return PlaceKind::ProjectRoot;
        }
        if disposable_worktree(path) {
            return PlaceKind::Temp;
        }
        let tracked = fact.and_then(|fact| fact.tracked);
        if tracked == Some(true) && matches!(target.tail, TargetTail::None | TargetTail::Everything) {
            return PlaceKind::Work;
        }
        let pattern = match &target.tail {
            TargetTail::Some(pattern) => pattern.as_str(),
            _ => "",
        };
        let ignored = fact.is_some_and(|fact| fact.ignored) && !names::kept(below, pattern);
        if ignored || names::rebuildable(below, pattern) || (tracked == Some(false) && names::maybe_rebuildable(below))
        {
            return PlaceKind::Rebuildable;
        }
        PlaceKind::Work
    }

    fn outside(&self, path: &str) -> PlaceKind {
        let temp = self.temp_folders().find(|folder| within(path, folder));
        if let Some(home) = self.home.filter(|home| within(path, home)) {
            let below = path.strip_prefix(home.trim_end_matches('/')).unwrap_or_default().trim_start_matches('/');
            return match temp {
                Some(folder) if folder.len() > home.len() && folder == path => PlaceKind::TempRoot,
                Some(folder) if folder.len() > home.len() => PlaceKind::Temp,
                _ if names::home_cache(below) => PlaceKind::Cache,
                _ => PlaceKind::Elsewhere,
            };
        }
        match temp {
            Some(folder) if folder == path => PlaceKind::TempRoot,
            Some(_) => PlaceKind::Temp,
            None if path.starts_with("/var/") && names::system_cache(path) => PlaceKind::Cache,
            None => common(path),
        }
    }

    fn unknown(&self, target: &Target) -> PlaceKind {
        let head = target.unknown_head.as_deref().unwrap_or_default();
        if head.starts_with('~') {
            return PlaceKind::OtherHome;
        }
        if names::temporary_source(head) {
            // What climbs out of a temporary folder may be anywhere.
            let climbs = target.shown.split('/').any(|part| part.trim_matches('"') == "..");
            return if climbs { PlaceKind::UnknownRoot } else { PlaceKind::Temp };
        }
        let TargetTail::Unknown(end) = &target.tail else { return in_unknown_folder(&target.shown) };
        let rest = end.trim_matches('/');
        // `$x.*` is never a root, even where `$x` is empty.
        let hidden = rest == ".*" && end.starts_with('/');
        if rest.is_empty() || hidden || matches!(rest, "*" | "." | "**") {
            let guarded = head.contains(":?") || head.contains(":-") || end.is_empty();
            let named = end.is_empty() && names::rebuilt_source(head);
            return match (guarded, named) {
                (_, true) => PlaceKind::Rebuildable,
                (true, _) => PlaceKind::Unknown,
                _ => PlaceKind::UnknownRoot,
            };
        }
        if end.starts_with('/') && names::rebuilt_source(head) && !rest.contains("..") {
            return PlaceKind::Rebuildable;
        }
        if end.starts_with('/') && names::rebuildable(rest, "") && !rest.contains("..") {
            return PlaceKind::Rebuildable;
        }
        PlaceKind::Unknown
    }

    fn below_unknown(&self, path: &str, end: &str, machine: Machine) -> PlaceKind {
        let plain = Target {
            shown: String::new(),
            path: Some(path.to_string()),
            tail: TargetTail::None,
            unknown_head: None,
            bound: false,
        };
        let rest = end.trim_matches('/');
        match self.place(&plain, machine) {
            PlaceKind::Temp | PlaceKind::TempRoot => PlaceKind::Temp,
            PlaceKind::Rebuildable => PlaceKind::Rebuildable,
            PlaceKind::Cache => PlaceKind::Cache,
            PlaceKind::ProjectRoot | PlaceKind::Work if end.starts_with('/') && names::rebuildable(rest, "") => {
                PlaceKind::Rebuildable
            }
            PlaceKind::ProjectRoot => PlaceKind::Work,
            PlaceKind::Root | PlaceKind::Mount => PlaceKind::System,
            PlaceKind::Home => PlaceKind::Elsewhere,
            place => place,
        }
    }
}

/// A plain name below a folder that is not known: what is rebuilt in one is rebuilt in any.
fn in_unknown_folder(shown: &str) -> PlaceKind {
    let below = shown.trim_start_matches("./").trim_end_matches('/');
    let plain = !below.starts_with(['/', '~']) && !below.split('/').any(|part| part == "..");
    if plain && names::rebuildable(below, "") { PlaceKind::Rebuildable } else { PlaceKind::Unknown }
}

/// The path the system would follow: removing a link removes the link, anything behind it is elsewhere.
fn followed<'p>(path: &'p str, fact: Option<&'p PathFact>, target: &Target) -> &'p str {
    match fact {
        Some(fact) if fact.real.is_empty() => path,
        Some(fact) if fact.is_symlink && target.tail == TargetTail::None && !target.shown.ends_with('/') => path,
        Some(fact) => &fact.real,
        None => path,
    }
}

fn there(path: &str, machine: Machine, target: &Target) -> PlaceKind {
    if path == "/" {
        return PlaceKind::Root;
    }
    if TEMP.iter().any(|folder| path != *folder && within(path, folder)) {
        return PlaceKind::Temp;
    }
    let name = target.name();
    match (common(path), machine) {
        (PlaceKind::System, _) if names::system_cache(path) => PlaceKind::Cache,
        (PlaceKind::System, _) => PlaceKind::System,
        _ if names::rebuildable(path.trim_start_matches('/'), name) => PlaceKind::Rebuildable,
        (_, Machine::Container) => PlaceKind::Work,
        (place, _) => place,
    }
}

/// Worktrees an agent or the loop made are theirs to throw away.
fn disposable_worktree(path: &str) -> bool {
    ["/.claude/worktrees/", "/.taut/worktrees/"].iter().any(|part| path.contains(part))
}

fn mounted(path: &str) -> bool {
    let depth = path.matches('/').count();
    (depth == 2 && (path.starts_with("/mnt/") || path.starts_with("/Volumes/")))
        || matches!(path, "/mnt" | "/media" | "/Volumes")
}

/// Ground that is the same on every machine.
fn common(path: &str) -> PlaceKind {
    if SYSTEM.iter().any(|folder| within(path, folder)) || matches!(path, "/home" | "/Users") {
        return PlaceKind::System;
    }
    if ["/home/", "/Users/"].iter().any(|homes| path.starts_with(homes)) || within(path, "/root") {
        return PlaceKind::OtherHome;
    }
    PlaceKind::Elsewhere
}

pub(crate) const TEMP: &[&str] = &[
    "/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders", "/dev/shm",
    "/run/user",
];

pub(crate) const SYSTEM: &[&str] = &[
    "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/boot", "/dev", "/proc", "/sys", "/run",
    "/var", "/opt", "/srv", "/snap", "/nix", "/efi", "/System", "/Library", "/Applications", "/private", "/cores",
    "/C:/Windows", "/c/Windows", "/mnt/c/Windows",
];
