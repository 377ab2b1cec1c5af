//! Manual pages and completions, which the program writes itself where it can be run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

use crate::pack::NewFile;

/// What a program says about its own command line. Empty for one that does not.
#[derive(Debug, Clone, Default)]
pub struct ProgramPages {
    pub(crate) completions: Vec<NewFile>,
    pub(crate) manual: Vec<NewFile>,
}

/// Shell, and what its script is called in an archive.
const SHELLS: &[(&str, &str)] = &[("bash", "taut.bash"), ("zsh", "_taut"), ("fish", "taut.fish")];

impl ProgramPages {
    /// Asks a program of this machine, in a home of its own.
    ///
    /// # Errors
    /// When it cannot be started at all, or there is no place for its home.
    pub fn of(program: &Path) -> io::Result<Self> {
        let home = tempfile::tempdir()?;
        let program = fs::canonicalize(program)?;
        let ask = |args: &[&str]| {
            let mut command = Command::new(&program);
            command.args(args).env_clear().env("HOME", home.path()).env("TAUT_NO_DAEMON", "1").current_dir(home.path());
            command.stdin(Stdio::null()).output()
        };
        let mut pages = Self::default();
        for (shell, name) in SHELLS {
            let said = ask(&["completions", shell])?;
            if said.status.success() && !said.stdout.is_empty() {
                pages.completions.push(NewFile { name: (*name).to_owned(), bytes: said.stdout });
            }
        }
        let folder = home.path().join("man");
        fs::create_dir(&folder)?;
        if ask(&["man", "--out", "man"])?.status.success() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.ends_with(".1") {
                    pages.manual.push(NewFile { name, bytes: fs::read(entry.path())? });
                }
            }
            pages.manual.sort_by(|one, other| one.name.cmp(&other.name));
        }
        Ok(pages)
    }

    /// What there is, for whoever packs.
    #[must_use]
    pub fn summary(&self) -> String {
        format!("{} manual pages, {} completions", self.manual.len(), self.completions.len())
    }
}
