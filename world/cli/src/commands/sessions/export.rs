//! One session as a document, piece by piece.

use super::{ExportArgs, find};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use dash::session_export::{ExportFormat, SessionExport};

pub fn run(args: &ExportArgs, printer: &Printer) -> Result<Exit, CliError> {
    let (store, session) = find::seen("sessions export", &args.session)?;
    let format = if printer.json() { ExportFormat::Json } else { ExportFormat::Markdown };
    let mut export = SessionExport::new(session, format);
    while let Some(piece) = export.next(&store)? {
        printer.document(&piece);
    }
    Ok(Exit::Ok)
}
