//! Which `taut` is written into settings: one that will still be there tomorrow. Where this program will not stay, a
//! copy of it is kept in our own folder, and that is named.

use super::checks::asked_version;
use super::lasting;
use agents::settings::Version;
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error(
        "{} cannot be written into JSON, since its path is not UTF-8; nothing was changed. \
         Set TAUT_HOME to a folder whose name is, and run `taut init` again",
        path.display()
    )]
    NotText { path: PathBuf },
    #[error(
        "{} lies in {lies_in}, and no copy of it could be kept as {}: {source}; nothing was changed. \
         `taut doctor` shows what is wrong with the folder",
        from.display(), to.display()
    )]
    Copy { from: PathBuf, to: PathBuf, lies_in: &'static str, source: io::Error },
}

/// Whether a path that will not stay may be installed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BuildPath {
    #[default]
    Copied,
    /// For work on Taut itself.
    Allowed,
}

/// The program that runs, and where things are.
#[derive(Debug, Clone, Copy)]
pub struct RunningProgram<'a> {
    pub exe: &'a Path,
    pub search_path: &'a OsStr,
    pub home: &'a Path,
    /// Our own folder.
    pub state: &'a Path,
}

/// The program that settings call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookProgram {
    pub path: String,
    /// Of what it is a copy, where it is one.
    pub copy: Option<ProgramCopy>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramCopy {
    pub from: PathBuf,
    /// Why the original would not do, as a place: "the cache of npx".
    pub lies_in: &'static str,
}

/// What became of the copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptCopy {
    NotNeeded,
    Written,
    /// One of a newer version is there, and stays.
    Newer(String),
}

/// Where the copy is kept.
pub fn copy_in(state: &Path) -> PathBuf {
    state.join("bin/taut")
}

/// The program to write into settings. Of several names of this one the first that stays is taken: package managers
/// move the file behind a name on the search path with every upgrade.
pub fn to_install(running: RunningProgram<'_>, build_path: BuildPath) -> Result<HookProgram, ProgramError> {
    let RunningProgram { exe, home, state, .. } = running;
    let names = names(running);
    let stays = |path: &PathBuf| {
        path.file_name() == Some(OsStr::new("taut"))
            && (build_path == BuildPath::Allowed || lies_in(path, home).is_none())
    };
    if let Some(path) = names.iter().find(|path| stays(path)) {
        return Ok(HookProgram { path: text(path)?, copy: None });
    }
    let lies_in = lies_in(exe, home).unwrap_or("a file of another name");
    let copy = ProgramCopy { from: exe.to_path_buf(), lies_in };
    Ok(HookProgram { path: text(&copy_in(state))?, copy: Some(copy) })
}

/// Where a program that settings name lies, if it will not stay there.
pub fn lies_in(path: &Path, home: &Path) -> Option<&'static str> {
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    lasting::lies_in(path, home).or_else(|| match target == path {
        true => None,
        false => lasting::leads_into(&target, home),
    })
}

impl HookProgram {
    /// Makes the copy, where there has to be one. A copy of a newer version is no older one's to replace.
    pub fn keep(&self) -> Result<KeptCopy, ProgramError> {
        let Some(copy) = &self.copy else { return Ok(KeptCopy::NotNeeded) };
        let to = Path::new(&self.path);
        let version = |path: &Path| asked_version(path).and_then(|text| Some((Version::parse(&text)?, text)));
        if let (true, Some((there, shown))) = (to.is_file(), version(to))
            && Version::parse(env!("CARGO_PKG_VERSION")).is_some_and(|own| own < there)
        {
            return Ok(KeptCopy::Newer(shown));
        }
        let failed = |source| ProgramError::Copy {
            from: copy.from.clone(),
            to: to.to_path_buf(),
            lies_in: copy.lies_in,
            source,
        };
        replace(&copy.from, to).map_err(failed)?;
        Ok(KeptCopy::Written)
    }
}

/// In one step: hooks call what is there meanwhile.
fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().unwrap_or(Path::new("/"));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let next = folder.join(format!("taut.{}.next", std::process::id()));
    let copied = std::fs::copy(from, &next)
        .and_then(|_| std::fs::set_permissions(&next, std::fs::Permissions::from_mode(0o755)))
        .and_then(|()| std::fs::OpenOptions::new().append(true).open(&next)?.sync_all())
        .and_then(|()| std::fs::rename(&next, to));
    if copied.is_err() {
        // What was written of it is of no use.
        let _ = std::fs::remove_file(&next);
    }
    copied
}

/// Names of this program: those on the search path, the link of its package, and its own.
fn names(running: RunningProgram<'_>) -> Vec<PathBuf> {
    let RunningProgram { exe, search_path, .. } = running;
    let real = std::fs::canonicalize(exe).ok();
    let leads_here = |path: &PathBuf| real.is_some() && std::fs::canonicalize(path).ok() == real;
    let folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
    let named = folders.map(|folder| folder.join("taut")).chain(package_link(exe)).filter(leads_here);
    named.chain([exe.to_path_buf()]).collect()
}

/// `<prefix>/opt/<formula>/bin/taut` for what Homebrew has in `<prefix>/Cellar/<formula>/<version>`.
fn package_link(exe: &Path) -> Option<PathBuf> {
    let cellar = exe.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "Cellar"))?;
    let formula = exe.strip_prefix(cellar).ok()?.components().next()?;
    Some(cellar.parent()?.join("opt").join(formula).join("bin/taut"))
}

