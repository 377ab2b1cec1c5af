//! `taut man`: the manual pages, made from the definition of the command line.

use crate::command_line::cli_command;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use clap::Args;
use clap_mangen::Man;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write the page of every command into this folder, as taut.1, taut-init.1, …
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub fn run(args: &ManArgs, printer: &Printer) -> Result<Exit, CliError> {
    let command = cli_command();
    match &args.out {
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page)?;
            printer.document(&String::from_utf8_lossy(&page));
        }
        Some(folder) => {
            let shown = folder.display();
            std::fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(command, folder))
                .map_err(|error| CliError::failed(format!("cannot write manual pages into {shown}")).because(&error))?;
            printer.note(format!("the manual pages are in {shown}"));
        }
    }
    Ok(Exit::Ok)
}
