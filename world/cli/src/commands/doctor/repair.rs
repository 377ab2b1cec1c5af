//! `taut doctor --fix`: does what the checks advise, where that takes nothing from anybody: hooks are written anew, our
//! own files closed to others, the daemon started again. All else stays advice.

use crate::error::CliError;
use crate::person;
use crate::printer::{Printer, text};
use host::install::checks::{Check, Health};
use host::install::line::CommandLine;
use host::paths::PathVariables;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a command of ours may take: `init` asks clients for their versions.
const PATIENCE: Duration = Duration::from_secs(60);

/// Something that is done, and the advice it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeRepair {
    advice: String,
    act: Act,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Act {
    /// Commands of this program, one after the other.
    Commands(Vec<Vec<String>>),
    Mode(PathBuf, u32),
}

/// Each once, in the order of the checks.
pub fn found_in(checks: &[Check], places: &PathVariables) -> Vec<SafeRepair> {
    let mut repairs: Vec<SafeRepair> = Vec::new();
    for check in checks.iter().filter(|check| check.health != Health::Ok) {
        let repair = check.fix.as_deref().and_then(|advice| safe(advice, &places.state()));
        repairs.extend(repair.filter(|repair| !repairs.contains(repair)));
    }
    repairs
}

fn safe(advice: &str, state: &Path) -> Option<SafeRepair> {
    let words: Vec<&str> = advice.split_whitespace().collect();
    let act = match words.as_slice() {
        ["taut", "init", rest @ ..] if rest.iter().all(|word| is_plain(word)) => {
            let mut line: Vec<String> = words.iter().skip(1).map(ToString::to_string).collect();
            line.push("--yes".to_owned());
            // Those of one agent are mended without asking about the others.
            if !rest.contains(&"--agent") {
                line.extend(["--agent".to_owned(), agents::DEFAULT.id().to_owned()]);
            }
            Act::Commands(vec![line])
        }
        ["taut", "daemon", "stop", "&&", "taut", "daemon", "start"] => {
            Act::Commands(vec![vec!["daemon".into(), "stop".into()], vec!["daemon".into(), "start".into()]])
        }
        ["chmod", mode, ..] => {
            let path = PathBuf::from(advice.strip_prefix("chmod ")?.strip_prefix(mode)?.trim_start());
            let mode = u32::from_str_radix(mode, 8).ok()?;
            (path.starts_with(state) && mode & 0o077 == 0).then_some(Act::Mode(path, mode))?
        }
        _ => return None,
    };
    Some(SafeRepair { advice: advice.to_owned(), act })
}

fn is_plain(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_,".contains(letter))
}

/// Whether anything was done.
pub fn do_all(repairs: &[SafeRepair], unasked: bool, printer: &Printer) -> Result<bool, CliError> {
    if !printer.json() {
        printer.line("");
        printer.line("What can be done about it:");
        repairs.iter().for_each(|repair| printer.line(format!("  {}", repair.advice)));
    }
    if !unasked && !person::agrees("Do this?")? {
        printer.note("nothing was changed");
        return Ok(false);
    }
    for repair in repairs {
        match done(&repair.act) {
            Ok(()) => printer.note(text!("{} {}", printer.green("done:"), repair.advice.as_str())),
            Err(why) => printer.note(text!("{} {}: {}", printer.red("not done:"), repair.advice.as_str(), why)),
        }
    }
    Ok(true)
}

fn done(act: &Act) -> Result<(), String> {
    match act {
        Act::Mode(path, mode) => std::fs::set_permissions(path, std::fs::Permissions::from_mode(*mode))
            .map_err(|error| format!("{}: {error}", path.display())),
        Act::Commands(lines) => lines.iter().try_for_each(|words| run(words)),
    }
}

fn run(words: &[String]) -> Result<(), String> {
    let line = CommandLine {
        program: std::env::current_exe().map_err(|error| error.to_string())?,
        args: words.iter().map(OsString::from).collect(),
        set: Vec::new(),
        unset: Vec::new(),
        cwd: std::env::current_dir().map_err(|error| error.to_string())?,
        stdin: String::new(),
        limit: PATIENCE,
    };
    let ended = line.run().map_err(|error| error.to_string())?;
    if ended.exit == Some(0) { Ok(()) } else { Err(ended.stderr.trim().to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i2_only_what_takes_nothing_from_anybody_is_done() {
        let state = Path::new("/h/.local/state/taut");
        let does = |advice: &str| safe(advice, state).is_some();
        for advice in [
            "taut init", "taut init --project", "taut init --agent codex", "taut daemon stop && taut daemon start",
            "chmod 700 /h/.local/state/taut", "chmod 600 /h/.local/state/taut/my file",
        ] {
            assert!(does(advice), "{advice}");
        }
        for advice in [
            "taut db check", "other update && taut init", "chmod 644 /h/.local/state/taut/taut.db", "chmod 700 /etc",
            "sudo chown -R $USER /h/.local/state/taut", "${EDITOR:-vi} /h/settings.json", "taut init; rm -rf /",
        ] {
            assert!(!does(advice), "{advice}");
        }
    }
}