fn text(path: &Path) -> Result<String, ProgramError> {
    path.to_str().map(str::to_owned).ok_or_else(|| ProgramError::NotText { path: path.to_path_buf() })
}

/// Whether it is a program that somebody may start.
pub fn runs(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| crate::programs::runs(&meta))
}

/// Whether a program of that name can be started from the search path.
pub fn is_on_search_path(program: &str, search_path: &OsStr) -> bool {
    on_search_path(program, search_path).is_some()
}

/// The program that a name on the search path starts.
pub fn on_search_path(program: &str, search_path: &OsStr) -> Option<PathBuf> {
    let runs = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|meta| crate::programs::runs(&meta));
    let folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A file system with a home in it, so that the folder is no temporary one to it.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, below: &str) -> PathBuf {
            self.0.path().join(below)
        }

        fn program(&self, below: &str, version: &str) -> PathBuf {
            let path = self.path(below);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, format!("#!/bin/sh\necho '{{\"version\":\"{version}\"}}'\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
            path
        }

        fn link(&self, below: &str, to: &Path) -> PathBuf {
            let path = self.path(below);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(to, &path).unwrap();
            path
        }

        fn chosen(&self, exe: &Path, search: &[&str]) -> HookProgram {
            let folders: Vec<PathBuf> = search.iter().map(|folder| self.path(folder)).collect();
            let (home, state) = (self.path("home"), self.path("home/.local/state/taut"));
            let search_path = std::env::join_paths(folders).unwrap();
            let running = RunningProgram { exe, search_path: &search_path, home: &home, state: &state };
            to_install(running, BuildPath::Copied).unwrap()
        }
    }

    #[test]
    fn i1_the_name_on_the_search_path_is_stable_across_upgrades() {
        let machine = Machine::new();
        let exe = machine.program("brew/Cellar/taut/1.0/bin/taut", "1.0.0");
        let bin = machine.link("brew/bin/taut", &exe);
        assert_eq!(Path::new(&machine.chosen(&exe, &["nowhere", "brew/bin"]).path), bin);
        let opt = machine.link("brew/opt/taut", &machine.path("brew/Cellar/taut/1.0"));
        assert_eq!(Path::new(&machine.chosen(&exe, &[]).path), opt.join("bin/taut"), "Homebrew's own link");
        std::fs::remove_file(opt).unwrap();
        assert!(machine.chosen(&exe, &[]).copy.is_some(), "no link that stays");
    }

    #[test]
    fn i1_a_program_that_will_not_stay_is_copied_and_the_copy_is_named() {
        let machine = Machine::new();
        let exe = machine.program("home/.npm/_npx/1/node_modules/@taut/linux-x64/bin/taut", "0.0.1");
        machine.link("home/.npm/_npx/1/node_modules/.bin/taut", &exe);
        let chosen = machine.chosen(&exe, &["home/.npm/_npx/1/node_modules/.bin"]);
        let copy = machine.path("home/.local/state/taut/bin/taut");
        assert_eq!(Path::new(&chosen.path), copy);
        assert_eq!(chosen.copy.as_ref().unwrap().lies_in, "the cache of npx");
        assert!(!copy.exists(), "choosing changes nothing");
        assert_eq!(chosen.keep().unwrap(), KeptCopy::Written);
        assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&exe).unwrap());
        assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(std::fs::read_dir(copy.parent().unwrap()).unwrap().count(), 1, "nothing lies beside it");
        machine.program("home/.npm/_npx/1/node_modules/@taut/linux-x64/bin/taut", "0.0.2");
        assert_eq!(chosen.keep().unwrap(), KeptCopy::Written, "init brings the copy up to date");
        assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&exe).unwrap());
        machine.program("home/.local/state/taut/bin/taut", "999.0.0");
        assert_eq!(chosen.keep().unwrap(), KeptCopy::Newer("999.0.0".into()));
        assert_eq!(machine.chosen(&copy, &[]), HookProgram { path: chosen.path, copy: None }, "the copy itself stays");
    }

    #[test]
    fn i1_a_link_into_a_cache_does_not_make_it_stay() {
        let machine = Machine::new();
        let exe = machine.program("w/target/release/taut", "1.0.0");
        let link = machine.link("home/bin/taut", &exe);
        assert_eq!(machine.chosen(&exe, &["home/bin"]).copy.unwrap().lies_in, "a build folder");
        assert!(lies_in(&link, &machine.path("home")).is_some());
        let other = machine.program("usr/bin/taut-0.1", "1.0.0");
        assert_eq!(machine.chosen(&other, &[]).copy.unwrap().lies_in, "a file of another name");
    }

    #[test]
    fn i1_a_copy_that_cannot_be_kept_says_why() {
        let machine = Machine::new();
        let exe = machine.program("w/target/release/taut", "1.0.0");
        std::fs::create_dir_all(machine.path("home/.local/state")).unwrap();
        std::fs::write(machine.path("home/.local/state/taut"), "in the way").unwrap();
        let error = machine.chosen(&exe, &[]).keep().unwrap_err().to_string();
        assert!(error.contains("a build folder") && error.contains("taut doctor"), "{error}");
    }
}
