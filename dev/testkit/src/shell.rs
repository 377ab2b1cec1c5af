//! A person's shell at a terminal: commands one after another, as they are typed, and what the terminal shows.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::num::NonZero;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Child;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, terminal};

/// More than any command of a page prints.
const ROWS: NonZero<u16> = NonZero::new(500).unwrap();
const LIMIT: Duration = Duration::from_secs(40);
/// What a question that nobody answers is given before it is called one.
const GRACE: Duration = Duration::from_secs(3);
/// Stands on both sides of an exit code. Nothing that is shown to a person has it.
const MARK: u8 = 0x1e;

/// Reads commands from a pipe, so that the terminal shows nothing but what they print and what is typed into them.
const LOOP: &str =
    r#"trap : INT; while IFS= read -r -d '' line <&3; do eval "$line" 3<&-; printf '\036%d\036' $?; done 3<"$0""#;

/// A running shell. It ends with its value.
#[derive(Debug)]
pub struct PersonShell {
    child: Child,
    commands: File,
    screen: File,
    shown: Receiver<Vec<u8>>,
    columns: NonZero<u16>,
}

/// What one command came to.
#[derive(Debug, Clone)]
pub struct ShellRun {
    pub code: i32,
    /// Every byte the terminal was sent.
    pub bytes: Vec<u8>,
    /// What a reader sees of it.
    pub text: String,
    pub took: Duration,
}

/// A command for the shell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Typed<'a> {
    pub command: &'a str,
    /// What is answered, each when a line waits for it.
    pub answers: &'a [&'a str],
    /// What is typed when so many lines are there, to leave what would stay.
    pub leaves: Option<(usize, &'a str)>,
}

impl PersonShell {
    /// A shell in that folder, in front of a terminal of its own that is so wide.
    ///
    /// # Errors
    /// When there is no terminal to be had, or no shell.
    pub fn start(sandbox: &Sandbox, folder: &Path, columns: NonZero<u16>) -> io::Result<Self> {
        let pipe = sandbox.tmp().join("typed");
        make_pipe(&pipe)?;
        let (screen, end) = terminal()?;
        resize(&screen, columns)?;
        let mut command = sandbox.in_front_of_terminal(Path::new("bash"));
        command.args(["--norc", "--noprofile", "-c", LOOP]).arg(&pipe).current_dir(folder);
        command.stdin(end.try_clone()?).stdout(end.try_clone()?).stderr(end);
        let child = command.spawn()?;
        // The command keeps the terminal's other end open, which would hide that the shell has ended.
        drop(command);
        let commands = File::options().read(true).write(true).open(&pipe)?;
        let (send, shown) = mpsc::channel();
        let mut reader = screen.try_clone()?;
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read) = reader.read(&mut buffer) {
                if read == 0 || send.send(buffer[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, commands, screen, shown, columns })
    }

    /// Runs one command to its end.
    ///
    /// # Errors
    /// When the shell is gone, or the command takes longer than a minute.
    pub fn run(&mut self, typed: &Typed<'_>) -> io::Result<ShellRun> {
        let begun = Instant::now();
        self.commands.write_all(typed.command.as_bytes())?;
        self.commands.write_all(&[0])?;
        let mut bytes = Vec::new();
        let mut answers = typed.answers.iter();
        let mut answered_at = 0;
        let mut leaves = typed.leaves;
        loop {
            if let Some((before, code)) = ended(&bytes) {
                let text = seen(before, self.columns);
                return Ok(ShellRun { code, bytes: before.to_vec(), text, took: begun.elapsed() });
            }
            if bytes.len() > answered_at
                && waits(&bytes)
                && let Some(answer) = answers.next()
            {
                answered_at = bytes.len();
                self.screen.write_all(format!("{answer}\r").as_bytes())?;
            }
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            if let Some((_, keys)) = leaves.take_if(|(after, _)| lines >= *after) {
                self.screen.write_all(keys.as_bytes())?;
            }
            let asks_in_vain = answers.len() == 0 && bytes.ends_with(b"[y/N] ");
            let limit = if asks_in_vain { GRACE } else { LIMIT };
            match self.shown.recv_timeout(limit.saturating_sub(begun.elapsed()).max(GRACE)) {
                Ok(more) => bytes.extend(more),
                Err(_) => return Err(self.give_up(typed.command, &bytes)),
            }
        }
    }

    /// Ctrl+C, so that the next command finds a shell.
    fn give_up(&mut self, command: &str, bytes: &[u8]) -> io::Error {
        let mut rest = Vec::new();
        let _ = self.screen.write_all(&[3]);
        while ended(&rest).is_none() {
            match self.shown.recv_timeout(GRACE) {
                Ok(more) => rest.extend(more),
                Err(_) => break,
            }
        }
        io::Error::other(format!("`{command}` does not end:\n{}", seen(bytes, self.columns)))
    }
}

impl Drop for PersonShell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is on a screen that was sent these bytes, without the empty lines at its end.
#[must_use]
pub fn seen(bytes: &[u8], columns: NonZero<u16>) -> String {
    let mut parser = vt100::Parser::new(ROWS, columns, 0);
    parser.process(bytes);
    parser.screen().contents().trim_end().to_owned()
}

/// What came before the mark, and the code in it.
fn ended(bytes: &[u8]) -> Option<(&[u8], i32)> {
    let rest = bytes.strip_suffix(&[MARK])?;
    let at = rest.iter().rposition(|byte| *byte == MARK)?;
    let code = std::str::from_utf8(&rest[at + 1..]).ok()?.parse().ok()?;
    Some((&rest[..at], code))
}

/// Whether the last line is a question that nobody has answered.
fn waits(bytes: &[u8]) -> bool {
    let last = bytes.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    !last.is_empty() && last.ends_with(b" ")
}

fn resize(screen: &File, columns: NonZero<u16>) -> io::Result<()> {
    let size = libc::winsize { ws_row: 50, ws_col: columns.get(), ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the descriptor is open, and the size is read only during the call.
    match unsafe { libc::ioctl(screen.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn make_pipe(path: &Path) -> io::Result<()> {
    let _ = fs::remove_file(path);
    let name = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the name ends with a zero and lives during the call.
    match unsafe { libc::mkfifo(name.as_ptr(), 0o600) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
