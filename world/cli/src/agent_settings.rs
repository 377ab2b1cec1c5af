//! What `init`, `uninstall` and `doctor` share: whose settings, which client,
//! and the proof that the installed line works.

use crate::error::CliError;
use crate::person;
use agents::Dialect;
use agents::settings::{
    DENIED_COMMAND, GuardFailure, KnownClient, Leaves, ResultsBy, SHARED_PROGRAM, SettingsError, SettingsPlan,
};
use host::install::LeftBehind;
use host::install::line::{CommandLine, CommandLineError};
use host::install::program::{self, BuildPath, HookProgram, ProgramCopy, RunningProgram};
use host::paths::PathVariables;
use host::settings_file::{Backups, SettingsLevel, SettingsSnapshot};
use pipeline::PolicyCache;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a client may take to say its version: some start slowly, and all are asked at once.
const CLIENT_PATIENCE: Duration = Duration::from_secs(15);
/// How long a hook may take in a proof. Its own limits are far shorter.
const HOOK_PATIENCE: Duration = Duration::from_secs(10);

/// What the session of a proof is called, before what makes it one of its own.
pub const PROOF: &str = "taut-proof-";

/// Whose settings a command line means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsOwner {
    User,
    Project,
    Local,
}

/// What came of the proof.
pub struct InstallProof {
    /// The host session the call was told under.
    pub mark: String,
    /// Why the hook denied it; `None` when it did not.
    pub denial: Option<String>,
    pub stderr: String,
}

impl SettingsOwner {
    /// The flag that asks for it, as typed after a command.
    pub fn flag(self) -> &'static str {
        match self {
            Self::User => "",
            Self::Project => " --project",
            Self::Local => " --local",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }

    pub fn level(self, places: &PathVariables) -> Result<SettingsLevel, CliError> {
        match self {
            Self::User => Ok(SettingsLevel::User),
            Self::Project => Ok(SettingsLevel::Project(project(places)?)),
            Self::Local => Ok(SettingsLevel::Local(project(places)?)),
        }
    }
}

/// The file of that level of an agent's settings.
pub fn file(level: &SettingsLevel, places: &PathVariables, dialect: &Dialect) -> Result<PathBuf, CliError> {
    level.path(places, dialect).ok_or_else(|| {
        let (name, level) = (dialect.profile.name, level.name());
        CliError::failed(format!("{name} has no {level} settings that hold hooks"))
            .hint("leave the option out to mean your own settings")
    })
}

/// Files of the user's that `taut init` has put hooks into and that no level leads to as things are set now: a variable
/// moved the agent's folder then.
pub fn elsewhere(places: &PathVariables) -> Vec<(&'static Dialect, PathBuf)> {
    let target = |path: PathBuf| SettingsSnapshot::read(&path).map_or(path, |file| file.target);
    let known = |dialect: &&'static Dialect| SettingsLevel::User.path(places, dialect).map(target);
    let usual: Vec<PathBuf> = agents::ALL.0.iter().filter_map(known).collect();
    let files = Backups::recorded(&places.state()).into_iter().filter(|file| !usual.contains(file));
    files
        .filter_map(|file| Some((whose_hooks(&file)?, file)))
        .filter(|(dialect, file)| !is_of_project(dialect, file))
        .collect()
}

/// Files that `taut init` has put hooks into and that still hold them.
pub fn recorded(places: &PathVariables) -> Vec<PathBuf> {
    Backups::recorded(&places.state()).into_iter().filter(|file| whose_hooks(file).is_some()).collect()
}

/// The agent whose hooks of ours a file holds. Several write theirs in one form; the line says who is called.
fn whose_hooks(file: &Path) -> Option<&'static Dialect> {
    let file = SettingsSnapshot::read(file).ok()?;
    let holds = |dialect: &&&'static Dialect| {
        (dialect.settings.inspect)(file.text()).is_ok_and(|found| !found.entries.is_empty())
    };
    let is_called = |dialect: &&&'static Dialect| {
        let id = dialect.id();
        file.text().contains(&format!("--agent {id}")) || file.text().contains(&format!("\"{id}\""))
    };
    let found: Vec<_> = agents::ALL.0.iter().filter(holds).collect();
    found.iter().find(|dialect| is_called(dialect)).or(found.first()).map(|dialect| **dialect)
}

/// A project's file is left where that project is meant.
fn is_of_project(dialect: &Dialect, file: &Path) -> bool {
    let files = [dialect.settings.project_file, dialect.settings.local_file];
    files.into_iter().flatten().filter(|below| file.ends_with(below)).any(|below| {
        let tree = file.ancestors().nth(Path::new(below).components().count());
        tree.is_some_and(|tree| tree.join(".git").symlink_metadata().is_ok())
    })
}

