//! A password in a file that only its user can read, beside their configuration: written aside first, so that a server
//! that refuses it changes nothing.

use crate::error::CliError;
use crate::printer::{Printer, Text};
use host::paths::PathVariables;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What the configuration calls it.
pub const NAME: &str = "shared.pass";
/// While nobody has agreed to it.
const ASIDE: &str = "shared.pass.next";

/// Gone with its value, unless it was kept.
pub struct SecretFile {
    aside: PathBuf,
    kept: bool,
}

impl SecretFile {
    pub fn aside(password: &str, places: &PathVariables) -> Result<Self, CliError> {
        let config = places.user_config();
        let folder = config.parent().unwrap_or(Path::new("/"));
        let aside = folder.join(ASIDE);
        write(&aside, password)
            .map_err(|error| CliError::failed(format!("cannot write {}", aside.display())).because(&error))?;
        Ok(Self { aside, kept: false })
    }

    /// What the configuration would call it meanwhile.
    pub fn name(&self) -> String {
        ASIDE.to_string()
    }

    pub fn keep(mut self) -> Result<(), CliError> {
        fs::rename(&self.aside, self.aside.with_file_name(NAME))?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for SecretFile {
    fn drop(&mut self) {
        if !self.kept {
            // Where that fails, it is still a file that only its user can read.
            let _ = fs::remove_file(&self.aside);
        }
    }
}

/// Asked for at the terminal, unseen.
pub fn asked() -> Result<String, CliError> {
    let ask = || Printer::ask(Text::lines("The password of that role (not shown): "));
    let password = sys::terminal::read_hidden(ask)?.trim_end_matches(['\r', '\n']).to_owned();
    // The Enter was not shown either.
    Printer::ask(Text::lines("\n"))?;
    if password.is_empty() {
        return Err(CliError::failed("no password was typed; nothing was changed"));
    }
    Ok(password)
}

fn write(file: &Path, password: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // One that was left behind, or a link that somebody put there.
    let _ = fs::remove_file(file);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    file.write_all(format!("{password}\n").as_bytes())?;
    file.sync_all()
}
