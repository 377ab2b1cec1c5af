//! Finding and starting a hook of the loop.

use crate::RunnerError;
use crate::git_command::MISLEADING;
use crate::job::Job;
use crate::log::CleanFile;
use engine::loops::{Hook, HookSetting};
use host::trust::{LoopFile, ProjectFiles};
use std::ffi::OsString;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use sys::poll;

const PLACES: [&str; 2] = [".taut/hooks", ".fresher/hooks"];

/// What there is to run.
pub(crate) enum Found {
    None,
    /// It is there and must not or cannot run; why.
    Held(String),
    Ready(Box<Command>, HookSetting),
}

/// In `.taut/hooks`, else in `.fresher/hooks`, as they were when the loop began and were trusted. What is run is a
/// copy of those bytes, made anew where it is gone or was touched: an agent can change the file, and not the hook.
pub(crate) fn find(job: &Job, hook: Hook, values: Vec<(&'static str, String)>) -> Found {
    let Some(setting) = job.settings.hooks.each.get(&hook).copied().filter(|setting| setting.enabled) else {
        return Found::None;
    };
    // That an untrusted project's hooks do nothing was said at the start.
    let Some(file) = file(job, hook).filter(|_| job.trusted) else { return Found::None };
    if !file.executable {
        let path = job.root.join(&file.below);
        let words = format!("Hook {} exists but is not executable: `chmod +x {}`", hook.name(), path.display());
        return Found::Held(words);
    }
    match job.files.private_copy(&job.state) {
        Ok(folder) => Found::Ready(Box::new(command(job, folder.join(&file.below), values)), setting),
        Err(error) => Found::Held(format!(
            "hook {} is not run: no copy of it could be made in {}: {error}; check that the folder is yours and not full",
            hook.name(),
            job.state.display()
        )),
    }
}

/// The file of a hook, as it was when the loop began.
pub(crate) fn file(job: &Job, hook: Hook) -> Option<&LoopFile> {
    PLACES.iter().find_map(|below| job.files.loop_file(&Path::new(below).join(hook.name())))
}

/// That the project's hooks are others by now; said once.
pub(crate) fn changed_since(job: &Job) -> Option<String> {
    if !job.trusted || job.said_changed.load(Ordering::Relaxed) || ProjectFiles::of(&job.root).same_hooks(&job.files) {
        return None;
    }
    job.said_changed.store(true, Ordering::Relaxed);
    Some(
        "the hooks of this project have been changed since the loop began; it goes on with those that were trusted \
         (`taut trust` shows the change)"
            .to_string(),
    )
}

fn command(job: &Job, path: PathBuf, values: Vec<(&'static str, String)>) -> Command {
    let mut command = Command::new(path);
    tell(&mut command, job, values);
    command
}

/// Where it runs and what its environment says, for hooks and for the command that verifies.
pub(crate) fn tell(command: &mut Command, job: &Job, values: Vec<(&'static str, String)>) {
    for name in MISLEADING {
        command.env_remove(name);
    }
    command.current_dir(&job.folder).envs(&job.assigned).env_remove(crate::PARENT);
    let work = if job.queue { "queue" } else { "plan" };
    command.env("FRESHER_WORK", work).env("TAUT_WORK", work);
    for variable in engine::loops::VARIABLES {
        // Those of another hook, or of a loop around this one, are not this hook's.
        command.env_remove(format!("FRESHER_{}", variable.name)).env_remove(format!("TAUT_{}", variable.name));
    }
    for (name, value) in values {
        command.env(format!("FRESHER_{name}"), &value).env(format!("TAUT_{name}"), &value);
    }
}

/// Started and left to itself, but not for longer than its timeout. It may outlive us, and so must what ends it and
/// what takes the secrets out of its words: a process of our own program, which starts the hook.
pub(crate) fn in_background(command: &Command, setting: HookSetting, log: &Path) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut watcher = Command::new(program);
    watcher.args(["loop", "write-log"]).arg(log).args(["--timeout-ms", &setting.timeout_ms.to_string(), "--"]);
    watcher.arg(command.get_program()).process_group(0);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => watcher.env(name, value),
            None => watcher.env_remove(name),
        };
    }
    watcher.current_dir(command.get_current_dir().unwrap_or(Path::new("/")));
    watcher.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut watcher) = watcher.spawn() {
        std::thread::spawn(move || watcher.wait());
    }
}

/// How long a group that was asked to end has for it.
const GRACE: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs a program to its end or to the end of its time, with everything it started, and writes what it says to a log,
/// without secrets.
pub fn run_in_background(log: &Path, timeout: Duration, line: &[OsString]) -> Result<(), RunnerError> {
    let Some((program, args)) = line.split_first() else { return Ok(()) };
    let mut log = CleanFile::append(log)?;
    let failed = |source| RunnerError::Start { program: program.to_string_lossy().into_owned(), source };
    let (mut read, write) = std::io::pipe().map_err(failed)?;
    let mut command = Command::new(program);
    let twin = write.try_clone().map_err(failed)?;
    command.args(args).process_group(0).stdin(Stdio::null());
    command.stdout(OwnedFd::from(twin)).stderr(OwnedFd::from(write));
    let child = command.spawn();
    // It holds our ends of the pipe, which must close for us to see its end.
    drop(command);
    let mut child = child.map_err(failed)?;
    let began = Instant::now();
    let mut asked: Option<Instant> = None;
    let mut buffer = vec![0; 64 * 1024];
    let mut open = true;
    // The leader is not buried before its group is, so its number stays the group's.
    while open || !sys::process::has_ended(child.id()) {
        match asked {
            None if began.elapsed() >= timeout => {
                log.take(
                    format!("[loop] a hook in the background was ended after {}s\n", timeout.as_secs()).as_bytes(),
                );
                sys::process::signal_group(child.id(), libc::SIGTERM);
                asked = Some(Instant::now());
            }
            Some(since) if since.elapsed() >= GRACE => {
                sys::process::signal_group(child.id(), libc::SIGKILL);
                break;
            }
            _ => {}
        }
        if !open {
            std::thread::sleep(LOOK_EVERY);
        } else if poll::becomes_readable(read.as_raw_fd(), LOOK_EVERY) {
            match read.read(&mut buffer) {
                Ok(0) | Err(_) => open = false,
                Ok(length) => log.take_lines(buffer.get(..length).unwrap_or_default()),
            }
        }
    }
    let _ = child.wait();
    Ok(())
}