/// The `taut` that is written into settings.
pub fn program(places: &PathVariables, build_path: BuildPath) -> Result<HookProgram, CliError> {
    let (exe, search_path) = (std::env::current_exe()?, std::env::var_os("PATH").unwrap_or_default());
    let (home, state) = (places.home(), places.state());
    let running = RunningProgram { exe: &exe, search_path: &search_path, home: &home, state: &state };
    program::to_install(running, build_path).map_err(|error| as_cli_error(&error))
}

/// The same for a line that names no path: what it finds is on the search path, or the copy that is kept.
pub fn reached_by_name(program: HookProgram, places: &PathVariables) -> Result<HookProgram, CliError> {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    if program.copy.is_some() || program::is_on_search_path(SHARED_PROGRAM, &search_path) {
        return Ok(program);
    }
    let copy = program::copy_in(&places.state());
    let path = copy.to_str().ok_or_else(|| CliError::failed(format!("{} is not UTF-8", copy.display())))?;
    let from = ProgramCopy { from: program.path.into(), lies_in: "a folder that is not on the search path" };
    Ok(HookProgram { path: path.to_owned(), copy: Some(from) })
}

/// The program that a line of the settings starts here.
pub fn started_by(line: &str, places: &PathVariables) -> PathBuf {
    if line != SHARED_PROGRAM {
        return PathBuf::from(line);
    }
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    program::on_search_path(SHARED_PROGRAM, &search_path).unwrap_or_else(|| program::copy_in(&places.state()))
}

