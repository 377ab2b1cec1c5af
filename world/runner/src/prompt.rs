//! What the agent is told: the project's own prompt file, else a built-in one.

use crate::RunnerError;
use engine::loops::LoopSettings;
use model::run::RunMode;
use std::path::Path;
use sys::outside::{self, Rules};

/// A larger prompt is none that an agent takes.
const LARGEST: u64 = 1 << 20;

pub(crate) const PLANNING: &str = include_str!("prompts/planning.md");
pub(crate) const BUILDING: &str = include_str!("prompts/building.md");
const QUEUE: &str = include_str!("prompts/queue.md");

/// What a prompt is looked for.
pub(crate) struct Wanted<'a> {
    /// The file that was named on the command line.
    pub named: Option<&'a Path>,
    pub mode: RunMode,
    /// The work is in the queue.
    pub queue: bool,
    pub folder: &'a Path,
    pub settings: &'a LoopSettings,
}

/// The prompt and where it came from.
pub(crate) fn find(wanted: &Wanted<'_>) -> Result<(String, String), RunnerError> {
    let Wanted { named, mode, queue, folder, settings } = *wanted;
    let name = format!("PROMPT.{}.md", mode.name());
    let candidates = [".taut", ".fresher", "."].map(|below| folder.join(below).join(&name));
    let found = named.map(|path| folder.join(path)).or_else(|| candidates.into_iter().find(|path| path.is_file()));
    if let Some(path) = found {
        let text = outside::read_text(&path, &Rules::up_to(LARGEST))
            .map_err(|why| RunnerError::Read { path: path.clone(), source: why.into() })?;
        return Ok((text, path.to_string_lossy().into_owned()));
    }
    let text = match mode {
        RunMode::Planning => PLANNING,
        RunMode::Building if queue => QUEUE,
        RunMode::Building => BUILDING,
    };
    let text = text.replace("{plan}", &settings.plan_file).replace("{specs}", &settings.spec_dir);
    Ok((text, "built in".to_string()))
}
