//! What a run and its agents said, and what they say from now on.

use super::RunLogArgs;
use super::find::Runs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use model::run::Run;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::FleetRun;
use sys::outside::{self, Rules};

const LOOK_EVERY: Duration = Duration::from_millis(200);
/// So much of a file is taken at once.
const PIECE: usize = 64 * 1024;
/// A line longer than this is printed in parts.
const LONGEST: usize = 64 * 1024;
/// Far more than a log ever has.
const MOST: u64 = 1 << 40;
const LOOP_LOG: &str = "loop.log";

pub(super) fn log(args: &RunLogArgs, printer: &Printer) -> Result<Exit, CliError> {
    let runs = Runs::open()?;
    let mut seen = runs.pick_whole(args.run.as_deref())?;
    let mut reader = LogReader { printer, only: args.iteration, at: BTreeMap::new(), headed: None, found: false };
    loop {
        // Asked before the files are read: what was written before its end is among them.
        let ended = !seen.alive;
        reader.round(&seen);
        if ended || !args.follow {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
        seen = runs.pick_whole(Some(&seen.run.id))?;
    }
    reader.finish();
    if !reader.found {
        let what = args.iteration.map_or(String::new(), |number| format!(" of iteration {number}"));
        return Err(CliError::not_found(format!("run {} has no log{what}", seen.run.short()))
            .hint(format!("taut loop status {}", seen.run.short())));
    }
    if args.follow && seen.run.finished_at.is_none() {
        printer.note(format!("its process is gone; `taut loop resume {}` goes on", seen.run.short()));
    }
    Ok(Exit::Ok)
}

/// Which file, of whom.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct LogFile {
    path: PathBuf,
    /// The worker that wrote it, where there are several.
    worker: Option<String>,
    /// None for the log of the run itself.
    iteration: Option<u64>,
}

struct LogReader<'p> {
    printer: &'p Printer,
    only: Option<u64>,
    /// How far each was read, and the half line at its end.
    at: BTreeMap<LogFile, (u64, Vec<u8>)>,
    headed: Option<LogFile>,
    found: bool,
}

impl LogReader<'_> {
    fn round(&mut self, seen: &FleetRun) {
        let mut files = files(&seen.run, None);
        for worker in &seen.workers {
            let name = worker.run.task.clone().unwrap_or_else(|| worker.run.short().to_string());
            files.extend(self::files(&worker.run, Some(&name)));
        }
        let only = self.only;
        files.retain(|file| only.is_none_or(|only| file.iteration == Some(only)));
        files.into_iter().for_each(|file| self.read(file));
    }

    fn read(&mut self, file: LogFile) {
        let Ok((mut open, found)) = outside::open(&file.path, &Rules::up_to(MOST)) else { return };
        self.found = true;
        let (mut at, mut half) = self.at.remove(&file).unwrap_or_default();
        // A file that has shrunk is another one.
        if found.len() < at {
            (at, half) = (0, Vec::new());
        }
        let mut piece = vec![0; PIECE];
        if open.seek(SeekFrom::Start(at)).is_ok() {
            while let Ok(read @ 1..) = open.read(&mut piece) {
                at += read as u64;
                half.extend_from_slice(piece.get(..read).unwrap_or_default());
                half = self.lines(&file, half);
            }
        }
        self.at.insert(file, (at, half));
    }

    /// Prints whole lines and gives back what is not one yet.
    fn lines(&mut self, file: &LogFile, bytes: Vec<u8>) -> Vec<u8> {
        let mut rest = bytes.as_slice();
        while let Some(end) =
            rest.iter().position(|byte| *byte == b'\n').or((rest.len() >= LONGEST).then_some(LONGEST - 1))
        {
            let (line, after) = rest.split_at(end + 1);
            self.print(file, line);
            rest = after;
        }
        rest.to_vec()
    }

    fn print(&mut self, file: &LogFile, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\r', '\n']);
        let LogFile { worker, iteration, .. } = file;
        if self.printer.json() {
            self.printer.object(&json!({"iteration": iteration, "worker": worker, "line": line}));
            return;
        }
        if self.headed.as_ref() != Some(file) {
            let of = iteration.map_or("the loop".to_string(), |number| format!("iteration {number}"));
            let of = worker.as_ref().map_or(of.clone(), |worker| format!("{worker}, {of}"));
            self.printer.line(self.printer.dim(format!("── {of} ──")));
            self.headed = Some(file.clone());
        }
        match worker {
            Some(worker) => self.printer.line(text!("{} {}", self.printer.cyan(format!("{worker} │")), line)),
            None => self.printer.line(line),
        }
    }

    /// What stands at an end without a line's end.
    fn finish(&mut self) {
        for (file, (_, half)) in std::mem::take(&mut self.at) {
            if !half.is_empty() {
                self.print(&file, &half);
            }
        }
    }
}

/// The logs of a run: its iterations in order, and its own last, where its end is told.
fn files(run: &Run, worker: Option<&str>) -> Vec<LogFile> {
    let Some(folder) = run.logs.as_deref().map(Path::new) else { return Vec::new() };
    let named = |name: &str| {
        let number = name.strip_prefix("iteration-").and_then(|name| name.strip_suffix(".log"));
        match number {
            Some(number) => number.parse().ok().map(Some),
            None => (name == LOOP_LOG).then_some(None),
        }
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name();
        let iteration = named(name.to_str()?)?;
        Some(LogFile { path: entry.path(), worker: worker.map(str::to_string), iteration })
    });
    let mut files: Vec<LogFile> = found.collect();
    files.sort_by_key(|file| (file.iteration.is_none(), file.iteration));
    files
}
