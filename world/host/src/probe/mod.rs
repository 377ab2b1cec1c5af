//! Senses: the answers to what the core asks before it decides. Each answer is
//! bounded in reads and bytes; a question that cannot be answered is left out.

mod context_files;
mod directives;
mod git_head;
mod git_ignored;
mod git_index;
mod path;
#[cfg(target_os = "linux")]
mod picked;
#[cfg(not(target_os = "linux"))]
mod picked {
    //! Elsewhere nobody is asked: a name says nothing about whose a process is.
    pub fn picked(_: &model::fact::ProcessPick) -> Option<model::fact::Picked> {
        None
    }
}
mod process;
mod project;
pub mod run_file;
mod tools;
mod transcript;

pub use git_head::{GitFolders, head, head_of};
#[cfg(feature = "fuzzing")]
pub use git_index::holds as git_index_holds;
pub use process::{ancestors, has_the_terminal_of, in_foreground, life};
pub use project::project;
pub use transcript::{read_on, tail};

use model::fact::{Facts, Life, Probe};
use std::path::Path;

/// More questions than this are not answered: an event that asks more is not
/// worth what it would cost.
const MOST: usize = 48;

/// Answers each question once.
pub fn observe(probes: &[Probe], home: &Path) -> Facts {
    let mut facts = Facts::default();
    add(&mut facts, probes, home);
    facts
}

/// Answers further questions into facts already known.
pub fn add(facts: &mut Facts, probes: &[Probe], home: &Path) {
    let mut indexes = git_index::Indexes::default();
    for probe in probes.iter().take(MOST) {
        match probe {
            Probe::Project { folder } if facts.project(folder).is_none() => {
                facts.projects.push((folder.clone(), project(Path::new(folder), home)));
            }
            Probe::Process { pid } if facts.process(*pid).is_none() => {
                facts.processes.extend(process::life(*pid).map(|life| (*pid, life)));
            }
            Probe::Caller { pid } if facts.caller(*pid).is_none() => {
                let caller = process::behind(*pid);
                facts.callers.extend(caller.map(|caller| (*pid, caller)));
                facts.processes.extend(caller.map(|caller| (caller.pid, Life::Alive { started: caller.started })));
            }
            Probe::Path { path } if facts.path(path).is_none() => {
                facts.paths.push((path.clone(), path::fact(Path::new(path), &mut indexes)));
            }
            Probe::Picked(pick) if facts.picked(pick).is_none() => {
                facts.picked.extend(picked::picked(pick).map(|picked| (pick.clone(), picked)));
            }
            Probe::Transcript { path, last } => {
                // Asked again for more of it.
                facts.transcripts.retain(|(known, _)| known != path);
                // A transcript that is not there yet says nothing, like an empty one.
                let tail = transcript::tail(Path::new(path), *last).unwrap_or_default();
                facts.transcripts.push((path.clone(), tail));
            }
            Probe::Text { path, within } if facts.text(path).is_none() => {
                facts.texts.push((path.clone(), context_files::text(Path::new(path), within)));
            }
            Probe::Matches { folder, pattern } if facts.matches(folder, pattern).is_none() => {
                let found = context_files::matches(Path::new(folder), pattern);
                let found = found.iter().map(|path| path.to_string_lossy().into_owned()).collect();
                facts.matches.push(((folder.clone(), pattern.clone()), found));
            }
            Probe::RunFile { .. } | Probe::NearestFile { .. } if facts.file(probe).is_none() => {
                let found = run_file::fact(probe, &facts.files, &mut indexes);
                facts.files.push((probe.clone(), found));
            }
            Probe::Directives { folder, root, names } if facts.directives(folder).is_none() => {
                let found = directives::directives(Path::new(folder), Path::new(root), names);
                facts.directives.push((folder.clone(), found));
            }
            Probe::IndexEntries { tree } if facts.index_entries(tree).is_none() => {
                facts.index_entries.push((tree.clone(), git_index::entries(Path::new(tree))));
            }
            Probe::Head { folder } if facts.head(folder).is_none() => {
                facts.heads.extend(head(Path::new(folder), home).map(|head| (folder.clone(), head)));
            }
            _ => {}
        }
    }
}
