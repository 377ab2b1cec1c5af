//! A run before it begins: what was typed, what configuration says, and whether
//! the project's own files have a say.

use crate::asked::Asked;
use crate::lock::TreeLock;
use crate::run_store::{QueueServer, RunStore};
use crate::{RunMessage, RunnerError, Tell, agent, permissions, prompt, recover, work_state};
use engine::loops::{Assignments, Flags, Hook, LoopSettings, Sources, Terms, WorkSource, assignments, settings};
use host::paths::PathVariables;
use host::trust::ProjectFiles;
use model::run::{Launch, LaunchLine, Permissions, Run, RunLimits, RunMode};
use pipeline::{PolicyCache, ProjectPolicy};
use policy::config::sections;
use policy::{Policy, Trust};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
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
    /// Where the queue of the project is on a server.
    pub queue_server: QueueServer,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    Fresh,
    /// The newest of this work tree.
    Last,
    /// The one with this id.
    Run(String),
}

/// Everything that is known before the first process is started.
#[derive(Debug, Clone)]
pub struct Job {
    pub mode: RunMode,
    pub settings: LoopSettings,
    pub terms: Terms,
    /// The run that goes on, as it was found.
    pub resumed: Option<Run>,
    /// What was asked for, now and when the run began, as JSON.
    pub asked: String,
    flags: Flags,
    named_prompt: Option<PathBuf>,
    /// The work tree.
    pub folder: PathBuf,
    /// Where hooks and configuration are read.
    pub root: PathBuf,
    /// The key of the project, one for all its work trees.
    pub project: String,
    pub state: PathBuf,
    pub home: PathBuf,
    pub queue: bool,
    /// Where the queue of the project is on a server.
    pub queue_server: QueueServer,
    pub prompt: String,
    pub prompt_from: String,
    pub instructions: Option<String>,
    /// What `.fresher/config.sh` gives to the hooks.
    pub assigned: BTreeMap<String, String>,
    pub branch: Option<String>,
    pub worker: Option<WorkerJob>,
    pub trusted: bool,
    /// The project's files as they were when this job was made: those hooks run for the whole of it.
    pub(crate) files: ProjectFiles,
    /// What the project says and what does not hold, because it is not trusted.
    pub unheld: Vec<String>,
    pub(crate) said_changed: Arc<AtomicBool>,
    lock: Arc<OnceLock<TreeLock>>,
}

impl Job {
    pub fn new(request: &JobRequest, places: &PathVariables, tell: &dyn Tell) -> Result<Self, RunnerError> {
        let (state, home) = (places.state(), places.home());
        let tree = PathBuf::from(host::probe::project(&request.folder, &home).work_tree);
        let resumed = recover::target(&state, &tree, &request.resume, request.mode)?;
        let at = resumed.as_ref().map_or(request.folder.clone(), |run| PathBuf::from(&run.folder));
        let mode = resumed.as_ref().map_or(request.mode, |run| run.mode);
        let project = host::probe::project(&at, &home);
        let folder = PathBuf::from(&project.work_tree);
        let root = request.config_from.clone().unwrap_or_else(|| folder.clone());
        let files = ProjectFiles::of(&root);
        let trusted = files.loop_holds(&state);
        let mut asked = all_asked(request, resumed.as_ref(), &state)?;
        let config = Configuration::of(&root, &files, places, &asked);
        if trusted {
            say_left_out(&config.file, tell);
        }
        let mut settings = config.settings(trusted)?;
        let unheld = if files.lacks_trust(&state) { config.unheld(&settings) } else { Vec::new() };
        let logs_named = config.names_logs(&settings);
        let assigned = if trusted { config.file.values } else { BTreeMap::new() };
        asked.environment.clone_from(&settings.environment);
        if let Some(run) = &resumed {
            settings.limits.go_on(host::clock::now().since(run.started_at), asked.away_ms);
        }
        let below = |top: &Path, path: &str| plain(&top.join(path));
        let plan_file = below(&folder, &settings.plan_file);
        let has_plan = work_state::has_plan(&folder, &plan_file);
        let plan = has_plan && !(resumed.is_some() && is_shared(mode, &settings));
        let queue = mode == RunMode::Building
            && works_on_queue(settings.source, plan, (&state, &request.queue_server), &project.root)?;
        let terms = Terms {
            mode,
            queue,
            limits: settings.limits.clone(),
            permissions: settings.permissions,
            on_hook_failure: settings.hooks.on_failure,
            project_dir: folder.to_string_lossy().into_owned(),
            // A worker's tree goes when it is merged, and what it said must not.
            log_dir: below(&root, &settings.log_dir),
            plan_file,
            spec_dir: below(&folder, &settings.spec_dir),
        };
        let named = asked.prompt.as_deref();
        let (prompt, prompt_from) =
            prompt::find(&prompt::Wanted { named, mode, queue, folder: &folder, settings: &settings })?;
        let logs = PathBuf::from(&terms.log_dir);
        if !trusted && !logs_named && logs.starts_with(&root) && prompt::leads_out(&root, &logs) {
            return Err(RunnerError::LogsOutside { path: logs });
        }
        let instructions = prompt::instructions(&folder)?;
        let job = Self {
            mode,
            settings,
            terms,
            resumed,
            asked: asked.json(),
            flags: asked.flags,
            named_prompt: asked.prompt,
            root,
            project: project.root,
            folder,
            state,
            home,
            queue,
            queue_server: request.queue_server.clone(),
            prompt,
            prompt_from,
            instructions: instructions.map(|path| path.to_string_lossy().into_owned()),
            assigned,
            branch: request.branch.clone(),
            worker: request.worker.clone(),
            trusted,
            files,
            unheld,
            said_changed: Arc::default(),
            lock: Arc::default(),
        };
        job.launch()?;
        Ok(job)
    }

