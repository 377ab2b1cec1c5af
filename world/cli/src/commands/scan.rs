//! `taut scan`: which lines of scripts the guard would stop, for people and for checks of a repository.

mod sarif;

use super::judge_here;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use clap::Args;
use model::text::shell_word;
use model::{Finding, Level};
use pipeline::Judge;
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules};

/// What the guard reads of one file.
const LARGEST: u64 = 64 * 1024;

const HINT: &str = "`taut scan` reads text files of up to 64 KiB, as the guard does";

/// So many scripts or targets of one list are looked at.
const MOST_ENTRIES: usize = 500;

/// Exit codes: 0 nothing is stopped, 1 something is, 2 something could not be read.
#[derive(Debug, Args)]
pub struct ScanArgs {
    /// Shell scripts, package.json files and makefiles, or - for a script on stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print SARIF 2.1.0, as GitHub's code scanning takes it
    #[arg(long, conflicts_with = "json")]
    pub sarif: bool,
}

/// One line that the guard would stop.
struct StoppedLine {
    path: String,
    line: usize,
    finding: Finding,
}

pub fn run(args: &ScanArgs, printer: &Printer) -> Result<Exit, CliError> {
    let (mut stopped, mut unread) = (Vec::new(), false);
    for file in &args.files {
        match scanned(file) {
            Ok(found) => stopped.extend(found),
            Err(error) => {
                printer.error(&error);
                unread = true;
            }
        }
    }
    if args.sarif {
        printer.object(&sarif::document(&stopped));
    } else {
        stopped.iter().for_each(|found| show(found, printer));
        if stopped.is_empty() && !unread && !printer.json() {
            printer.note("nothing would be stopped");
        }
    }
    Ok(match (unread, stopped.is_empty()) {
        (true, _) => Exit::NotFound,
        (false, true) => Exit::Ok,
        (false, false) => Exit::Failed,
    })
}

fn scanned(file: &Path) -> Result<Vec<StoppedLine>, CliError> {
    if file == Path::new("-") {
        return from_stdin();
    }
    let unreadable = |why: String| CliError::not_found(format!("{} cannot be read: {why}", file.display())).hint(HINT);
    let bytes = outside::read(file, &Rules::up_to(LARGEST)).map_err(|why| unreadable(why.to_string()))?;
    let text = text_of(bytes).ok_or_else(|| unreadable("it is no text".into()))?;
    let path = std::path::absolute(file)?;
    let (folder, name) = (path.parent(), path.file_name().unwrap_or_default().to_string_lossy());
    let (folder, lines) = match &*name {
        "package.json" => (folder, scripts(&text, file)?),
        "Makefile" | "makefile" | "GNUmakefile" => (folder, targets(&text, &name)),
        _ => (None, vec![format!("bash {}", shell_word(&path.to_string_lossy()))]),
    };
    let judge = judge_here(folder)?;
    let mut found: Vec<StoppedLine> = Vec::new();
    for line in lines {
        for one in stopped_by(&judge, &line, &path, folder) {
            // Several targets may run the same line.
            let known = |other: &StoppedLine| {
                (&other.path, other.line, &other.finding.rule) == (&one.path, one.line, &one.finding.rule)
            };
            if !found.iter().any(known) {
                found.push(one);
            }
        }
    }
    found.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
    Ok(found)
}

/// What is stopped of a line that runs what a file holds.
fn stopped_by(judge: &Judge, line: &str, file: &Path, folder: Option<&Path>) -> Vec<StoppedLine> {
    let here = std::env::current_dir().unwrap_or_default();
    // A finding names a file as seen from the folder of its call; people name it as seen from theirs.
    let seen = |path: &Path| path.strip_prefix(&here).unwrap_or(path).to_string_lossy().into_owned();
    let found = judge.judge(line).0.into_iter().filter(|finding| finding.kind.level() >= Level::Ask);
    let place = |finding: Finding| match &finding.file {
        Some(at) => {
            let path = folder.unwrap_or(&here).join(&at.path);
            StoppedLine { path: seen(&path), line: at.line.max(1), finding }
        }
        None => StoppedLine { path: seen(file), line: 1, finding },
    };
    found.map(place).collect()
}

/// A file of its own for the guard to read, gone again afterwards.
fn from_stdin() -> Result<Vec<StoppedLine>, CliError> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= LARGEST);
    let text = text_of(bytes).filter(|_| fits);
    let text = text.ok_or_else(|| CliError::not_found("what is on stdin cannot be read").hint(HINT))?;
    let folder = std::env::temp_dir().join(format!("taut-scan-{}", host::clock::uuid(host::clock::now())));
    std::fs::create_dir(&folder)?;
    let file = folder.join("stdin");
    let found = std::fs::write(&file, text).map_err(CliError::from).and_then(|()| scanned(&file));
    let _ = std::fs::remove_dir_all(&folder);
    let own = file.to_string_lossy().into_owned();
    let named = |mut line: StoppedLine| {
        if line.path == own {
            line.path = "stdin".into();
        }
        line
    };
    Ok(found?.into_iter().map(named).collect())
}

fn text_of(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Each script of a package.json, as it is run.
fn scripts(text: &str, file: &Path) -> Result<Vec<String>, CliError> {
    let package: Value = serde_json::from_str(text)
        .map_err(|error| CliError::not_found(format!("{} is not JSON", file.display())).because(&error))?;
    let names = package.get("scripts").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name);
    Ok(names.take(MOST_ENTRIES).map(|name| format!("npm run {}", shell_word(name))).collect())
}

/// Each target of a makefile, as it is made.
fn targets(text: &str, name: &str) -> Vec<String> {
    let head = |line: &str| {
        let (names, rest) = line.split_once(':')?;
        let plain =
            !names.starts_with(['\t', ' ', '#', '.']) && !names.contains(['=', '$', '%']) && !rest.starts_with('=');
        plain.then(|| names.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    let names = text.lines().filter_map(head).flatten();
    names.take(MOST_ENTRIES).map(|target| format!("make -f {name} {}", shell_word(&target))).collect()
}

fn show(found: &StoppedLine, printer: &Printer) {
    let StoppedLine { path, line, finding } = found;
    if printer.json() {
        printer.object(&json!({
            "file": path,
            "line": line,
            "rule": finding.rule,
            "verdict": finding.kind.level().name(),
            "reason": finding.reason,
            "subject": finding.subject,
            "instead": finding.instead,
        }));
        return;
    }
    let rule = match finding.kind.level() {
        Level::Deny => printer.red(&finding.rule),
        _ => printer.yellow(&finding.rule),
    };
    printer.line(text!("{}:{}: [{}] {}", path, line, rule, finding.reason));
    if let Some(instead) = &finding.instead {
        printer.line(printer.dim(format!("    instead: {instead}")));
    }
}
