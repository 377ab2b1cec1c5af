//! What `taut doctor` finds out about this machine, each finding with the
//! command that helps.

use super::line::{CommandLine, ProgramEnd};
use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub name: String,
    pub health: Health,
    /// What was found.
    pub detail: String,
    /// The command that helps, where something is wrong.
    pub fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    Ok,
    Warn,
    Bad,
}

impl Health {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

impl Check {
    pub fn ok(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { name: name.into(), health: Health::Ok, detail: detail.into(), fix: None }
    }

    pub fn warn(name: impl Into<String>, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name: name.into(), health: Health::Warn, detail: detail.into(), fix: Some(fix.into()) }
    }

    pub fn bad(name: impl Into<String>, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name: name.into(), health: Health::Bad, detail: detail.into(), fix: Some(fix.into()) }
    }
}

/// The program the settings name: there, executable, and of this version.
pub fn program(path: &Path, home: &Path, version: &str) -> Check {
    let name = "program";
    let shown = path.display();
    match std::fs::metadata(path) {
        Err(error) => {
            return Check::bad(name, format!("the settings call {shown}, which cannot be found: {error}"), "taut init");
        }
        Ok(meta) if !meta.is_file() || meta.permissions().mode() & 0o111 == 0 => {
            return Check::bad(name, format!("the settings call {shown}, which is no program"), "taut init");
        }
        Ok(_) => {}
    }
    if let Some(place) = super::program::lies_in(path, home) {
        let detail = format!("{shown} lies in {place} and may go at any time: without it nothing is guarded");
        return Check::warn(name, detail, "taut init");
    }
    match asked_version(path) {
        Some(found) if found == version => Check::ok(name, format!("{shown}, version {version}")),
        Some(found) => Check::warn(name, format!("{shown} is version {found}, this is {version}"), "taut init"),
        None => Check::bad(name, format!("{shown} does not say its version"), "taut init"),
    }
}

/// The version that a `taut` says of itself.
pub(super) fn asked_version(path: &Path) -> Option<String> {
    let line = CommandLine {
        program: path.to_path_buf(),
        args: ["version", "--json"].map(OsString::from).to_vec(),
        set: Vec::new(),
        unset: Vec::new(),
        cwd: "/".into(),
        stdin: String::new(),
        limit: Duration::from_secs(5),
    };
    let ProgramEnd { stdout, .. } = line.run().ok()?;
    let value: serde_json::Value = serde_json::from_str(stdout.trim()).ok()?;
    value.get("version")?.as_str().map(str::to_owned)
}

/// The state folder and what is in it belong to the user alone.
pub fn privacy(state: &Path) -> Check {
    let name = "privacy";
    let shown = state.display();
    let Ok(meta) = std::fs::metadata(state) else {
        return Check::ok(name, format!("{shown} is not there yet; the first event makes it"));
    };
    if meta.uid() != sys::outside::user() {
        return Check::bad(name, format!("{shown} belongs to someone else"), format!("sudo chown -R $USER {shown}"));
    }
    let open = |meta: &std::fs::Metadata| meta.mode() & 0o077 != 0;
    if open(&meta) {
        return Check::bad(name, format!("{shown} can be read by others"), format!("chmod 700 {shown}"));
    }
    let entries = std::fs::read_dir(state).into_iter().flatten().flatten();
    let file = |entry: &std::fs::DirEntry| entry.metadata().is_ok_and(|meta| meta.is_file() && open(&meta));
    match entries.into_iter().find(file) {
        Some(entry) => {
            let path = entry.path();
            Check::warn(
                name,
                format!("{} has a mode that others could read with", path.display()),
                format!("chmod 600 {}", path.display()),
            )
        }
        None => Check::ok(name, format!("{shown} is private")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(folder: &Path, text: &str, mode: u32) -> std::path::PathBuf {
        let path = folder.join("taut");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn i2_the_installed_program_has_to_be_there_and_of_this_version() {
        let folder = tempfile::tempdir().unwrap();
        let health = |check: Check| (check.health, check.fix.is_some());
        assert_eq!(health(program(Path::new("/nowhere/taut"), folder.path(), "1.0")), (Health::Bad, true));
        let path = script(folder.path(), "#!/bin/sh\necho '{\"version\":\"1.0\"}'\n", 0o644);
        assert_eq!(health(program(&path, folder.path(), "1.0")), (Health::Bad, true));
        script(folder.path(), "#!/bin/sh\necho '{\"version\":\"1.0\"}'\n", 0o755);
        assert_eq!(health(program(&path, folder.path(), "1.0")), (Health::Ok, false));
        assert_eq!(health(program(&path, folder.path(), "2.0")), (Health::Warn, true));
        script(folder.path(), "#!/bin/sh\nexit 1\n", 0o755);
        assert_eq!(health(program(&path, folder.path(), "1.0")), (Health::Bad, true));
    }

    #[test]
    fn i2_what_others_could_read_is_told_with_the_command_that_closes_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        assert_eq!(privacy(&state).health, Health::Ok);
        std::fs::create_dir(&state).unwrap();
        let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(&state, 0o755);
        assert_eq!(privacy(&state).fix, Some(format!("chmod 700 {}", state.display())));
        mode(&state, 0o700);
        std::fs::write(state.join("taut.db"), "").unwrap();
        mode(&state.join("taut.db"), 0o644);
        assert_eq!(privacy(&state).health, Health::Warn);
        mode(&state.join("taut.db"), 0o600);
        assert_eq!(privacy(&state).health, Health::Ok);
    }
}