    /// One loop per work tree: from now on it is this one, until this process ends.
    pub fn lock_tree(&self) -> Result<&TreeLock, RunnerError> {
        if let Some(lock) = self.lock.get() {
            return Ok(lock);
        }
        let lock = TreeLock::take(&self.state, &self.folder)?;
        Ok(self.lock.get_or_init(|| lock))
    }

    /// What is asked of those that work on parts of this: everything that was asked of the whole, now and before, and
    /// what its agents may do.
    #[must_use]
    pub fn request_of_all(&self, request: &JobRequest) -> JobRequest {
        let flags = Flags { permissions: Some(self.settings.permissions), ..self.flags.clone() };
        JobRequest { flags, prompt: self.named_prompt.clone(), mode: self.mode, ..request.clone() }
    }

    /// The same job, made again after something was agreed to: what is locked stays so.
    #[must_use]
    pub fn with_lock_of(self, before: &Self) -> Self {
        Self { lock: Arc::clone(&before.lock), ..self }
    }

    /// What was chosen for its agent.
    pub fn set_permissions(&mut self, permissions: Permissions) {
        (self.settings.permissions, self.terms.permissions) = (permissions, permissions);
    }

    /// An agent whose program is not there would fail each time it is started.
    pub fn find_program(&self) -> Result<(), RunnerError> {
        let (program, found) = (self.launch()?.program, |program: &str| agent::is_found(program, &self.folder));
        if found(&program) {
            return Ok(());
        }
        let here = agents::ALL.0.iter().filter(|dialect| found(dialect.launch.program)).map(|dialect| dialect.id());
        let here = here.map(ToString::to_string).collect();
        Err(RunnerError::NoProgram { agent: self.settings.agent.clone(), program, here })
    }

    /// The hooks that would run, by their files below the project.
    pub fn hooks(&self) -> Vec<PathBuf> {
        let found =
            Hook::ALL.into_iter().filter(|hook| self.settings.hooks.each.get(hook).is_some_and(|on| on.enabled));
        found.filter_map(|hook| crate::hook::file(self, hook)).map(|file| file.below.clone()).collect()
    }

    /// The commands that the agent may run with `edits`, and those that cannot be told to it.
    pub fn commands(&self) -> (Vec<String>, Vec<String>) {
        permissions::commands(&self.settings, self.queue)
    }

    /// Whether there is a plan to work on.
    pub fn has_plan(&self) -> bool {
        work_state::has_plan(&self.folder, &self.terms.plan_file)
    }

    /// Whether the queue of this project ever had a task.
    pub fn has_tasks(&self) -> Result<bool, RunnerError> {
        let counts = task_counts((&self.state, &self.queue_server), &self.project)?;
        Ok(counts.is_some_and(|counts| counts.done + left(&counts) > 0))
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
            commands: if self.settings.permissions == Permissions::Edits { self.commands().0 } else { Vec::new() },
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
        self.files.lacks_trust(&self.state)
    }

    /// Whether the user agreed to this project once, and it says something else now.
    pub fn changed_since_trusted(&self) -> bool {
        self.files.changes(&self.state).is_some_and(|changes| !changes.is_empty())
    }

    /// What a person is shown before they trust it.
    pub fn files(&self) -> &ProjectFiles {
        &self.files
    }
}

/// What is typed now over what the run was begun with. A number of iterations or a time that is typed now counts from
/// now on; what was kept counts the whole run, but for the time in which it was not under way.
fn all_asked(request: &JobRequest, resumed: Option<&Run>, state: &Path) -> Result<Asked, RunnerError> {
    let now = Asked { flags: request.flags.clone(), prompt: request.prompt.clone(), ..Asked::default() };
    let Some(run) = resumed else { return Ok(now) };
    let (seen, iterations) = recover::last_seen(state, run)?;
    let was = run.asked.as_deref().map(Asked::read).unwrap_or_default();
    let away_ms = was.away_ms + host::clock::now().since(seen).max(0);
    let under_way = (host::clock::now().since(run.started_at) - away_ms).max(0);
    let mut flags = now.flags;
    flags.max_iterations = flags.max_iterations.map(|more| if more == 0 { 0 } else { iterations.saturating_add(more) });
    flags.max_ms = flags.max_ms.map(|more| if more == 0 { 0 } else { under_way.saturating_add(more) });
    Ok(Asked { away_ms, ..was.under(&flags, now.prompt.as_ref()) })
}

