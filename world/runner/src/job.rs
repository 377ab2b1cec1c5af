//! A run before it begins: what was typed, what configuration says, and whether
//! the project's own files have a say.

use crate::prompt;
use crate::{RunMessage, RunnerError, Tell};
use engine::loops::{Assignments, Flags, LoopSettings, Sources, Terms, WorkSource, assignments, settings};
use host::paths::PathVariables;
use host::trust::ProjectFiles;
use model::run::{Launch, LaunchLine, RunLimits, RunMode};
use pipeline::{PolicyCache, ProjectPolicy};
use policy::config::sections;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use store::Store;

/// What was asked for.
#[derive(Debug, Clone)]
pub struct JobRequest {
    pub mode: RunMode,
    pub flags: Flags,
    pub prompt: Option<PathBuf>,
    pub resume: Resume,
    pub folder: PathBuf,
    /// Where configuration and hooks come from; another folder for workers in worktrees.
    pub config_from: Option<PathBuf>,
    pub branch: Option<String>,
    pub worker: Option<WorkerJob>,
}

/// The part of a loop that another one started for a single task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerJob {
    /// The slug.
    pub task: String,
    /// The run that started it, and merges and confirms what it proves.
    pub parent: String,
    /// Whom the task was claimed for: the name its agent goes by.
    pub agent: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    Fresh,
    Last,
}

/// Everything that is known before the first process is started.
#[derive(Debug, Clone)]
pub struct Job {
    pub mode: RunMode,
    pub settings: LoopSettings,
    pub terms: Terms,
    pub resume: Resume,
    /// The work tree.
    pub folder: PathBuf,
    /// Where hooks and configuration are read.
    pub root: PathBuf,
    /// The key of the project, one for all its work trees.
    pub project: String,
    pub state: PathBuf,
    pub home: PathBuf,
    pub queue: bool,
    pub prompt: String,
    pub prompt_from: String,
    pub instructions: Option<String>,
    /// `FRESHER_*` of `.fresher/config.sh`, for the hooks.
    pub assigned: BTreeMap<String, String>,
    pub branch: Option<String>,
    pub worker: Option<WorkerJob>,
    pub trusted: bool,
}

impl Job {
    pub fn new(asked: &JobRequest, places: &PathVariables, tell: &dyn Tell) -> Result<Self, RunnerError> {
        let (state, home) = (places.state(), places.home());
        let project = host::probe::project(&asked.folder, &home);
        let folder = PathBuf::from(&project.work_tree);
        let root = asked.config_from.clone().unwrap_or_else(|| folder.clone());
        let project_policy = PolicyCache::new(places.user_config(), state.clone()).of(&root.to_string_lossy(), &home);
        let seen = ProjectFiles::of(&root);
        let trusted = seen.loop_holds(&state);
        let env: BTreeMap<String, String> = std::env::vars().collect();
        let assigned = config_sh(&seen, trusted, &env, tell);
        let settings = read_settings(&project_policy, &asked.flags, &env, &assigned)?;
        // By its components: a path written as `./specs` is shown without the dot.
        let below =
            |top: &Path, path: &str| top.join(path).components().collect::<PathBuf>().to_string_lossy().into_owned();
        let absolute = |path: &str| below(&folder, path);
        let queue = asked.mode == RunMode::Building && works_on_queue(settings.source, &state, &project.root)?;
        let terms = Terms {
            mode: asked.mode,
            queue,
            limits: settings.limits.clone(),
            on_hook_failure: settings.hooks.on_failure,
            project_dir: folder.to_string_lossy().into_owned(),
            // A worker's tree goes when it is merged, and what it said must not.
            log_dir: below(&root, &settings.log_dir),
            plan_file: absolute(&settings.plan_file),
            spec_dir: absolute(&settings.spec_dir),
        };
        let (prompt, prompt_from) = prompt::find(&prompt::Wanted {
            named: asked.prompt.as_deref(),
            mode: asked.mode,
            queue,
            folder: &folder,
            settings: &settings,
        })?;
        let instructions = [".taut/AGENTS.md", ".fresher/AGENTS.md"]
            .into_iter()
            .map(|name| folder.join(name))
            .find(|path| path.is_file());
        let job = Self {
            mode: asked.mode,
            settings,
            terms,
            resume: asked.resume,
            root,
            project: project.root,
            folder,
            state,
            home,
            queue,
            prompt,
            prompt_from,
            instructions: instructions.map(|path| path.to_string_lossy().into_owned()),
            assigned: assigned.values,
            branch: asked.branch.clone(),
            worker: asked.worker.clone(),
            trusted,
        };
        job.launch()?;
        Ok(job)
    }

