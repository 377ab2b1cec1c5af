//! `taut policy allow` and `taut policy pack`: changes to the user's own
//! configuration, keeping its comments and order. For people only.

use super::{allows, log, unknown_rule};
use crate::args::{AllowArgs, OnOff};
use crate::commands::PATIENCE;
use crate::commands::agent_names;
use crate::commands::pause::{Longest, millis};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use crate::user_config::{self, section, wrong_shape};
use host::paths::PathVariables;
use model::RuleKind;
use model::effect::{Allowance, AllowedOnce, Write};
use policy::{Pack, rules};
use serde_json::json;
use std::path::{Path, PathBuf};
use store::{Durability, PolicyLogEntry, PolicyLogKind, Store};
use toml_edit::{DocumentMut, Item, Table, value};

pub fn run(args: &AllowArgs, printer: &Printer) -> Result<Exit, CliError> {
    let Some(rule) = rules::find(&args.rule) else { return Err(unknown_rule(&args.rule)) };
    if rule.kind == RuleKind::Floor {
        return Err(CliError::failed(format!("`{}` is the floor: no configuration lifts it", rule.id))
            .hint(format!("taut policy show {}", rule.id)));
    }
    let command = args.command.as_deref().map(beginning).transpose()?;
    let length = args.expires.as_ref().map(|length| millis(length, Longest::EXPIRY)).transpose();
    let length = length.map_err(CliError::of_usage)?;
    person::required("policy allow")?;
    if rule.guards_taut() {
        let opens = "With it an agent can switch the guard off, and everything else that is stopped here would pass.";
        printer.note(format!("{} guards the guard itself ({}). {opens}", rule.id, rule.title.to_lowercase()));
    }
    if args.once {
        return once(rule.id, printer);
    }
    let now = host::clock::now();
    let path = args.path.as_deref().map(allows::typed_path).transpose()?;
    let store = Store::open_existing_read_only(&PathVariables::from_process().state()).ok();
    let agent = match &store {
        Some(store) => agent_names::filter(store, args.agent.as_ref())?,
        None => args.agent.clone(),
    };
    let mut entry = Table::new();
    entry.insert("rule", value(rule.id));
    let scopes = [("path", &path), ("command", &command), ("agent", &agent)];
    for (name, scope) in scopes {
        if let Some(scope) = scope {
            entry.insert(name, value(scope));
        }
    }
    entry.insert("reason", value(&args.reason));
    let until = length.map(|length| now.plus(length));
    if let Some(until) = until {
        entry.insert("expires", value(until.rfc3339()));
    }
    let Some(file) = edit(printer, |config| allows::put(config, entry, now))? else {
        return Ok(Exit::Failed);
    };
    let scope = scope_of(&path).map(|scope| format!(" {scope}")).unwrap_or_default();
    let length = args.expires.as_ref().map(|length| format!(" for {length}")).unwrap_or_default();
    print_written(printer, &file, &format!("{} is allowed from now on{scope}{length}", rule.id));
    let agent = agent.map(|agent| format!("for agent {agent}"));
    let scopes = [scope_of(&path), command.map(|words| format!("for `{words}`")), agent];
    log::note(
        PolicyLogEntry {
            scope: scopes.into_iter().flatten().collect::<Vec<_>>().join(" "),
            until,
            reason: Some(args.reason.clone()),
            ..log::entry(PolicyLogKind::Allowed, rule.id)
        },
        printer,
    );
    Ok(Exit::Ok)
}

fn scope_of(path: &Option<String>) -> Option<String> {
    path.as_ref().map(|path| format!("in {path}"))
}

/// Whatever follows these words, as a configuration has it.
fn beginning(typed: &str) -> Result<String, CliError> {
    let words: Vec<&str> = typed.split_whitespace().collect();
    match words.last() {
        None => Err(CliError::usage("`--command` is empty: it names the words that a command begins with")
            .hint("taut policy allow kill-by-name --command 'pkill -f vite'")),
        Some(&"*") => Ok(words.join(" ")),
        Some(_) => Ok(format!("{} *", words.join(" "))),
    }
}

/// The next call the rule would stop passes, and uses it up.
fn once(rule: &str, printer: &Printer) -> Result<Exit, CliError> {
    printer.note(format!("the next call that {rule} would stop passes, whichever agent makes it, within half an hour"));
    if !person::agrees(&format!("Let it pass {rule} once?"))? {
        printer.note("nothing changed");
        return Ok(Exit::Failed);
    }
    let mut store = Store::open_and_migrate(&PathVariables::from_process().state(), PATIENCE)?;
    let what = AllowedOnce::Rule(rule.to_string());
    let allowance = Write::Allowance(Allowance { what, by: person::name(), at: host::clock::now() });
    store.transact(Durability::Full, |tx| tx.apply(&[allowance]))?;
    log::note(log::entry(PolicyLogKind::AllowedOnce, rule), printer);
    if printer.json() {
        printer.object(&json!({"rule": rule, "change": "allowed once"}));
    } else {
        printer.line(format!("the next call that {rule} would stop passes, within half an hour"));
    }
    Ok(Exit::Ok)
}

pub fn pack(name: &str, switch: OnOff, printer: &Printer) -> Result<Exit, CliError> {
    let Some(pack) = Pack::parse(name) else {
        let known: Vec<&str> = Pack::ALL.iter().map(|pack| pack.name()).collect();
        return Err(CliError::not_found(format!("there is no pack `{name}`; the packs are {}", known.join(", "))));
    };
    person::required("policy pack")?;
    let on = matches!(switch, OnOff::On);
    let Some(file) = edit(printer, |config| {
        let guard = section(config, "guard")?;
        let packs = guard.entry("packs").or_insert(Item::Table(Table::new()));
        let packs = packs.as_table_like_mut().ok_or_else(|| wrong_shape("guard.packs"))?;
        packs.insert(pack.name(), value(on));
        Ok(())
    })?
    else {
        return Ok(Exit::Failed);
    };
    let kind = if on { PolicyLogKind::PackOn } else { PolicyLogKind::PackOff };
    log::note(log::entry(kind, pack.name()), printer);
    print_written(
        printer,
        &file,
        &format!("pack {} is {}", pack.name(), if on { "on" } else { "off (but for the floor)" }),
    );
    Ok(Exit::Ok)
}

/// Shows the change and asks; `None` when it was not agreed to.
fn edit(
    printer: &Printer,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), CliError>,
) -> Result<Option<PathBuf>, CliError> {
    let planned = user_config::plan(change)?;
    printer.diff_note(&planned.diff());
    if !person::agrees(&format!("Change {} as shown above?", planned.file.display()))? {
        printer.note("nothing changed");
        return Ok(None);
    }
    planned.write()?;
    Ok(Some(planned.file))
}

pub(super) fn print_written(printer: &Printer, file: &Path, what: &str) {
    if printer.json() {
        printer.object(&json!({"file": file, "change": what}));
    } else {
        printer.line(format!("{what} ({})", file.display()));
    }
}
