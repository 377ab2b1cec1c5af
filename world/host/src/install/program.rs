//! Which `taut` is written into settings: one that will still be there tomorrow.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ProgramError {
    #[error(
        "{} lies in a build folder and goes with the next `cargo clean`; nothing was changed. Install it first: \
         `cargo install --path world/cli`, then `taut init`",
        path.display()
    )]
    BuildFolder { path: PathBuf },
    #[error(
        "{} has to be called `taut` to be recognised in settings later; nothing was changed. \
         Give it its name back and run `taut init` again",
        path.display()
    )]
    OtherName { path: PathBuf },
    #[error(
        "{} cannot be written into JSON, since its path is not UTF-8; nothing was changed. \
         Install it elsewhere: `cargo install --root <folder> --path world/cli`",
        path.display()
    )]
    NotText { path: PathBuf },
}

/// Whether a path inside a build folder may be installed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BuildPath {
    #[default]
    Refused,
    /// For work on Taut itself.
    Allowed,
}

/// The path to write into settings. Of several names of this program the one on
/// the search path is taken: package managers move the file behind it with
/// every upgrade.
pub fn to_install(exe: &Path, search_path: &OsStr, build_path: BuildPath) -> Result<String, ProgramError> {
    let path = on_search_path(exe, search_path).unwrap_or_else(|| exe.to_path_buf());
    if build_path == BuildPath::Refused && (is_in_build_folder(exe) || is_in_build_folder(&path)) {
        return Err(ProgramError::BuildFolder { path });
    }
    if path.file_name() != Some(OsStr::new("taut")) {
        return Err(ProgramError::OtherName { path });
    }
    path.to_str().map(str::to_owned).ok_or_else(|| ProgramError::NotText { path: path.clone() })
}

fn on_search_path(exe: &Path, search_path: &OsStr) -> Option<PathBuf> {
    let real = std::fs::canonicalize(exe).ok()?;
    std::env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("taut"))
        .find(|path| std::fs::canonicalize(path).is_ok_and(|found| found == real))
}

/// Whether a program of that name can be started from the search path.
pub fn is_on_search_path(program: &str, search_path: &OsStr) -> bool {
    let runs = |folder: PathBuf| std::fs::metadata(folder.join(program)).is_ok_and(|meta| crate::programs::runs(&meta));
    std::env::split_paths(search_path).any(|folder| folder.is_absolute() && runs(folder))
}

/// Whether a program is a build's output: by its place, or by the mark that
/// build tools leave in folders whose content can be made again.
pub fn is_in_build_folder(path: &Path) -> bool {
    let names: Vec<_> = path.components().map(|component| component.as_os_str()).collect();
    let is_profile = |name: Option<&&OsStr>| name.is_some_and(|name| *name == "debug" || *name == "release");
    let by_place = names
        .iter()
        .enumerate()
        .any(|(at, name)| *name == "target" && (is_profile(names.get(at + 1)) || is_profile(names.get(at + 2))));
    by_place || path.ancestors().skip(1).any(|folder| folder.join("CACHEDIR.TAG").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn i1_a_path_inside_a_build_folder_is_refused_with_the_command_that_helps() {
        for path in ["/w/target/release/taut", "/w/target/x86_64-unknown-linux-musl/debug/taut"] {
            let error = to_install(Path::new(path), OsStr::new(""), BuildPath::Refused).unwrap_err();
            assert!(error.to_string().contains("cargo install --path world/cli"), "{error}");
            assert_eq!(to_install(Path::new(path), OsStr::new(""), BuildPath::Allowed).unwrap(), path);
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("CACHEDIR.TAG"), "").unwrap();
        assert!(is_in_build_folder(&folder.path().join("out/taut")));
        assert!(!is_in_build_folder(Path::new("/usr/target/bin/taut")));
    }

    #[test]
    fn i1_the_name_on_the_search_path_is_stable_across_upgrades() {
        let folder = tempfile::tempdir().unwrap();
        let (cellar, bin) = (folder.path().join("cellar/1.0"), folder.path().join("bin"));
        std::fs::create_dir_all(&cellar).unwrap();
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(cellar.join("taut"), "").unwrap();
        symlink(cellar.join("taut"), bin.join("taut")).unwrap();
        let search = std::env::join_paths([Path::new("relative"), &bin]).unwrap();
        let path = to_install(&cellar.join("taut"), &search, BuildPath::Refused).unwrap();
        assert_eq!(Path::new(&path), bin.join("taut"));
        let alone = to_install(&cellar.join("taut"), OsStr::new("/nowhere"), BuildPath::Refused).unwrap();
        assert_eq!(Path::new(&alone), cellar.join("taut"));
    }

    #[test]
    fn a_program_of_another_name_is_refused() {
        let error = to_install(Path::new("/bin/taut-0.1"), OsStr::new(""), BuildPath::Refused).unwrap_err();
        assert_eq!(error, ProgramError::OtherName { path: "/bin/taut-0.1".into() });
    }
}
