//! A card as the agent's own dialog would show it: whole, because somebody is about to agree to it.

use crate::commands::ago;
use crate::printer::{Printer, Text, text};
use engine::cards::allowed_from_here;
use model::card::{Card, CardKind, CardShown};
use model::question::{AskedQuestion, questions};
use model::text::{line, value_with_pictures, with_pictures};
use serde_json::Value;

/// The part of an id that people type.
pub fn short(card: &Card) -> &str {
    // Of another machine's card its own id, without the machine.
    let id = card.id.split('@').next().unwrap_or(&card.id);
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}

/// What it is about, in one line.
pub fn about(card: &Card) -> String {
    let input = &value_with_pictures(&card.shown.input);
    match card.kind {
        CardKind::Question => {
            let asked = questions(input).unwrap_or_default();
            asked.iter().map(|question| question.text).collect::<Vec<_>>().join(" / ")
        }
        CardKind::Plan => input["plan"].as_str().unwrap_or_default().to_string(),
        CardKind::Permission => {
            let named = ["command", "file_path", "notebook_path", "url", "path"]
                .into_iter()
                .find_map(|field| input[field].as_str());
            format!("{} {}", card.tool, named.map_or_else(|| input.to_string(), str::to_string))
        }
    }
}

pub fn card(card: &Card, name: &str, printer: &Printer) {
    let waits = match card.kind {
        CardKind::Permission => "asks for a permission",
        CardKind::Question => "asks a question",
        CardKind::Plan => "has a plan",
    };
    let since = ago(host::clock::now().since(card.at));
    printer.note(text!("{} {}, {} ago (card {})", printer.bold(name), waits, since, short(card)));
    if let Some(place) = place(&card.shown) {
        printer.note(text!("  {}", place));
    }
    let input = value_with_pictures(&card.shown.input);
    match card.kind {
        CardKind::Question => questions(&input).unwrap_or_default().iter().for_each(|one| question(one, printer)),
        CardKind::Plan => whole("Plan", input["plan"].as_str().unwrap_or_default(), printer),
        CardKind::Permission => permission(card, input, printer),
    }
    if let Some(guard) = &card.shown.guard {
        whole("The guard says", &with_pictures(guard), printer);
    }
    if let Err(why) = allowed_from_here(card) {
        printer.note(printer.yellow(Text::lines(why)));
    }
}

fn place(shown: &CardShown) -> Option<String> {
    let folder = shown.folder.as_ref().map(|folder| format!("in {folder}"));
    let branch = shown.branch.as_ref().map(|branch| format!("on {branch}"));
    let mode = shown.mode.as_ref().map(|mode| format!("mode {mode}"));
    let parts: Vec<String> = [folder, branch, mode].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn permission(card: &Card, mut rest: Value, printer: &Printer) {
    // What is no text is shown with the other fields, as it is.
    let mut take = |field: &str| {
        let fields = rest.as_object_mut().filter(|fields| fields.get(field).is_some_and(Value::is_string))?;
        fields.shift_remove(field)?.as_str().map(str::to_string)
    };
    let file = ["file_path", "notebook_path"].into_iter().find_map(&mut take);
    let name = match file {
        Some(file) => format!("{} {file}", card.tool),
        None => card.tool.clone(),
    };
    match take("command") {
        Some(command) => whole(&name, &command, printer),
        None => printer.note(printer.bold(Text::line(&name))),
    }
    if let Some(diff) = &card.shown.diff {
        ["old_string", "new_string", "content"].into_iter().for_each(|field| drop(take(field)));
        printer.diff_note(&with_pictures(diff));
    }
    let Some(fields) = rest.as_object() else { return whole("Input", &rest.to_string(), printer) };
    for (field, value) in fields {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        printer.note(text!("  {}: {}", field.as_str(), Text::lines(value).hanging()));
    }
}

/// The agent's words behind a mark on every line, and its labels on one line each: none of them passes for a label.
pub fn question(asked: &AskedQuestion<'_>, printer: &Printer) {
    if let Some(header) = asked.header {
        printer.note(text!("[{}]", header));
    }
    for line in asked.text.lines() {
        printer.note(text!("| {}", printer.bold(Text::lines(line))));
    }
    for (at, option) in asked.options.iter().enumerate() {
        let said = option.description.map(|said| format!(" – {}", line(said, usize::MAX))).unwrap_or_default();
        printer.note(text!("  {}. {}{}", at + 1, option.label, said));
    }
}

/// Every line moved in, so that none of them passes for one of ours.
fn whole(name: &str, text: &str, printer: &Printer) {
    printer.note(printer.bold(Text::lines(name)));
    for line in text.lines() {
        printer.note(text!("  {}", Text::lines(line)));
    }
}
