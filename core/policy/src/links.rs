//! Links: a path is what it leads to, whether the link stood there before or the line makes it.

use crate::args::{Args, Grammar, text};
use crate::line_context::LineContext;
use crate::path_actions::{PathAction, PathVerb};
use crate::target::{Target, TargetTail, absolute};
use bash::{Command, Word};
use std::collections::HashMap;

/// So many links of a line are followed; no line that is meant well makes more and then writes through them.
const MOST: usize = 64;

/// So many links are followed from one to the next.
const LONGEST_CHAIN: usize = 8;

const LINK: Grammar =
    Grammar { short: "tSo", long: &["target-directory", "suffix", "options"], single_dash_long: false };

/// The links a line has made so far, by the path of each.
#[derive(Debug, Default)]
pub(crate) struct LinkedPaths(HashMap<String, String>);

impl LinkedPaths {
    /// Takes in the links that a command makes.
    pub(crate) fn learn(&mut self, program: &str, command: &Command) {
        for (link, to) in made(program, command) {
            let to = self.leads_to(&to);
            let link = self.itself(&link);
            if self.0.len() < MOST && link != to {
                self.0.insert(link, to);
            }
        }
    }

    /// Lets acts be about what their paths lead to.
    pub(crate) fn follow(&self, program: &str, command: &Command, acts: &mut [PathAction]) {
        if self.0.is_empty() {
            return;
        }
        for act in acts.iter_mut().filter(|act| !act.target.bound) {
            let Some(asked) = as_written(&act.target, command.cwd.as_deref()) else { continue };
            let itself = acts_on_name(program, act.deed)
                && act.target.tail == TargetTail::None
                && !act.target.shown.ends_with('/');
            act.target.path = Some(if itself { self.itself(&asked) } else { self.leads_to(&asked) });
        }
    }

    /// Where a path leads, part by part, as the system would go.
    fn leads_to(&self, path: &str) -> String {
        let mut out = String::with_capacity(path.len());
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => out.truncate(out.rfind('/').unwrap_or_default()),
                part => {
                    out.push('/');
                    out.push_str(part);
                    for _ in 0..LONGEST_CHAIN {
                        let Some(to) = self.0.get(&out) else { break };
                        out.clone_from(to);
                    }
                    if out == "/" {
                        out.clear();
                    }
                }
            }
        }
        if out.is_empty() { "/".to_string() } else { out }
    }

    /// The same for the folder of a path only.
    fn itself(&self, path: &str) -> String {
        match path.trim_end_matches('/').rsplit_once('/') {
            Some((_, ".." | ".")) | None => self.leads_to(path),
            Some((folder, name)) => format!("{}/{name}", self.leads_to(folder).trim_end_matches('/')),
        }
    }
}

/// Whether a deed is done to the name, not to what it leads to: a link is removed, moved or replaced as a link.
fn acts_on_name(program: &str, deed: PathVerb) -> bool {
    matches!(deed, PathVerb::Remove(_) | PathVerb::Displace) || matches!(program, "ln" | "mv" | "link")
}

/// What an act is really about, where the world says that its path leads elsewhere.
pub(crate) fn real(ground: &LineContext<'_>, command: &Command, program: &str, act: &PathAction) -> Option<Target> {
    if !ground.leads_elsewhere {
        return None;
    }
    let asked = as_written(&act.target, command.cwd.as_deref())?;
    let fact = ground.facts.path(&asked).filter(|fact| !fact.real.is_empty())?;
    let whole = act.target.tail == TargetTail::None && !act.target.shown.ends_with('/');
    let itself = fact.is_symlink && whole && acts_on_name(program, act.deed);
    if itself || act.target.bound || act.target.path.as_deref() == Some(fact.real.as_str()) {
        return None;
    }
    Some(Target { path: Some(fact.real.clone()), ..act.target.clone() })
}

/// The path the world is asked about: `link/../x` is not `x`.
pub(crate) fn as_written(target: &Target, cwd: Option<&str>) -> Option<String> {
    let path = target.path.as_deref()?;
    let climbs = target.tail == TargetTail::None && target.shown.split('/').any(|part| part == "..");
    if !climbs || absolute(&target.shown, cwd).as_deref() != Some(path) {
        return Some(path.to_string());
    }
    match (target.shown.starts_with('/'), cwd) {
        (false, Some(cwd)) => Some(format!("{}/{}", cwd.trim_end_matches('/'), target.shown)),
        _ => Some(target.shown.clone()),
    }
}

/// The files that a command gives a second name, which is as good as the first.
pub(crate) fn hard_linked(program: &str, command: &Command) -> Vec<Target> {
    if !matches!(program, "ln" | "cp" | "link") {
        return Vec::new();
    }
    let args = Args::parse(command.args(), LINK);
    let hard = match program {
        "ln" => !args.short('s') && !args.long_flag("symbolic"),
        "cp" => args.short('l') || args.long_flag("link"),
        _ => true,
    };
    let operands = if hard { args.operands.as_slice() } else { &[] };
    operands.iter().map(|word| Target::of(word, command.cwd.as_deref())).collect()
}

