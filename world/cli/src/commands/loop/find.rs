//! Which run is meant: the one with these letters, or the newest of this project.

use super::words;
use crate::commands::stored;
use crate::error::CliError;
use host::paths::PathVariables;
use model::Ms;
use model::run::{Finish, Run};
use store::{FleetRun, RunFilter, Store};

/// The runs, seen from this folder.
pub(super) struct Runs {
    pub store: Store,
    pub project: String,
    folder: String,
}

/// So many runs of a project are looked through for the one of this work tree.
const LOOKED_THROUGH: usize = 100;

impl Runs {
    pub fn open() -> Result<Self, CliError> {
        let places = PathVariables::from_process();
        let here = host::probe::project(&std::env::current_dir()?, &places.home());
        let store = stored()?.ok_or_else(none_yet)?;
        Ok(Self { store, project: here.root, folder: here.work_tree })
    }

    /// The run to look at.
    pub fn pick(&self, wanted: Option<&str>) -> Result<FleetRun, CliError> {
        Ok(self.store.seen_run(self.wanted(wanted)?)?)
    }

    /// The same with every worker it had.
    pub fn pick_whole(&self, wanted: Option<&str>) -> Result<FleetRun, CliError> {
        Ok(self.store.whole_run(self.wanted(wanted)?)?)
    }

    /// The run to speak to: without a name the one that lives, here before elsewhere in the project.
    pub fn pick_live(&self, wanted: Option<&str>) -> Result<FleetRun, CliError> {
        if wanted.is_some() {
            return self.pick(wanted);
        }
        let runs = self.of_project()?.into_iter().map(|run| self.store.seen_run(run)).collect::<Result<Vec<_>, _>>()?;
        let mut live: Vec<FleetRun> = runs.into_iter().filter(|seen| seen.alive).collect();
        if let Some(here) = live.iter().position(|seen| seen.run.folder == self.folder) {
            return Ok(live.swap_remove(here));
        }
        match live.len() {
            0 => self.pick(None),
            1 => Ok(live.swap_remove(0)),
            _ => {
                let runs: Vec<Run> = live.into_iter().map(|seen| seen.run).collect();
                Err(ambiguous("several loops of this project run", &runs))
            }
        }
    }

    fn wanted(&self, wanted: Option<&str>) -> Result<Run, CliError> {
        wanted.map_or_else(|| self.newest(), |letters| self.called(letters))
    }

    fn newest(&self) -> Result<Run, CliError> {
        let runs = self.of_project()?;
        let here = runs.iter().find(|run| run.folder == self.folder).or_else(|| runs.first());
        here.cloned().ok_or_else(none_yet)
    }

    fn of_project(&self) -> Result<Vec<Run>, CliError> {
        let filter = RunFilter { project: Some(self.project.clone()), workers: false, limit: LOOKED_THROUGH };
        Ok(self.store.runs(&filter)?)
    }

    fn called(&self, letters: &str) -> Result<Run, CliError> {
        let mut found = if letters.is_empty() { Vec::new() } else { self.store.runs_called(letters)? };
        // A whole id, or a whole short one, is not the beginning of another.
        if let Some(exact) = found.iter().position(|run| run.id == letters || run.short() == letters) {
            return Ok(found.swap_remove(exact));
        }
        match found.len() {
            0 => Err(CliError::not_found(format!("no run is called `{letters}`")).hint("taut loop list --all")),
            1 => Ok(found.swap_remove(0)),
            _ => Err(ambiguous(&format!("`{letters}` may be any of several runs"), &found)),
        }
    }
}

fn none_yet() -> CliError {
    CliError::not_found("no loop has run in this project yet").hint("taut loop build")
}

fn ambiguous(what: &str, runs: &[Run]) -> CliError {
    let now = host::clock::now();
    let lines: Vec<String> = runs.iter().map(|run| candidate(run, now)).collect();
    CliError::not_found(format!("{what}:\n{}", lines.join("\n"))).hint("name one by the letters that begin its line")
}

fn candidate(run: &Run, now: Ms) -> String {
    let state = run.finish.map_or(run.live.state.name(), Finish::name);
    format!("{}  {state}, began {}, {}", run.short(), words::local(run.started_at, now), run.folder)
}
