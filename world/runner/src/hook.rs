//! Finding and starting a hook of the loop.

use crate::job::Job;
use engine::loops::{Hook, HookSetting};
use host::trust::Snapshot;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

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
    let seen = Snapshot::of(&job.root);
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

/// Started and left to itself, but not for longer than its timeout.
pub(crate) fn in_background(mut command: Command, setting: HookSetting, log: &std::path::Path) {
    let out = std::fs::OpenOptions::new().append(true).create(true).open(log).ok();
    let stdio = |file: Option<std::fs::File>| file.map_or_else(Stdio::null, Stdio::from);
    let twin = out.as_ref().and_then(|file| file.try_clone().ok());
    command.process_group(0).stdin(Stdio::null()).stdout(stdio(twin)).stderr(stdio(out));
    let Ok(mut child) = command.spawn() else { return };
    std::thread::spawn(move || {
        let leader = crate::child::identity(child.id());
        let deadline = std::time::Instant::now() + Duration::from_millis(setting.timeout_ms);
        while std::time::Instant::now() < deadline {
            if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        host::process_group::stop(leader, Duration::from_secs(1));
        let _ = child.wait();
    });
}
