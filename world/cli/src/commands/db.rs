//! `taut db`: check, copy or find the database.

use crate::args::DbVerb;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress;
use host::paths::PathVariables;
use serde_json::json;

pub fn run(verb: DbVerb, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let state = places.state();
    match verb {
        DbVerb::Path => {
            let path = state.join(store::DATABASE).to_string_lossy().into_owned();
            if printer.json() {
                printer.object(&json!({"path": path}))
            } else {
                printer.line(path)
            }
            Ok(Exit::Ok)
        }
        DbVerb::Backup { to } => {
            let Some(store) = super::stored()? else {
                return Err(CliError::not_found("there is no database yet").hint("taut init"));
            };
            progress::during("copying the database", printer, || store.backup(&to))?;
            let shown = to.to_string_lossy().into_owned();
            if printer.json() {
                printer.object(&json!({"path": shown}))
            } else {
                printer.line(format!("copied to {shown}"))
            }
            Ok(Exit::Ok)
        }
        DbVerb::Check => super::db_check::run(&places, printer),
    }
}
