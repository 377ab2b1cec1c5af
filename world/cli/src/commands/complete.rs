//! `taut complete`: what may follow what was typed, for the scripts of `taut completions`. It looks, within bounds, and
//! never makes, starts or says anything else.

mod line;
mod values;

use crate::command_line::cli_command;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use clap::Args;
use line::TypedLine;

/// More than anybody looks through.
const MOST: usize = 200;
const LONGEST_ABOUT: usize = 60;

#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The words as they stand, `taut` too; the last is the one to complete
    #[arg(last = true)]
    pub words: Vec<String>,
}

/// One way to go on.
struct Candidate {
    value: String,
    about: String,
}

pub fn run(args: &CompleteArgs, printer: &Printer) -> Exit {
    let mut command = cli_command();
    command.build();
    let typed = TypedLine::read(&command, &args.words);
    let begun = typed.begun;
    let fits = |found: &Candidate| {
        // A name that the shell would have to quote is none that it can be given.
        let plain = model::text::shell_word(&found.value) == found.value;
        plain && found.value.starts_with(begun)
    };
    for found in typed.candidates().into_iter().filter(fits).take(MOST) {
        let about = model::text::line(&found.about, LONGEST_ABOUT);
        printer.line(text!("{} {}", typed.shown(&found.value), Text::line(about)).trimmed());
    }
    Exit::Ok
}
