//! `taut notify on` and `off`: one change to the user's own configuration, shown
//! before it is made.

use super::{OffArgs, OnArgs, judge_here, setting};
use crate::commands::stored;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use crate::user_config::{self, ConfigChange};
use engine::fleet::notify::{self, NotifyContext};
use model::row::AgentStatus;
use policy::notify::{KINDS, Offset, Quiet};
use serde_json::json;
use service::workers::notifier;
use std::path::Path;
use toml_edit::{Array, Value, value};

/// So often it is tried to be the one who says what was told.
const TRIES: u32 = 10;

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
    let place = notifier::place(&setting());
    if let Some(program) = args.command.first() {
        let checked = host::notify::check_program(program, &place);
        checked.map_err(|trouble| CliError::usage(trouble.to_string()))?;
    }
    if !args.dry_run {
        person::required("notify on")?;
    }
    let named = args.terminal || args.desktop || !args.command.is_empty();
    let desktop = host::notify::desktop_program(&place);
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
    let exit = make(&change, args.dry_run, "it is so already; nothing to change", printer, begin_now)?;
    match &desktop {
        Err(trouble) if args.desktop => printer.note(format!("the desktop cannot be told yet: {trouble}")),
        Err(trouble) if !named => printer.note(format!("the desktop is left out: {trouble}")),
        Ok(_) | Err(_) => {}
    }
    if exit == Exit::Ok && !args.dry_run {
        printer.note("hint: `taut notify test` sends one through each way that is on");
    }
    Ok(exit)
}

pub fn off(args: &OffArgs, printer: &Printer) -> Result<Exit, CliError> {
    if !args.dry_run {
        person::required("notify off")?;
    }
    let change = user_config::plan(|config| {
        let on = config.get("notify").and_then(|notify| notify.get("on")?.as_array());
        // The ways stay as they are written, for when it is switched on again.
        if on.is_some_and(|kinds| !kinds.is_empty()) {
            user_config::section(config, "notify")?.insert("on", value(Array::new()));
        }
        Ok(())
    })?;
    make(&change, args.dry_run, "notifications are off already; nothing to change", printer, || Ok(()))
}

/// What agents turned to before this moment is not told. Before the change is
/// made: whoever sees it tells at once.
pub(super) fn begin_now() -> Result<(), CliError> {
    let judge = judge_here(Some(Path::new("/")))?;
    let Some(mut store) = stored()? else { return Ok(()) };
    // Somebody who tells meanwhile claims the same row, once for each notice.
    for _ in 0..TRIES {
        let told = store.notified()?;
        let look = NotifyContext { told: &told, now: host::clock::now(), offset: Offset::default() };
        let mut agents = store.agents()?;
        agents
            .extend(service::workers::notifier::run_turns(&store, host::clock::now())?.into_iter().map(|(run, _)| run));
        let after = notify::from_now(&agents, &judge.project_policy().policy.sections.notify, &look);
        if store.claim_told(&told, &after)? {
            break;
        }
    }
    Ok(())
}

/// Shows the change, and makes it once it was agreed to.
pub(in crate::commands) fn make(
    change: &ConfigChange,
    dry_run: bool,
    already: &str,
    printer: &Printer,
    first: impl FnOnce() -> Result<(), CliError>,
) -> Result<Exit, CliError> {
    let diff = change.diff();
    let made = |done: bool, why: &str| {
        if printer.json() {
            printer.object(&json!({"file": change.file, "changed": done, "diff": diff}));
        } else if !why.is_empty() {
            printer.line(why);
        }
    };
    if diff.is_empty() {
        made(false, already);
        return Ok(Exit::Ok);
    }
    if !printer.json() {
        printer.diff(&diff);
    }
    if dry_run {
        made(false, "");
        return Ok(Exit::Ok);
    }
    if !person::agrees(&format!("Change {} as shown above?", change.file.display()))? {
        printer.note("nothing was changed");
        return Ok(Exit::Failed);
    }
    first()?;
    change.write()?;
    made(true, &format!("written to {}", change.file.display()));
    Ok(Exit::Ok)
}

pub(super) fn kinds(named: &[String]) -> Result<Vec<AgentStatus>, CliError> {
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

pub(super) fn array<'a>(words: impl Iterator<Item = &'a str>) -> Array {
    words.map(Value::from).collect()
}
