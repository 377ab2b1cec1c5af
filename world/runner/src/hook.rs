//! Finding and starting a hook of the loop.

use crate::job::Job;
use crate::log::CleanFile;
use engine::loops::{Hook, HookSetting};
use host::trust::Snapshot;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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

/// Started and left to itself, but not for longer than its timeout. It may
/// outlive us, so it writes to a file without a name and not to a pipe that
/// would break; what it wrote goes to the log without secrets.
pub(crate) fn in_background(mut command: Command, setting: HookSetting, log: &Path) {
    let written = unnamed(log).ok();
    let twin = |file: Option<&File>| file.and_then(|file| file.try_clone().ok()).map_or_else(Stdio::null, Stdio::from);
    command.process_group(0).stdin(Stdio::null()).stdout(twin(written.as_ref())).stderr(twin(written.as_ref()));
    let Ok(mut child) = command.spawn() else { return };
    let mut said = written.zip(CleanFile::append(log).ok());
    std::thread::spawn(move || {
        let leader = crate::child::identity(child.id());
        let deadline = Instant::now() + Duration::from_millis(setting.timeout_ms);
        let mut read = 0;
        loop {
            let ended = matches!(child.try_wait(), Ok(Some(_)) | Err(_));
            read = said.as_mut().map_or(0, |(written, log)| pass_on(written, read, log));
            if ended {
                return;
            }
            if Instant::now() >= deadline {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        host::process_group::stop(leader, Duration::from_secs(1));
        let _ = child.wait();
    });
}

/// A file beside the log that only its holders reach, and that is gone with them.
fn unnamed(log: &Path) -> std::io::Result<File> {
    let path = log.with_extension(format!("{}.tmp", host::clock::uuid(host::clock::now())));
    let file = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Gives what was written since to the log, and tells how much that is in all.
fn pass_on(written: &File, from: u64, log: &mut CleanFile) -> u64 {
    let mut buffer = vec![0; 64 * 1024];
    let (mut at, mut whole) = (from, false);
    // Read at a place of our own: the hook's place in the file is not ours to move.
    while let Ok(read @ 1..) = written.read_at(&mut buffer, at) {
        log.take(buffer.get(..read).unwrap_or_default());
        at += read as u64;
        whole = buffer.get(..read).is_some_and(|bytes| bytes.ends_with(b"\n"));
    }
    // Half a line waits for the other half: a secret may be cut through.
    if at > from && whole {
        log.flush();
    }
    at
}
