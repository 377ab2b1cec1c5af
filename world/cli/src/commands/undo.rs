//! `taut undo`: back to the files that were there before a command of an agent's; shown, asked about, and itself undone by
//! the id that it prints.

use super::r#loop::show_undo;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, Text, text};
use clap::{Args, Subcommand};
use host::paths::PathVariables;
use runner::{KeptTree, UndoPlan, UndoRequest, UndoTarget};
use serde_json::json;
use std::path::{Component, Path, PathBuf};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct UndoTreeArgs {
    #[command(subcommand)]
    pub verb: Option<UndoVerb>,
    /// The checkpoint to go back to, by the first letters of its id; without it all are listed
    pub id: Option<String>,
    /// Bring only these files or folders back, and leave branch, index and everything else as they are
    #[arg(requires = "id")]
    pub paths: Vec<PathBuf>,
    /// Say what would be done and do nothing
    #[arg(long, requires = "id")]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, requires = "id")]
    pub yes: bool,
}

#[derive(Debug, Subcommand)]
pub enum UndoVerb {
    /// The checkpoints of this work tree, the newest first
    List,
    /// What a checkpoint was kept before, and what going back to it would change
    Show {
        /// The checkpoint, by the first letters of its id
        id: String,
    },
}

/// Where a person is.
struct Here {
    tree: PathBuf,
    state: PathBuf,
}

pub fn run(args: &UndoTreeArgs, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let project = host::probe::project(&std::env::current_dir()?, &places.home());
    let here = Here { tree: PathBuf::from(project.work_tree), state: places.state() };
    match (&args.verb, &args.id) {
        (Some(UndoVerb::Show { id }), _) => show(&here, id, printer),
        (None, Some(id)) => undo(&here, id, args, printer),
        (Some(UndoVerb::List) | None, _) => list(&here, printer),
    }
}

fn list(here: &Here, printer: &Printer) -> Result<Exit, CliError> {
    let kept = here.kept()?;
    if printer.json() {
        kept.iter().for_each(|one| printer.object(&object(one)));
        return Ok(Exit::Ok);
    }
    if kept.is_empty() {
        printer.line(text!("no checkpoint is kept of {}", here.tree.display()));
        printer.line("one is made before a command runs that takes files away and was denied once or asked about");
        return Ok(Exit::Ok);
    }
    let rows: Vec<Vec<Text>> = kept.iter().map(row).collect();
    printer.table(&["ID", "WHEN", "AGENT", "BEFORE"], &rows);
    printer.line("`taut undo show <id>` says what going back would change, `taut undo <id>` goes back");
    Ok(Exit::Ok)
}

fn show(here: &Here, id: &str, printer: &Printer) -> Result<Exit, CliError> {
    let plan = here.plan(id, Vec::new())?;
    if let Some(one) = here.kept()?.iter().find(|one| id.starts_with(&one.id) || one.id.starts_with(id)) {
        if printer.json() {
            printer.object(&object(one));
        } else {
            printer.line(text!("checkpoint {}, {}", one.id, host::clock::shown(one.at)));
            printer.line(text!("  before      {}", one.command));
            let by = one.agent.iter().zip(&one.rule);
            by.for_each(|(agent, rule)| printer.line(text!("  of          {} [{}]", agent, rule)));
            if !one.whole {
                printer.line("  not in it   files that git did not know, since they were too large or too many");
            }
        }
    }
    show_undo(&plan, &what(id), printer);
    Ok(Exit::Ok)
}

fn undo(here: &Here, id: &str, args: &UndoTreeArgs, printer: &Printer) -> Result<Exit, CliError> {
    if !args.dry_run {
        // It throws work away, so far as anybody sees: a person decides that.
        if args.yes { person::outside_agents("undo") } else { person::required("undo") }?;
    }
    let paths = args.paths.iter().map(|path| here.inside(path)).collect::<Result<_, _>>()?;
    let plan = here.plan(id, paths)?;
    show_undo(&plan, &what(id), printer);
    if plan.is_empty() || args.dry_run {
        return Ok(Exit::Ok);
    }
    if !args.yes && !person::agrees("Go back to that?")? {
        printer.note("nothing was done");
        return Ok(Exit::Failed);
    }
    let done = plan.carry_out()?;
    if printer.json() {
        printer.object(&json!({"undone": true, "kept": done.kept, "back": done.back}));
    } else {
        printer.line(text!("done; what was there is kept: `{}` brings it back", done.back));
    }
    Ok(Exit::Ok)
}

impl Here {
    fn kept(&self) -> Result<Vec<KeptTree>, CliError> {
        Ok(runner::kept_trees(&self.tree, &self.state)?)
    }

    fn plan(&self, id: &str, paths: Vec<String>) -> Result<UndoPlan, CliError> {
        let to = UndoTarget::Kept { id: id.to_string(), paths };
        Ok(UndoPlan::make(&UndoRequest { folder: self.tree.clone(), state: self.state.clone(), to })?)
    }

    /// A path as git names it; it may be gone, so nothing is looked up.
    fn inside(&self, path: &Path) -> Result<String, CliError> {
        let mut whole = PathBuf::new();
        for part in std::env::current_dir()?.join(path).components() {
            match part {
                Component::ParentDir => drop(whole.pop()),
                Component::CurDir => {}
                part => whole.push(part),
            }
        }
        let inside = whole.strip_prefix(&self.tree).ok().and_then(Path::to_str).map(str::to_string);
        let outside = || CliError::usage(format!("{} is not in {}", path.display(), self.tree.display()));
        inside.ok_or_else(|| outside().hint("taut undo list"))
    }
}

fn what(id: &str) -> String {
    format!("checkpoint {id}")
}

fn row(one: &KeptTree) -> Vec<Text> {
    let agent = one.agent.as_deref().unwrap_or("you");
    [&one.id, &host::clock::shown(one.at), agent, &one.command].map(Text::line).to_vec()
}

fn object(one: &KeptTree) -> serde_json::Value {
    json!({
        "id": one.id, "at": one.at.rfc3339(), "agent": one.agent, "command": one.command, "rule": one.rule,
        "whole": one.whole,
    })
}
