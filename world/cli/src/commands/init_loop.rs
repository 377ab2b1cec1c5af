//! `taut init loop`: the templates of the loop's hooks and prompts, never over
//! a file that is there.

use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use clap::Args;
use host::paths::PathVariables;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[derive(Debug, Args)]
pub struct InitLoopArgs {
    /// Show what would be written and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

pub fn run(args: &InitLoopArgs, printer: &Printer) -> Result<Exit, CliError> {
    let project = host::probe::project(&std::env::current_dir()?, &PathVariables::from_process().home());
    let root = Path::new(&project.work_tree);
    let templates = runner::templates();
    let missing: Vec<_> = templates.iter().filter(|template| !root.join(template.path).exists()).collect();
    if !printer.json() {
        missing.iter().for_each(|template| printer.line(format!("+ {}", template.path)));
    }
    if !args.dry_run && !missing.is_empty() && !args.yes {
        person::required("init loop")?;
        if !person::agrees("Write these files?")? {
            printer.note("nothing was changed");
            return Ok(Exit::Failed);
        }
    }
    if !args.dry_run {
        for template in &missing {
            let path = root.join(template.path);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&path, &template.text)?;
            let mode = if template.executable { 0o755 } else { 0o644 };
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?;
        }
    }
    if printer.json() {
        let paths: Vec<_> = missing.iter().map(|template| template.path).collect();
        printer.object(&json!({"written": if args.dry_run { Vec::new() } else { paths.clone() }, "missing": paths}));
    } else if missing.is_empty() {
        printer.line("everything is there already");
    } else if !args.dry_run {
        printer.line("read the hooks, then `taut trust` lets them run");
    }
    Ok(Exit::Ok)
}
