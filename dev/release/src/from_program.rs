//! Manual pages and completions, which the program writes itself from the definition of its command line.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

use crate::archive::PackedFile;
use crate::error::PackError;
use crate::pack::NewFile;

/// What a program says about its own command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramPages {
    pub(crate) completions: Vec<NewFile>,
    pub(crate) manual: Vec<NewFile>,
}

/// A shell's script: its name in an archive, and where the shell looks for it below `share`.
struct ShellScript {
    shell: &'static str,
    name: &'static str,
    shared: &'static str,
}

const SHELLS: &[ShellScript] = &[
    ShellScript { shell: "bash", name: "taut.bash", shared: "bash-completion/completions/taut" },
    ShellScript { shell: "zsh", name: "_taut", shared: "zsh/site-functions/_taut" },
    ShellScript { shell: "fish", name: "taut.fish", shared: "fish/vendor_completions.d/taut.fish" },
];

impl ProgramPages {
    /// Asks a program of this machine, in a home of its own.
    ///
    /// # Errors
    /// When it cannot be started, there is no place for its home, or it does not write all of them.
    pub fn of(program: &Path) -> Result<Self, PackError> {
        let silent = |why| PackError::Program { path: program.to_owned(), why };
        let home = tempfile::tempdir()?;
        let started = fs::canonicalize(program).map_err(PackError::at(program))?;
        let ask = |args: &[&str]| {
            let mut command = Command::new(&started);
            command.args(args).env_clear().env("HOME", home.path()).env("TAUT_NO_DAEMON", "1").current_dir(home.path());
            command.stdin(Stdio::null()).output().map_err(PackError::at(program))
        };
        let mut completions = Vec::new();
        for script in SHELLS {
            let said = ask(&["completions", script.shell])?;
            if !said.status.success() || said.stdout.is_empty() {
                return Err(silent("`completions` does not write the script of every shell"));
            }
            completions.push(NewFile { name: script.name.to_owned(), bytes: said.stdout });
        }
        let folder = home.path().join("man");
        if !ask(&["man", "--out", "man"])?.status.success() {
            return Err(silent("`man --out` does not write its manual pages"));
        }
        let manual = manual_pages(&folder).map_err(PackError::at(&folder))?;
        if manual.iter().any(|page| page.name == "taut.1") {
            return Ok(Self { completions, manual });
        }
        Err(silent("`man --out` writes no page taut.1"))
    }

    /// As they lie in an archive, whose reader puts them into place.
    pub(crate) fn in_archive(&self) -> Vec<PackedFile> {
        let pages = self.manual.iter().map(|page| ("man", page));
        let scripts = self.completions.iter().map(|script| ("completions", script));
        let packed =
            |(folder, file): (&str, &NewFile)| PackedFile::text(format!("{folder}/{}", file.name), file.bytes.clone());
        pages.chain(scripts).map(packed).collect()
    }

    /// Where `man` and the shells look, below the `share` that stands beside the program's `bin`.
    pub(crate) fn shared(&self) -> Vec<PackedFile> {
        let pages = self.manual.iter().map(|page| (format!("man/man1/{}", page.name), page));
        let place = |file: &NewFile| SHELLS.iter().find(|script| script.name == file.name).map(|script| script.shared);
        let scripts = self.completions.iter().filter_map(|file| Some((place(file)?.to_owned(), file)));
        pages.chain(scripts).map(|(path, file)| PackedFile::text(path, file.bytes.clone())).collect()
    }

    /// What there is, for whoever packs.
    #[must_use]
    pub fn summary(&self) -> String {
        format!("{} manual pages, {} completions", self.manual.len(), self.completions.len())
    }
}

/// By name, whatever order the folder has them in.
fn manual_pages(folder: &Path) -> io::Result<Vec<NewFile>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".1") {
            pages.push(NewFile { name, bytes: fs::read(entry.path())? });
        }
    }
    pages.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(pages)
}
