//! `taut notify on` and `off`: one change to the user's own configuration, shown
//! before it is made.

use super::{OffArgs, OnArgs, setting};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::user_config::{self, Change};
use crate::{notifier, person};
use model::row::Status;
use policy::notify::{KINDS, Quiet};
use serde_json::json;
use toml_edit::{Array, Value, value};

/// Whether to ask before the change is made.
#[derive(Clone, Copy)]
enum Asking {
    DryRun,
    Yes,
    Ask,
}

pub fn on(args: &OnArgs, printer: &Printer) -> Result<Exit, CliError> {
    person::outside_agents("notify on")?;
    let kinds = kinds(&args.kinds)?;
    if let Some(wrong) = args.quiet.iter().find(|stretch| Quiet::parse(stretch).is_none()) {
        return Err(
            CliError::usage(format!("`{wrong}` is no stretch of the day")).hint("taut notify on --quiet 22:00-07:00")
        );
    }
    if args.command.first().is_some_and(|program| !program.starts_with('/') && !program.starts_with("~/")) {
        return Err(CliError::usage("a command begins with the full path of a program")
            .hint("taut notify on --command \"$(command -v my-program)\""));
    }
    let named = args.terminal || args.desktop || !args.command.is_empty();
    let desktop = host::notify::desktop_program(&notifier::place(&setting()));
    let change = user_config::plan(|config| {
        let section = user_config::section(config, "notify")?;
        section.insert("on", value(array(kinds.iter().map(|kind| kind.name()))));
        if args.terminal || !named {
            section.insert("terminal", value(true));
        }
        if args.desktop || (!named && desktop.is_ok()) {
            section.insert("desktop", value(true));
        }
        if !args.command.is_empty() {
            section.insert("command", value(array(args.command.iter().map(String::as_str))));
        }
        if !args.quiet.is_empty() {
            section.insert("quiet", value(array(args.quiet.iter().map(String::as_str))));
        }
        Ok(())
    })?;
    let exit = make(&change, Asking::of(args.dry_run, args.yes), printer)?;
    if let (Err(trouble), true) = (&desktop, args.desktop) {
        printer.note(format!("the desktop cannot be told yet: {trouble}"));
    }
    if exit == Exit::Ok && !args.dry_run {
        printer.note("hint: `taut notify test` sends one through each way that is on");
    }
    Ok(exit)
}

pub fn off(args: &OffArgs, printer: &Printer) -> Result<Exit, CliError> {
    person::outside_agents("notify off")?;
    let change = user_config::plan(|config| {
        // The ways stay as they are written, for when it is switched on again.
        if config.contains_key("notify") {
            user_config::section(config, "notify")?.insert("on", value(Array::new()));
        }
        Ok(())
    })?;
    make(&change, Asking::of(args.dry_run, args.yes), printer)
}

fn make(change: &Change, asking: Asking, printer: &Printer) -> Result<Exit, CliError> {
    let diff = change.diff();
    let made = |done: bool, why: &str| {
        if printer.json() {
            printer.object(&json!({"file": change.file, "changed": done, "diff": diff}));
        } else if !why.is_empty() {
            printer.line(why);
        }
    };
    if diff.is_empty() {
        made(false, "it is so already; nothing to change");
        return Ok(Exit::Ok);
    }
    if !printer.json() {
        printer.diff(&diff);
    }
    match asking {
        Asking::DryRun => {
            made(false, "");
            return Ok(Exit::Ok);
        }
        Asking::Ask if !person::agrees(&format!("Change {} as shown above?", change.file.display()))? => {
            printer.note("nothing was changed");
            return Ok(Exit::Failed);
        }
        Asking::Ask | Asking::Yes => {}
    }
    change.write()?;
    made(true, &format!("written to {}", change.file.display()));
    Ok(Exit::Ok)
}

fn kinds(named: &[String]) -> Result<Vec<Status>, CliError> {
    if named.is_empty() {
        return Ok(KINDS.to_vec());
    }
    let find = |name: &String| {
        let kind = KINDS.into_iter().find(|kind| kind.name() == name);
        kind.ok_or_else(|| {
            CliError::usage(format!("`{name}` is nothing that can be told"))
                .hint("taut notify on --for attention,error,done")
        })
    };
    named.iter().map(find).collect()
}

fn array<'a>(words: impl Iterator<Item = &'a str>) -> Array {
    words.map(Value::from).collect()
}

impl Asking {
    fn of(dry_run: bool, yes: bool) -> Self {
        match (dry_run, yes) {
            (true, _) => Self::DryRun,
            (false, true) => Self::Yes,
            (false, false) => Self::Ask,
        }
    }
}
