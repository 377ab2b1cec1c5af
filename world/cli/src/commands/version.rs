//! `taut version`: which taut this is, and what it is made of.

use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use serde_json::json;

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let version = env!("CARGO_PKG_VERSION");
    if printer.json() {
        printer.object(&json!({
            "version": version,
            "schema": store::SCHEMA,
            "protocol": fast_client::wire::PROTOCOL,
            "target": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        }));
    } else {
        printer.line(format!("taut {version}"));
    }
    Ok(Exit::Ok)
}