/// A path as people write it: the home is `~`.
pub fn shown(path: &Path, places: &PathVariables) -> String {
    match path.strip_prefix(places.home()) {
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}

/// Refuses where nobody can be asked.
pub fn can_ask(command: &str) -> Result<(), CliError> {
    let spared = format!("`taut {command} --dry-run` shows the change, `taut {command} --yes` makes it without asking");
    person::required(command).map_err(|error| error.hint(spared))
}

/// The project of the working folder.
pub fn project(places: &PathVariables) -> Result<PathBuf, CliError> {
    let here = std::env::current_dir()?;
    let home = places.home();
    let found = PathBuf::from(host::probe::project(&here, &home).work_tree);
    let canonical = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if canonical(&found) == canonical(&home) || found == Path::new("/") {
        return Err(CliError::failed(format!("{} is not a project", found.display()))
            .hint("change into a project, or leave the option out to mean your own settings"));
    }
    Ok(found)
}

/// The clients that will read the settings, in the order of the agents. All are asked at once: they start slowly.
pub fn clients(agents: &[&'static Dialect]) -> Vec<KnownClient> {
    std::thread::scope(|scope| {
        let asked: Vec<_> = agents.iter().map(|dialect| scope.spawn(|| client(dialect))).collect();
        asked.into_iter().map(|asked| asked.join().unwrap_or(KnownClient::Unknown)).collect()
    })
}

fn client(dialect: &Dialect) -> KnownClient {
    let versions = &dialect.settings.versions;
    let line = CommandLine {
        program: versions.program.into(),
        args: versions.args.iter().map(OsString::from).collect(),
        set: Vec::new(),
        unset: Vec::new(),
        cwd: "/".into(),
        stdin: String::new(),
        limit: CLIENT_PATIENCE,
    };
    line.run().map_or(KnownClient::Unknown, |ended| (versions.parse)(&ended.stdout))
}

/// What is to be in the settings of a level.
pub fn plan(places: &PathVariables, level: &SettingsLevel, client: KnownClient, command: String) -> SettingsPlan {
    // A project's wish does not reach into the settings for all projects.
    let folder = match level {
        SettingsLevel::User => places.home(),
        SettingsLevel::Project(project) | SettingsLevel::Local(project) => project.clone(),
    };
    let project_policy =
        PolicyCache::new(places.user_config(), places.state()).of(&folder.to_string_lossy(), &places.home());
    let on_failure = match project_policy.policy.on_failure {
        policy::OnFailure::Closed => GuardFailure::Block,
        policy::OnFailure::Open | policy::OnFailure::Ask => GuardFailure::Continue,
    };
    let results = match engine::call_results::hooks_needed_by(&project_policy.policy).is_empty() {
        true => ResultsBy::Transcript,
        false => ResultsBy::Hooks,
    };
    SettingsPlan { command, client, on_failure, allow: Vec::new(), results }
}

/// What the configuration wants to be told after each call and no settings of the agent register.
pub struct LackingEvents {
    pub detail: String,
    /// The command that registers them.
    pub fix: &'static str,
}

/// What is configured after the hooks were put in may need more of them than the plain configuration. Nothing where there
/// are none of ours at all.
pub fn lacking(dialect: &Dialect, places: &PathVariables) -> Option<LackingEvents> {
    let here = project(places).ok();
    let levels =
        [Some(SettingsLevel::User), here.clone().map(SettingsLevel::Project), here.clone().map(SettingsLevel::Local)];
    let files = levels.into_iter().flatten().filter_map(|level| level.path(places, dialect));
    let texts = files.filter_map(|path| SettingsSnapshot::read(&path).ok());
    let found = texts.filter_map(|file| (dialect.settings.inspect)(file.text()).ok());
    let entries: Vec<_> = found.flat_map(|found| found.entries).collect();
    let after_calls = dialect.settings.registered.iter().filter(|event| event.after_calls);
    let is_there = |name: &str| entries.iter().any(|entry| entry.event == name);
    let lacks: Vec<_> = after_calls.map(|event| event.name).filter(|name| !is_there(name)).collect();
    if entries.is_empty() || lacks.is_empty() {
        return None;
    }
    let wants = |folder: &Path| {
        let policies =
            PolicyCache::new(places.user_config(), places.state()).of(&folder.to_string_lossy(), &places.home());
        engine::call_results::hooks_needed_by(&policies.policy)
    };
    let everywhere = wants(&places.home());
    let (keys, fix) = match everywhere.is_empty() {
        false => (everywhere, "taut init"),
        true => (here.map(|here| wants(&here)).unwrap_or_default(), "taut init --local"),
    };
    (!keys.is_empty()).then(|| LackingEvents {
        detail: format!("`{}` works better with {}, which no settings register", keys.join("`, `"), lacks.join(", ")),
        fix,
    })
}

/// Tells the hook of a command that nothing lets through, by the installed line and in that agent's own words.
pub fn prove(dialect: &Dialect, program: &Path) -> Result<InstallProof, CommandLineError> {
    let settings = &dialect.settings;
    let now = host::clock::now();
    let mark = format!("{PROOF}{}", host::clock::uuid(now));
    let cwd = std::env::temp_dir();
    let shown = cwd.to_string_lossy().into_owned();
    let line = |stdin: String| CommandLine {
        program: program.to_path_buf(),
        args: settings.args.iter().map(OsString::from).collect(),
        set: Vec::new(),
        unset: identity(),
        cwd: cwd.clone(),
        stdin,
        limit: HOOK_PATIENCE,
    };
    let ended = line((settings.proof.payload)(&shown, &mark, DENIED_COMMAND)).run()?;
    // The proof is no agent: its session ends at once. Whether it could be
    // ended says nothing about the guard.
    let _ = line((settings.proof.farewell)(&shown, &mark)).run();
    Ok(InstallProof { mark, denial: (settings.proof.denial)(&ended.stdout), stderr: ended.stderr })
}

/// The variables that would make the proof speak for an agent of the user's.
fn identity() -> Vec<OsString> {
    let moves =
        |name: &str| agents::ALL.0.iter().any(|dialect| dialect.profile.variables.places().any(|place| place == name));
    let place = |name: &str| matches!(name, "TAUT_HOME" | "TAUT_NO_DAEMON") || moves(name);
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| agents::is_allowed(name) && !place(name)).map(OsString::from).collect()
}

/// Events of ours that the agent does not run before its user has agreed to them, and how that is done.
pub fn waiting(
    dialect: &Dialect,
    places: &PathVariables,
    file: &SettingsSnapshot,
) -> Option<(Vec<String>, &'static str)> {
    let review = dialect.settings.review.as_ref()?;
    // A record that cannot be read tells of no agreement.
    let record = SettingsSnapshot::read(&places.agent_folder(dialect.profile).join(review.file));
    let record = record.as_ref().map_or("", SettingsSnapshot::text);
    let waiting = (review.waiting)(record, file.text(), &file.path.to_string_lossy(), pipeline::sha256);
    (!waiting.is_empty()).then_some((waiting, review.how))
}

/// Settings that cannot be understood, with the place as editors take it.
pub fn misread(path: &Path, error: &SettingsError) -> CliError {
    let place = format!("{}:{}:{}", path.display(), error.line, error.column);
    CliError::failed(format!("{place}: {}; nothing was changed", error.why))
        .hint(format!("mend {} at that place and run the command again", path.display()))
}

pub fn left_behind(leaves: Leaves) -> LeftBehind {
    match leaves {
        Leaves::Settings => LeftBehind::Settings,
        Leaves::Nothing => LeftBehind::Nothing,
        Leaves::NoFile => LeftBehind::NoFile,
    }
}

/// A failure whose message already says why and what helps.
pub fn as_cli_error(error: &dyn std::error::Error) -> CliError {
    CliError::failed(error.to_string())
}
