//! `taut guard`: a plain verdict for scripts and git hooks. The command comes on
//! stdin; the exit code is the answer.

use super::judge_here;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text};
use model::Level;
use serde_json::json;
use std::io::Read;

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let mut command = String::new();
    std::io::stdin().lock().read_to_string(&mut command)?;
    let findings = judge_here(None)?.judge(&command);
    let level = findings.level();
    if printer.json() {
        printer.object(&json!({"verdict": level.name(), "findings": findings.0}));
    } else if level > Level::Pass {
        printer.note(Text::lines(policy::reason(&findings)));
    }
    // Nobody is asked here: what would ask is stopped.
    Ok(if level >= Level::Ask { Exit::Failed } else { Exit::Ok })
}