    /// The line that starts the agent.
    pub fn launch(&self) -> Result<LaunchLine, RunnerError> {
        let LoopSettings { agent, command, .. } = &self.settings;
        if let Some((program, args)) = command.split_first() {
            let takes = args.iter().any(|arg| arg.contains("{prompt}"));
            let mut args: Vec<String> = args.iter().map(|arg| arg.replace("{prompt}", &self.prompt)).collect();
            args.extend(self.settings.agent_args.iter().cloned());
            return Ok(LaunchLine { program: program.clone(), args, stdin: (!takes).then(|| self.prompt.clone()) });
        }
        let Some(dialect) = agents::ALL.find(agent) else {
            let known = agents::ALL.ids().collect::<Vec<_>>().join(", ");
            return Err(RunnerError::NoAgent { name: agent.clone(), known });
        };
        Ok((dialect.launch.line)(&Launch {
            program: None,
            model: self.settings.model.clone(),
            prompt: self.prompt.clone(),
            max_turns: self.settings.max_turns,
            instructions: self.instructions.clone(),
            permissions: self.settings.permissions,
            commands: self.settings.commands.clone(),
            args: self.settings.agent_args.clone(),
        }))
    }

    /// What ends the run, for those who look at it.
    pub fn limits(&self) -> RunLimits {
        let limits = &self.settings.limits;
        RunLimits {
            iterations: limits.max_iterations,
            ms: limits.max_ms.into_iter().chain(limits.ceiling_ms).min(),
            cost_micros: limits.max_cost_micros,
            failures: limits.failures(self.queue),
            idle: limits.idle(self.queue),
        }
    }

    /// Whether the project has anything that does nothing until it is trusted.
    pub fn lacks_trust(&self) -> bool {
        ProjectFiles::of(&self.root).lacks_trust(&self.state)
    }
}

/// Read only in a trusted project, and never run.
/// A limit that cannot be read is not no limit: nothing is started.
fn read_settings(
    project_policy: &ProjectPolicy,
    flags: &Flags,
    env: &BTreeMap<String, String>,
    file: &Assignments,
) -> Result<LoopSettings, RunnerError> {
    let about_loops =
        |section: &Option<String>| section.as_deref().is_none_or(|section| sections::OF_THE_LOOP.contains(&section));
    let found = project_policy.diagnostics.iter().filter(|found| found.is_mistake() && about_loops(&found.section));
    let mut unread: Vec<String> = found.map(ToString::to_string).collect();
    let settings = settings(Sources { flags, env, policy: &project_policy.policy, file });
    match settings {
        Ok(settings) if unread.is_empty() => Ok(settings),
        settings => {
            unread.extend(settings.err().into_iter().flatten().map(|variable| variable.to_string()));
            Err(RunnerError::Configuration { unread })
        }
    }
}

fn config_sh(seen: &ProjectFiles, trusted: bool, env: &BTreeMap<String, String>, tell: &dyn Tell) -> Assignments {
    let Some(file) = seen.loop_file(Path::new(".fresher/config.sh")).filter(|_| trusted) else {
        return Assignments::default();
    };
    let read = assignments(&String::from_utf8_lossy(&file.bytes), env);
    for name in &read.unread {
        let words = format!(".fresher/config.sh: the value of {name} would have to be run, and is left out");
        tell.show(&RunMessage::Warning(words));
    }
    read
}

fn works_on_queue(source: WorkSource, state: &Path, project: &str) -> Result<bool, RunnerError> {
    match source {
        WorkSource::Plan => return Ok(false),
        WorkSource::Queue => return Ok(true),
        WorkSource::Auto => {}
    }
    if !state.join(store::DATABASE).exists() {
        return Ok(false);
    }
    let counts = Store::open_and_migrate(state, std::time::Duration::from_secs(10))?.task_counts(project)?;
    Ok(counts.open + counts.active + counts.blocked + counts.quarantined > 0)
}
