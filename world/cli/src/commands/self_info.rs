//! `taut self`: how this Taut was installed, what hooks call, and the commands that upgrade and remove it.

use crate::agent_settings::{self, shown};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use host::install::channel::InstallChannel;
use host::install::program::BuildPath;
use host::paths::PathVariables;
use serde_json::json;
use std::path::Path;

pub fn run(printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let exe = std::env::current_exe()?;
    let channel = InstallChannel::of(&exe, &places.state());
    let program = agent_settings::program(&places, BuildPath::Copied)?;
    let version = env!("CARGO_PKG_VERSION");
    if printer.json() {
        printer.object(&json!({
            "version": version,
            "program": exe,
            "installed_by": channel.id,
            "how": channel.name,
            "hooks_call": program.path,
            "copied_because": program.copy.as_ref().map(|copy| format!("it lies in {}", copy.lies_in)),
            "upgrade": channel.upgrade,
            "remove": channel.remove,
        }));
        return Ok(Exit::Ok);
    }
    let row = |name: &str, text: String| printer.line(text!("{}  {}", printer.dim(format!("{name:<9}")), text));
    printer.line(text!("{} {}", printer.bold("taut"), version));
    row("program", shown(&exe, &places));
    row("installed", format!("by {}", channel.name));
    let hooks = shown(Path::new(&program.path), &places);
    row(
        "hooks",
        match &program.copy {
            None => format!("call {hooks}"),
            Some(copy) => format!("call {hooks}, a copy: the program lies in {}", copy.lies_in),
        },
    );
    row("upgrade", channel.upgrade);
    row("remove", format!("taut uninstall, then {}", channel.remove));
    Ok(Exit::Ok)
}
