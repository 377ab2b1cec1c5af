//! `taut config edit`: the editor gets a copy, and the configuration is replaced once the copy has no mistakes. A copy
//! with mistakes is kept, and the next edit goes on with it. For people only: it can switch the guard off.

use super::EditArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use crate::user_config::{self, LARGEST};
use host::paths::PathVariables;
use policy::Diagnostic;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use sys::outside::{self, Rules};

pub fn run(args: &EditArgs, printer: &Printer) -> Result<Exit, CliError> {
    person::required("config edit")?;
    let file = PathVariables::from_process().user_config();
    let draft = file.with_file_name("config.draft.toml");
    if args.dry_run {
        printer.line(format!("would open a copy of {} with `{}`", file.display(), editor().to_string_lossy()));
        return Ok(Exit::Ok);
    }
    let base = begin(&file, &draft, printer)?;
    loop {
        open(&draft)?;
        let text = read(&draft)?;
        let Err(mistakes) = policy::config::check(&text, &draft.to_string_lossy()) else {
            return replace(&text, &base, &draft, printer);
        };
        show(&mistakes, printer);
        if !person::agrees("Edit it again?")? {
            return Err(CliError::failed(format!(
                "your configuration is as it was; the edit with mistakes is kept in {}",
                draft.display()
            ))
            .hint("taut config edit    (goes on with it)"));
        }
    }
}

/// The copy, which is the one that was left with mistakes where there is one; and what the configuration was then.
fn begin(file: &Path, draft: &Path, printer: &Printer) -> Result<String, CliError> {
    let base = user_config::read(file)?.unwrap_or_default();
    if let Some(folder) = draft.parent() {
        std::fs::create_dir_all(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft) {
        Ok(mut copy) => copy.write_all(base.as_bytes())?,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            printer.note(format!("going on with the edit that was kept in {}", draft.display()));
        }
        Err(error) => return Err(CliError::failed(format!("cannot write {}", draft.display())).because(&error)),
    }
    Ok(base)
}

fn replace(text: &str, base: &str, draft: &Path, printer: &Printer) -> Result<Exit, CliError> {
    let change = user_config::replace(text.to_string())?;
    if change.before() != base {
        return Err(CliError::failed(format!(
            "{} was changed by somebody else meanwhile; nothing was written, and your edit is kept in {}",
            change.file.display(),
            draft.display()
        ))
        .hint("taut config edit    (goes on with it, over what is there now)"));
    }
    let diff = change.diff();
    if diff.is_empty() {
        std::fs::remove_file(draft)?;
        printer.line("nothing changed");
        return Ok(Exit::Ok);
    }
    printer.diff(&diff);
    if !person::agrees(&format!("Change {} as shown above?", change.file.display()))? {
        printer.note(format!("nothing changed; the edit is kept in {}", draft.display()));
        return Ok(Exit::Failed);
    }
    change.write()?;
    std::fs::remove_file(draft)?;
    printer.line(format!("written to {}", change.file.display()));
    Ok(Exit::Ok)
}

fn show(mistakes: &[Diagnostic], printer: &Printer) {
    mistakes.iter().for_each(|mistake| printer.note(mistake.to_string()));
}

fn read(draft: &Path) -> Result<String, CliError> {
    let bytes = outside::read(draft, &Rules::up_to(LARGEST));
    let bytes = bytes.map_err(|error| CliError::failed(format!("cannot read {}", draft.display())).because(&error))?;
    String::from_utf8(bytes).map_err(|error| {
        CliError::failed(format!("{} is not text; nothing was changed", draft.display()))
            .because(&error)
            .hint(format!("rm '{}'    (begins anew)", draft.display()))
    })
}

fn editor() -> OsString {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".into())
}

/// Through a shell, as other programs do it: an editor's line has arguments of its own.
fn open(draft: &Path) -> Result<(), CliError> {
    let editor = editor();
    let mut line = editor.clone();
    line.push(" \"$@\"");
    let (line, draft): (OsString, PathBuf) = (line, draft.to_path_buf());
    let ended = Command::new("/bin/sh").arg("-c").arg(line).arg(&editor).arg(&draft).status()?;
    if ended.success() {
        return Ok(());
    }
    Err(CliError::failed(format!("the editor `{}` ended with {ended}; nothing was changed", editor.to_string_lossy()))
        .hint("EDITOR=vi taut config edit"))
}
