//! The hands that tell a person: the desktop's own notifier, or a program of the
//! user's. What is run is named by the user alone and gets an environment made
//! here: the one we have may come from an agent, and so from a repository.

mod post;
mod webhook;

pub use post::{PostRequest, PostResult, post};
pub use webhook::{SendResult, WebhookRequest, secret, send};

use crate::environment;
use crate::programs::{Verified, find, folders};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// One thing to tell.
#[derive(Debug, Clone, Copy)]
pub struct Notification<'a> {
    pub title: &'a str,
    pub body: &'a str,
    pub urgency: Urgency,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    Normal,
    /// Somebody waits.
    High,
}

/// Where the hands work.
#[derive(Debug, Clone)]
pub struct NotifyPrograms {
    /// Programs run here, and are looked for below it too.
    pub home: PathBuf,
    /// Our own folder, for what a program reads and says.
    pub state: PathBuf,
    /// How long a program may take.
    pub limit: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    #[error(
        "{program} not found: {remedy}; it was looked for in {looked}; \
         `taut notify on --command /path/to/program` tells a program of your own"
    )]
    Missing { program: String, remedy: &'static str, looked: String },
    #[error("{program} cannot be run: {why}; name a program that can with `taut notify on --command /path/to/program`")]
    NoProgram { program: String, why: &'static str },
    #[error("cannot run {program}: check that it exists and may be run")]
    Spawn { program: String, source: io::Error },
    #[error("{program} was still running after {} s and was ended with all it had started", limit.as_secs_f32())]
    TooLong { program: String, limit: Duration },
    #[error("{program} failed ({how}): {said}")]
    Failed { program: String, how: String, said: String },
    #[error("the secret of {path} cannot be used: {why}; `taut notify test` tries it again")]
    Secret { path: String, why: String },
    #[error("cannot write in {}: check that it is yours and not full", folder.display())]
    Folder { folder: PathBuf, source: io::Error },
}

/// What a notifier may take. It hangs where nobody answers on the desktop's bus.
pub const LIMIT: Duration = Duration::from_secs(10);

const LOOK_EVERY: Duration = Duration::from_millis(10);

/// So much of what a program said is read.
const MOST_SAID: u64 = 400;

/// A notification of the desktop.
pub fn desktop(message: &Notification<'_>, place: &NotifyPrograms) -> Result<(), NotifyError> {
    let (program, args) = if cfg!(target_os = "macos") { osascript(message) } else { notify_send(message) };
    let found = find(program, &place.home).ok_or_else(|| missing(program, place))?;
    let found = verified(&found, program)?;
    run(&mut found.command(args), program, b"", place)
}

/// Whether the desktop could be told: the program that would do it.
pub fn desktop_program(place: &NotifyPrograms) -> Result<PathBuf, NotifyError> {
    let program = if cfg!(target_os = "macos") { "osascript" } else { "notify-send" };
    find(program, &place.home).ok_or_else(|| missing(program, place))
}

/// The user's own program, with the event on its standard input.
pub fn program(command: &[String], event: &str, place: &NotifyPrograms) -> Result<(), NotifyError> {
    let Some((program, args)) = command.split_first() else { return Ok(()) };
    let found = verified(&path_of(program, place), program)?;
    run(&mut found.command(args), program, format!("{event}\n").as_bytes(), place)
}

/// Whether the user's own program could be told: it is there, and may be run.
pub fn check_program(program: &str, place: &NotifyPrograms) -> Result<(), NotifyError> {
    verified(&path_of(program, place), program).map(drop)
}

fn verified(path: &Path, program: &str) -> Result<Verified, NotifyError> {
    Verified::open(path).map_err(|why| NotifyError::NoProgram { program: program.to_owned(), why })
}

fn path_of(program: &str, place: &NotifyPrograms) -> PathBuf {
    match program.strip_prefix("~/") {
        Some(below) => place.home.join(below),
        None => PathBuf::from(program),
    }
}

/// Whether the user has this pane before their eyes: tmux shows it in a terminal
/// that has the focus. Without `focus-events` tmux does not know, and then nobody looks.
pub fn watched(pane: &str) -> bool {
    let Some((socket, number)) = crate::tmux::address(pane) else { return false };
    let format = "#{focus-events} #{client_flags} #{pane_id}";
    let clients = crate::tmux::TmuxServer::at(socket).ask(&["list-clients", "-F", format]);
    clients.is_ok_and(|clients| is_looked_at(&clients, number))
}

fn is_looked_at(clients: &str, number: &str) -> bool {
    clients.lines().any(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        matches!(words.as_slice(), ["1", flags, pane] if *pane == number && flags.split(',').any(|flag| flag == "focused"))
    })
}

