//! What the agent is told: the project's own prompt file, else a built-in one.

use crate::RunnerError;
use engine::loops::LoopSettings;
use model::run::RunMode;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules};

/// A larger prompt is none that an agent takes.
const LARGEST: u64 = 1 << 20;

pub(crate) const PLANNING: &str = include_str!("prompts/planning.md");
pub(crate) const BUILDING: &str = include_str!("prompts/building.md");
pub(crate) const QUEUE: &str = include_str!("prompts/queue.md");

/// Whoever says one of these says how the queue is worked on.
const OF_THE_QUEUE: &[&str] = &["task claim", "RALPH_TASK_SCRIPT"];

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

/// The prompt and where it came from. On the queue the template of the building prompt, which nobody changed, counts as
/// none; one of the user's own is told as it is, and where it says nothing of the queue, that is said.
pub(crate) fn find(wanted: &Wanted<'_>) -> Result<(String, String), RunnerError> {
    let Wanted { named, mode, queue, folder, settings } = *wanted;
    let filled = |text: &str| text.replace("{plan}", &settings.plan_file).replace("{specs}", &settings.spec_dir);
    if let Some(path) = named {
        return read(folder.join(path));
    }
    if queue && let Some(path) = file(folder, "queue") {
        return read(inside(folder, path)?);
    }
    let own = file(folder, mode.name()).map(|path| read(inside(folder, path)?)).transpose()?;
    match own {
        Some((text, from)) if !queue => Ok((text, from)),
        Some((text, from)) if text != with_defaults(BUILDING) => {
            let silent = !OF_THE_QUEUE.iter().any(|words| text.contains(words));
            let note =
                if silent { "; it says nothing of the queue, and PROMPT.queue.md would come before it" } else { "" };
            Ok((text, format!("{from}{note}")))
        }
        _ => {
            let text = match mode {
                RunMode::Planning => PLANNING,
                RunMode::Building if queue => QUEUE,
                RunMode::Building => BUILDING,
            };
            Ok((filled(text), "built in".to_string()))
        }
    }
}

/// As `taut init loop` writes it.
pub(crate) fn with_defaults(text: &str) -> String {
    text.replace("{plan}", "IMPLEMENTATION_PLAN.md").replace("{specs}", "specs")
}

fn file(folder: &Path, name: &str) -> Option<PathBuf> {
    let name = format!("PROMPT.{name}.md");
    [".taut", ".fresher", "."].map(|below| folder.join(below).join(&name)).into_iter().find(|path| path.is_file())
}

/// The project's words to every agent of the loop, where it has some.
pub(crate) fn instructions(folder: &Path) -> Result<Option<PathBuf>, RunnerError> {
    let found = [".taut/AGENTS.md", ".fresher/AGENTS.md"].map(|name| folder.join(name));
    found.into_iter().find(|path| path.is_file()).map(|path| inside(folder, path)).transpose()
}

/// What a project holds may be told to its agent; a link to what is outside of it would have anything told.
pub(crate) fn inside(folder: &Path, path: PathBuf) -> Result<PathBuf, RunnerError> {
    if leads_out(folder, &path) { Err(RunnerError::PromptOutside { path }) } else { Ok(path) }
}

/// Whether a path below a folder is somewhere else once all links are followed; one that is not there yet is where its
/// folder is. What cannot be followed is not inside.
pub(crate) fn leads_out(folder: &Path, path: &Path) -> bool {
    let Ok(top) = folder.canonicalize() else { return true };
    // A link to nothing is there and leads to where it would be made.
    let there = path.ancestors().find(|path| path.symlink_metadata().is_ok());
    !there.and_then(|path| path.canonicalize().ok()).is_some_and(|real| real.starts_with(&top))
}

fn read(path: PathBuf) -> Result<(String, String), RunnerError> {
    let text = outside::read_text(&path, &Rules::up_to(LARGEST))
        .map_err(|why| RunnerError::Read { path: path.clone(), source: why.into() })?;
    // By its components: shown without the dot.
    Ok((text, path.components().collect::<PathBuf>().to_string_lossy().into_owned()))
}