/// Everything that is written down about how a loop runs.
struct Configuration<'a> {
    policy: std::rc::Rc<ProjectPolicy>,
    /// As it would be if the project were trusted.
    in_trust: Policy,
    flags: &'a Flags,
    env: BTreeMap<String, String>,
    file: Assignments,
}

impl<'a> Configuration<'a> {
    fn of(root: &Path, files: &ProjectFiles, places: &PathVariables, asked: &'a Asked) -> Self {
        let mut policies = PolicyCache::new(places.user_config(), places.state());
        let (layers, _) = policies.layers(&root.to_string_lossy(), &places.home());
        let mut env = asked.environment.clone();
        env.extend(sys::environment::text_variables());
        let file = files.loop_file(Path::new(".fresher/config.sh"));
        let mut file = file.map(|file| assignments(&String::from_utf8_lossy(&file.bytes), &env)).unwrap_or_default();
        // Who an agent is, its own client says.
        let of_agents = file.values.extract_if(.., |name, _| agent::variables().any(|own| own == name));
        file.withheld.extend(of_agents.map(|(name, _)| name));
        Self {
            policy: policies.of(&root.to_string_lossy(), &places.home()),
            in_trust: Policy::layered(&layers, Trust::Trusted).0,
            flags: &asked.flags,
            env,
            file,
        }
    }

    /// A limit that cannot be read is not no limit: nothing is started.
    fn settings(&self, trusted: bool) -> Result<LoopSettings, RunnerError> {
        let about_loops = |section: &Option<String>| {
            section.as_deref().is_none_or(|section| sections::OF_THE_LOOP.contains(&section))
        };
        let found = self.policy.diagnostics.iter().filter(|found| found.is_mistake() && about_loops(&found.section));
        let mut unread: Vec<String> = found.map(ToString::to_string).collect();
        let nothing = Assignments::default();
        let file = if trusted { &self.file } else { &nothing };
        let settings = settings(Sources { flags: self.flags, env: &self.env, policy: &self.policy.policy, file });
        match settings {
            Ok(settings) if unread.is_empty() => Ok(settings),
            settings => {
                unread.extend(settings.err().into_iter().flatten().map(|variable| variable.to_string()));
                Err(RunnerError::Configuration { unread })
            }
        }
    }

    /// Whether somebody whose word holds has said where the logs are.
    fn names_logs(&self, held: &LoopSettings) -> bool {
        self.policy.policy.sections.loops.log_dir.stated().is_some()
            || held.environment.keys().any(|name| name.ends_with("_LOG_DIR"))
    }

    /// What would hold if the project were trusted, where that is something else.
    fn unheld(&self, held: &LoopSettings) -> Vec<String> {
        let wanted = settings(Sources { flags: self.flags, env: &self.env, policy: &self.in_trust, file: &self.file });
        match wanted {
            Ok(wanted) => wanted.differs_from(held),
            Err(unread) => unread.iter().map(ToString::to_string).collect(),
        }
    }
}

fn say_left_out(file: &Assignments, tell: &dyn Tell) {
    for name in &file.unread {
        let words = format!(".fresher/config.sh: the value of {name} would have to be run, and is left out");
        tell.show(&RunMessage::Warning(words));
    }
    for name in &file.withheld {
        let words = format!(".fresher/config.sh: {name} decides what is run, and is not given to the hooks");
        tell.show(&RunMessage::Warning(words));
    }
}

/// By its components: a path written as `./specs` is shown without the dot.
fn plain(path: &Path) -> String {
    path.components().collect::<PathBuf>().to_string_lossy().into_owned()
}

/// Several at once work on the queue alone: a run that was killed after its last task is complete, whatever plan there is.
fn is_shared(mode: RunMode, settings: &LoopSettings) -> bool {
    mode == RunMode::Building && (settings.workers > 1 || settings.push.is_some())
}

/// Where tasks are: the state folder, and the server where the queue is on one.
type Tasks<'a> = (&'a Path, &'a QueueServer);

/// A queue whose tasks are all done is the work too, where there is no plan: the loop then says that it is complete.
fn works_on_queue(source: WorkSource, has_plan: bool, tasks: Tasks<'_>, project: &str) -> Result<bool, RunnerError> {
    match source {
        WorkSource::Plan => Ok(false),
        WorkSource::Queue => Ok(true),
        WorkSource::Auto => {
            let counts = task_counts(tasks, project)?;
            Ok(counts.is_some_and(|counts| left(&counts) > 0 || !has_plan && counts.done > 0))
        }
    }
}

fn task_counts((state, server): Tasks<'_>, project: &str) -> Result<Option<model::task::Counts>, RunnerError> {
    if server.is_there() {
        return Ok(Some(RunStore::with_server(state, server)?.queue().look(project)?.counts));
    }
    if !state.join(store::DATABASE).exists() {
        return Ok(None);
    }
    Ok(Some(Store::open_and_migrate(state, std::time::Duration::from_secs(10))?.task_counts(project)?))
}

fn left(counts: &model::task::Counts) -> i64 {
    counts.open + counts.active + counts.blocked + counts.quarantined
}
