//! Finding and starting a hook of the loop.

use crate::job::Job;
use engine::loops::{Hook, HookSetting};
use host::trust::ProjectFiles;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What there is to run.
pub(crate) enum Found {
    None,
    /// It is there and must not or cannot run; why.
    Held(String),
    Ready(Box<Command>, HookSetting),
}

/// In `.taut/hooks`, else in `.fresher/hooks`. Trust is asked for each time,
/// because an agent could have changed the file since. What is run is a copy of
/// the bytes that were found trusted: the file may change once more.
pub(crate) fn find(job: &Job, hook: Hook, values: Vec<(&'static str, String)>) -> Found {
    let Some(setting) = job.settings.hooks.each.get(&hook).copied().filter(|setting| setting.enabled) else {
        return Found::None;
    };
    let places = [".taut/hooks", ".fresher/hooks"].map(|below| Path::new(below).join(hook.name()));
    if !places.iter().any(|below| job.root.join(below).is_file()) {
        return Found::None;
    }
    let seen = ProjectFiles::of(&job.root);
    if !seen.loop_holds(&job.state) {
        let words = format!(
            "hook {} is not run: this project, as it stands now, is not trusted; `taut trust` does that",
            hook.name()
        );
        return Found::Held(words);
    }
    let Some(file) = places.iter().find_map(|below| seen.loop_file(below)) else { return Found::None };
    if !file.executable {
        let path = job.root.join(&file.below);
        let words = format!("Hook {} exists but is not executable: `chmod +x {}`", hook.name(), path.display());
        return Found::Held(words);
    }
    match seen.private_copy(&job.state) {
        Ok(folder) => Found::Ready(Box::new(command(job, folder.join(&file.below), values)), setting),
        Err(error) => Found::Held(format!(
            "hook {} is not run: no copy of it could be made in {}: {error}; check that the folder is yours and not full",
            hook.name(),
            job.state.display()
        )),
    }
}

fn command(job: &Job, path: PathBuf, values: Vec<(&'static str, String)>) -> Command {
    let mut command = Command::new(path);
    command.current_dir(&job.folder).envs(&job.assigned);
    for variable in engine::loops::VARIABLES {
        // Those of another hook, or of a loop around this one, are not this hook's.
        command.env_remove(format!("FRESHER_{}", variable.name)).env_remove(format!("TAUT_{}", variable.name));
    }
    for (name, value) in values {
        command.env(format!("FRESHER_{name}"), &value).env(format!("TAUT_{name}"), &value);
    }
    command
}

/// Started and left to itself, but not for longer than its timeout. It may
/// outlive us, and so must what takes the secrets out of its words: a process
/// of our own program that writes them to the log.
pub(crate) fn in_background(mut command: Command, setting: HookSetting, log: &Path) {
    let mut writer = log_writer(log).ok();
    let pipe = writer.as_mut().and_then(|writer| writer.stdin.take()).map(OwnedFd::from);
    let twin = pipe.as_ref().and_then(|pipe| pipe.try_clone().ok());
    let stdio = |pipe: Option<OwnedFd>| pipe.map_or_else(Stdio::null, Stdio::from);
    command.process_group(0).stdin(Stdio::null()).stdout(stdio(twin)).stderr(stdio(pipe));
    let started = command.spawn();
    // It holds our ends of the pipe, which must close for the writer to end.
    drop(command);
    let Ok(mut child) = started else { return };
    std::thread::spawn(move || {
        let leader = crate::child::identity(child.id());
        let deadline = Instant::now() + Duration::from_millis(setting.timeout_ms);
        while !matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            if Instant::now() >= deadline {
                host::process_group::stop(leader, Duration::from_secs(1));
                let _ = child.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = writer.map(|mut writer| writer.wait());
    });
}

/// `taut loop log`, in a group of its own: it ends when nobody writes any more.
fn log_writer(log: &Path) -> std::io::Result<Child> {
    let mut writer = Command::new(std::env::current_exe()?);
    writer.args(["loop", "write-log"]).arg(log).process_group(0);
    writer.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}
