//! Files whose content a shell line shows to whoever reads its output, as `cat` does.

use crate::parsed_call::{Around, ParsedCall};
use crate::path_actions::{PathAction, PathVerb};
use crate::target::TargetTail;
use bash::{Command, Reading, RedirectKind, StdinSource, Via};

/// Programs that show the files they are given, or what they are fed.
const SHOW: &[&str] = &["cat", "less", "more", "most", "bat", "batcat", "tac", "nl", "view", "head", "tail", "sed"];

/// What may stand beside them without anything being done.
const IDLE: &[&str] = &["cd", "pushd", "popd", "pwd", "echo", "printf", "ls", "true", ":", "test", "["];

/// What a line shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownFiles {
    /// Absolute paths.
    pub paths: Vec<String>,
    /// The line does nothing but show files and go to them.
    pub nothing_else: bool,
}

pub fn shown_files(line: &str, cwd: &str, home: &str) -> ShownFiles {
    let around = Around { home: Some(home.to_string()), ..Around::default() };
    let parsed = ParsedCall::line(line, Some(cwd.to_string()), &around);
    let reading = &parsed.reading;
    let mut shown = ShownFiles { paths: Vec::new(), nothing_else: reading.troubles.is_empty() && !reading.cut };
    for (at, (command, facts)) in reading.commands.iter().zip(&parsed.seen).enumerate() {
        let program = facts.program.as_deref().unwrap_or_default();
        let nowhere = |act: &PathAction| act.target.path.as_deref() == Some("/dev/null");
        let writes = facts.acts.iter().any(|act| act.deed != PathVerb::Read && !nowhere(act));
        let shows = SHOW.contains(&program) && !writes_away(command);
        let harmless = shows && !writes || IDLE.contains(&program) && command.redirects.is_empty();
        shown.nothing_else &= harmless && command.via.iter().all(is_run_here);
        if !shows || writes || !reaches(reading, at) {
            continue;
        }
        let read = facts.acts.iter().filter(|act| act.deed == PathVerb::Read && act.target.tail == TargetTail::None);
        shown.paths.extend(read.filter_map(|act| act.target.path.clone()));
    }
    shown
}

/// A shell that is told to run text runs it all the same.
fn is_run_here(via: &Via) -> bool {
    matches!(via, Via::Shell(_))
}

/// What it prints goes into a file. A complaint may.
fn writes_away(command: &Command) -> bool {
    command.redirects.iter().any(|redirect| redirect.kind != RedirectKind::Read && !redirect.errors)
}

/// Whether what a command prints is what the line prints: nothing takes it, but what shows it again.
fn reaches(reading: &Reading, at: usize) -> bool {
    let Some(command) = reading.commands.get(at).filter(|command| command.via.iter().all(is_run_here)) else {
        return false;
    };
    let takes = |taker: &&Command| matches!(&taker.feed, StdinSource::Pipe(sources) if sources.contains(&at));
    // What is fed stands behind what feeds it, so that this ends.
    let mut takers = reading.commands.iter().filter(takes).filter(|taker| !std::ptr::eq(*taker, command));
    takers.all(|taker| {
        let program = taker.program().unwrap_or_default();
        SHOW.contains(&program.as_str()) && !writes_away(taker) && taker.via.iter().all(is_run_here)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_known_and_what_is_only_named_is_not() {
        let shown = |line: &str| shown_files(line, "/p", "/h");
        for (line, paths) in [
            ("cat a.md", vec!["/p/a.md"]),
            ("cat -n ~/a.md ./b/../c.md", vec!["/h/a.md", "/p/c.md"]),
            ("cd x && head -n 20 a.md", vec!["/p/x/a.md"]),
            ("sed -n '1,20p' a.md", vec!["/p/a.md"]),
            ("cat a.md 2>/dev/null", vec!["/p/a.md"]),
            ("cat a.md | tail -5 | cat", vec!["/p/a.md"]),
        ] {
            assert_eq!(
                shown(line),
                ShownFiles { paths: paths.into_iter().map(String::from).collect(), nothing_else: true },
                "{line}"
            );
        }
        assert_eq!(shown("bash -c 'cat a.md'").paths, ["/p/a.md"]);
        for line in
            ["echo a.md", "cat *.md", "cat \"$X\"", "cat a.md >b", "cat a.md | grep x", "y=$(cat a.md)", "cat a.md &"]
        {
            assert_eq!(shown(line).paths, [] as [&str; 0], "{line}");
        }
        for line in
            ["cat a.md; make", "cat a.md | sh", "sed -i s/a/b/ a.md", "cat a.md && rm b", "if x; then cat a.md; fi"]
        {
            assert!(!shown(line).nothing_else, "{line}");
        }
    }
}