/// The links a command makes, and where each leads.
fn made(program: &str, command: &Command) -> Vec<(String, String)> {
    if !matches!(program, "ln" | "cp" | "link" | "mklink" | "mount" | "bindfs") {
        return Vec::new();
    }
    let args = Args::parse(command.args(), LINK);
    let bind = || {
        args.short('B')
            || args.long_flag("bind")
            || args.long_flag("rbind")
            || args.value("o").or(args.value("options")).is_some_and(|options| options.contains("bind"))
    };
    // A symbolic link is read from its own folder, any other from where the command runs.
    let symbolic = match program {
        "ln" => args.short('s') || args.long_flag("symbolic"),
        "cp" if args.short('s') || args.long_flag("symbolic-link") => true,
        "cp" if !args.short('l') && !args.long_flag("link") => return Vec::new(),
        "mount" if !bind() => return Vec::new(),
        "mklink" => true,
        _ => false,
    };
    let mut operands: Vec<&Word> =
        args.operands.iter().copied().filter(|word| program != "mklink" || !text(word).starts_with('/')).collect();
    // Windows names the link first.
    if program == "mklink" {
        operands.reverse();
    }
    let cwd = command.cwd.as_deref();
    let folder = args.value("t").or(args.value("target-directory"));
    let (sources, last) = match (folder, operands.split_last()) {
        (None, Some((last, sources))) if !sources.is_empty() => (sources.to_vec(), Some(text(last).into_owned())),
        (folder, _) => (operands.clone(), folder.map(|folder| format!("{folder}/")).or(Some("./".to_string()))),
    };
    let mut links = Vec::new();
    for source in sources.into_iter().filter(|source| source.known().is_some()) {
        let source = text(source);
        let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let Some(last) = last.as_deref() else { continue };
        // A folder that is there already gets the link into it.
        let below = (!matches!(name, "" | "." | "..")).then(|| format!("{last}/{name}"));
        let own = (!last.ends_with(['/', '.'])).then(|| last.to_string());
        for place in own.into_iter().chain(below) {
            let Some(link) = absolute(&place, cwd) else { continue };
            let from = if symbolic { link.rsplit_once('/').map(|(folder, _)| folder) } else { cwd };
            let to = if source.starts_with('/') { Some(source.to_string()) } else { join(from, &source) };
            links.extend(to.map(|to| (link, to)));
        }
    }
    links
}

fn join(folder: Option<&str>, path: &str) -> Option<String> {
    Some(format!("{}/{path}", folder?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(line: &str, path: &str) -> String {
        let around =
            bash::Surroundings { cwd: Some("/p".into()), home: Some("/h".into()), ..bash::Surroundings::default() };
        let mut links = LinkedPaths::default();
        for command in &bash::read(line, &around).commands {
            links.learn(&command.program().unwrap_or_default(), command);
        }
        links.leads_to(path)
    }

    #[test]
    fn g14_a_path_through_a_link_of_the_line_is_what_it_leads_to() {
        assert_eq!(leads("ln -s ~/.claude cfg", "/p/cfg/settings.json"), "/h/.claude/settings.json");
        assert_eq!(leads("ln -sfn ~/.claude cfg", "/p/cfg/../.bashrc"), "/h/.bashrc");
        assert_eq!(leads("ln -s ../q/x sub/link", "/p/sub/link"), "/p/q/x");
        assert_eq!(leads("ln -s / r", "/p/r"), "/");
        assert_eq!(leads("ln -s / r", "/p/r/etc/hosts"), "/etc/hosts");
        assert_eq!(leads("ln -s ~ h; ln -s h/.ssh k", "/p/k/rc"), "/h/.ssh/rc");
        assert_eq!(leads("ln -s ~/.ssh", "/p/.ssh/rc"), "/h/.ssh/rc");
        assert_eq!(leads("ln -s ~/.ssh .", "/p/.ssh/rc"), "/h/.ssh/rc");
        assert_eq!(leads("ln -st sub ~/.ssh", "/p/sub/.ssh/rc"), "/h/.ssh/rc");
        assert_eq!(leads("ln ~/a x", "/p/x"), "/h/a");
        assert_eq!(leads("cp -s ~/a x", "/p/x"), "/h/a");
        assert_eq!(leads("cp -l ~/a x", "/p/x"), "/h/a");
        assert_eq!(leads("mount --bind ~/.ssh m", "/p/m/rc"), "/h/.ssh/rc");
        assert_eq!(leads("mount -o ro,bind ~/.ssh m", "/p/m/rc"), "/h/.ssh/rc");
        assert_eq!(leads("cp ~/a x", "/p/x"), "/p/x", "a copy is another file");
        assert_eq!(leads("ln -s .. up", "/p/up/h/.ssh"), "/h/.ssh", "a link to a folder above has no name to go into");
        assert_eq!(leads("ln -s ../.. a/up", "/p/a/up/etc"), "/etc");
        assert_eq!(leads("ln -s . here", "/p/here/x"), "/p/x");
        assert_eq!(leads("ln -s .. up", "/p/x"), "/p/x");
        assert_eq!(leads("ln -s a b; ln -s b a", "/p/a/x").len(), "/p/a/x".len(), "a ring of links ends");
    }
}
