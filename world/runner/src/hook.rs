//! Finding and starting a hook of the loop.

use crate::job::Job;
use engine::loops::{Hook, HookSetting};
use host::trust;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
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
/// because an agent could have changed the file since.
pub(crate) fn find(job: &Job, hook: Hook, values: Vec<(&'static str, String)>) -> Found {
    let Some(setting) = job.settings.hooks.each.get(&hook).copied().filter(|setting| setting.enabled) else {
        return Found::None;
    };
    let places = [".taut/hooks", ".fresher/hooks"].map(|below| job.root.join(below).join(hook.name()));
    let Some(path) = places.into_iter().find(|path| path.is_file()) else { return Found::None };
    if !trust::hooks_hold(&job.state, &job.root) {
        let words = format!(
            "hook {} is not run: this project, as it stands now, is not trusted; `taut trust` does that",
            hook.name()
        );
        return Found::Held(words);
    }
    let executable = std::fs::metadata(&path).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
    if !executable {
        let words = format!("Hook {} exists but is not executable: `chmod +x {}`", hook.name(), path.display());
        return Found::Held(words);
    }
    Found::Ready(Box::new(command(job, path, values)), setting)
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