fn notify_send(message: &Notification<'_>) -> (&'static str, Vec<String>) {
    let urgency = match message.urgency {
        Urgency::Normal => "normal",
        Urgency::High => "critical",
    };
    // The body is read as markup; the title is not.
    let body = message.body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let args = ["--app-name=Taut", "--urgency", urgency, "--", message.title, &body];
    ("notify-send", args.map(str::to_owned).to_vec())
}

/// The texts are arguments of the script and never part of it.
fn osascript(message: &Notification<'_>) -> (&'static str, Vec<String>) {
    let show = "display notification (item 1 of argv) with title \"Taut\" subtitle (item 2 of argv)";
    let args = ["-e", "on run argv", "-e", show, "-e", "end run", "--", message.body, message.title];
    ("osascript", args.map(str::to_owned).to_vec())
}

fn missing(program: &str, place: &NotifyPrograms) -> NotifyError {
    let remedy = match program {
        "curl" => "install it (Debian and Ubuntu: apt install curl)",
        "notify-send" => "install libnotify (Debian and Ubuntu: apt install libnotify-bin)",
        _ => "it belongs to the system; look in /usr/bin",
    };
    let looked: Vec<String> = folders(&place.home).iter().map(|folder| folder.display().to_string()).collect();
    NotifyError::Missing { program: program.to_owned(), remedy, looked: looked.join(", ") }
}

/// Runs it to its end or to the limit; a program that ends with anything but success has failed.
fn run(command: &mut Command, program: &str, stdin: &[u8], place: &NotifyPrograms) -> Result<(), NotifyError> {
    let (status, mut said) = ended(command, program, stdin, place)?;
    if status.success() {
        return Ok(());
    }
    Err(NotifyError::Failed { program: program.to_owned(), how: how(status), said: tail(&mut said) })
}

/// How it ended, and all it said. It reads and writes files without a name, so that neither a program that does not read
/// nor one that leaves a child behind can hold us up.
fn ended(
    command: &mut Command,
    program: &str,
    stdin: &[u8],
    place: &NotifyPrograms,
) -> Result<(ExitStatus, File), NotifyError> {
    let unnamed = |content: &[u8]| {
        unnamed(&place.state, content).map_err(|source| NotifyError::Folder { folder: place.state.clone(), source })
    };
    let (input, said) = (unnamed(stdin)?, unnamed(b"")?);
    let copy =
        |file: &File| file.try_clone().map_err(|source| NotifyError::Folder { folder: place.state.clone(), source });
    command.env_clear().envs(environment::of_program(&place.home)).current_dir(&place.home).process_group(0);
    command.stdin(input).stdout(copy(&said)?).stderr(copy(&said)?);
    let spawned = command.spawn();
    let mut child = spawned.map_err(|source| NotifyError::Spawn { program: program.to_owned(), source })?;
    match wait(&mut child, place.limit, &said) {
        Some(status) => Ok((status, said)),
        None => Err(NotifyError::TooLong { program: program.to_owned(), limit: place.limit }),
    }
}

/// Nobody has this much to say; whoever goes on is ended.
const MOST_WRITTEN: u64 = 1 << 20;

fn said_too_much(said: &File) -> bool {
    said.metadata().is_ok_and(|file| file.len() > MOST_WRITTEN)
}

/// `None` when it had to be ended for its time.
fn wait(child: &mut Child, limit: Duration, said: &File) -> Option<ExitStatus> {
    let deadline = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if said_too_much(said) => {
                sys::process::signal_group(child.id(), libc::SIGKILL);
                return child.wait().ok();
            }
            Ok(None) if Instant::now() < deadline => std::thread::sleep(LOOK_EVERY),
            Ok(None) | Err(_) => break,
        }
    }
    // It leads a group of its own and was not waited for, so the number is still its.
    sys::process::signal_group(child.id(), libc::SIGKILL);
    let _ = child.wait();
    None
}

fn unnamed(folder: &Path, content: &[u8]) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mark: String = crate::clock::random().iter().map(|byte| format!("{byte:02x}")).collect();
    let path = folder.join(format!("notify.{mark}"));
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    file.write_all(content)?;
    file.rewind()?;
    Ok(file)
}

fn tail(said: &mut File) -> String {
    let mut text = Vec::new();
    let _ = said.rewind().and_then(|()| said.take(MOST_SAID).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it said nothing");
    line.chars().filter(|c| !c.is_control()).collect()
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".to_owned(),
    }
}

#[cfg(test)]
mod tests;
