//! What is said of a preset that is taken back, and of all that stays.

use crate::agent_settings::{self, shown};
use crate::printer::{Printer, text};
use host::install::channel::InstallChannel;
use host::install::preset_record::PresetRecord;
use host::install::program::copy_in;
use host::paths::PathVariables;

/// Before anything is changed.
pub fn show(record: &PresetRecord, places: &PathVariables, printer: &Printer) {
    let (goes, stays) = record.by_state();
    printer.line(printer.bold(format!("Preset {} in {}", record.preset, shown(&record.project, places))));
    for file in goes {
        printer.line(format!("  removes {}, as it was written", shown(&file.path, places)));
    }
    for file in stays {
        printer.line(format!("  keeps {}: it was changed since", shown(&file.path, places)));
    }
    printer.line("  takes back the trust in what is removed");
    for alias in &record.aliases {
        printer.line(format!("  takes the name `{alias}` out of {}, unless another project uses it", bin(places)));
    }
}

/// Afterwards.
pub fn say(record: &PresetRecord, places: &PathVariables, printer: &Printer) {
    let project = shown(&record.project, places);
    printer.line(text!("{} {} in {}", printer.green("taken back: preset"), record.preset.as_str(), project));
    for file in record.by_state().1 {
        let path = shown(&file.path, places);
        printer.line(format!("{path} was changed since and stays; `rm {path}` removes it"));
    }
}

/// What nobody asked to be removed, and how that is done. With the last hook goes the program that was kept for it.
pub fn say_what_stays(places: &PathVariables, printer: &Printer) {
    let state = places.state();
    let (others, presets) = (agent_settings::recorded(places), PresetRecord::all(&state));
    for other in &others {
        printer.line(format!("still there: the hooks in {}", shown(other, places)));
    }
    for other in &presets {
        let project = shown(&other.project, places);
        printer
            .line(format!("still there: preset {} in {project}; `taut uninstall` there takes it back", other.preset));
    }
    let copy = copy_in(&state);
    let exe = std::env::current_exe().unwrap_or_default();
    let channel = InstallChannel::of(&exe, &state);
    if others.is_empty() && presets.is_empty() && copy.is_file() && std::fs::remove_file(&copy).is_ok() {
        printer.line(text!("{} {}", printer.green("removed"), shown(&copy, places)));
    }
    let shown = shown(&state, places);
    printer.line(format!("What was recorded stays in {shown}; `taut daemon stop && rm -r {shown}` removes it."));
    if copy.is_file() || channel.id != "copy" {
        printer.line(format!("The program stays too; {} removes it.", quoted(&channel.remove)));
    }
}

fn quoted(command: &str) -> String {
    if command.starts_with("nothing") { command.to_owned() } else { format!("`{command}`") }
}

fn bin(places: &PathVariables) -> String {
    shown(&places.state().join("bin"), places)
}
