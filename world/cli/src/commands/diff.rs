//! `taut diff`: what an agent has changed since its session began.

use super::sessions::find;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use actions::{ActionError, FleetPlace, ReadDiff};
use clap::Args;
use dash::card_view::DiffRow;
use host::paths::PathVariables;
use serde_json::json;

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The name of an agent, for its newest session, or the id of a session or how that begins
    pub of: String,
    /// Only the files, with how many lines of each
    #[arg(long)]
    pub stat: bool,
}

pub fn run(args: &DiffArgs, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let place = FleetPlace { state: places.state(), home: places.home() };
    let (store, session) = find::seen_of_agent("diff", &args.of)?;
    let found = actions::session_diff(&store, &place, &session.id, host::clock::now()).map_err(|why| match why {
        ActionError::Store(error) => error.into(),
        other => CliError::not_found(other.to_string()),
    })?;
    if printer.json() {
        let mut told = object(&found);
        told["agent_name"] = json!(store.agent_name(&found.agent)?);
        printer.object(&told);
        return Ok(Exit::Ok);
    }
    let name = store.agent_name(&found.agent)?;
    printer.note(text!("{} in {}: {}", name, found.tree, DiffRow::of(found.size).words()));
    found.notes.iter().for_each(|note| printer.note(note.as_str()));
    if args.stat {
        for file in &found.files {
            match file.added.zip(file.removed) {
                Some((added, removed)) => printer.line(text!("+{} -{} {}", added, removed, file.path)),
                None => printer.line(text!("binary {}", file.path)),
            }
        }
    } else {
        printer.diff(&found.patch);
    }
    Ok(Exit::Ok)
}

fn object(found: &ReadDiff) -> serde_json::Value {
    let file =
        |file: &host::session_diff::FileDiff| json!({"path": file.path, "added": file.added, "removed": file.removed});
    json!({
        "session": found.session,
        "agent": found.agent,
        "tree": found.tree,
        "base_commit": found.base,
        "diff": DiffRow::of(found.size),
        "files": found.files.iter().map(file).collect::<Vec<_>>(),
        "notes": found.notes,
        "patch": found.patch,
    })
}
