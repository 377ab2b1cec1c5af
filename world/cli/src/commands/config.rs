//! `taut config`: where the configuration is, what holds here and who said so, a schema for editors, and a safe edit.

mod edit;

use super::judge_here;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, text};
use clap::{Args, Subcommand};
use host::paths::PathVariables;
use host::trust;
use pipeline::PolicyCache;
use policy::config::show::{ConfigRow, rows};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub enum ConfigVerb {
    /// Say where your own configuration is
    Path {
        /// And where those of this project would be
        #[arg(long)]
        all: bool,
    },
    /// Show every key that holds here
    Show {
        /// And the file, line and column that said so
        #[arg(long)]
        origin: bool,
    },
    /// Print a JSON schema of the configuration, for editors
    Schema,
    /// Edit your own configuration; it is replaced once it has no mistakes (people only)
    Edit(EditArgs),
}

#[derive(Debug, Args)]
pub struct EditArgs {
    /// Answers nothing here: you are asked all the same
    #[arg(long, hide = true)]
    pub yes: bool,
    /// Say what would be done and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

pub fn run(verb: &ConfigVerb, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        ConfigVerb::Path { all } => path(*all, printer),
        ConfigVerb::Show { origin } => show(*origin, printer),
        ConfigVerb::Schema => {
            printer.object(&policy::config::schema::json_schema());
            Ok(Exit::Ok)
        }
        ConfigVerb::Edit(args) => edit::run(args, printer),
    }
}

fn path(all: bool, printer: &Printer) -> Result<Exit, CliError> {
    let mut files = vec![("user", PathVariables::from_process().user_config())];
    if all {
        let judge = judge_here(None)?;
        let root = PathBuf::from(&judge.project_policy().project.work_tree);
        files.extend(["project", "local"].into_iter().zip(trust::FILES.map(|file| root.join(file))));
    }
    for (layer, file) in files {
        let exists = file.exists();
        if printer.json() {
            printer.object(&json!({"layer": layer, "file": file, "exists": exists}));
        } else if all {
            let missing = if exists { "" } else { " (not there)" };
            printer.line(text!("{:<8} {}{}", layer, file.display(), printer.dim(missing)));
        } else {
            printer.line(file.to_string_lossy());
        }
    }
    Ok(Exit::Ok)
}

fn show(origin: bool, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let cwd = std::env::current_dir()?;
    let cache = PolicyCache::new(places.user_config(), places.state());
    let (layers, trust) = cache.layers(&cwd.to_string_lossy(), &places.home());
    for row in rows(&layers, trust) {
        let (key, value) = (row.key(), &row.value);
        if printer.json() {
            printer.object(&object(&row));
        } else if origin {
            printer.line(text!("{} = {}  {}", key, value.to_string(), printer.dim(format!("# {}", said_by(&row)))));
        } else {
            printer.line(format!("{key} = {value}"));
        }
    }
    Ok(Exit::Ok)
}

fn object(row: &ConfigRow) -> Value {
    let origin = row.origin.as_ref();
    let origin = origin.map(|at| json!({"file": at.file, "line": at.line, "column": at.column}));
    json!({"key": row.key(), "value": row.value, "origin": origin})
}

fn said_by(row: &ConfigRow) -> String {
    match &row.origin {
        Some(at) => format!("{}:{}:{}", Path::new(&at.file).display(), at.line, at.column),
        None => "default".to_string(),
    }
}
