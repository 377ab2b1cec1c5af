//! One process, as far as it says who started it.

use super::names;
use crate::origin::clients;
use agents::others;
use model::{ClientProcess, Ms};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Whose process it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProcessOwner {
    #[default]
    Same,
    Other,
}

#[derive(Debug, Clone, Default)]
pub struct ProcessRecord {
    pub pid: u32,
    pub parent: u32,
    pub owner: ProcessOwner,
    pub started: Ms,
    /// The same as the system counts it.
    pub started_raw: u64,
    /// The number of its terminal; 0 where it has none.
    pub terminal: u64,
    /// The words it was started with, or its name where these cannot be read.
    pub words: Vec<Vec<u8>>,
    /// The file it runs, where that can be told.
    pub program: Option<PathBuf>,
    /// When that file was last written, renamed or linked, where it is the user's own to write.
    pub program_changed: Option<Ms>,
    /// It was started with the mark of an agent.
    pub marked: bool,
}

/// So many words of a line may be options of an interpreter.
const OPTIONS: usize = 6;

impl ProcessRecord {
    /// It is an agent, by its program or the script that its program runs.
    pub fn is_agent(&self) -> bool {
        self.candidates().any(|path| clients::is_program(path) || is_other(path))
    }

    pub fn is_client(&self, client: ClientProcess) -> bool {
        self.pid == client.pid && (client.started == 0 || client.started == self.started_raw)
    }

    /// People sit at it.
    pub fn is_place(&self) -> bool {
        self.is_called(names::PLACES)
    }

    /// A shell that takes its commands from a terminal, and not from a text or a script.
    pub fn is_shell_at_a_terminal(&self) -> bool {
        let options = self.words.get(1..).unwrap_or_default();
        let interactive =
            |word: &Vec<u8>| matches!(word.as_slice(), b"" | b"-i" | b"-l" | b"-il" | b"-li" | b"--login");
        self.terminal != 0 && self.names().next().is_some_and(is_shell) && options.iter().all(interactive)
    }

    /// It goes on without anybody looking.
    pub fn is_multiplexer(&self) -> bool {
        self.is_called(names::MULTIPLEXERS)
    }

    pub fn is_tmux(&self) -> bool {
        self.is_called(&["tmux"])
    }

    pub fn is_scheduler(&self) -> bool {
        self.is_called(names::SCHEDULERS)
    }

    /// It takes in processes whose parent has ended.
    pub fn is_reaper(&self) -> bool {
        self.pid == 1 || self.is_called(names::REAPERS)
    }

    /// The file, and the script it runs, cannot have been put there since, unless by another user.
    pub fn was_installed_before(&self, at: Ms) -> bool {
        self.program_changed.is_none_or(|changed| changed < at)
    }

    /// With the script looked at too.
    #[must_use]
    pub(super) fn with_script(mut self) -> Self {
        let script =
            self.script().map(|script| if script.is_absolute() { changed(script) } else { Some(Ms(i64::MAX)) });
        self.program_changed = self.program_changed.max(script.flatten());
        self
    }

    /// For people.
    pub fn shown(&self) -> String {
        let name = self.names().next().unwrap_or_default();
        model::text::line(&String::from_utf8_lossy(name), 40)
    }

    fn is_called(&self, known: &[&str]) -> bool {
        let is = |name: &[u8], known: &str| match known.strip_suffix('*') {
            Some(begin) => name.starts_with(begin.as_bytes()),
            None => name == known.as_bytes(),
        };
        self.names().any(|name| known.iter().any(|known| is(name, known)))
    }

    /// What the file is called that runs; else what the process calls itself, which it can choose.
    fn names(&self) -> impl Iterator<Item = &[u8]> {
        let script = self.script();
        let program = self.program.as_deref().or_else(|| self.words.first().map(|word| path(word)));
        program.into_iter().chain(script).map(|path| {
            let name = path.file_name().map(OsStrExt::as_bytes).unwrap_or_default();
            // So called when somebody logs in, and so call themselves the servers of multiplexers.
            let name = name.strip_prefix(b"-").unwrap_or(name);
            name.split(|byte| *byte == b':').next().unwrap_or(name)
        })
    }

    /// The program, what the process calls itself, and the script that it runs: each may be an agent.
    fn candidates(&self) -> impl Iterator<Item = &Path> {
        self.program.as_deref().into_iter().chain(self.words.first().map(|word| path(word))).chain(self.script())
    }

    /// The script that an interpreter runs here.
    pub(super) fn script(&self) -> Option<&Path> {
        let (first, rest) = self.words.split_first()?;
        let names = [self.program.as_deref(), Some(path(first))];
        let called = |known: fn(&[u8]) -> bool| {
            names.iter().flatten().filter_map(|path| path.file_name()).any(|name| known(name.as_bytes()))
        };
        let is_option = |word: &&Vec<u8>| word.starts_with(b"-");
        if called(is_interpreter) {
            let text_follows = |word: &Vec<u8>| matches!(word.as_slice(), b"-c" | b"-e" | b"-p" | b"--eval");
            let words = rest.iter().take(OPTIONS).take_while(|word| !text_follows(word));
            return words.filter(|word| !is_option(word)).map(|word| path(word)).next();
        }
        rest.first().filter(|word| called(is_shell) && !is_option(word)).map(|word| path(word))
    }
}

fn path(word: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(word))
}

fn is_interpreter(name: &[u8]) -> bool {
    name.starts_with(b"python") || names::INTERPRETERS.iter().any(|known| name == known.as_bytes())
}

fn is_shell(name: &[u8]) -> bool {
    names::SHELLS.iter().any(|known| name == known.as_bytes())
}

fn is_other(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    let holds = |part: &&str| bytes.windows(part.len()).any(|window| window == part.as_bytes());
    let stem = path.file_stem().map(OsStrExt::as_bytes).unwrap_or_default();
    others::PROGRAMS.iter().any(|known| stem == known.as_bytes()) || others::PACKAGES.iter().any(holds)
}

/// When a file that the user may write was last written, renamed or linked. One that cannot be looked at may have been
/// just now.
pub fn changed(file: &Path) -> Option<Ms> {
    match std::fs::metadata(file) {
        Ok(found) if found.uid() != sys::outside::user() => None,
        Ok(found) => Some(Ms(found.ctime().saturating_mul(1000))),
        Err(_) => Some(Ms(i64::MAX)),
    }
}

/// Whether a variable says that an agent started the process that has it.
pub fn is_mark(name: &OsStr, value: &OsStr) -> bool {
    let inside = agents::ALL.0.iter().flat_map(|dialect| dialect.profile.variables.inside);
    let set_by_some = inside.chain(others::MARKS).any(|mark| name == *mark);
    // A repository can empty a mark, and not take it away.
    clients::is_mark(name) || set_by_some && !value.is_empty()
}
